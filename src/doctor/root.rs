//! The folder of the home layers.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::Examined;
use crate::document::Severity;
use crate::files::probe_folder;
use crate::workspace::{Root, all_projects};

/// Looks at the root: whether it is there, may be written and is private.
pub fn root(root: &Root) -> Examined {
    let path = root.path.display();
    let mut examined = Examined::new("root", path.to_string());
    let metadata = match fs::metadata(&root.path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            examined.find(
                Severity::Note,
                format!("{path} does not exist yet"),
                "`layers init` makes it; so does the first note",
            );
            return examined;
        }
        Err(error) => {
            examined.find(Severity::Error, format!("cannot look at {path}: {error}"), "see who may read it");
            return examined;
        }
    };
    if let Err(error) = probe_folder(&root.path) {
        examined.find(
            Severity::Error,
            format!("{path} cannot be written: {error}"),
            format!("see who owns it: `ls -ld {path}`"),
        );
    }
    let mut readable = Vec::new();
    let mut look = |path: &Path| {
        // Behind a folder that is closed to others it does not matter what the file allows.
        if fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0) {
            readable.push(path.display().to_string());
        }
    };
    if metadata.permissions().mode() & 0o011 != 0 {
        look(&root.global_path());
        all_projects(root).unwrap_or_default().iter().for_each(|project| look(&project.path));
    }
    if let [first, more @ ..] = &readable[..] {
        let others = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        examined.find(
            Severity::Warning,
            format!("others on this machine may open {first}{others}"),
            format!("`chmod -R go= {path}` keeps private notes private"),
        );
    }
    examined
}
