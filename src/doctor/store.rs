//! The store: history, conflicts, archive, trust.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::Examined;
use crate::document::Severity;
use crate::files::{Found, list_names};
use crate::store::{StatePlace, Store, StoreError};

/// Looks at the store, if there is one.
pub fn store(place: &StatePlace) -> Examined {
    let path = place.file().display();
    let mut examined = Examined::new("store", path.to_string());
    match Store::open_existing(place) {
        Ok(None) => examined.summary = format!("{path}, begun with the first sync"),
        Ok(Some(store)) => {
            if let Err(error) = store.check() {
                examined.find(Severity::Error, error.to_string(), damaged());
            }
            let size = fs::metadata(place.file()).map_or(0, |found| found.len());
            examined.summary = format!("{path}, {} kB", size.div_ceil(1000));
        }
        Err(error) => {
            let help = match &error {
                StoreError::Corrupt { .. } => damaged(),
                StoreError::Newer { .. } => "use the newest `layers` on this machine everywhere".to_owned(),
                StoreError::Busy { .. } => "wait for the other process, or end it".to_owned(),
                _ => "see who owns it, and whether the disk is full".to_owned(),
            };
            examined.find(Severity::Error, error.to_string(), help);
        }
    }
    let is_open = |path| fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0);
    if is_open(place.file()) && is_open(place.folder()) {
        let folder = place.folder().display();
        examined.find(
            Severity::Warning,
            format!("others on this machine may read {path}"),
            format!("`chmod -R go= {folder}`"),
        );
    }
    for name in set_aside(place) {
        examined.find(
            Severity::Note,
            format!("{name} is a damaged store that was put aside; it holds the history up to then"),
            format!("once you need nothing of it, remove {}", place.folder().join(&name).display()),
        );
    }
    examined
}

fn damaged() -> String {
    "the next `layers sync` puts it aside and begins it anew from the layers; no note is lost".to_owned()
}

fn set_aside(place: &StatePlace) -> Vec<String> {
    let Ok(Found::Content(names)) = list_names(place.folder()) else { return Vec::new() };
    let is_side = |name: &str| name.ends_with("-wal") || name.ends_with("-shm");
    names.into_iter().filter(|name| name.contains(".corrupt-") && !is_side(name)).collect()
}
