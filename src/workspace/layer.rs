//! One layer in reach, and the only ways to read and write it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Refusal, WorkspaceError};
use super::git::WorkTree;
use super::repo::refusal_of;
use super::trust::{Trust, Trusting};
use crate::files::{self, Expected, Found, NewFile, Wrote};
use crate::note::LayerKind;

/// What stood at a layer's path when it was looked for. A hint for listings: only reading
/// tells for sure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerState {
    /// Something is there, or it could not be seen that nothing is.
    Present,
    /// Nothing.
    Absent,
    /// A repo layer that leads to where it may not.
    Refused(Refusal),
    /// A home layer of which nobody can tell whose it is, and why.
    Unknown(String),
}

impl LayerState {
    pub(crate) fn of(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Absent,
            _ => Self::Present,
        }
    }
}

/// A layer in reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerRef {
    /// The file, as it is spelled: links are followed when it is read or written.
    pub path: PathBuf,
    /// Where it lives.
    pub kind: LayerKind,
    /// What the project is called there: its key, or its label in a repo layer; `None` for
    /// the global layer.
    pub project: Option<String>,
    /// Its place among [`Workspace::layers`](super::Workspace::layers); higher wins.
    pub precedence: usize,
    /// What stood there.
    pub state: LayerState,
    /// Whether it counts and may be written.
    pub trust: Trust,
    /// What a repo layer must stay inside.
    pub(crate) work_tree: Option<WorkTree>,
}

impl LayerRef {
    /// A project's private layer at a path; not one that is in reach of a working directory.
    pub fn home(path: PathBuf, project: &str) -> Self {
        let state = LayerState::of(&path);
        let project = Some(project.to_owned());
        Self {
            path,
            kind: LayerKind::Home,
            project,
            precedence: 0,
            state,
            trust: Trust::Own,
            work_tree: None,
        }
    }

    /// Its text. A layer that is refused, or nobody knows whose, is not read.
    pub fn read_text(&self) -> Result<Found<String>, WorkspaceError> {
        self.refuse()?;
        Ok(files::read_text(&self.path)?)
    }

    /// Puts `bytes` there if it still is as `expected`; see [`files::replace()`]. What is not
    /// read is not written either, nor is what nobody has trusted.
    pub fn replace(&self, expected: Expected<'_>, bytes: &[u8]) -> Result<Wrote, WorkspaceError> {
        self.trusted()?;
        self.refuse()?;
        Ok(files::replace(&self.path, expected, bytes, self.new_file())?)
    }

    /// An error if the layer neither counts nor may be written.
    pub fn trusted(&self) -> Result<(), WorkspaceError> {
        match &self.trust {
            Trust::Untrusted(why) => {
                Err(WorkspaceError::Untrusted { path: self.path.clone(), why: why.clone() })
            }
            Trust::Own | Trust::Granted(_) => Ok(()),
        }
    }

    /// The same layer, asked anew whether it is trusted.
    #[must_use]
    pub fn looked_at(&self, trusting: &dyn Trusting) -> Self {
        let trust = self.work_tree.as_ref().map(|tree| trusting.trust(tree));
        Self { trust: trust.unwrap_or_else(|| self.trust.clone()), ..self.clone() }
    }

    /// Its path inside its work tree; none outside of one.
    pub fn inner_path(&self) -> Option<&Path> {
        self.path.strip_prefix(&self.work_tree.as_ref()?.root).ok()
    }

    /// How a new file is made there.
    pub const fn new_file(&self) -> NewFile {
        match self.kind {
            LayerKind::Global | LayerKind::Home => NewFile::Private,
            LayerKind::Repo => NewFile::Umask,
        }
    }

    /// Looked at anew each time: a pull may have put a link there since.
    fn refuse(&self) -> Result<(), WorkspaceError> {
        let refusal = match (&self.state, &self.work_tree) {
            (LayerState::Unknown(problem), _) => {
                return Err(WorkspaceError::Store { problem: problem.clone() });
            }
            (LayerState::Refused(refusal), _) => Some(refusal.clone()),
            (_, Some(tree)) => refusal_of(tree, &self.path),
            (_, None) => None,
        };
        match refusal {
            Some(refusal) => Err(WorkspaceError::Refused { path: self.path.clone(), refusal }),
            None => Ok(()),
        }
    }
}
