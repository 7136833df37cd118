//! What git is asked and told: the program itself, its configuration, its attributes, its
//! hooks. Where work trees are is read without it (`workspace`), as it costs a millisecond.

mod attributes;
mod driver;
mod hook;
mod process;

pub use attributes::{Attributes, patterns};
pub use driver::{Driver, Finding, NAME, Program, Scope, command, conflict_style_has_base, findings};
pub use hook::Hook;
pub use process::{Git, GitError, failed, finished};

use std::path::PathBuf;

use crate::files::{ReadError, WriteError};

/// What a step of installing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// It is there now.
    Set,
    /// It is gone now.
    Removed,
    /// There was nothing to do.
    Nothing,
}

/// Why a step was not taken.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Git failed or is not there.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A link in the place of a file that git does not follow links for.
    #[error("{} is a link; git does not follow it", .path.display())]
    Link {
        /// Where.
        path: PathBuf,
    },
    /// Somebody else's hook.
    #[error("{} is there already, and not made by `layers`", .path.display())]
    ForeignHook {
        /// Where.
        path: PathBuf,
    },
    /// The hooks are in a folder that need not be this repository's alone.
    #[error("`core.hooksPath` puts the hooks into {}, which may be other repositories' too", .folder.display())]
    SharedHooks {
        /// Where.
        folder: PathBuf,
    },
    /// A hook could not be made executable or be taken away.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
