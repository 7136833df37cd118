//! The merge driver in git's configuration.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::WorkTree;

use super::{Attributes, Git, GitError, Step};

/// What the driver is called in `.gitattributes` and in git's configuration.
pub const NAME: &str = "harness-layers";

/// For people, in git's messages.
const TITLE: &str = "notes of harness-layers, by note and field";

/// Whose configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The repository's, for all its work trees.
    Repository,
    /// The user's, for all repositories.
    User,
}

impl Scope {
    const fn flag(self) -> &'static str {
        match self {
            Self::Repository => "--local",
            Self::User => "--global",
        }
    }
}

/// The `layers` that git is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(String);

impl Program {
    /// `layers` if that is what the PATH finds, so that the binary may move; else this very
    /// file.
    pub fn of_this_process(path: Option<&std::ffi::OsStr>) -> std::io::Result<Self> {
        let exe = std::env::current_exe()?;
        let is_on_path = on_path("layers", path).is_some_and(|found| {
            fs::canonicalize(found)
                .ok()
                .zip(fs::canonicalize(&exe).ok())
                .is_some_and(|(one, other)| one == other)
        });
        Ok(Self(if is_on_path { "layers".to_owned() } else { exe.display().to_string() }))
    }

    /// As a word of a shell command.
    pub(super) fn quoted(&self) -> String {
        let is_tame = self.0.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c));
        if is_tame { self.0.clone() } else { format!("'{}'", self.0.replace('\'', r"'\''")) }
    }
}

/// The merge driver of a work tree's repository, or of the user.
#[derive(Clone, Debug)]
pub struct Driver {
    git: Git,
    scope: Scope,
}

impl Driver {
    /// Git is asked from `folder`.
    pub fn new(folder: &Path, scope: Scope) -> Self {
        Self { git: Git::in_folder(folder), scope }
    }

    /// Writes the driver down.
    pub fn install(&self, program: &Program) -> Result<Step, GitError> {
        let wanted = [("name", TITLE.to_owned()), ("driver", command(program))];
        let mut step = Step::Nothing;
        for (key, value) in wanted {
            let key = format!("merge.{NAME}.{key}");
            if self.get(&key)?.as_deref() != Some(&value) {
                self.git.run(["config", self.scope.flag(), "--replace-all", &key, &value])?;
                step = Step::Set;
            }
        }
        Ok(step)
    }

    /// Takes the driver out.
    pub fn remove(&self) -> Result<Step, GitError> {
        let section = format!("merge.{NAME}");
        let keys = ["name", "driver"].map(|key| format!("{section}.{key}"));
        if keys.iter().all(|key| matches!(self.get(key), Ok(None))) {
            return Ok(Step::Nothing);
        }
        self.git.run(["config", self.scope.flag(), "--remove-section", &section])?;
        Ok(Step::Removed)
    }

    fn get(&self, key: &str) -> Result<Option<String>, GitError> {
        self.git.look_up(["config", self.scope.flag(), "--get", key])
    }
}

/// What git is to run for each layer that both sides changed. Without the program a shell ends
/// with 127, which git takes for "conflicts, marked in the file" and leaves our side alone
/// there, without a mark: the other side's work would be lost. So git's own merge stands in.
pub fn command(program: &Program) -> String {
    let program = program.quoted().replace('%', "%%");
    format!(
        "command -v {program} >/dev/null 2>&1 \
         || exec git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; \
         exec {program} git merge-driver %O %A %B -L %L -P %P -S %S -X %X -Y %Y"
    )
}

/// What is wrong with the driver of a clone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// `.gitattributes` names the driver, and git does not know it: it merges as if nothing
    /// were named.
    #[error(
        ".gitattributes names a merge driver that git does not know in this clone: it merges layers line by line"
    )]
    NoDriver,
    /// Git knows the driver, and the program that it is to run is not there.
    #[error("the merge driver is to run {0}, which is not there: git merges layers line by line")]
    NoProgram(String),
}

/// What is wrong with the driver of a work tree; nothing if `.gitattributes` does not name it.
pub fn findings(tree: &WorkTree, path: Option<&std::ffi::OsStr>) -> Result<Vec<Finding>, GitError> {
    if !Attributes::new(&tree.root, &[]).name_the_driver() {
        return Ok(Vec::new());
    }
    let key = format!("merge.{NAME}.driver");
    let Some(command) = Git::in_folder(&tree.root).look_up(["config", "--get", &key])? else {
        return Ok(vec![Finding::NoDriver]);
    };
    let program = program_of(&command).filter(|program| on_path(program, path).is_none());
    Ok(program.map(Finding::NoProgram).into_iter().collect())
}

/// The program that a command of ours runs; `None` if it is somebody else's.
fn program_of(command: &str) -> Option<String> {
    let (program, _) = command.strip_prefix("command -v ")?.split_once(" >/dev/null")?;
    let bare = program.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(program);
    Some(bare.replace(r"'\''", "'").replace("%%", "%"))
}

/// Where a program is.
fn on_path(program: &str, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| file.is_file());
    }
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Whether git's conflicts show what stood there before (`merge.conflictStyle`).
pub fn conflict_style_has_base() -> bool {
    let style = Git::that_runs_us().look_up(["config", "--get", "merge.conflictStyle"]);
    matches!(style, Ok(Some(style)) if matches!(style.as_str(), "diff3" | "zdiff3"))
}
