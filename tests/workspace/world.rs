//! A sealed world for discovery.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use harness_layers::slug::pi_slug;
use harness_layers::workspace::{
    AtTheirWord, Env, Grant, LayerKind, LayerRef, Root, Trust, Trusting, WorkTree, Workspace,
};
use tempfile::TempDir;

/// Trusts every repository.
pub(crate) struct Everywhere;

impl Trusting for Everywhere {
    fn trust(&self, _tree: &WorkTree) -> Trust {
        Trust::Granted(Grant { id: 1, is_pinned: false })
    }
}

/// A sealed world: a home folder, a place for repositories, nothing else.
pub(crate) struct World {
    _dir: TempDir,
    pub(crate) at: PathBuf,
    pub(crate) projects: BTreeMap<String, String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let at = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(at.join("home")).unwrap();
        Self { _dir: dir, at, projects: BTreeMap::new() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.at.join(path)
    }

    pub(crate) fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn folder(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn git(&self, folder: &str, args: &[&str]) {
        let run = Command::new("git")
            .args(args)
            .current_dir(self.path(folder))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
            .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .output()
            .unwrap();
        assert!(run.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&run.stderr));
    }

    /// A repository with one commit.
    pub(crate) fn repo(&self, path: &str) -> PathBuf {
        let folder = self.folder(path);
        self.git(path, &["init", "-q", "-b", "main"]);
        self.git(path, &["add", "-A"]);
        self.git(path, &["commit", "-q", "--allow-empty", "-m", "first"]);
        folder
    }

    pub(crate) fn env(&self, cwd: &str) -> Env {
        Env { home: Some(self.path("home")), cwd: self.path(cwd), ..Env::default() }
    }

    pub(crate) fn at(&self, cwd: &str) -> Workspace {
        self.with(&self.env(cwd))
    }

    pub(crate) fn with(&self, env: &Env) -> Workspace {
        let root = Root::discover(env).unwrap();
        Workspace::discover_in(root, env, &self.projects, &AtTheirWord, &Everywhere).unwrap()
    }

    pub(crate) fn key(&self, cwd: &str) -> String {
        self.at(cwd).project.key
    }

    /// The layers in reach as paths of this world.
    pub(crate) fn layers(&self, workspace: &Workspace) -> Vec<String> {
        let paths = workspace.layers.iter().map(|layer| &layer.path);
        paths.map(|path| path.strip_prefix(&self.at).unwrap().to_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn slug(&self, path: &str) -> String {
        pi_slug(self.path(path).to_str())
    }
}

pub(crate) fn repo_layer(workspace: &Workspace) -> &LayerRef {
    workspace.layers.iter().find(|layer| layer.kind == LayerKind::Repo).expect("a repo layer")
}
