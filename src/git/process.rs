//! Running git.

use std::io;
use std::path::Path;
use std::process::Command;

/// Git did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("there is no `git` on the PATH")]
    Missing,
    /// It could not be started.
    #[error("git could not be started: {0}")]
    Unstarted(io::Error),
    /// It failed, and said why.
    #[error("`git {command}`: {message}")]
    Failed {
        /// What was asked.
        command: String,
        /// Its own words.
        message: String,
    },
}

/// What git prints, without the last line end; `None` if it ends with 1 and says nothing, its
/// way to tell that there is no such thing.
pub(super) fn ask(folder: &Path, args: &[&str]) -> Result<Option<String>, GitError> {
    let done = Command::new("git").current_dir(folder).args(args).output().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound && folder.is_dir() {
            GitError::Missing
        } else {
            GitError::Unstarted(error)
        }
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned();
    match done.status.code() {
        Some(0) => Ok(Some(text(&done.stdout))),
        Some(1) if done.stderr.is_empty() => Ok(None),
        _ => Err(GitError::Failed { command: args.join(" "), message: text(&done.stderr) }),
    }
}

/// Has git do something.
pub(super) fn tell(folder: &Path, args: &[&str]) -> Result<(), GitError> {
    match ask(folder, args)? {
        Some(_) => Ok(()),
        None => Err(GitError::Failed { command: args.join(" "), message: "it did not say why".to_owned() }),
    }
}
