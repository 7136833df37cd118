//! One writer at a time for a root.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::error::{Action, LockError, On as _};
use super::folder::{NewFile, make_folder};

/// Name of the lock file below a root. It is a file of its own, since a lock on a layer
/// would be lost with the inode when a rename puts a new one in its place. It is never
/// removed: whoever waits on a removed file would hold a lock that nobody else sees.
pub const LOCK_FILE: &str = ".layers.lock";

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

/// Exclusive right to write below a root, until dropped. The kernel takes it back when
/// the process ends, however it ends.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the root's lock, waiting for at most `patience`. Makes the root (0700) and
    /// the lock file if they do not exist; so only for commands that write.
    pub fn acquire(root: &Path, patience: Duration) -> Result<Self, LockError> {
        make_folder::<LockError>(root, NewFile::Private)?;
        let path = root.join(LOCK_FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .on::<LockError>(Action::OpenLock, &path)?;
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        // std has no lock with a time limit, so it is asked for again and again.
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(error).on(Action::Lock, &path),
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = start.elapsed();
            let Some(left) = patience.checked_sub(waited).filter(|left| !left.is_zero()) else {
                return Err(LockError::Held { pid: written_pid(&path), path, waited });
            };
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        // For the message of those who wait; the lock does not depend on it.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file, path })
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn written_pid(path: &Path) -> Option<u32> {
    let mut text = String::new();
    // Twenty bytes hold any number; a file that is no lock of ours is not read whole.
    fs::File::open(path).ok()?.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
