//! What the store says about trust, in one small file of the state folder, so that `render`
//! opens no store. It names the store that it is of: without that, or with another in its
//! place, it says nothing.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tempfile::Builder;

use super::Trusted;
use crate::files::{TEMP_PREFIX, TEMP_SUFFIX};
use crate::identity::evidence::Landmark;
use crate::identity::landmark;
use crate::store::StatePlace;

const FILE: &str = "trust.json";
/// What an SQLite database begins with (sqlite.org/fileformat.html, "Magic Header String").
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

#[derive(Serialize, Deserialize)]
struct Mirrored {
    store: Landmark,
    trusted: Vec<Trusted>,
}

/// What the file says.
pub(super) enum Mirror {
    /// As the store does.
    Holds(Vec<Trusted>),
    /// What a store said that is not there any more; nothing, mostly.
    Stale(Vec<Trusted>),
}

fn path(state: &StatePlace) -> PathBuf {
    state.folder().join(FILE)
}

pub(super) fn read(state: &StatePlace) -> Mirror {
    let bytes = fs::read(path(state)).unwrap_or_default();
    let Ok(Mirrored { store, trusted }) = serde_json::from_slice(&bytes) else {
        return Mirror::Stale(Vec::new());
    };
    if store.witness.is_some() && store.is(&landmark(state.file())) && is_database(state) {
        Mirror::Holds(trusted)
    } else {
        Mirror::Stale(trusted)
    }
}

/// Whether the store at least begins as one: written over in place it is the same file.
fn is_database(state: &StatePlace) -> bool {
    let mut start = [0; MAGIC.len()];
    File::open(state.file()).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
}

/// Writes the file; without it the store is asked again.
pub(super) fn write(state: &StatePlace, trusted: &[Trusted]) {
    let mirrored = Mirrored { store: landmark(state.file()), trusted: trusted.to_vec() };
    let text = serde_json::to_vec(&mirrored).unwrap_or_default();
    let mut temporary = Builder::new();
    temporary.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX).permissions(fs::Permissions::from_mode(0o600));
    let Ok(mut file) = temporary.tempfile_in(state.folder()) else { return remove(state) };
    if file.write_all(&text).is_err() || file.persist(path(state)).is_err() {
        remove(state);
    }
}

/// Takes the file away.
pub(super) fn remove(state: &StatePlace) {
    // Not there is as good. Where it cannot be removed the store could not be written either.
    let _ = fs::remove_file(path(state));
}
