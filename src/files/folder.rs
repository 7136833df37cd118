//! Folders: made with the right mode, listed without guessing.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use super::error::{Action, FromIo, On as _, ReadError, WriteError};
use super::read::{Found, or_here, prove_absent};
use super::replace::{TEMP_PREFIX, TEMP_SUFFIX};

/// What files and folders that do not exist yet are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewFile {
    /// Files 0600, folders 0700: what lies under a root is its owner's business.
    Private,
    /// As the umask says: what lies in a repository is for its team.
    Umask,
}

impl NewFile {
    const fn folder_mode(self) -> u32 {
        match self {
            Self::Private => 0o700,
            Self::Umask => 0o777,
        }
    }

    pub(crate) const fn file_mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Umask => 0o666,
        }
    }
}

/// Makes a folder and those above it that are missing, and forces each new entry to the
/// disk. Folders that exist keep their mode.
pub fn create_folder(folder: &Path, new: NewFile) -> Result<(), WriteError> {
    make_folder(folder, new)
}

/// [`create_folder`] with the caller's own error.
pub(crate) fn make_folder<E: FromIo>(folder: &Path, new: NewFile) -> Result<(), E> {
    let mut missing = Vec::new();
    for ancestor in folder.ancestors().map(or_here) {
        match fs::metadata(ancestor) {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(ancestor),
            Err(error) => return Err(error).on(Action::CreateFolder, ancestor),
        }
    }
    for ancestor in missing.into_iter().rev() {
        match DirBuilder::new().mode(new.folder_mode()).create(ancestor) {
            Ok(()) => sync_folder(or_here(ancestor.parent().unwrap_or(ancestor)))?,
            // Another process may be making the same folder; a dangling link is none.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && ancestor.is_dir() => {}
            Err(error) => return Err(error).on(Action::CreateFolder, ancestor),
        }
    }
    Ok(())
}

/// Forces a folder's entries to the disk, so that a rename survives a power cut.
pub(crate) fn sync_folder<E: FromIo>(folder: &Path) -> Result<(), E> {
    let synced = File::open(folder).and_then(|handle| handle.sync_all());
    match synced {
        // Some file systems cannot sync folders; a folder that may be written but not
        // read cannot be opened. Neither is a reason to call the write a failure.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other.on(Action::SyncFolder, folder),
    }
}

/// The names in a folder that are UTF-8, sorted; hidden ones too.
pub fn list_names(folder: &Path) -> Result<Found<Vec<String>>, ReadError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound && prove_absent(folder)? => {
            return Ok(Found::Absent);
        }
        Err(error) => return Err(error).on(Action::List, folder),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.on(Action::List, folder)?.file_name();
        names.extend(name.into_string());
    }
    names.sort_unstable();
    Ok(Found::Content(names))
}

/// Whether files can be made in a folder: one is, and is gone again.
pub fn probe_folder(folder: &Path) -> io::Result<()> {
    let name = tempfile::Builder::new().prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX).tempfile_in(folder)?;
    name.close()
}
