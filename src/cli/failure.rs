//! What goes wrong on the command line: a typed failure with its exit code, its place
//! and what to do. The only owner of exit codes.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::document::{EditError, Refusal};
use crate::files::{Action, LockError, ReadError, WriteError};
use crate::git::GitError;
use crate::mint::MintError;
use crate::store::StoreError;
use crate::sync::{ChangeError, SyncError};
use crate::text::locate;
use crate::travel::TravelError;
use crate::workspace::WorkspaceError;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: there are findings, or what was asked for does not exist.
    Findings,
    /// 2: the command line does not make sense.
    Usage,
    /// 3: refused: isolation, a guard, an edit that would not read back.
    Refused,
    /// 4: reading or writing failed, or a file is corrupt.
    Broken,
    /// 129: the merge driver did not merge. Git takes 1 to 128 for "conflicts, marked in the
    /// file", and would take our side alone for that.
    Unmerged,
}

impl Exit {
    /// What git may be told by its merge driver.
    pub(crate) const fn of_merge_driver(self) -> Self {
        match self {
            Self::Done | Self::Findings => self,
            _ => Self::Unmerged,
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Broken => 4,
            Self::Unmerged => 129,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A line of a file that a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) path: PathBuf,
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    /// The line, without its line end.
    pub(crate) text: String,
    /// How many characters from the column on are meant.
    pub(crate) width: usize,
}

impl Snippet {
    /// The place of a stretch of bytes.
    pub(crate) fn of(path: &Path, source: &str, start: usize, end: usize) -> Self {
        let start = start.min(source.len());
        let location = locate(source, start);
        let from = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let to = source[start..].find('\n').map_or(source.len(), |newline| start + newline);
        let marked = source.get(start..end.clamp(start, to)).unwrap_or("").trim_end();
        Self {
            path: path.to_owned(),
            line: location.line,
            column: location.column,
            text: source[from..to].trim_end_matches('\r').to_owned(),
            width: marked.chars().count().max(1),
        }
    }
}

/// Why a command did not do what it was asked to.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) place: Option<Box<Snippet>>,
    pub(crate) help: Vec<String>,
    /// Nobody reads the output any more: nothing is said.
    pub(crate) is_closed_pipe: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        let message = message.to_string();
        Self { exit, message, place: None, help: Vec::new(), is_closed_pipe: false }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn refused(message: impl Display) -> Self {
        Self::new(Exit::Refused, message)
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Display) -> Self {
        self.help.push(help.to_string());
        self
    }
}

impl From<TravelError> for Failure {
    fn from(error: TravelError) -> Self {
        let (exit, help) = match &error {
            TravelError::Git(GitError::Missing | GitError::Start(_)) => {
                (Exit::Broken, "install git, and see that it is on the PATH")
            }
            TravelError::Git(GitError::Failed { message, .. }) if message.contains("tell me who you are") => {
                (Exit::Refused, "`git config --global user.name NAME` and `user.email ADDRESS` say it")
            }
            TravelError::Git(GitError::Failed { .. }) | TravelError::OldGit => {
                (Exit::Broken, "nothing is lost: run it again when that is settled")
            }
            TravelError::UnderWay { .. } => (Exit::Refused, "finish it, or give it up with git's --abort"),
            TravelError::Detached { .. } => (Exit::Refused, "`git switch BRANCH` checks one out"),
            TravelError::WhichRemote { .. } => {
                (Exit::Refused, "`git branch --set-upstream-to REMOTE/BRANCH` says which")
            }
            TravelError::Unrelated { .. } => {
                (Exit::Refused, "if they are to become one, run `layers git sync --join`")
            }
            TravelError::InTheWay { .. } => (Exit::Refused, "commit or stash them; nothing was touched"),
            TravelError::Overtaken { .. } => (Exit::Refused, "run it again"),
        };
        Self::new(exit, &error).help(help)
    }
}

/// Output that could not be written. A closed pipe is no error: whoever read the output
/// has seen enough.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let is_closed_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        let exit = if is_closed_pipe { Exit::Done } else { Exit::Broken };
        Self { is_closed_pipe, ..Self::new(exit, format!("cannot write the output: {error}")) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::from(std::io::Error::from(error))
    }
}

