//! Whether an editor has a file open: by vim's swap files and Emacs's locks beside it.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Where vim writes its process id in a swap file, and what swap files start with
/// (`struct block0` of vim's memline.c).
const VIM_MAGIC: &[u8] = b"b0VIM ";
const VIM_PID: u64 = 24;

/// The editor that has a file open, for people.
pub fn open_in(file: &Path) -> Option<&'static str> {
    let places = [Some(file.to_owned()), crate::files::final_target(file).ok()];
    places.into_iter().flatten().find_map(|file| {
        if signs(&file).0.iter().any(|swap| is_live_swap(swap)) {
            return Some("vim");
        }
        is_live_lock(&signs(&file).1).then_some("Emacs")
    })
}

/// The names beside a file that an editor makes and takes away.
pub(super) fn signs(file: &Path) -> (Vec<PathBuf>, PathBuf) {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // The first three; a fourth session of vim on one file may go unseen.
    let swaps = ["swp", "swo", "swn"].map(|end| file.with_file_name(format!(".{name}.{end}")));
    (swaps.to_vec(), file.with_file_name(format!(".#{name}")))
}

/// A swap file whose vim is gone is a crash's, and says nothing.
fn is_live_swap(swap: &Path) -> bool {
    let Ok(mut file) = fs::File::open(swap) else { return false };
    let mut magic = [0; 6];
    let mut pid = [0; 4];
    let is_read = file.read_exact(&mut magic).is_ok()
        && file.seek(SeekFrom::Start(VIM_PID)).is_ok()
        && file.read_exact(&mut pid).is_ok();
    if !is_read || magic != VIM_MAGIC {
        // Just being made, or another program's: rather open than not.
        return true;
    }
    is_running(u32::from_le_bytes(pid))
}

/// Emacs's lock is a link to `user@host.pid:boot`.
fn is_live_lock(lock: &Path) -> bool {
    let Ok(target) = fs::read_link(lock) else { return false };
    let target = target.to_string_lossy().into_owned();
    let pid = target.rsplit_once('.').and_then(|(_, rest)| rest.split(':').next()?.parse().ok());
    pid.is_none_or(is_running)
}

/// Where it cannot be known, it is.
fn is_running(pid: u32) -> bool {
    !Path::new("/proc/self").exists() || Path::new("/proc").join(pid.to_string()).exists()
}
