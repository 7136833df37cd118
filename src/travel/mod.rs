//! Layers to and from other machines and people by git, for a root that is a work tree.
//!
//! Only layers are committed; what others did is merged without touching the work tree
//! (`git merge-tree`) and then taken as a fast-forward, which git refuses as a whole where a
//! file in the way has changed. So there is no half-merged tree at any time, nothing is
//! forced, and a step that failed can be done again.

mod commit;
mod error;
mod merge;
mod places;
mod remote;

use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::workspace::WorkTree;

pub use error::TravelError;
pub use merge::{Clash, Merged, Taken};
pub use places::Places;
pub use remote::{Fetched, Pushed};

/// The way between one work tree and its remote.
#[derive(Debug)]
pub struct Trip {
    git: Git,
    /// The work tree's top folder, without links.
    top: PathBuf,
    places: Places,
    branch: String,
    remote: Option<Remote>,
}

/// Where the layers go.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Remote {
    name: String,
    /// The branch's name there.
    branch: String,
    /// What is known of that branch here.
    tracking: String,
    /// Whether the branch is set up to follow it.
    is_upstream: bool,
}

impl Trip {
    /// Looks at a work tree with layers. Refused where git is in the middle of something,
    /// and where no branch is checked out.
    pub fn of(tree: &WorkTree, places: Places) -> Result<Self, TravelError> {
        if let Some(what) = tree.under_way() {
            return Err(TravelError::UnderWay { top: tree.root.clone(), what });
        }
        let git = Git::in_folder(&tree.root);
        let branch = git
            .ask(["symbolic-ref", "--short", "-q", "HEAD"])
            .map_err(|error| error::or(error, TravelError::Detached { top: tree.root.clone() }))?;
        let remote = Remote::of(&git, &branch)?;
        Ok(Self { git, top: tree.root.clone(), places, branch, remote })
    }

    /// The work tree's top folder.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Where the layers go, as `origin/main`; `None` without a remote.
    pub fn destination(&self) -> Option<String> {
        self.remote.as_ref().map(|remote| format!("{}/{}", remote.name, remote.branch))
    }

    /// The commit a name stands for, if there is one.
    fn commit_of(&self, name: &str) -> Option<String> {
        self.git.ask(["rev-parse", "--verify", "-q", &format!("{name}^{{commit}}")]).ok()
    }

    fn is_ancestor(&self, one: &str, other: &str) -> bool {
        self.git.ask(["merge-base", "--is-ancestor", one, other]).is_ok()
    }
}
