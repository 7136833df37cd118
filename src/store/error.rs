//! What can go wrong with the store.

use std::io;
use std::path::PathBuf;

/// Why the store cannot be used. No layer file is touched by any of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither `$LAYERS_STATE` nor a home folder says where it is.
    #[error("there is no place for the store: neither $LAYERS_STATE, $XDG_STATE_HOME nor $HOME is set")]
    NoPlace,
    /// Its folder or file cannot be made or looked at.
    #[error("cannot use the store {path}: {source}", path = path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// It was written by a later version of this program.
    #[error(
        "the store {path} has schema {found}, and this program knows {known} at most",
        path = path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: usize,
        /// The newest schema known here.
        known: usize,
    },
    /// Its bytes are no database, or a damaged one.
    #[error("the store {path} is damaged: {problem}", path = path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        problem: String,
    },
    /// It is a database of something else; nothing is written into it.
    #[error("{path} is a database of something else", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another process held it for longer than we wait.
    #[error("another process keeps the store {path} busy", path = path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that SQLite says: a full disk, a read-only file.
    #[error("the store {path}: {source}", path = path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
}
