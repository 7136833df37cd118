//! What git has to do with a file: asked with git itself, which knows filters and line ends.
//! Nothing here changes a repository.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::files::{Found, final_target};
use crate::workspace::WorkTree;

/// Whether what a path holds now was put there by git: the file is the blob at HEAD, or it
/// is gone and HEAD has none.
pub(super) fn is_put_by_git(path: &Path, found: &Found<String>, was_committed: bool) -> bool {
    let Ok(target) = final_target(path) else { return false };
    let Some(tree) = WorkTree::around(&target) else { return false };
    match found {
        Found::Content(_) => is_at_head(&tree, &target) && is_as_at_head(&tree, &target),
        // An untracked file that is gone was not taken away by a checkout.
        Found::Absent => was_committed && !is_at_head(&tree, &target),
    }
}

/// Whether HEAD has the file.
pub(super) fn is_at_head(tree: &WorkTree, file: &Path) -> bool {
    let Ok(inner) = file.strip_prefix(&tree.root) else { return false };
    let mut name = std::ffi::OsString::from("HEAD:");
    name.push(inner);
    succeeds(git(tree).args(["cat-file", "-e"]).arg(name))
}

/// Whether the file is what a checkout of HEAD would make it.
fn is_as_at_head(tree: &WorkTree, file: &Path) -> bool {
    let flags = ["diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--"];
    succeeds(git(tree).args(flags).arg(file))
}

fn git(tree: &WorkTree) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(&tree.root).args(["-c", "core.fsmonitor=false", "--literal-pathspecs"]);
    // The index is looked at and not written.
    command.env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Without git on this machine nothing was put there by it.
fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
