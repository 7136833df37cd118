//! Which root, which project, which layers: one answer for every command, hook and server.
//!
//! [`Workspace::discover`] is the only way to get it. What it depends on is in [`Env`],
//! so that the same question asked from a test, a hook or a server has the same answer.
//!
//! # Which project
//!
//! The key is the first of: `--project`, `$LAYERS_PROJECT`, `$RLM_PROJECT_NAME`; the file
//! stem of the nearest repo layer; a `projects` entry of the configuration; the name of
//! the main work tree's folder; the name of the working directory.
//!
//! Of several layers in the nearest `.harness` folder, the one that has the key found
//! without them is the project's; if none has, none is read and that is a [`Notice`].
//! A `README.md` there is no layer.
//!
//! # Which layers
//!
//! A layer of another key is another project's, also if it lies in an outer folder of the
//! same work tree: a package with its own key does not see its monorepo's notes (they are
//! in [`Workspace::others`]). To share them, give both files the same name.
//!
//! pi names a project's private layer after the whole path of its session's directory.
//! Such a file is one more name of the home layer, so it is looked for under the working
//! directory, the work tree's root and the main work tree's root: subdirectories and
//! linked worktrees see one project. It belongs to the directory: with a key given by
//! hand that is not the directory's own, it is another project's file and not in reach.
//! Nor is one whose slug has lost a whole folder's name, since other directories share it.
//!
//! # Whose they are
//!
//! A key is a label: unrelated repositories may have one. [`Owners`] tells which names are
//! this project's own; a home layer of another project is not in reach, and this one's has
//! another name. A key given by hand, or by the configuration, is meant as it is.

mod env;
mod error;
mod git;
mod home;
mod key;
mod layer;
mod owner;
mod repo;
mod root;
mod trust;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::note::LayerKind;
pub use env::Env;
pub use error::{Notice, Refusal, Renaming, WorkspaceError};
pub use git::WorkTree;
pub use home::{ProjectLayer, all_projects};
pub use key::{KeyOrigin, Project};
pub use layer::{LayerRef, LayerState};
pub use owner::{Answer, AtTheirWord, Owned, Owners, Question, Site};
pub use repo::layers_of_tree;
pub use root::{Root, RootOrigin};
pub use trust::{Distrust, Grant, Trust, Trusting};

use crate::files::Action;
use key::Places;

/// Where things are, for one working directory.
#[derive(Debug)]
pub struct Workspace {
    /// The folder of the home layers.
    pub root: Root,
    /// Whose notes are in reach.
    pub project: Project,
    /// The layers in reach, lowest precedence first. The global layer and the home layer
    /// that is written are always here, the others only if something stands at their path.
    pub layers: Vec<LayerRef>,
    /// Layers on the way that belong to other keys, or may; not in reach, and not read.
    pub others: Vec<PathBuf>,
    /// What a person should know about; nothing here stops a command.
    pub notices: Vec<Notice>,
    /// Whether the repo layers of the work tree count; [`Trust::Own`] outside of one.
    pub trust: Trust,
    /// Where repo layers of the project would be and are not, outer first; see
    /// [`Workspace::take_in`].
    absent: Vec<PathBuf>,
    /// Likewise the home layers that would be read beside the one that is written.
    absent_home: Vec<LayerRef>,
}

impl Workspace {
    /// Answers which root, which project and which layers. Reads no layer, writes
    /// nothing, starts no process; its cost does not depend on how many projects the
    /// root holds. `projects` are the configuration's entries, path prefix to key; the
    /// configuration lies in the root, so see [`Root::discover`]. Keys are taken at their
    /// word: two projects of one name share their private notes. Repo layers are untrusted.
    pub fn discover(env: &Env, projects: &BTreeMap<String, String>) -> Result<Self, WorkspaceError> {
        Self::discover_in(Root::discover(env)?, env, projects, &AtTheirWord, &AtTheirWord)
    }

