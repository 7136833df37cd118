//! The root: the folder of the home layers.

use std::fs;
use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::WorkspaceError;

/// Files whose presence makes `~/.pi/agent` the root.
const PI_SIGNS: [&str; 3] = [GLOBAL_FILE, PROJECTS_FOLDER, CONFIG_FILE];

/// The global layer below a root.
pub(crate) const GLOBAL_FILE: &str = "harness-state.md";
/// The folder of the projects' home layers below a root.
pub(crate) const PROJECTS_FOLDER: &str = "harness-state";
const CONFIG_FILE: &str = "harness.json";

/// The folder of the home layers. It need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its absolute path, as it was spelled.
    pub path: PathBuf,
    /// Whether it is pi's: then pi's names and forms are used for what is new. Any path
    /// that ends in `.pi/agent` is, however the root was chosen.
    pub is_pi: bool,
    /// Who chose it.
    pub origin: RootOrigin,
}

/// Who chose the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootOrigin {
    /// `--root`.
    Flag,
    /// `$LAYERS_ROOT`.
    Variable,
    /// `~/.pi/agent`, which holds pi's harness files.
    Pi,
    /// `~/.harness`.
    Default,
}

impl Root {
    /// `--root`, else `$LAYERS_ROOT`, else `~/.pi/agent` if it holds harness files, else
    /// `~/.harness`.
    pub fn discover(env: &Env) -> Result<Self, WorkspaceError> {
        let given = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let folder = |path: PathBuf, origin| {
            let root = Self::new(&env.cwd.join(path), origin);
            match fs::metadata(&root.path) {
                Ok(found) if !found.is_dir() => Err(WorkspaceError::NoFolder { path: root.path }),
                _ => Ok(root),
            }
        };
        if let Some(path) = given(&env.root_option) {
            return folder(path, RootOrigin::Flag);
        }
        if let Some(path) = given(&env.layers_root) {
            return folder(path, RootOrigin::Variable);
        }
        let home = given(&env.home).ok_or(WorkspaceError::NoHome)?;
        let home = env.cwd.join(home);
        let pi = home.join(".pi/agent");
        // A link counts even if it dangles: an unmounted disk must not change the root.
        if PI_SIGNS.iter().any(|sign| fs::symlink_metadata(pi.join(sign)).is_ok()) {
            return Ok(Self::new(&pi, RootOrigin::Pi));
        }
        Ok(Self::new(&home.join(".harness"), RootOrigin::Default))
    }

    fn new(path: &Path, origin: RootOrigin) -> Self {
        // Components drop a trailing slash and `.`, which pi's ending is compared without.
        let path: PathBuf = path.components().collect();
        let is_pi = path.ends_with(".pi/agent")
            || fs::canonicalize(&path).is_ok_and(|real| real.ends_with(".pi/agent"));
        Self { path, is_pi, origin }
    }

    /// The global layer's path.
    pub fn global_path(&self) -> PathBuf {
        self.path.join(GLOBAL_FILE)
    }

    /// The path of a project's home layer, by key or pi slug.
    pub fn home_path(&self, name: &str) -> PathBuf {
        self.path.join(PROJECTS_FOLDER).join(format!("{name}.md"))
    }

    /// The configuration's path.
    pub fn config_path(&self) -> PathBuf {
        self.path.join(CONFIG_FILE)
    }

    /// Whether a folder is the root itself, however spelled: with `~` as a work tree, its
    /// `.harness` is the root and no folder of repo layers.
    pub(crate) fn is_at(root: &Path, folder: &Path) -> bool {
        root == folder
            || fs::canonicalize(folder)
                .is_ok_and(|folder| fs::canonicalize(root).is_ok_and(|root| root == folder))
    }
}
