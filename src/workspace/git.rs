//! Work trees, read off git's own files: a git process costs a millisecond, and the
//! block is rendered every turn.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::Notice;
use crate::files::{Found, read_bytes};

/// A checkout of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    /// Its top folder, without links.
    pub root: PathBuf,
    /// The folder that all work trees of the repository share, without links.
    pub common_dir: PathBuf,
    /// The folder of this work tree alone: its HEAD, its index, a merge that goes on.
    pub git_dir: PathBuf,
    /// The folder that names the repository: the main work tree's top folder, or the bare
    /// repository's. A submodule is a repository of its own.
    pub main: PathBuf,
}

/// What stands in a git folder while something goes on that writes the work tree itself.
const UNDER_WAY: [(&str, &str); 5] = [
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
];

impl WorkTree {
    /// The work tree that holds a file, if one does. Links in its path are followed.
    pub fn around(file: &Path) -> Option<Self> {
        let folder = file.ancestors().skip(1).find_map(|folder| fs::canonicalize(folder).ok())?;
        work_tree_of(&folder, &mut Vec::new())
    }

    /// What git is in the middle of here, for people; nothing is to be written meanwhile.
    pub fn under_way(&self) -> Option<&'static str> {
        let is_there = |name: &str| fs::symlink_metadata(self.git_dir.join(name)).is_ok();
        UNDER_WAY.into_iter().find(|(name, _)| is_there(name)).map(|(_, what)| what)
    }

    /// Whether the repository knows this work tree as its own. That a folder says so of
    /// itself is no proof: whoever made it could have written any `gitdir:` there.
    pub fn is_acknowledged(&self) -> bool {
        let dot_git = self.root.join(".git");
        if self.common_dir == dot_git {
            return true;
        }
        // Where git keeps what is of a linked one alone, it notes where that is.
        let Ok(Found::Content(back)) = read_bytes(&self.git_dir.join("gitdir")) else { return false };
        self.git_dir.starts_with(&self.common_dir)
            && fs::canonicalize(self.git_dir.join(path_of(trimmed(&back)))).is_ok_and(|back| back == dot_git)
    }

    /// Whether this is not the main work tree.
    pub fn is_linked(&self) -> bool {
        self.main != self.root
    }

    /// The name of the repository's folder, without a bare repository's `.git`.
    pub(crate) fn name(&self) -> Option<String> {
        let name = super::key::name_of(&self.main)?;
        // `x.git` as a checkout keeps its name; only a bare folder has it from git.
        let bare = self.main == self.common_dir;
        Some(match name.strip_suffix(".git").filter(|rest| bare && !rest.is_empty()) {
            Some(rest) => rest.to_owned(),
            None => name,
        })
    }
}

/// The work tree that holds a folder (which must be free of links).
///
/// Git files that lead nowhere are no reason to give up: a linked work tree that is
/// mounted into a container without its repository looks like this. Its path still says
/// the name, and the notice says the rest.
pub(crate) fn work_tree_of(cwd: &Path, notices: &mut Vec<Notice>) -> Option<WorkTree> {
    for root in cwd.ancestors() {
        let dot_git = root.join(".git");
        match fs::metadata(&dot_git) {
            // As git does: a folder without HEAD is no repository (an empty `.git` is
            // sometimes left to stop other tools).
            Ok(metadata) if metadata.is_dir() && fs::symlink_metadata(dot_git.join("HEAD")).is_err() => {}
            Ok(metadata) => return Some(describe(root, &dot_git, metadata.is_dir(), notices)),
            Err(error) if is_nothing(&error) => {}
            Err(error) => notices.push(broken(&dot_git, &error)),
        }
    }
    None
}