    /// [`Workspace::discover`] with a root that is known already, with somebody who knows
    /// whose a name is, and with somebody who knows which repositories are trusted.
    pub fn discover_in(
        root: Root,
        env: &Env,
        projects: &BTreeMap<String, String>,
        owners: &dyn Owners,
        trusting: &dyn Trusting,
    ) -> Result<Self, WorkspaceError> {
        let cwd = fs::canonicalize(&env.cwd).map_err(|source| WorkspaceError::Io {
            action: Action::Inspect,
            path: env.cwd.clone(),
            source,
        })?;
        let mut notices = Vec::new();
        let work_tree = git::work_tree_of(&cwd, &mut notices);
        let folders = match &work_tree {
            Some(tree) => repo::layer_folders(tree, &cwd, &root.path, &mut notices),
            None => Vec::new(),
        };
        let places = Places { cwd: &cwd, cwd_as_given: &env.cwd, work_tree: work_tree.as_ref() };
        let found = key::find(env, projects, &folders, &places, &mut notices)?;
        let pi_names = places.pi_names();

        let trust = work_tree.as_ref().map_or(Trust::Own, |tree| trusting.trust(tree));
        let mut layers = vec![home::global(&root)];
        let mut others = Vec::new();
        if let Some(tree) = &work_tree {
            repo::layers_in_reach(&folders, &found.key, (tree, &trust), &mut layers, &mut others);
            notices.extend(repo::untrusted(tree, &trust, &layers));
        }
        let absent = match &work_tree {
            Some(tree) => repo::absent_layers(&found.key, tree, &cwd, &root.path, &layers),
            None => Vec::new(),
        };
        others.extend(home::present(&root, &pi_names.doubtful));
        let pi_names = if found.is_own {
            pi_names.usable
        } else {
            others.extend(home::present(&root, &pi_names.usable));
            Vec::new()
        };
        let site = Site::of(&cwd, work_tree.as_ref());
        let (project, notice) =
            owner::own(&root, found, &pi_names, site, work_tree, trust.is_trusted(), owners);
        others.extend(home::present(&root, &project.foreign_names));
        notices.extend(notice);
        home::layers_of(&root, &project, &mut layers, &mut notices);
        let absent_home = home::absent_layers(&root, &project, &layers);
        // A name that is doubtful for one directory may be this very project's by another.
        others.retain(|other| layers.iter().all(|layer| layer.path != *other));
        for (precedence, layer) in layers.iter_mut().enumerate() {
            layer.precedence = precedence;
        }
        Ok(Self { root, project, layers, others, notices, trust, absent, absent_home })
    }

    /// Takes in the layers whose files are gone, where somebody knows that there was one:
    /// that a file disappeared can only be told of a layer in reach.
    pub fn take_in(&mut self, is_known: impl Fn(&Path) -> bool) {
        let gone = std::mem::take(&mut self.absent_home).into_iter().filter(|layer| is_known(&layer.path));
        // The last one is that which is written.
        let last = self.layers.len().saturating_sub(1);
        self.layers.splice(last..last, gone);
        let tree = self.project.work_tree.as_ref();
        let absent = std::mem::take(&mut self.absent).into_iter().filter(|path| is_known(path));
        for (path, tree) in absent.filter_map(|path| Some((path, tree?))) {
            let layer = repo::layer(path, &self.project.label, (tree, &self.trust), None);
            // By depth, which is by length for folders on one way, behind the global layer.
            let is_before = |other: &LayerRef| match other.kind {
                LayerKind::Global => true,
                LayerKind::Repo => other.path.as_os_str().len() < layer.path.as_os_str().len(),
                LayerKind::Home => false,
            };
            let place = self.layers.iter().take_while(|other| is_before(other)).count();
            self.layers.insert(place, layer);
        }
        for (precedence, layer) in self.layers.iter_mut().enumerate() {
            layer.precedence = precedence;
        }
    }

    /// The global layer.
    pub fn global_layer(&self) -> Option<&LayerRef> {
        self.layers.iter().find(|layer| layer.kind == LayerKind::Global)
    }

    /// The home layer that new private notes of the project go to.
    pub fn home_layer(&self) -> Option<&LayerRef> {
        self.layers.iter().rfind(|layer| layer.kind == LayerKind::Home)
    }

    /// The repo layer that new shared notes go to: the innermost in reach, else a new one
    /// at the work tree's root. `None` outside a work tree,
    /// and where the root takes the place (`~` as a work tree).
    pub fn repo_layer(&self) -> Option<LayerRef> {
        let present = self.layers.iter().rfind(|layer| layer.kind == LayerKind::Repo).cloned();
        present.or_else(|| {
            let tree = self.project.work_tree.as_ref()?;
            repo::new_layer(&self.root.path, &self.project.label, (tree, &self.trust))
        })
    }

    /// The layer at a path, however the path is spelled.
    pub fn layer_at(&self, path: &Path) -> Option<&LayerRef> {
        self.layers.iter().find(|layer| layer.path == path).or_else(|| {
            let real = fs::canonicalize(path).ok()?;
            self.layers.iter().find(|layer| fs::canonicalize(&layer.path).is_ok_and(|it| it == real))
        })
    }
}
