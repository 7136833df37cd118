//! Why layers do not travel.

use std::path::PathBuf;

use crate::git::GitError;

/// Why layers do not travel. Being offline is no error.
#[derive(Debug, thiserror::Error)]
pub enum TravelError {
    /// git cannot do what is asked, or is not there.
    #[error(transparent)]
    Git(#[from] GitError),
    /// git writes the work tree itself at the moment.
    #[error("git is in the middle of {what} in {}", top.display())]
    UnderWay {
        /// The work tree.
        top: PathBuf,
        /// What it is in the middle of.
        what: &'static str,
    },
    /// No branch is checked out.
    #[error("no branch is checked out in {}", top.display())]
    Detached {
        /// The work tree.
        top: PathBuf,
    },
    /// There are several remotes and nothing says which is meant.
    #[error("{} has several remotes and the branch `{branch}` follows none of them", top.display())]
    WhichRemote {
        /// The work tree.
        top: PathBuf,
        /// The branch.
        branch: String,
    },
    /// Both sides began on their own.
    #[error("`{remote}` and this repository have no commit in common")]
    Unrelated {
        /// The branch there.
        remote: String,
    },
    /// git has no `merge-tree --write-tree` yet (it came with 2.38).
    #[error("this git is too old to merge without touching the work tree: 2.38 can")]
    OldGit,
    /// A file that is no layer, or is not to be committed, is in the way.
    #[error("changes that are not committed are in the way in {}: {files}", top.display())]
    InTheWay {
        /// The work tree.
        top: PathBuf,
        /// The files.
        files: String,
    },
    /// Somebody else pushed each time.
    #[error("`{remote}` changed each time before our push, {tries} times")]
    Overtaken {
        /// The branch there.
        remote: String,
        /// How often it was tried.
        tries: usize,
    },
}

/// An error of git's, or what it means if git itself is there.
pub(super) fn or(error: GitError, meaning: TravelError) -> TravelError {
    match error {
        GitError::Failed { code: Some(1), .. } => meaning,
        error => TravelError::Git(error),
    }
}
