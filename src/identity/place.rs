//! Looking at the place where we are: the file system at once, git only when it is asked.
//! Nothing here changes a repository.

use std::cell::OnceCell;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::evidence::{Landmark, Witness};
use super::remote::{self, Remote};
use super::verdict::Here;
use crate::git::{Git, finished};
use crate::store::Hash;
use crate::workspace::{Root, Site};

/// A project's place, looked at.
pub(super) struct Place<'a> {
    root: &'a Root,
    folder: Landmark,
    repository: Option<Landmark>,
    remote: OnceCell<Option<String>>,
    roots: OnceCell<Vec<String>>,
    digits: String,
}

impl<'a> Place<'a> {
    pub(super) fn of(root: &'a Root, site: &Site) -> Self {
        let folder = landmark(&site.folder);
        let repository = site.common_dir.as_deref().map(landmark);
        let digits = digits(repository.as_ref(), &folder);
        Self { root, folder, repository, remote: OnceCell::new(), roots: OnceCell::new(), digits }
    }

    /// Whether git was asked for first commits, and there were none yet.
    pub(super) fn awaits_commit(&self) -> bool {
        self.roots.get().is_some_and(Vec::is_empty)
    }
}

impl Here for Place<'_> {
    fn folder(&self) -> &Landmark {
        &self.folder
    }

    fn repository(&self) -> Option<&Landmark> {
        self.repository.as_ref()
    }

    fn remote(&self) -> Option<&str> {
        let found = self.remote.get_or_init(|| {
            let url = git(&self.repository.as_ref()?.path, &["config", "--get", "remote.origin.url"])?;
            Some(match remote::parse(&url)? {
                Remote::Host(address) => address,
                Remote::Folder(path) => {
                    let path = self.folder.path.join(path);
                    fs::canonicalize(&path).unwrap_or(path).to_string_lossy().into_owned()
                }
            })
        });
        found.as_deref()
    }

    fn roots(&self) -> &[String] {
        self.roots.get_or_init(|| {
            let found = self
                .repository
                .as_ref()
                .and_then(|repository| git(&repository.path, &["rev-list", "--max-parents=0", "HEAD", "--"]));
            found.unwrap_or_default().lines().map(str::to_owned).collect()
        })
    }

    fn stands(&self, landmark: &Landmark) -> bool {
        self::landmark(&landmark.path).is(landmark)
    }

    fn has_layer(&self, name: &str) -> bool {
        fs::symlink_metadata(self.root.home_path(name)).is_ok()
    }

    fn digits(&self) -> &str {
        &self.digits
    }
}

/// A folder, or a file, as it is now.
pub fn landmark(path: &Path) -> Landmark {
    let witness = fs::metadata(path).ok().map(|found| Witness {
        device: found.dev(),
        inode: found.ino(),
        born: found
            .created()
            .ok()
            .and_then(|born| i64::try_from(born.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()),
    });
    Landmark { path: path.to_owned(), witness }
}

/// A new repository in an old place has others; a folder is its path.
fn digits(repository: Option<&Landmark>, folder: &Landmark) -> String {
    let mut bytes = repository.unwrap_or(folder).path.as_os_str().as_bytes().to_vec();
    if let Some(witness) = repository.and_then(|repository| repository.witness) {
        bytes.extend(witness.inode.to_le_bytes());
        bytes.extend(witness.born.unwrap_or_default().to_le_bytes());
    }
    Hash::of(bytes).to_string()
}

/// What git says; none without git, and where it has no answer.
fn git(repository: &Path, args: &[&str]) -> Option<String> {
    let mut question = Git::of_repository(repository).question(args);
    // History as it was made, whatever stands in for it here.
    question.env("GIT_NO_REPLACE_OBJECTS", "1");
    let done = finished(&mut question).ok()?;
    Some(String::from_utf8_lossy(&done.stdout).trim_end_matches(['\n', '\r']).to_owned())
}
