//! A store that stays open while nobody uses it, for a program that runs for long.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use super::{PATIENCE, Store};

/// What stat said of a file that was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Store {
    /// Leaves it for a moment, open. None if its file is gone.
    pub fn pause(mut self) -> Option<Self> {
        self.set_aside = None;
        self.left = Some(left(&self.path)?);
        Some(self)
    }

    /// Leaves it for long, as if it were closed: all that it holds is in its file, and nothing
    /// in the log beside it. So the file may be copied, put back from a backup or taken away
    /// meanwhile. None if another process reads it right now, or has put another one in its
    /// place; then it is closed.
    pub fn rest(self) -> Option<Self> {
        (self.is_as_left() && self.is_checkpointed()).then_some(self)?.pause()
    }

    /// Whether its file is as [`Self::pause`] or [`Self::rest`] left it. What other processes have written into
    /// the log since does not matter.
    pub fn is_as_left(&self) -> bool {
        self.left.is_some() && self.left == left(&self.path)
    }

    fn is_checkpointed(&self) -> bool {
        // Who reads it now may read it for long.
        if self.connection.busy_timeout(Duration::ZERO).is_err() {
            return false;
        }
        let is_busy = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        self.connection.busy_timeout(PATIENCE).is_ok() && is_busy == Ok(0_i64)
    }
}

fn left(file: &Path) -> Option<Left> {
    let found = fs::metadata(file).ok()?;
    let changed = (found.ctime(), found.ctime_nsec());
    Some(Left { device: found.dev(), inode: found.ino(), size: found.len(), changed })
}
