//! Committing layers, and nothing else.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{TravelError, Trip};
use crate::git::finished;

/// How many files go into one command.
const AT_ONCE: usize = 500;

impl Trip {
    /// The layers that HEAD has otherwise, or not at all, below the top folder; gone ones
    /// are among them, what git ignores is not.
    pub fn changed(&self) -> Result<Vec<PathBuf>, TravelError> {
        let flags = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--"];
        let roots: Vec<&Path> = self.places.roots().collect();
        if roots.is_empty() {
            return Ok(Vec::new());
        }
        let done = finished(self.git.question(flags).args(roots))?;
        let entries = done.stdout.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        let files = entries.map(|name| PathBuf::from(OsStr::from_bytes(name)));
        Ok(files.filter(|file| self.places.has(file)).collect())
    }

    /// Commits these files as they are now, and only them, whatever else is staged.
    pub fn commit(&self, files: &[PathBuf], message: &str) -> Result<(), TravelError> {
        for files in files.chunks(AT_ONCE) {
            let mut add = self.git.command(["add", "--all", "--"]);
            finished(add.args(files).env("GIT_LITERAL_PATHSPECS", "1"))?;
        }
        let list = files.iter().map(|file| file.as_os_str().as_bytes()).collect::<Vec<_>>().join(&0);
        let mut names = tempfile::NamedTempFile::new().map_err(crate::git::GitError::Start)?;
        std::io::Write::write_all(&mut names, &list).map_err(crate::git::GitError::Start)?;
        let mut commit = self.git.command(["commit", "--quiet", "--only", "-m", message]);
        commit.args(["--pathspec-file-nul", "--pathspec-from-file"]).arg(names.path());
        finished(commit.env("GIT_LITERAL_PATHSPECS", "1"))?;
        Ok(())
    }
}
