//! What others did, merged aside and then taken as a whole.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::places::quoted;
use super::{TravelError, Trip};
use crate::document::{Document, State};
use crate::git::{GitError, NAME, failed};

/// What came of merging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Nothing of theirs is new.
    Nothing,
    /// This commit holds both; [`Trip::take`] it.
    Ready(String),
    /// Both changed the same thing differently. Nothing was touched.
    Clash(Vec<Clash>),
}

/// A file that both sides changed at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The file, below the top folder.
    pub file: PathBuf,
    /// The notes that disagree; empty if it is no layer, or the disagreement is between
    /// the notes.
    pub notes: Vec<String>,
}

/// What came of taking a merge into the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is there.
    Done,
    /// These files changed meanwhile, or are no layers; nothing was touched.
    InTheWay(String),
}

impl Trip {
    /// Merges the remote branch, as far as known, aside. `driver` is the command of the
    /// merge driver, used for the layers whether or not the repository names it. `join`
    /// takes two histories without a common commit for one.
    pub fn merge(&self, driver: &str, join: bool) -> Result<Merged, TravelError> {
        let Some(theirs) = self.remote.as_ref().and_then(|remote| self.commit_of(&remote.tracking)) else {
            return Ok(Merged::Nothing);
        };
        let Some(ours) = self.commit_of("HEAD") else { return Ok(Merged::Ready(theirs)) };
        if self.is_ancestor(&theirs, &ours) {
            return Ok(Merged::Nothing);
        }
        if self.is_ancestor(&ours, &theirs) {
            return Ok(Merged::Ready(theirs));
        }
        let there = self.destination().unwrap_or_default();
        if !join && self.git.ask(["merge-base", &ours, &theirs]).is_err() {
            return Err(TravelError::Unrelated { remote: there });
        }
        let tree = match self.merge_aside(driver, join, &theirs)? {
            Aside::Clean(tree) => tree,
            Aside::Clash { tree, files } => {
                return Ok(Merged::Clash(files.into_iter().map(|file| self.clash(&tree, file)).collect()));
            }
        };
        let message = format!("Merge the layers of {there}");
        Ok(Merged::Ready(self.git.run(["commit-tree", &tree, "-p", &ours, "-p", &theirs, "-m", &message])?))
    }

    /// Puts a merge into the work tree, as a whole or not at all.
    pub fn take(&self, commit: &str) -> Result<Taken, TravelError> {
        let flags = ["merge", "--quiet", "--ff-only", "--no-autostash", "--no-overwrite-ignore", commit];
        match self.git.run(flags) {
            Ok(_) => Ok(Taken::Done),
            Err(GitError::Failed { message, .. }) if message.contains("would be overwritten") => {
                let files = message.lines().filter_map(|line| line.strip_prefix('\t'));
                Ok(Taken::InTheWay(files.collect::<Vec<_>>().join(", ")))
            }
            // Somebody committed meanwhile; or the index is not as HEAD has it.
            Err(GitError::Failed { message, .. })
                if message.contains("fast-forward") || message.contains("not uptodate") =>
            {
                Ok(Taken::InTheWay(message.lines().next().unwrap_or_default().to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn merge_aside(&self, driver: &str, join: bool, theirs: &str) -> Result<Aside, TravelError> {
        let attributes = self.attributes()?;
        let git = self
            .git
            .clone()
            .with(format!("core.attributesFile={}", attributes.path().display()))
            .with(format!("merge.{NAME}.driver={driver}"))
            .with(format!("merge.{NAME}.name=notes by id and field"));
        let mut command = git.command(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        if join {
            command.arg("--allow-unrelated-histories");
        }
        command
            .args(["HEAD", theirs])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let output = command.output().map_err(GitError::Start)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = text.split('\0').filter(|word| !word.is_empty());
        match (output.status.code(), words.next()) {
            (Some(0), Some(tree)) => Ok(Aside::Clean(tree.to_owned())),
            (Some(1), Some(tree)) => {
                Ok(Aside::Clash { tree: tree.to_owned(), files: words.map(PathBuf::from).collect() })
            }
            _ => {
                let error = failed(&command, &output);
                let is_old = error.message().contains("usage: git merge-tree");
                Err(if is_old { TravelError::OldGit } else { error.into() })
            }
        }
    }

    /// The user's own attributes of files, with the driver for layers below them: the
    /// lowest of all, so that a repository that says otherwise has its will.
    fn attributes(&self) -> Result<tempfile::NamedTempFile, TravelError> {
        let own = self.git.ask(["config", "--type=path", "--get", "core.attributesFile"]).ok();
        let own = own.map(PathBuf::from).or_else(default_attributes);
        let mut text = own.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for pattern in self.places.patterns() {
            let _ = writeln!(text, "{} merge={NAME}", quoted(&pattern));
        }
        let mut file = tempfile::NamedTempFile::new().map_err(GitError::Start)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(GitError::Start)?;
        Ok(file)
    }

    fn clash(&self, tree: &str, file: PathBuf) -> Clash {
        let text = self
            .places
            .has(&file)
            .then(|| self.git.ask(["cat-file", "blob", &format!("{tree}:{}", file.display())]).ok())
            .flatten();
        let document = Document::parse(text.unwrap_or_default());
        let conflicted = document.notes().filter(|note| note.state() == State::Conflicted);
        let mut notes: Vec<String> = conflicted.filter_map(|note| note.id().map(str::to_owned)).collect();
        notes.dedup();
        Clash { file, notes }
    }
}

enum Aside {
    Clean(String),
    Clash { tree: String, files: Vec<PathBuf> },
}

/// Where git looks for a user's attributes if nothing says otherwise (gitattributes(5)).
fn default_attributes() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("git").join("attributes"))
}
