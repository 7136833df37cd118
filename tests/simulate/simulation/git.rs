//! A repository with two work trees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness_layers::workspace::WorkTree;

use super::schedule::GitAct;
use super::world::World;

/// Where a work tree has its repo layer.
const LAYER: &str = ".harness/app.md";

pub(super) struct Repository {
    /// The main work tree and a linked one.
    pub(super) trees: Vec<PathBuf>,
    home: PathBuf,
}

impl Repository {
    /// With one commit that has the layer.
    pub(super) fn begin(dir: &Path, text: &str) -> Self {
        let trees = vec![dir.join("app"), dir.join("side")];
        let repository = Self { trees, home: dir.to_owned() };
        fs::create_dir_all(repository.trees[0].join(".harness")).unwrap();
        fs::write(repository.trees[0].join(LAYER), text).unwrap();
        let steps: [&[&str]; 4] = [
            &["init", "-q", "--template=", "-b", "b0"],
            &["add", "-A"],
            &["commit", "-qm", "begin"],
            &["worktree", "add", "-q", "-b", "side", "../side"],
        ];
        for args in steps {
            assert!(repository.runs(0, args), "git {args:?}");
        }
        repository
    }

    /// Runs git; whether it did what it was asked. It may refuse, as it does in life.
    fn runs(&self, tree: usize, args: &[&str]) -> bool {
        Command::new("git")
            .args(["-c", "gc.auto=0", "-c", "core.fsync=none", "-c", "advice.detachedHead=false"])
            .args(args)
            .current_dir(&self.trees[tree])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
            .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .env("GIT_EDITOR", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    }

    /// What is under way in a work tree.
    fn under_way(&self, tree: usize) -> Option<&'static str> {
        WorkTree::around(&self.trees[tree].join(LAYER))?.under_way()
    }

    /// Whether the layer of a work tree is as HEAD has it.
    fn is_clean(&self, tree: usize) -> bool {
        self.runs(tree, &["diff", "--quiet", "HEAD", "--", LAYER])
    }

    fn acts(&self, tree: usize, act: GitAct) {
        let branch = |number: usize| format!("b{number}");
        match act {
            GitAct::Commits => self.commits(tree),
            GitAct::ChecksOut(number) => {
                let branch = branch(number);
                if !self.runs(tree, &["checkout", "-q", &branch]) {
                    self.runs(tree, &["checkout", "-q", "-b", &branch]);
                }
            }
            GitAct::Resets(back) => {
                let target = if back == 0 { "HEAD" } else { "HEAD~1" };
                self.runs(tree, &["reset", "-q", "--hard", target]);
            }
            GitAct::Stashes => drop(self.runs(tree, &["stash", "-q"])),
            GitAct::Unstashes => drop(self.runs(tree, &["stash", "pop", "-q"])),
            GitAct::Merges(number) => drop(self.runs(tree, &["merge", "-q", "--no-edit", &branch(number)])),
            GitAct::Rebases(number) => drop(self.runs(tree, &["rebase", "-q", &branch(number)])),
            GitAct::Picks(number) => drop(self.runs(tree, &["cherry-pick", &branch(number)])),
            GitAct::Aborts => {
                if let Some(command) = self.command_under_way(tree) {
                    self.runs(tree, &[command, "--abort"]);
                }
            }
            GitAct::Resolves => {
                let Some(command) = self.command_under_way(tree) else { return };
                self.runs(tree, &["checkout", "-q", "--theirs", "--", LAYER]);
                self.runs(tree, &["add", "-A"]);
                self.runs(tree, &[command, "--continue"]);
            }
        }
    }

    fn commits(&self, tree: usize) {
        self.runs(tree, &["add", "-A"]);
        self.runs(tree, &["commit", "-qm", "more"]);
    }

    fn command_under_way(&self, tree: usize) -> Option<&'static str> {
        match self.under_way(tree)? {
            "a merge" => Some("merge"),
            "a rebase" => Some("rebase"),
            "a cherry-pick" => Some("cherry-pick"),
            _ => None,
        }
    }
}

impl World {
    /// The number of a work tree's repo layer.
    fn layer_of_tree(tree: usize) -> usize {
        2 + tree
    }

    pub(super) fn git(&mut self, tree: usize, act: GitAct) {
        let Some(repository) = &self.repository else { return };
        let layer = Self::layer_of_tree(tree);
        let before = self.read(layer);
        repository.acts(tree, act);
        let after = self.read(layer);
        self.oracle.git_put(layer, &before, &after);
    }

    /// The layers that nothing may be written into now.
    pub(super) fn under_way(&self) -> Vec<usize> {
        let Some(repository) = &self.repository else { return Vec::new() };
        let trees = 0..repository.trees.len();
        trees.filter(|tree| repository.under_way(*tree).is_some()).map(Self::layer_of_tree).collect()
    }

    /// Whether git put the repo layer of a work tree there as it is.
    pub(super) fn is_of_git(&self, tree: usize) -> Option<usize> {
        let repository = self.repository.as_ref()?;
        let is_there = self.layers[Self::layer_of_tree(tree)].path.exists();
        (is_there && repository.is_clean(tree)).then(|| Self::layer_of_tree(tree))
    }
}
