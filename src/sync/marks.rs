//! Marks: one small file a layer in the state folder that says "with this text the file says
//! all that counts", so that `render` need not open the store. A cache: any may be missing.
//!
//! Where the file does not, a mark tells that the store knows the layer.
//!
//! A mark is taken away before the store is told something else, and put there after, both
//! under the root's lock; so a mark never vouches for what the store knows better.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{NewFile, create_folder};
use crate::store::{Hash, Stamp};

use super::look::{Looked, SETTLED_NANOS, place_of};

/// The folder of the marks.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    folder: PathBuf,
}

/// What a mark says of a file that does not exist.
const ABSENT: &str = "absent";
/// What a mark says of a file that never existed, as far as is known.
const NEVER: &str = "never";
/// What a mark says of a layer of which the store knows better.
const KNOWN: &str = "known";

impl Marks {
    /// Below the state folder.
    pub(super) fn in_folder(state: &Path) -> Self {
        Self { folder: state.join("marks") }
    }

    fn path(&self, root: &Path, place: &Path) -> PathBuf {
        let mut name = root.as_os_str().to_owned();
        name.push("\0");
        name.push(place.as_os_str());
        let name = Hash::of(name.as_encoded_bytes()).to_string();
        self.folder.join(&name[..32])
    }

    /// Whether a file that was just read says all that counts.
    pub(super) fn vouch_for(&self, root: &Path, layer: &Path, looked: &Looked) -> bool {
        let Ok(mark) = fs::read_to_string(self.path(root, &place_of(layer))) else { return false };
        let mark = mark.trim_end();
        let Some(stamp) = looked.stamp else {
            return (mark == ABSENT || mark == NEVER) && looked.hash().is_none();
        };
        let mut words = mark.split(' ');
        let mut next = || words.next();
        let (Some(hash), Some(size), Some(modified), Some(inode), Some(now)) =
            (next(), next(), next(), next(), next())
        else {
            return false;
        };
        let number = |word: &str| word.parse::<i64>().ok();
        let marked = number(size).zip(number(modified)).zip(number(inode));
        let is_same =
            marked.is_some_and(|((size, modified), inode)| stamp == Stamp { size, modified, inode });
        let is_settled = number(now).is_some_and(|now| stamp.modified.saturating_add(SETTLED_NANOS) < now);
        is_same && is_settled || looked.hash().is_some_and(|found| found.to_string() == hash)
    }

    /// Whether there is a mark of a layer that was seen.
    pub(super) fn has(&self, root: &Path, layer: &Path) -> bool {
        let mark = fs::read_to_string(self.path(root, &place_of(layer)));
        mark.is_ok_and(|mark| mark.trim_end() != NEVER)
    }

    /// Takes a mark away; to be done before the store learns what it would deny.
    pub(super) fn take(&self, root: &Path, place: &Path) {
        // Not there is as good. One that cannot be removed is a state folder that cannot be
        // written, and then the store cannot be either.
        let _ = fs::remove_file(self.path(root, place));
    }

    /// Puts a mark; `now` in milliseconds since 1970.
    pub(super) fn put(&self, root: &Path, place: &Path, text: Option<Hash>, stamp: Option<Stamp>, now: u64) {
        let mark = match (text, stamp) {
            (Some(hash), Some(stamp)) => format!(
                "{hash} {} {} {} {}\n",
                stamp.size,
                stamp.modified,
                stamp.inode,
                now.saturating_mul(1_000_000)
            ),
            (None, _) => format!("{ABSENT}\n"),
            (Some(_), None) => return,
        };
        self.write(root, place, &mark);
    }

    /// Puts a mark that a file was never seen, where there is none.
    pub(super) fn put_never(&self, root: &Path, place: &Path) {
        if !self.path(root, place).exists() {
            self.write(root, place, &format!("{NEVER}\n"));
        }
    }

    /// Puts a mark that vouches for nothing.
    pub(super) fn put_known(&self, root: &Path, place: &Path) {
        self.write(root, place, &format!("{KNOWN}\n"));
    }

    fn write(&self, root: &Path, place: &Path, mark: &str) {
        let path = self.path(root, place);
        // A torn mark has too few words, or a hash that fits nothing.
        if fs::write(&path, mark).is_err() && create_folder(&self.folder, NewFile::Private).is_ok() {
            let _ = fs::write(&path, mark);
        }
    }
}
