//! Whether an editor has a file open. Vim tells by a swap file beside the text, Emacs by a
//! lock, which is a link that leads nowhere.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::files::final_target;

/// How Emacs's locks begin.
const LOCK: &[u8] = b".#";

/// What a swap file starts with (`struct block0` of vim's memline.c), and where in it the
/// process and its host stand.
const VIM_MAGIC: &[u8] = b"b0VIM ";
const VIM_PID: usize = 24;
const VIM_HOST: usize = 68;
const VIM_HOST_LENGTH: usize = 40;

/// The signs of editors, each folder looked into once.
#[derive(Debug, Default)]
pub struct Editors {
    /// The names of signs, by folder.
    folders: BTreeMap<PathBuf, Vec<Vec<u8>>>,
}

impl Editors {
    /// The editor that has a file open, for people. The sign of a process that is gone is a
    /// crash's and says nothing; in doubt the file is open.
    pub fn open_in(&mut self, file: &Path) -> Option<&'static str> {
        // Editors follow links, some of them not all of the way.
        let target = final_target(file).ok().filter(|target| target != file);
        [Some(file.to_owned()), target].into_iter().flatten().find_map(|file| self.beside(&file))
    }

    fn beside(&mut self, file: &Path) -> Option<&'static str> {
        let (folder, name) = (file.parent()?, file.file_name()?.as_bytes());
        let signs = self.folders.entry(folder.to_owned()).or_insert_with(|| signs_in(folder));
        signs.iter().filter(|sign| texts_of(sign).any(|text| text == name)).find_map(|sign| {
            let path = folder.join(OsStr::from_bytes(sign));
            if sign.starts_with(LOCK) {
                return is_live_lock(&path).then_some("Emacs");
            }
            is_live_swap(&path).then_some("vim")
        })
    }
}

/// The files that are open, or not any more, if something happens to this path.
pub(super) fn signed_by(path: &Path) -> impl Iterator<Item = PathBuf> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    texts_of(name).map(|text| path.with_file_name(OsStr::from_bytes(text)))
}

/// The names of the texts that a sign may be about: a hidden one gets no second dot from vim.
fn texts_of(sign: &[u8]) -> impl Iterator<Item = &[u8]> {
    let locked = sign.strip_prefix(LOCK);
    let swapped = if locked.is_none() { swap_stem(sign) } else { None };
    [locked, swapped, swapped.and_then(|stem| stem.strip_prefix(b"."))].into_iter().flatten()
}

/// The name of a swap file without its ending: `.swp`, `.swo`, down to `.saa`.
fn swap_stem(name: &[u8]) -> Option<&[u8]> {
    let (stem, ending) = name.split_at_checked(name.len().checked_sub(4)?)?;
    let is_swap = ending.starts_with(b".s") && ending[2..].iter().all(u8::is_ascii_lowercase);
    (is_swap && stem.starts_with(b".")).then_some(stem)
}

fn signs_in(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_vec());
    names.filter(|name| texts_of(name).next().is_some()).collect()
}

fn is_live_swap(swap: &Path) -> bool {
    let mut block = [0; VIM_HOST + VIM_HOST_LENGTH];
    let Ok(mut file) = File::open(swap) else { return swap.is_file() };
    if file.read_exact(&mut block).is_err() || !block.starts_with(VIM_MAGIC) {
        // Just being made, or another program's.
        return true;
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| block[VIM_PID + at]);
    let host = block[VIM_HOST..].split(|&byte| byte == 0).next().unwrap_or_default();
    may_run(u32::from_le_bytes([a, b, c, d]), host)
}

/// Emacs's lock leads to `user@host.pid` or `user@host.pid:boot`.
fn is_live_lock(lock: &Path) -> bool {
    let Ok(owner) = fs::read_link(lock) else { return false };
    let owner = || {
        let (_, place) = owner.to_str()?.split_once('@')?;
        let (host, rest) = place.rsplit_once('.')?;
        Some((host, rest.split(':').next()?.parse().ok()?))
    };
    owner().is_none_or(|(host, pid)| may_run(pid, host.as_bytes()))
}

/// Whether a process may be running: one of another host may, and where there is no `/proc`,
/// any.
fn may_run(pid: u32, host: &[u8]) -> bool {
    let is_here = fs::read("/proc/sys/kernel/hostname").is_ok_and(|name| name.trim_ascii_end() == host);
    let is_gone = Path::new("/proc/self").exists() && !Path::new("/proc").join(pid.to_string()).exists();
    !(is_here && is_gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_known_by_their_names() {
        let signed = |path: &str| -> Vec<String> {
            signed_by(Path::new(path)).map(|file| file.display().to_string()).collect()
        };
        assert_eq!(signed("/r/.x.md.swp"), ["/r/.x.md", "/r/x.md"]);
        assert_eq!(signed("/r/.x.md.saa"), ["/r/.x.md", "/r/x.md"]);
        assert_eq!(signed("/r/.#x.md"), ["/r/x.md"]);
        for other in ["/r/x.md", "/r/x.md.swp", "/r/.x.md.tmp", "/r/.x.md.sWp", "/r/swp", "/"] {
            assert_eq!(signed(other), [""; 0], "{other}");
        }
    }
}