fn describe(root: &Path, dot_git: &Path, is_folder: bool, notices: &mut Vec<Notice>) -> WorkTree {
    let git_dir =
        if is_folder { Ok(dot_git.to_owned()) } else { gitdir_in(dot_git).map(|path| root.join(path)) };
    let git_dir = git_dir.unwrap_or_else(|problem| {
        notices.push(broken(dot_git, &problem));
        dot_git.to_owned()
    });
    let git_dir = fs::canonicalize(&git_dir).unwrap_or_else(|error| {
        notices.push(broken(&git_dir, &error));
        git_dir
    });
    let common_dir = common_dir(&git_dir).unwrap_or_else(|problem| {
        notices.push(broken(&git_dir, &problem));
        git_dir.clone()
    });
    // Without a common dir of its own it is an ordinary repository, a submodule, or one
    // whose git folder was put elsewhere: always the main work tree of its repository.
    let main = if common_dir == git_dir { root.to_owned() } else { main_folder(&common_dir) };
    WorkTree { root: root.to_owned(), common_dir, git_dir, main }
}

/// `gitdir: PATH` in a `.git` file.
fn gitdir_in(dot_git: &Path) -> Result<PathBuf, String> {
    let bytes = read_bytes(dot_git).map_err(|error| error.to_string())?.content().unwrap_or_default();
    match bytes.strip_prefix(b"gitdir:").map(trimmed) {
        Some(path) if !path.is_empty() => Ok(path_of(path)),
        _ => Err("not a git folder and no `gitdir:` line".to_owned()),
    }
}

/// The shared folder of a git folder: itself, unless it says otherwise.
fn common_dir(git_dir: &Path) -> Result<PathBuf, String> {
    let shared = match read_bytes(&git_dir.join("commondir")).map_err(|error| error.to_string())? {
        Found::Content(bytes) => git_dir.join(path_of(trimmed(&bytes))),
        // Not there to be asked: `REPOSITORY/worktrees/NAME` is where git puts them.
        Found::Absent if !git_dir.exists() && is_worktrees(git_dir.parent()) => {
            return Ok(git_dir.ancestors().nth(2).unwrap_or(git_dir).to_owned());
        }
        Found::Absent => return Ok(git_dir.to_owned()),
    };
    fs::canonicalize(&shared).map_err(|error| format!("cannot follow {}: {error}", shared.display()))
}

fn is_worktrees(folder: Option<&Path>) -> bool {
    folder.is_some_and(|folder| folder.ends_with("worktrees"))
}

/// The folder that names a repository, from a linked work tree.
fn main_folder(common_dir: &Path) -> PathBuf {
    let parent = common_dir.parent().unwrap_or(common_dir);
    if common_dir.ends_with(".git") {
        return parent.to_owned();
    }
    // The git folder of a submodule names its work tree.
    if let Ok(Found::Content(config)) = read_bytes(&common_dir.join("config"))
        && let Some(path) = core_worktree(&String::from_utf8_lossy(&config))
        && let Ok(main) = fs::canonicalize(common_dir.join(path))
    {
        return main;
    }
    // `project/.bare` with its work trees beside it: the project's folder has the name.
    let hidden = common_dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    if hidden { parent.to_owned() } else { common_dir.to_owned() }
}

/// `core.worktree` of a git configuration. Only what git itself writes there is understood.
fn core_worktree(config: &str) -> Option<String> {
    let mut in_core = false;
    let mut found = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line.eq_ignore_ascii_case("[core]");
        } else if in_core
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            found = Some(unquoted(value.trim()));
        }
    }
    found
}

fn unquoted(value: &str) -> String {
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => value.to_owned(),
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    // Git strips line ends only; a path may end in a space.
    let bytes = bytes.strip_prefix(b" ").unwrap_or(bytes);
    let end = bytes.iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |at| at + 1);
    &bytes[..end]
}

fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn broken(path: &Path, problem: &dyn std::fmt::Display) -> Notice {
    Notice::BrokenGit { path: path.to_owned(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_worktree_is_read_from_its_section_only() {
        let config = "[core]\n\tbare = false\n\tworktree = ../../../sub\n[other]\n\tworktree = x\n";
        assert_eq!(core_worktree(config).as_deref(), Some("../../../sub"));
        assert_eq!(core_worktree("[other]\nworktree = x\n"), None);
        assert_eq!(core_worktree("[CORE]\nWorkTree = \"a \\\"b\\\"\"").as_deref(), Some("a \"b\""));
    }

    #[test]
    fn only_line_ends_are_cut_from_a_path() {
        assert_eq!(trimmed(b" /a b \r\n"), b"/a b ");
        assert_eq!(trimmed(b"\n"), b"");
    }
}
