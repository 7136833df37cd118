//! Where the store is.

use std::env;
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// The store's file name in its folder.
const FILE: &str = "store.db";

/// The folder and file of the store. One store serves all roots of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlace {
    folder: PathBuf,
    file: PathBuf,
}

impl StatePlace {
    /// `$LAYERS_STATE` (a folder, or a file that ends in `.db`), else
    /// `$XDG_STATE_HOME/harness-layers`, else `~/.local/state/harness-layers`. As the XDG base
    /// directory specification has it, a relative `$XDG_STATE_HOME` counts as unset.
    pub fn from_process() -> Result<Self, StoreError> {
        let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = given("LAYERS_STATE") {
            let path = std::path::absolute(&path).unwrap_or(path);
            let is_file = path.extension().is_some_and(|extension| extension == "db");
            return Ok(if is_file { Self::of_file(&path) } else { Self::in_folder(&path) });
        }
        let state = given("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let state = state.or_else(|| given("HOME").map(|home| home.join(".local/state")));
        Ok(Self::in_folder(&state.ok_or(StoreError::NoPlace)?.join("harness-layers")))
    }

    /// `store.db` in a folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file: folder.join(FILE) }
    }

    fn of_file(file: &Path) -> Self {
        Self { folder: file.parent().unwrap_or(Path::new("/")).to_owned(), file: file.to_owned() }
    }

    /// The folder, 0700.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database.
    pub fn file(&self) -> &Path {
        &self.file
    }
}
