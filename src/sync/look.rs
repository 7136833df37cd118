//! Looking at a layer's file: its stat, its text, and where it is in the store.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::files::Found;
use crate::store::{Hash, Stamp};
use crate::workspace::{LayerRef, WorkspaceError};

/// How old a file must be for its stat to tell whether it was written again: file systems
/// exist that keep times to two seconds.
pub(super) const SETTLED_NANOS: i64 = 2_000_000_000;

/// What a file holds, and the stat that it was read with.
pub(super) struct Looked {
    pub(super) found: Found<String>,
    /// None if there is no file.
    pub(super) stamp: Option<Stamp>,
    hash: Option<Hash>,
}

impl Looked {
    /// Reads a layer between two equal stats, so that the stamp is that of the text.
    pub(super) fn at(layer: &LayerRef) -> Result<Self, WorkspaceError> {
        let mut stamp = stamp_of(&layer.path);
        for _ in 0..4 {
            let found = layer.read_text()?;
            let after = stamp_of(&layer.path);
            if after == stamp {
                return Ok(Self::new(found, stamp));
            }
            stamp = after;
        }
        // It is being written all the time: what was read is good, its stamp is not.
        Ok(Self::new(layer.read_text()?, None))
    }

    fn new(found: Found<String>, stamp: Option<Stamp>) -> Self {
        let hash = match &found {
            Found::Content(text) => Some(Hash::of(text)),
            Found::Absent => None,
        };
        Self { found, stamp, hash }
    }

    /// The SHA-256 of the text; none if there is no file.
    pub(super) const fn hash(&self) -> Option<Hash> {
        self.hash
    }

    /// The text, parsed; an empty one if there is no file.
    pub(super) fn document(&self) -> Document {
        match &self.found {
            Found::Content(text) => Document::parse(text.as_str()),
            Found::Absent => Document::parse(""),
        }
    }
}

/// What `stat` says of a file behind all links; none if there is none, or nobody can tell.
pub(super) fn stamp_of(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    let modified = found.mtime().checked_mul(1_000_000_000)?.checked_add(found.mtime_nsec())?;
    // Inodes are any 64 bits; only whether they are equal matters.
    Some(Stamp { size: i64::try_from(found.len()).ok()?, modified, inode: found.ino().cast_signed() })
}

/// A stamp if it will tell later whether the file was written again: `now` is the time of
/// the look, in milliseconds since 1970.
pub(super) fn reliable(stamp: Option<Stamp>, now: u64) -> Option<Stamp> {
    let now = i64::try_from(now).ok()?.checked_mul(1_000_000)?;
    stamp.filter(|stamp| stamp.modified.saturating_add(SETTLED_NANOS) < now)
}

/// The path that a layer goes by in the store: its own name in its folder without links, so
/// that every spelling of the folder is one, and a layer that is a link is itself.
pub fn place_of(path: &Path) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    for above in folder.ancestors() {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(above), folder.strip_prefix(above)) {
            return real.join(rest).join(name);
        }
    }
    path.to_owned()
}
