//! What a project is recognised by. Plain data, as it stands in the store.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the file system says of a folder, to tell it from another at its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970, where the file system keeps that.
    pub born: Option<i64>,
}

impl Witness {
    /// Whether both are of one folder. Numbers of devices change when a machine starts or a
    /// disk is plugged in anew, so they count only where nothing better is known.
    pub fn is(&self, other: &Self) -> bool {
        let is_made_then = match (self.born, other.born) {
            (Some(one), Some(other)) => one == other,
            _ => self.device == other.device,
        };
        self.inode == other.inode && is_made_then
    }
}

/// A folder, and which one it was at that path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landmark {
    /// Its path without links.
    #[serde(serialize_with = "spell", deserialize_with = "read")]
    pub path: PathBuf,
    /// None if there was nothing to be seen.
    pub witness: Option<Witness>,
}

impl Landmark {
    /// Whether both are one folder at one path. Where nobody could see anything, the path
    /// is all there is.
    pub fn is(&self, other: &Self) -> bool {
        let is_witnessed = match (&self.witness, &other.witness) {
            (Some(one), Some(other)) => one.is(other),
            (None, None) => true,
            _ => false,
        };
        self.path == other.path && is_witnessed
    }
}

/// All that is known of the place of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The folder that people know it by.
    pub folder: Landmark,
    /// The folder that all work trees of the repository share; none outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Landmark>,
    /// Where it was cloned from, without what differs between two clones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Its first commits, if there is no remote to know it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
}

impl Evidence {
    /// The folder that is looked at to see whether the project is still there.
    pub fn landmark(&self) -> &Landmark {
        self.repository.as_ref().unwrap_or(&self.folder)
    }
}

/// A name below a root, and the places of the project whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The name; a key of its own in the store.
    #[serde(skip)]
    pub name: String,
    /// The name that it stands for, since that is another project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// The places, the first one first.
    pub places: Vec<Evidence>,
}

/// A path as JSON: text where it is text, else its bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelling {
    Text(String),
    Bytes(Vec<u8>),
}

fn spell<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let spelling = match path.to_str() {
        Some(text) => Spelling::Text(text.to_owned()),
        None => Spelling::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
    };
    spelling.serialize(serializer)
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(match Spelling::deserialize(deserializer)? {
        Spelling::Text(text) => text.into(),
        Spelling::Bytes(bytes) => std::ffi::OsString::from_vec(bytes).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_survives_the_store() {
        use std::os::unix::ffi::OsStrExt as _;
        for name in [b"/w/a".as_slice(), b"/w/\xff\xfe", "/w/가".as_bytes()] {
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(name));
            let landmark = Landmark { path, witness: None };
            let text = serde_json::to_string(&landmark).unwrap_or_default();
            assert_eq!(serde_json::from_str(&text).ok(), Some(landmark), "{text}");
        }
    }

    #[test]
    fn a_device_counts_only_where_no_birth_is_known() {
        let old = Witness { device: 1, inode: 5, born: Some(7) };
        assert!(old.is(&Witness { device: 2, ..old }));
        assert!(!old.is(&Witness { born: Some(8), ..old }));
        let unborn = Witness { born: None, ..old };
        assert!(unborn.is(&old) && !unborn.is(&Witness { device: 2, ..old }));
    }
}
