//! Changing layers on disk: under the root's lock, from what the file holds then, and only
//! if it still holds that. Everything that writes a layer writes it through here.

use std::path::{Path, PathBuf};

use crate::document::{Change, Document, EditError, Note, Refusal};
use crate::effective::id_of;
use crate::files::{Expected, Found, Lock, LockError, Wrote};
use crate::workspace::{LayerRef, WorkspaceError};

/// Why a layer was not changed. Its file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Another process writes below this root.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The layer cannot be read or written.
    #[error(transparent)]
    Layer(#[from] WorkspaceError),
    /// The document refuses the change.
    #[error("{error}")]
    Edit {
        /// The layer's file.
        path: PathBuf,
        /// What it holds.
        source_text: String,
        /// The refusal.
        error: Box<EditError>,
    },
    /// The note is not there (any more).
    #[error("there is no note {id} in {path}", path = path.display())]
    NoSuchNote {
        /// The layer's file.
        path: PathBuf,
        /// The id asked for.
        id: String,
    },
    /// The note says something else than when it was shown to be changed.
    #[error("somebody changed {id} in {path} meanwhile; nothing was written", path = path.display())]
    Moved {
        /// The layer's file.
        path: PathBuf,
        /// The note.
        id: String,
    },
    /// The id names several notes of the layer, so it is not known which is meant.
    #[error("{count} notes of this layer have the id {id}")]
    Ambiguous {
        /// The layer's file.
        path: PathBuf,
        /// What it holds.
        source_text: String,
        /// The id asked for.
        id: String,
        /// How many there are.
        count: usize,
        /// Where the second one starts, as an offset.
        second: usize,
    },
    /// Git's conflict markers stand in the layer.
    #[error("git's conflict markers stand in this layer; it is not written until they are gone")]
    Conflict {
        /// The layer's file.
        path: PathBuf,
        /// What it holds.
        source_text: String,
        /// Where the first marker stands, as an offset.
        offset: usize,
    },
}

impl ChangeError {
    /// The file, its text and an offset, where the error is about a place in a layer.
    pub fn place(&self) -> Option<(&Path, &str, usize)> {
        match self {
            // A value that will not do is wrong on the command line, not in the file.
            Self::Edit { error, .. } if matches!(error.refusal, Refusal::BadValue { .. }) => None,
            Self::Edit { path, source_text, error } => {
                let location = error.location?;
                let line_start = source_text
                    .split_inclusive('\n')
                    .take(location.line.saturating_sub(1))
                    .map(str::len)
                    .sum();
                Some((path, source_text, line_start))
            }
            Self::Ambiguous { path, source_text, second: offset, .. }
            | Self::Conflict { path, source_text, offset } => Some((path, source_text, *offset)),
            Self::Lock(_) | Self::Layer(_) | Self::NoSuchNote { .. } | Self::Moved { .. } => None,
        }
    }
}

/// A change that was made, or that was none.
#[derive(Debug)]
pub struct Changed {
    /// What became of the file.
    pub wrote: Wrote,
    /// What the layer said.
    pub before: Document,
    /// What it says now.
    pub after: Document,
}

/// Changes a layer. `plan` sees what the file holds under the lock and answers with the
/// changes; all are made or none. A file that does not exist yet starts as `seed`.
///
/// The lock is an argument so that several layers can be changed under one.
pub fn change_layer(
    lock: &Lock,
    layer: &LayerRef,
    seed: &str,
    plan: impl FnOnce(&Document) -> Result<Vec<Change>, ChangeError>,
) -> Result<Changed, ChangeError> {
    rewrite_layer(lock, layer, seed, |document| {
        let changes = plan(document)?;
        document.apply(&changes).map_err(|error| edit_error(layer, document, error))
    })
}

/// As [`change_layer`], with the whole new document as the answer (`layers fmt`).
pub fn rewrite_layer(
    _lock: &Lock,
    layer: &LayerRef,
    seed: &str,
    rewrite: impl FnOnce(&Document) -> Result<Document, ChangeError>,
) -> Result<Changed, ChangeError> {
    let held = layer.read_text()?;
    let (text, is_there) = match &held {
        Found::Content(text) => (text.as_str(), true),
        Found::Absent => (seed, false),
    };
    let before = Document::parse(text);
    if let Some(conflict) = before.conflicts().first() {
        let offset = conflict.start;
        return Err(ChangeError::Conflict {
            path: layer.path.clone(),
            source_text: before.source().to_owned(),
            offset,
        });
    }
    let after = rewrite(&before)?;
    let expected = if is_there { Expected::Bytes(text.as_bytes()) } else { Expected::Absent };
    // What is already so is not written, not even to see whether it could be.
    let wrote = if is_there && after.source() == text {
        Wrote::Nothing
    } else {
        layer.replace(expected, after.source().as_bytes())?
    };
    Ok(Changed { wrote, before, after })
}

/// A refusal of the document with the layer that it is about.
pub fn edit_error(layer: &LayerRef, document: &Document, error: EditError) -> ChangeError {
    let source_text = document.source().to_owned();
    ChangeError::Edit { path: layer.path.clone(), source_text, error: Box::new(error) }
}

/// The one note of a layer with this id, provisional ids included
/// ([`crate::effective::provisional_id`]).
pub fn find_note<'a>(layer: &LayerRef, document: &'a Document, id: &str) -> Result<Note<'a>, ChangeError> {
    let mut found = document.notes().filter(|note| id_of(*note) == id);
    let first = found
        .next()
        .ok_or_else(|| ChangeError::NoSuchNote { path: layer.path.clone(), id: id.to_owned() })?;
    let Some(second) = found.next() else { return Ok(first) };
    Err(ChangeError::Ambiguous {
        path: layer.path.clone(),
        source_text: document.source().to_owned(),
        id: id.to_owned(),
        count: 2 + found.count(),
        second: second.span().start,
    })
}
