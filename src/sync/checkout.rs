//! What git has to do with a file: asked with git itself, which knows filters and line ends.
//! Nothing here changes a repository.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::files::{Found, final_target};
use crate::git::Git;
use crate::workspace::WorkTree;

/// Whether what a path holds now was put there by git: the file is the blob at HEAD, or it
/// is gone, HEAD has none, and git has what was in it.
pub(super) fn is_put_by_git(path: &Path, found: &Found<String>, before: &str) -> bool {
    let Ok(target) = final_target(path) else { return false };
    let Some(tree) = WorkTree::around(&target) else { return false };
    match found {
        Found::Content(_) => is_at_head(&tree, &target) && is_as_at_head(&tree, &target),
        // An untracked file that is gone was not taken away by a checkout.
        Found::Absent => !is_at_head(&tree, &target) && has_blob(&tree, &target, before),
    }
}

/// What may be layers anywhere in a work tree, by their paths inside of it, in order: what git
/// tracks, and what it would. Without git nothing is known.
pub fn layer_paths(tree: &WorkTree) -> Vec<PathBuf> {
    let mut list = git(tree, ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]);
    // The meaning of stars is asked for here.
    list.env("GIT_LITERAL_PATHSPECS", "0").stdout(Stdio::piped());
    list.arg(":(glob)**/.harness/*.md");
    let Ok(done) = list.output() else { return Vec::new() };
    let names = done.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut paths: Vec<PathBuf> = names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Whether HEAD has the file.
pub(super) fn is_at_head(tree: &WorkTree, file: &Path) -> bool {
    let Ok(inner) = file.strip_prefix(&tree.root) else { return false };
    let mut name = std::ffi::OsString::from("HEAD:");
    name.push(inner);
    succeeds(git(tree, ["cat-file", "-e"]).arg(name))
}

/// Whether the file is what a checkout of HEAD would make it.
fn is_as_at_head(tree: &WorkTree, file: &Path) -> bool {
    let flags = ["diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--"];
    succeeds(git(tree, flags).arg(file))
}

/// Whether git has a blob of what a file said.
fn has_blob(tree: &WorkTree, file: &Path, text: &str) -> bool {
    let Ok(inner) = file.strip_prefix(&tree.root) else { return false };
    let mut hash = git(tree, ["hash-object", "--stdin", "--path"]);
    hash.arg(inner).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = hash.spawn() else { return false };
    let has_taken = child.stdin.take().is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
    let Ok(done) = child.wait_with_output() else { return false };
    let name = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    has_taken && done.status.success() && succeeds(&mut git(tree, ["cat-file", "-e", &name]))
}

fn git<I: IntoIterator<Item = impl AsRef<OsStr>>>(tree: &WorkTree, args: I) -> Command {
    Git::in_folder(&tree.root).question(args)
}

/// Without git on this machine nothing was put there by it.
fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
