//! Where a path leads when every link is followed, also when nothing is there yet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Action, On as _, ReadError};
use super::read::{folder_of, or_here, prove_absent};

/// As many links in a row as Linux follows.
const MAX_LINKS: usize = 40;

/// The path without any symbolic link that a file has or would have: links to links are
/// followed, and a dangling link leads to the file that it names. `canonicalize` alone
/// fails on what does not exist, and a rename onto the link would replace the link.
pub fn final_target(path: &Path) -> Result<PathBuf, ReadError> {
    let mut current = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&current) {
            // As the kernel does: relative to the folder that holds the link.
            Ok(target) => current = folder_of(&current).join(target),
            // EINVAL: it exists and is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return fs::canonicalize(&current).on(Action::Follow, path);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if prove_absent(&current)? {
                    return Ok(future_path(&current));
                }
            }
            Err(error) => return Err(error).on(Action::Follow, path),
        }
    }
    Err(io::Error::other("too many links, or a loop of them")).on(Action::Follow, path)
}

/// The path of a file that does not exist: its nearest existing folder without links,
/// and the rest as it is spelled.
fn future_path(path: &Path) -> PathBuf {
    for folder in path.ancestors().skip(1) {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(or_here(folder)), path.strip_prefix(folder)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}
