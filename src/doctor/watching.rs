//! What the system allows a watch.

use std::fs;
use std::path::Path;

use super::Examined;
use crate::document::Severity;

/// Where Linux says how many folders a user may watch (inotify(7)).
const LIMIT: &str = "/proc/sys/fs/inotify/max_user_watches";

/// Looks whether a folder can be watched.
pub fn watching(folder: &Path) -> Examined {
    let limit = fs::read_to_string(LIMIT).ok().map(|text| text.trim().to_owned());
    let summary = limit.map_or_else(|| "events".to_owned(), |limit| format!("events, up to {limit} folders"));
    let mut examined = Examined::new("watch", summary);
    if let Some(existing) = folder.ancestors().find(|folder| folder.is_dir())
        && let Err(why) = crate::watch::probe(existing)
    {
        examined.find(
            Severity::Warning,
            format!(
                "{} cannot be watched: {why}; `layers watch` looks every few seconds instead",
                existing.display()
            ),
            "raise fs.inotify.max_user_watches and max_user_instances (sysctl), or use `layers watch --poll`",
        );
    }
    examined
}
