//! The way that a path leads: each link on it, wherever it stands, and its end. An event at
//! any of these may mean that the path holds something else now. Pure but for [`look`].

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf, absolute};

/// As many links in a row as Linux follows.
const MAX_LINKS: usize = 40;

/// What stands at a path, as far as it matters for where a path leads.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Folder,
    Link(PathBuf),
    /// A file, nothing, or nobody can tell.
    Other,
}

/// What stands at a path.
pub(super) fn look(path: &Path) -> Entry {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Entry::Folder,
        Ok(found) if found.is_symlink() => fs::read_link(path).map_or(Entry::Other, Entry::Link),
        _ => Entry::Other,
    }
}

/// The entries of folders on which it depends where a path leads, as the kernel walks it:
/// each link, and last the file, or what is missing first on the way there. The folders that
/// hold them are spelled without links.
pub(super) fn way(path: &Path, look: impl Fn(&Path) -> Entry) -> Vec<PathBuf> {
    let mut entries = Vec::new();
    let mut at = PathBuf::from("/");
    // The next name last.
    let mut ahead = names(&absolute(path).unwrap_or_else(|_| path.to_owned()));
    while let Some(name) = ahead.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        let entry = at.join(name);
        match look(&entry) {
            Entry::Folder if !ahead.is_empty() => at = entry,
            Entry::Link(target) if entries.len() < MAX_LINKS => {
                entries.push(entry);
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                ahead.extend(names(&target));
            }
            Entry::Folder | Entry::Link(_) | Entry::Other => {
                entries.push(entry);
                break;
            }
        }
    }
    entries
}

/// The names in a path, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk of folders and links; all else is a file or nothing.
    fn disk(path: &Path) -> Entry {
        match path.to_str().expect("text") {
            "/home" | "/home/u" | "/repo" | "/repo/.harness" | "/disk" | "/disk/notes" => Entry::Folder,
            "/home/u/.harness" => Entry::Link("../../disk/notes".into()),
            "/repo/.harness/shop.md" => Entry::Link("/disk/now/shop.md".into()),
            "/disk/now" => Entry::Link("notes".into()),
            "/loop" => Entry::Link("loop".into()),
            _ => Entry::Other,
        }
    }

    #[test]
    fn a_path_depends_on_each_link_and_on_what_is_missing_first() {
        let cases: [(&str, &[&str]); 6] = [
            ("/repo/a.md", &["/repo/a.md"]),
            ("/repo/./../repo/a.md", &["/repo/a.md"]),
            ("/repo/.harness/shop.md", &["/repo/.harness/shop.md", "/disk/now", "/disk/notes/shop.md"]),
            ("/home/u/.harness/a/b.md", &["/home/u/.harness", "/disk/notes/a"]),
            ("/new/x/y.md", &["/new"]),
            ("/repo/.harness", &["/repo/.harness"]),
        ];
        for (path, entries) in cases {
            let entries: Vec<PathBuf> = entries.iter().map(PathBuf::from).collect();
            assert_eq!(way(Path::new(path), disk), entries, "{path}");
        }
        assert_eq!(way(Path::new("/loop"), disk).len(), MAX_LINKS + 1);
    }
}
