//! git, for layers in repositories and for a root that is a work tree.

use std::ffi::OsStr;
use std::path::Path;

use super::Examined;
use crate::document::Severity;
use crate::git::{Git, findings};
use crate::workspace::WorkTree;

/// The first git with `merge-tree --write-tree`, which `layers git sync` merges with.
const MERGES_ASIDE: (u32, u32) = (2, 38);

/// Looks at git and the work tree around a folder.
pub fn around(folder: &Path) -> Examined {
    let mut examined = Examined::new("git", "");
    let Some(version) = version() else {
        examined.summary.push_str("not found");
        examined.find(
            Severity::Note,
            "git is not installed, or not on the PATH",
            "install it for layers in repositories and for `layers git sync`; all else works without",
        );
        return examined;
    };
    examined.summary.clone_from(&version.0);
    if let Some(tree) = WorkTree::around(&folder.join("x"))
        && let Some(what) = tree.under_way()
    {
        examined.find(
            Severity::Note,
            format!(
                "git is in the middle of {what} in {}; until then nothing is written there",
                tree.root.display()
            ),
            "finish it, or give it up with git's --abort",
        );
    }
    examined
}

/// Looks at the merge driver of the clone around a folder; `path` is `$PATH`.
pub fn driver(folder: &Path, path: Option<&OsStr>) -> Option<Examined> {
    let tree = WorkTree::around(&folder.join("x"))?;
    let found = findings(&tree, path).ok()?;
    let mut examined = Examined::new("driver", format!("git merges layers in {}", tree.root.display()));
    for finding in found {
        examined.find(
            Severity::Warning,
            finding.to_string(),
            "`layers git install` sets it up in this clone",
        );
    }
    Some(examined)
}

/// Looks at a root that is a work tree; `None` if it is none.
pub fn home(root: &Path) -> Option<Examined> {
    let real = std::fs::canonicalize(root).ok()?;
    let tree = WorkTree::around(&real.join("x")).filter(|tree| tree.root == real)?;
    let git = Git::in_folder(&tree.root);
    let remotes = git.ask(["remote"]).unwrap_or_default();
    let mut examined = Examined::new("travel", format!("{} is a git work tree", root.display()));
    if remotes.is_empty() {
        examined.find(
            Severity::Note,
            "it has no remote, so its layers stay on this machine",
            "`git remote add origin URL` there, then `layers git sync`",
        );
    }
    let is_old = version().is_some_and(|(_, number)| number < MERGES_ASIDE);
    if is_old {
        examined.find(
            Severity::Warning,
            "this git is too old for `layers git sync` to merge what others did",
            format!("update git to {}.{} or newer", MERGES_ASIDE.0, MERGES_ASIDE.1),
        );
    }
    Some(examined)
}

/// What git calls itself, and the first two numbers of it.
fn version() -> Option<(String, (u32, u32))> {
    let said = Git::in_folder(Path::new("/")).ask(["--version"]).ok()?;
    let mut numbers = said.split(' ').nth(2)?.split('.').map(|number| number.parse().unwrap_or(0));
    let number = (numbers.next()?, numbers.next()?);
    Some((said, number))
}
