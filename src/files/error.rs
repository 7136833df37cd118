//! What can go wrong with a file: each error names its path, the action and, where
//! there is one, the remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was being done when the operating system said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Looking at a path's type, mode or owner.
    Inspect,
    /// Following a symbolic link.
    Follow,
    /// Reading a file.
    Read,
    /// Listing a folder.
    List,
    /// Making a folder.
    CreateFolder,
    /// Making the temporary file beside a target.
    CreateTemporary,
    /// Writing the temporary file.
    WriteTemporary,
    /// Giving the temporary file the target's mode.
    SetMode,
    /// Forcing the temporary file to the disk.
    SyncTemporary,
    /// Moving the temporary file to its place.
    Rename,
    /// Forcing a folder to the disk.
    SyncFolder,
    /// Opening the lock file.
    OpenLock,
    /// Taking the lock.
    Lock,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Inspect => "inspect",
            Self::Follow => "follow the link",
            Self::Read => "read",
            Self::List => "list",
            Self::CreateFolder => "create the folder",
            Self::CreateTemporary => "create a temporary file for",
            Self::WriteTemporary => "write the temporary file for",
            Self::SetMode => "carry mode and owner over to",
            Self::SyncTemporary => "flush the temporary file for",
            Self::Rename => "move the new text into place at",
            Self::SyncFolder => "flush the folder",
            Self::OpenLock => "open the lock file",
            Self::Lock => "lock",
        })
    }
}

/// Why it is not known what a path holds. Never means "deleted".
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refused: permission, a broken disk, a loop of links.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        action: Action,
        /// On which path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A symbolic link on the way leads to nothing: an unmounted disk looks like this.
    #[error(
        "{link} is a link to {target}, which does not exist; restore the target or remove the link",
        link = link.display(), target = target.display()
    )]
    DanglingLink {
        /// The link.
        link: PathBuf,
        /// What it names.
        target: PathBuf,
    },
    /// A folder, pipe, socket or device stands where a file is expected.
    #[error("{path} is {what}, not a file; move it away", path = path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
        /// What stands there, with its article.
        what: &'static str,
    },
    /// The file is larger than any layer is. It is left alone.
    #[error("{path} is larger than {mebibytes} MiB, so it is not read; split it or move it away", path = path.display())]
    TooLarge {
        /// Where.
        path: PathBuf,
        /// The limit.
        mebibytes: u64,
    },
    /// The file is no text. It is left alone.
    #[error(
        "{path}:{line}:{column}: not UTF-8 (byte {offset}); save the file as UTF-8",
        path = path.display()
    )]
    NotUtf8 {
        /// Where.
        path: PathBuf,
        /// Offset of the first byte that is not UTF-8, from 0.
        offset: usize,
        /// Its line, from 1.
        line: usize,
        /// Its column in characters, from 1.
        column: usize,
    },
}

impl ReadError {
    /// The path that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::NotAFile { path, .. }
            | Self::TooLarge { path, .. }
            | Self::NotUtf8 { path, .. } => path,
            Self::DanglingLink { link, .. } => link,
        }
    }
}

/// What a file turned into between reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedTo {
    /// Other bytes.
    OtherBytes,
    /// Nothing: it was removed.
    Absent,
    /// Something: it was expected to be absent.
    Present,
}

impl fmt::Display for ChangedTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OtherBytes => "was changed",
            Self::Absent => "was removed",
            Self::Present => "was created",
        })
    }
}

/// Why a file was not replaced. Apart from [`Action::SyncFolder`], after which the new
/// text is in place but may not survive a power cut, the old file is whole.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system refused: permission, a full disk.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        action: Action,
        /// On which path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// What the path holds cannot be read, so it is not overwritten.
    #[error("not written: {0}")]
    Unreadable(#[from] ReadError),
    /// Somebody else was faster.
    #[error("{path} {to} by another program since it was read; nothing was written, try again", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What became of it.
        to: ChangedTo,
    },
    /// The file's mode forbids writing; a rename would go around that.
    #[error("{path} is read-only for this user (mode {mode:04o}); `chmod` it if it is to be changed", path = path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file has further names; a rename would leave them behind with the old text.
    #[error(
        "{path} has {links} hard links, and replacing it would leave the other names with the old text; \
         use a symbolic link instead, or detach it: `cp -p FILE FILE.new && mv FILE.new FILE`",
        path = path.display()
    )]
    HardLinked {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        links: u64,
    },
}

impl WriteError {
    /// The path that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::Changed { path, .. }
            | Self::ReadOnly { path, .. }
            | Self::HardLinked { path, .. } => path,
            Self::Unreadable(error) => error.path(),
        }
    }
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The folder or the lock file cannot be made or opened.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        action: Action,
        /// On which path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Another process holds it.
    #[error(
        "{path} is held by {holder}; waited {} ms. Try again when it is done, or end it: \
         the lock goes with the process, the file itself may stay",
        waited.as_millis(), path = path.display(), holder = Holder(*pid)
    )]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The holder, as it wrote itself down.
        pid: Option<u32>,
        /// How long was waited.
        waited: Duration,
    },
}

struct Holder(Option<u32>);

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("another process"),
        }
    }
}

/// Puts action and path to an `io::Error`.
pub(crate) trait On<T> {
    fn on<E: FromIo>(self, action: Action, path: &Path) -> Result<T, E>;
}

/// Errors that carry an `io::Error` with its action and path.
pub(crate) trait FromIo {
    fn from_io(action: Action, path: PathBuf, source: io::Error) -> Self;
}

impl<T> On<T> for io::Result<T> {
    fn on<E: FromIo>(self, action: Action, path: &Path) -> Result<T, E> {
        self.map_err(|source| E::from_io(action, path.to_owned(), source))
    }
}

impl FromIo for ReadError {
    fn from_io(action: Action, path: PathBuf, source: io::Error) -> Self {
        Self::Io { action, path, source }
    }
}

impl FromIo for WriteError {
    fn from_io(action: Action, path: PathBuf, source: io::Error) -> Self {
        Self::Io { action, path, source }
    }
}

impl FromIo for LockError {
    fn from_io(action: Action, path: PathBuf, source: io::Error) -> Self {
        Self::Io { action, path, source }
    }
}
