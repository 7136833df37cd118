//! Temporary files that a killed process left behind.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::replace::{TEMP_PREFIX, TEMP_SUFFIX};

/// A temporary file lives for as long as a text is written and synced; also on a slow network
/// disk it is not this old.
const ABANDONED_AFTER: Duration = Duration::from_hours(1);

/// How many characters `tempfile` puts between the two.
const RANDOM: usize = 6;

/// Removes the temporary files of [`replace()`](super::replace()) in a folder that have been
/// there for an hour; `now` is the time. What cannot be removed stays, without a word: it is
/// in nobody's way.
pub fn sweep_temporaries(folder: &Path, now: SystemTime) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !is_temporary(&entry.file_name()) {
            continue;
        }
        // Not through a link: that is none of ours.
        let is_abandoned = entry.metadata().is_ok_and(|found| {
            let age = found.modified().ok().and_then(|written| now.duration_since(written).ok());
            found.is_file() && age.is_some_and(|age| age > ABANDONED_AFTER)
        });
        if is_abandoned {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let random = name.as_bytes().strip_prefix(TEMP_PREFIX.as_bytes());
    random
        .and_then(|rest| rest.strip_suffix(TEMP_SUFFIX.as_bytes()))
        .is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}
