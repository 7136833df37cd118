//! Replacing a file: whole or not at all, and only if it holds what was read.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::Path;

use tempfile::{Builder, TempPath};

use super::error::{Action, ChangedTo, On as _, WriteError};
use super::fault::fault;
use super::folder::{NewFile, make_folder, sync_folder};
use super::read::{Found, folder_of, read_bytes};
use super::target::final_target;

/// Temporary files start with this: hidden, so no listing takes them for layers.
pub const TEMP_PREFIX: &str = ".hl-";
/// Temporary files end with this, so no pattern `*.md` takes them for layers.
pub const TEMP_SUFFIX: &str = ".tmp";

/// What the caller last saw, and built the new text on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<'a> {
    /// No file.
    Absent,
    /// A file with exactly these bytes.
    Bytes(&'a [u8]),
}

/// What a replacement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// The file held the new text already; neither its bytes nor its times changed.
    Nothing,
    /// A new file was made.
    Created,
    /// A file was replaced.
    Replaced,
}

/// Puts `bytes` at `path` if the file still is as `expected`.
///
/// - Links stay: the file that they lead to is replaced, with the temporary file in that
///   file's own folder. A dangling link gets its target (but no folder is made behind a
///   link: that would be a write below an empty mount point).
/// - Mode and owner stay as far as this process may set them. If the group cannot be
///   kept, the new group gets no more than everybody has. Access lists and extended
///   attributes are not carried over.
/// - A file that its mode does not let us write, and one with further hard links, is
///   refused: renaming would go around the one and tear apart the other, and writing
///   in place could leave half a file.
/// - The file is compared right before the rename. Programs that do not take the root's
///   [`Lock`](super::Lock) can still slip into the microseconds between the two.
/// - On any error the temporary file is gone and the old file whole.
pub fn replace(path: &Path, expected: Expected<'_>, bytes: &[u8], new: NewFile) -> Result<Wrote, WriteError> {
    let target = final_target(path)?;
    let held = read_bytes(&target)?;
    if matches!(&held, Found::Content(held) if held == bytes) {
        return Ok(Wrote::Nothing);
    }
    compare(path, expected, &held)?;
    match expected {
        Expected::Absent => create(path, &target, bytes, new),
        Expected::Bytes(old) => overwrite(path, &target, old, bytes),
    }
}

fn create(path: &Path, target: &Path, bytes: &[u8], new: NewFile) -> Result<Wrote, WriteError> {
    let folder = folder_of(target);
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        make_folder::<WriteError>(&folder, new)?;
    }
    let temporary = write_temporary(path, &folder, bytes, new.file_mode(), |_| Ok(()))?;
    match temporary.persist_noclobber(target) {
        Ok(()) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(WriteError::Changed { path: path.to_owned(), to: ChangedTo::Present });
        }
        Err(error) => return Err(error.error).on(Action::Rename, path),
    }
    fault("renamed").on::<WriteError>(Action::SyncFolder, path)?;
    sync_folder::<WriteError>(&folder)?;
    Ok(Wrote::Created)
}

fn overwrite(path: &Path, target: &Path, old: &[u8], bytes: &[u8]) -> Result<Wrote, WriteError> {
    let metadata = fs::metadata(target).on::<WriteError>(Action::Inspect, path)?;
    if metadata.nlink() > 1 {
        return Err(WriteError::HardLinked { path: path.to_owned(), links: metadata.nlink() });
    }
    let folder = folder_of(target);
    let temporary = write_temporary(path, &folder, bytes, NewFile::Private.file_mode(), |file| {
        carry_over(path, &metadata, file)
    })?;
    compare(path, Expected::Bytes(old), &read_bytes(target)?)?;
    temporary.persist(target).map_err(|error| error.error).on::<WriteError>(Action::Rename, path)?;
    fault("renamed").on::<WriteError>(Action::SyncFolder, path)?;
    sync_folder::<WriteError>(&folder)?;
    Ok(Wrote::Replaced)
}

/// A synced temporary file in `folder`, closed again, so that watchers hear of the rename and
/// of nothing after it; removed when dropped.
fn write_temporary(
    path: &Path,
    folder: &Path,
    bytes: &[u8],
    mode: u32,
    prepare: impl FnOnce(&File) -> Result<(), WriteError>,
) -> Result<TempPath, WriteError> {
    fault("temporary").on::<WriteError>(Action::CreateTemporary, path)?;
    let mut temporary = Builder::new()
        .prefix(TEMP_PREFIX)
        .suffix(TEMP_SUFFIX)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .on::<WriteError>(Action::CreateTemporary, path)?;
    prepare(temporary.as_file())?;
    // By the file itself: the wrapper's errors name the temporary file, which is gone then.
    temporary.as_file_mut().write_all(bytes).on::<WriteError>(Action::WriteTemporary, path)?;
    fault("written").on::<WriteError>(Action::WriteTemporary, path)?;
    temporary.as_file().sync_all().on::<WriteError>(Action::SyncTemporary, path)?;
    fault("rename").on::<WriteError>(Action::SyncTemporary, path)?;
    Ok(temporary.into_temp_path())
}

fn compare(path: &Path, expected: Expected<'_>, held: &Found<Vec<u8>>) -> Result<(), WriteError> {
    let to = match (expected, held) {
        (Expected::Absent, Found::Absent) => return Ok(()),
        (Expected::Bytes(expected), Found::Content(held)) if expected == held => return Ok(()),
        (Expected::Bytes(_), Found::Content(_)) => ChangedTo::OtherBytes,
        (Expected::Bytes(_), Found::Absent) => ChangedTo::Absent,
        (Expected::Absent, Found::Content(_)) => ChangedTo::Present,
    };
    Err(WriteError::Changed { path: path.to_owned(), to })
}

/// Gives the temporary file the owner, group and mode of the file that it replaces, and
/// refuses if that mode does not let us write. Opening the file would answer that too, but
/// watchers take it for a save; so who we are is read off our own temporary file.
fn carry_over(path: &Path, old: &Metadata, temporary: &File) -> Result<(), WriteError> {
    const ROOT: u32 = 0;
    let fresh = temporary.metadata().on::<WriteError>(Action::Inspect, path)?;
    let mode = old.mode() & 0o7777;
    // The system gives a file of ours to those groups only that we are in.
    let in_group = fresh.gid() == old.gid() || fchown(temporary, None, Some(old.gid())).is_ok();
    let writable_by = match fresh.uid() {
        we if we == old.uid() => 0o200,
        ROOT => 0o222,
        _ if in_group => 0o020,
        _ => 0o002,
    };
    if mode & writable_by == 0 {
        return Err(WriteError::ReadOnly { path: path.to_owned(), mode });
    }
    if fresh.uid() != old.uid() {
        // Only root may give files away; in a team's folder the last writer owns the file.
        let _ = fchown(temporary, Some(old.uid()), None);
    }
    // Another group than before gets no more than everybody has.
    let kept = if in_group { mode } else { (mode & !0o070) | ((mode & 0o007) << 3) };
    temporary.set_permissions(Permissions::from_mode(kept)).on(Action::SetMode, path)
}
