//! Reading: content, absent, or an error that means "unknown".

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::error::{Action, On as _, ReadError};
use super::fault::read_fault;

/// What a path holds, where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Found<T> {
    /// It is there.
    Content(T),
    /// It is not there, and the folder that would hold it could be looked into
    /// (or is itself absent). Only this may ever be taken for a deletion.
    Absent,
}

impl<T> Found<T> {
    /// The content, if there is one.
    pub fn content(self) -> Option<T> {
        match self {
            Self::Content(content) => Some(content),
            Self::Absent => None,
        }
    }

    /// The same state with another content.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Content(content) => Found::Content(change(content)),
            Self::Absent => Found::Absent,
        }
    }
}

/// Reads a UTF-8 file. Symbolic links are followed; one that dangles is an error, not
/// an absent file.
pub fn read_text(path: &Path) -> Result<Found<String>, ReadError> {
    match read_bytes(path)? {
        Found::Absent => Ok(Found::Absent),
        Found::Content(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Found::Content(text)),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let (line, column) = place(&error.as_bytes()[..offset]);
                Err(ReadError::NotUtf8 { path: path.to_owned(), offset, line, column })
            }
        },
    }
}

/// How often a read starts anew when the file comes and goes, as it does when an editor
/// moves the old file away before it writes the new one.
const TRIES: usize = 4;

/// No file is read beyond this, in bytes: a repository may bring any. It is several times what
/// ten thousand notes take.
const MAX_SIZE: u64 = 16 << 20;

/// Reads a file as bytes, with the same three outcomes as [`read_text`].
pub fn read_bytes(path: &Path) -> Result<Found<Vec<u8>>, ReadError> {
    for _ in 0..TRIES {
        match try_read(path) {
            Ok(bytes) => return Ok(Found::Content(bytes)),
            Err(Obstacle::Missing) => {
                if prove_absent(path)? {
                    return Ok(Found::Absent);
                }
            }
            Err(Obstacle::Other(error)) => return Err(error),
        }
    }
    Err(io::Error::other("it comes and goes while it is read; try again")).on(Action::Read, path)
}

enum Obstacle {
    Missing,
    Other(ReadError),
}

fn try_read(path: &Path) -> Result<Vec<u8>, Obstacle> {
    let unless_missing = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Obstacle::Missing,
        _ => Obstacle::Other(ReadError::Io { action: Action::Read, path: path.to_owned(), source: error }),
    };
    // Looked at first: opening a pipe would wait for a writer.
    let kind = fs::metadata(path).map_err(unless_missing)?.file_type();
    if let Some(what) = not_a_file(kind) {
        return Err(Obstacle::Other(ReadError::NotAFile { path: path.to_owned(), what }));
    }
    let mut bytes = Vec::new();
    // More than its size: it may grow meanwhile, and sizes of made-up files say nothing.
    let opened = read_fault(path).and_then(|()| File::open(path));
    let read = opened.and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut bytes));
    read.map_err(unless_missing)?;
    if bytes.len() as u64 > MAX_SIZE {
        let mebibytes = MAX_SIZE >> 20;
        return Err(Obstacle::Other(ReadError::TooLarge { path: path.to_owned(), mebibytes }));
    }
    Ok(bytes)
}

/// "Not found" has other causes than absence: a dangling link here or above, or a
/// folder that may not be listed. An error if one of them is at work; `false` if the
/// path turned up in the meantime.
pub(crate) fn prove_absent(path: &Path) -> Result<bool, ReadError> {
    if !is_nothing(path)? {
        return Ok(false);
    }
    for folder in path.ancestors().skip(1).map(or_here) {
        match fs::read_dir(folder) {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !is_nothing(folder)? {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error).on(Action::List, folder),
        }
    }
    Ok(true)
}

/// Whether a path that was not found holds nothing at all, not even a dangling link.
fn is_nothing(path: &Path) -> Result<bool, ReadError> {
    match fs::read_link(path) {
        // It may have been made a good link in the meantime.
        Ok(_) if path.exists() => Ok(false),
        Ok(target) => Err(ReadError::DanglingLink { link: path.to_owned(), target }),
        // EINVAL: it exists and is no link.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).on(Action::Follow, path),
    }
}

/// The parent of a bare file name is the working directory.
pub(crate) fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The folder that holds a path.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    or_here(path.parent().unwrap_or(path)).to_owned()
}

fn not_a_file(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("a folder")
    } else if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    }
}

/// Line and column (both from 1, the column in characters) right after a valid text.
fn place(valid: &[u8]) -> (usize, usize) {
    let line_start = memchr::memrchr(b'\n', valid).map_or(0, |at| at + 1);
    let line = memchr::memchr_iter(b'\n', valid).count() + 1;
    let column = String::from_utf8_lossy(&valid[line_start..]).chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_counts_characters_after_the_last_line_break() {
        for (text, expected) in [("", (1, 1)), ("ab", (1, 3)), ("a\n", (2, 1)), ("a\r\nä", (2, 2))] {
            assert_eq!(place(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_bare_name_lies_in_the_working_directory() {
        assert_eq!(folder_of(Path::new("a.md")), Path::new("."));
        assert_eq!(folder_of(Path::new("/a.md")), Path::new("/"));
    }
}