impl From<MintError> for Failure {
    fn from(error: MintError) -> Self {
        Self::new(Exit::Broken, error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::new(Exit::Broken, error)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        // The folder is flushed when the new text stands.
        let is_unchanged = matches!(&error, WriteError::Io { action, .. } if *action != Action::SyncFolder);
        let exit = match &error {
            WriteError::Io { .. } | WriteError::Unreadable(_) => Exit::Broken,
            WriteError::Changed { .. } | WriteError::ReadOnly { .. } | WriteError::HardLinked { .. } => {
                Exit::Refused
            }
        };
        let failure = Self::new(exit, error);
        if is_unchanged {
            failure.help("the file is as it was; make room or rights there, then try again")
        } else {
            failure
        }
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        let failure = Self::new(Exit::Broken, &error);
        match error {
            LockError::Held { .. } => {
                failure.help("`layers.lockTimeoutMs` in harness.json says how long to wait")
            }
            LockError::Io { .. } => failure,
        }
    }
}

impl From<SyncError> for Failure {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Lock(error) => error.into(),
            SyncError::Store(error) => error.into(),
            SyncError::Mint(error) => error.into(),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let help = match &error {
            StoreError::NoPlace => "set $LAYERS_STATE to a folder for it",
            StoreError::Newer { .. } => {
                "upgrade layers; or set $LAYERS_STATE to another folder, and history starts anew there"
            }
            StoreError::Busy { .. } => "try again; `layers watch` may be in the middle of a large pass",
            StoreError::Corrupt { .. } => {
                "the next command that writes sets it aside and builds it anew from the layers"
            }
            StoreError::Foreign { .. } => {
                "set $LAYERS_STATE to another folder, or put that file somewhere else"
            }
            StoreError::Io { .. } | StoreError::Sql { .. } => {
                "make room or rights there, or set $LAYERS_STATE to another folder"
            }
        };
        Self::new(Exit::Broken, error).help(help)
    }
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::Write(error) => error.into(),
            WorkspaceError::Read(error) => error.into(),
            WorkspaceError::InvalidKey { .. } | WorkspaceError::NoHome | WorkspaceError::NoFolder { .. } => {
                Self::usage(error)
            }
            WorkspaceError::Refused { .. } if error.is_refusal() => Self::refused(error),
            WorkspaceError::Untrusted { .. } => Self::refused(error).help(
                "look at it with `layers list --layer repo`, allow it with `layers trust`; or keep the note in the home layer",
            ),
            WorkspaceError::Refused { .. } | WorkspaceError::Store { .. } => Self::new(Exit::Broken, error),
            WorkspaceError::Io { .. } | WorkspaceError::NoWorkingDirectory { .. } => {
                Self::new(Exit::Broken, error)
            }
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        let place = error.place().map(|(path, source, offset)| {
            let end = source[offset..].find('\n').map_or(source.len(), |newline| offset + newline);
            Snippet::of(path, source, offset, end)
        });
        let failure = match error {
            ChangeError::Sync(error) => return error.into(),
            ChangeError::Layer(error) => return error.into(),
            ChangeError::Edit { path, error, .. } => {
                let is_of_file = !matches!(error.refusal, Refusal::BadValue { .. } | Refusal::Unwritable(..));
                let is_misread = matches!(error.refusal, Refusal::Misread(_));
                let mut failure = Self::from(*error);
                if is_of_file && place.is_none() {
                    failure.message = format!("{}: {}", path.display(), failure.message);
                }
                if is_misread {
                    failure = failure.help(format_args!(
                        "`layers check {}` shows what is odd in the layer; a text that opens a code fence or a comment has to close it",
                        path.display()
                    ));
                }
                failure
            }
            ChangeError::Unrecorded { .. } => Self::new(Exit::Broken, &error)
                .help("it counts all the same, only its history is lost; make room for the store, then `layers sync`"),
            ChangeError::NoSuchNote { .. } => Self::new(Exit::Findings, &error),
            ChangeError::Moved { .. } => Self::refused(&error),
            ChangeError::Ambiguous { .. } => Self::refused(&error)
                .help("give one of them another id by hand, or remove the copy; `layers check` lists them"),
            ChangeError::Conflict { .. } => {
                Self::refused(&error).help("resolve the conflict and remove the marker lines, then try again")
            }
        };
        Self { place: place.map(Box::new), ..failure }
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        let exit = match &error.refusal {
            Refusal::BadValue { .. } => Exit::Usage,
            Refusal::NoSuchNote(_)
            | Refusal::Conflict
            | Refusal::Unparsed
            | Refusal::Layout
            | Refusal::Unwritable(..)
            | Refusal::IdTaken(_)
            | Refusal::Overlap
            | Refusal::Misread(_) => Exit::Refused,
        };
        let name = error.id.as_ref().map_or_else(String::new, |id| format!("{id}: "));
        Self::new(exit, format!("{name}{}; nothing was written", error.refusal))
    }
}
