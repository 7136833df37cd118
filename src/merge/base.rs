//! Which version of a file its author had before his eyes.
//!
//! A file that was saved from a buffer loaded before the last online write looks as if it
//! deleted and reverted what was written online since. Taking the newest version as the
//! base of the merge would lose that. The base is chosen by what the file carries; no clock is asked, for
//! stale buffers are hours old (the file says enough).

use sha2::{Digest, Sha256};

use crate::document::{Document, Note};
use crate::effective::id_of;
use crate::note::Kind;
use crate::text::{Line, Span};

use super::changes::{ChangeSet, NoteChange, Notes, meaning};

/// A version of a file, as it was seen or written.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// What it said.
    pub document: &'a Document,
    /// Whether it was written by `layers`: what it has beyond the version before it came
    /// from online.
    pub is_online: bool,
}

/// Why a version was taken for the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The file's header names it by its revision.
    Revision,
    /// The file is the newest version with notes removed, or an earlier version byte for
    /// byte: that was meant.
    Meant,
    /// The file still carries something that this version introduced online.
    Carries,
    /// The file carries nothing of any online change since.
    CarriesNothing,
    /// There was no online change to miss.
    NothingOnline,
}

/// The version that a file was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its index among the versions.
    pub index: usize,
    /// Why it was taken.
    pub why: Why,
}

impl Base {
    /// Whether online changes that came later are to be carried over into the file: it is
    /// a stale save.
    pub const fn is_stale(self, versions: usize) -> bool {
        self.index + 1 < versions
    }

    /// The base of `file` among the versions of its path, oldest first; `None` without any.
    pub fn choose(file: &Document, versions: &[Version<'_>]) -> Option<Self> {
        let newest = versions.len().checked_sub(1)?;
        if let Some(named) = file.header_field("revision") {
            let named = versions.iter().rposition(|version| revision_of(version.document) == named);
            if let Some(index) = named {
                return Some(Self { index, why: Why::Revision });
            }
        }
        let is_earlier = versions.iter().any(|version| version.document.source() == file.source());
        if is_earlier || only_removes(versions[newest].document, file) {
            return Some(Self { index: newest, why: Why::Meant });
        }
        let mut first_online = None;
        for index in (1..versions.len()).rev().filter(|index| versions[*index].is_online) {
            if carries(file, versions[index - 1].document, versions[index].document) {
                return Some(Self { index, why: Why::Carries });
            }
            first_online = Some(index);
        }
        Some(match first_online {
            Some(index) => Self { index: index - 1, why: Why::CarriesNothing },
            None => Self { index: newest, why: Why::NothingOnline },
        })
    }
}

/// The revision that names these very bytes: the first 12 hex digits of the SHA-256 of the
/// text without its `revision` line.
pub fn revision_of(document: &Document) -> String {
    let source = document.source();
    let line = document.header_span().and_then(|header| {
        let mut lines = crate::text::Lines::within(source, header);
        lines.find(|line| is_revision(*line, source))
    });
    let mut hash = Sha256::new();
    match line.map(Line::span) {
        Some(Span { start, end }) => {
            hash.update(&source[..start]);
            hash.update(&source[end..]);
        }
        None => hash.update(source),
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_revision(line: Line, source: &str) -> bool {
    line.text(source).strip_prefix("revision").is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Whether `file` is `newest` with notes removed and nothing else changed.
fn only_removes(newest: &Document, file: &Document) -> bool {
    let changes = ChangeSet::between(newest, file);
    !super::prose::differs(newest, file)
        && !changes.notes().is_empty()
        && changes.notes().iter().all(|(_, change)| matches!(change, NoteChange::Removed(_)))
}

/// Whether `file` carries a value, a note or an absence that came with `after`.
fn carries(file: &Document, before: &Document, after: &Document) -> bool {
    let notes = Notes::of(file);
    let changes = ChangeSet::between(before, after);
    changes.notes().iter().any(|(id, change)| match (change, notes.first(id)) {
        (NoteChange::Added(_), present) => present.is_some(),
        (NoteChange::Removed(_), present) => present.is_none() && file.is_absent(id),
        (NoteChange::Changed(fields), Some(present)) => {
            fields.iter().any(|(field, change)| change.to.is_some() && value(present, field) == change.to)
        }
        (NoteChange::Respelled, Some(present)) => {
            let spelled = after.notes().find(|note| id_of(*note) == *id);
            spelled.is_some_and(|spelled| spelled.own_bytes() == present.own_bytes())
        }
        (NoteChange::Changed(_) | NoteChange::Respelled, None) => false,
    })
}

fn value(note: Note<'_>, field: &crate::document::Field) -> Option<String> {
    match field {
        crate::document::Field::Kind => Some(Kind::to_string(&note.kind())),
        _ => meaning(note, field),
    }
}
