//! git as a program: the one way to run it, and what goes wrong with it.
//!
//! A hook that runs us has variables set that would have git look at another repository
//! than the one it is given; they are taken away. What git says is asked for in English,
//! since some of it is read.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The variables that belong to one repository (`git rev-parse --local-env-vars`).
const OF_ONE_REPOSITORY: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("there is no `git` on the PATH")]
    Missing,
    /// It could not be started.
    #[error("git could not be started: {0}")]
    Start(io::Error),
    /// It ended with an error.
    #[error("`git {command}`: {message}")]
    Failed {
        /// Its first argument, as `fetch`.
        command: String,
        /// The exit code; none if a signal ended it.
        code: Option<i32>,
        /// What it said, or how it ended.
        message: String,
        /// Whether it said nothing.
        is_silent: bool,
    },
}

impl GitError {
    /// What git itself said.
    pub fn message(&self) -> String {
        match self {
            Self::Missing | Self::Start(_) => self.to_string(),
            Self::Failed { message, .. } => message.clone(),
        }
    }
}

impl From<io::Error> for GitError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Missing } else { Self::Start(error) }
    }
}

/// git, run in one folder.
#[derive(Clone, Debug)]
pub struct Git {
    place: Place,
    settings: Vec<String>,
}

#[derive(Clone, Debug)]
enum Place {
    Folder(PathBuf),
    Repository(PathBuf),
    Here,
}

impl Git {
    /// In a work tree, or any folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self { place: Place::Folder(folder.to_owned()), settings: Vec::new() }
    }

    /// On a repository's own folder, wherever its work trees are.
    pub fn of_repository(git_dir: &Path) -> Self {
        Self { place: Place::Repository(git_dir.to_owned()), settings: Vec::new() }
    }

    /// As the git that runs us has it: its repository and its settings.
    pub const fn that_runs_us() -> Self {
        Self { place: Place::Here, settings: Vec::new() }
    }

    /// With a setting, `name=value`, for these runs alone.
    #[must_use]
    pub fn with(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// The program with these arguments, to be run; it reads nothing and says nothing.
    pub fn command<I: IntoIterator<Item = impl AsRef<OsStr>>>(&self, args: I) -> Command {
        let mut command = Command::new("git");
        if !matches!(self.place, Place::Here) {
            for name in OF_ONE_REPOSITORY {
                command.env_remove(name);
            }
        }
        match &self.place {
            Place::Folder(folder) => command.arg("-C").arg(folder),
            Place::Repository(git_dir) => command.arg("--git-dir").arg(git_dir),
            Place::Here => &mut command,
        };
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.args(args).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// As [`Self::command`], for questions: nothing is locked or fetched, and names of
    /// files are taken as they are.
    pub fn question<I: IntoIterator<Item = impl AsRef<OsStr>>>(&self, args: I) -> Command {
        let mut command = self.clone().with("core.fsmonitor=false").command(args);
        command.envs([
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_LITERAL_PATHSPECS", "1"),
        ]);
        command
    }

    /// What git says to a question, without the last line end.
    pub fn ask<I: IntoIterator<Item = impl AsRef<OsStr>>>(&self, args: I) -> Result<String, GitError> {
        let output = finished(&mut self.question(args))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_owned())
    }

    /// As [`Self::ask`]; `None` if git ends with 1 and says nothing, its way to tell that
    /// there is no such thing.
    pub fn look_up<I: IntoIterator<Item = impl AsRef<OsStr>>>(
        &self,
        args: I,
    ) -> Result<Option<String>, GitError> {
        match self.ask(args) {
            Err(GitError::Failed { code: Some(1), is_silent: true, .. }) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Has git do something that changes the repository, and gives what it said.
    pub fn run<I: IntoIterator<Item = impl AsRef<OsStr>>>(&self, args: I) -> Result<String, GitError> {
        let mut command = self.command(args);
        command.env("GIT_LITERAL_PATHSPECS", "1");
        let output = finished(&mut command)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// Runs a command to its end; an exit code that is not 0 is an error.
pub fn finished(command: &mut Command) -> Result<Output, GitError> {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    if output.status.success() { Ok(output) } else { Err(failed(command, &output)) }
}

/// What a run that failed says.
pub fn failed(command: &Command, output: &Output) -> GitError {
    let mut words = command.get_args().map(OsStr::to_string_lossy);
    let mut name = String::new();
    while let Some(word) = words.next() {
        if word == "-C" || word == "-c" || word == "--git-dir" {
            words.next();
        } else {
            name = word.into_owned();
            break;
        }
    }
    let said = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let said = said.into_iter().find(|said| !said.is_empty());
    let (is_silent, code) = (said.is_none(), output.status.code());
    let message = said.unwrap_or_else(|| output.status.to_string());
    GitError::Failed { command: name, code, message, is_silent }
}
