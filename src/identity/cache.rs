//! What was decided for a place, in a small file of the state folder, so that `render` opens
//! no store and starts no git. A cache: any file may be missing, torn or old.
//!
//! A file is begun before the store is asked, and put in its place afterwards. Whoever
//! changes a claim takes all files away, those that are begun too: what was decided before
//! the change can then not be put in place after it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::{Builder, NamedTempFile};

use super::evidence::Landmark;
use super::place::landmark;
use super::verdict::Verdict;
use crate::files::{NewFile, TEMP_PREFIX, TEMP_SUFFIX, create_folder};
use crate::store::{Hash, StatePlace};
use crate::workspace::Site;

const FOLDER: &str = "claims";
/// How many digits of a hash name a file.
const NAME_LEN: usize = 32;

/// The verdicts of a place by the name asked for.
pub(super) type Verdicts = BTreeMap<String, Verdict>;

/// The file of one place below one root.
pub(super) struct Cache {
    folder: PathBuf,
    path: PathBuf,
    landmark: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Cached {
    signs: Signs,
    verdicts: Verdicts,
}

/// What must be as it was for the verdicts to hold.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Signs {
    landmark: Landmark,
    /// When the repository's configuration was written, in nanoseconds: a remote may be new.
    config: Option<i64>,
    /// The same of its branches, while it waits for a first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branches: Option<i64>,
}

/// A file that is begun, with the signs of before the decision.
pub(super) struct Begun {
    file: NamedTempFile,
    signs: Signs,
}

impl Cache {
    pub(super) fn at(state: &StatePlace, root: &Path, site: &Site) -> Self {
        let folder = state.folder().join(FOLDER);
        let landmark = site.common_dir.as_ref().unwrap_or(&site.folder).clone();
        let mut name = root.as_os_str().as_bytes().to_vec();
        for part in [&landmark, &site.folder] {
            name.push(0);
            name.extend(part.as_os_str().as_bytes());
        }
        let path = folder.join(&Hash::of(name).to_string()[..NAME_LEN]);
        Self { folder, path, landmark }
    }

    /// What was decided, if it still holds.
    pub(super) fn read(&self) -> Option<Verdicts> {
        let cached: Cached = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        let now = self.signs();
        let branches = cached.signs.branches.and(now.branches);
        (cached.signs == Signs { branches, ..now }).then_some(cached.verdicts)
    }

    fn signs(&self) -> Signs {
        let written = |name: &str| {
            let found = fs::metadata(self.landmark.join(name)).ok()?;
            found.mtime().checked_mul(1_000_000_000)?.checked_add(found.mtime_nsec())
        };
        let landmark = landmark(&self.landmark);
        Signs { landmark, config: written("config"), branches: written("refs/heads") }
    }

    /// Begins a file; none where the state folder does not exist or cannot be written.
    pub(super) fn begin(&self) -> Option<Begun> {
        if !self.folder.is_dir() {
            self.folder.parent().filter(|state| state.is_dir())?;
            create_folder(&self.folder, NewFile::Private).ok()?;
        }
        let mut temporary = Builder::new();
        temporary.prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX).permissions(fs::Permissions::from_mode(0o600));
        Some(Begun { file: temporary.tempfile_in(&self.folder).ok()?, signs: self.signs() })
    }

    /// Puts a file in place, with what the old one says of further names.
    pub(super) fn put(&self, begun: Begun, verdicts: Verdicts, awaits_commit: bool) {
        let Begun { mut file, mut signs } = begun;
        signs.branches = signs.branches.filter(|_| awaits_commit);
        let mut all = self.read().unwrap_or_default();
        all.extend(verdicts);
        let text = serde_json::to_vec(&Cached { signs, verdicts: all }).unwrap_or_default();
        // Without it the store is asked again.
        if file.write_all(&text).is_ok() {
            let _ = file.persist(&self.path);
        }
    }

    /// Takes all files away.
    pub(super) fn forget_all(&self) {
        forget_all(&self.folder);
    }

    /// Takes all files of a state folder away.
    pub(super) fn forget_all_in(state: &StatePlace) {
        forget_all(&state.folder().join(FOLDER));
    }
}

fn forget_all(folder: &Path) {
    // A file that is put in place while a folder is listed may be missed; then the next
    // look finds it.
    let mut clean = 0;
    while clean < 2 {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let ours = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| is_ours(path));
        let removed = ours.filter(|path| fs::remove_file(path).is_ok()).count();
        clean = if removed == 0 { clean + 1 } else { 0 };
    }
}

/// Nothing else is touched, whatever the folder holds.
fn is_ours(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let is_begun = name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX);
    is_begun || (name.len() == NAME_LEN && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
