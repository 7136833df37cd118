//! Which version of a file its author had before his eyes, and what came online since.
//!
//! A file that was saved from a buffer loaded before the last online write looks as if it
//! deleted and reverted what was written online since. Taking the newest version as the
//! base of the merge would lose that. The base is chosen by what the file carries; no clock
//! is asked, for stale buffers are hours old.

use std::collections::BTreeSet;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::document::{Document, State};
use crate::text::{Line, Span};

use super::apply::Applied;
use super::apply::Forms;
use super::changes::{ChangeSet, NoteChange, Notes, is_spelled_alike, stands};

/// Where a version of a file came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An editor, a refiner, anybody who writes files.
    Offline,
    /// `layers`: what it has beyond the version before it came from online.
    Online,
    /// `layers`, which put into a stale save what its author had not seen.
    CarriedOver,
    /// A checkout.
    Git,
    /// A program that rewrites the whole file from its own memory.
    Export,
}

impl Origin {
    const ALL: [Self; 5] = [Self::Offline, Self::Online, Self::CarriedOver, Self::Git, Self::Export];

    /// The word in the store and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Online => "online",
            Self::CarriedOver => "carried-over",
            Self::Git => "git",
            Self::Export => "export",
        }
    }

    /// The origin of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == word)
    }

    /// Whether `layers` wrote it.
    const fn is_online(self) -> bool {
        matches!(self, Self::Online | Self::CarriedOver)
    }
}

/// What is known of a version without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Where it came from.
    pub origin: Origin,
    /// [`revision_of`] its text.
    pub revision: String,
    /// Whether it is the saved file, byte for byte.
    pub is_file: bool,
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
    /// What it lacks was put back before, and it lacks it again: that is meant.
    Insists,
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

/// The line of versions of one path, oldest first, read only as far as needed.
pub trait VersionLine {
    /// Why a version cannot be read.
    type Error;
    /// What is known of each.
    fn versions(&self) -> &[Version];
    /// The text of one.
    fn document(&self, index: usize) -> Result<Rc<Document>, Self::Error>;
}

impl Base {
    /// The base of `file` in the line of its path; `None` if that is empty.
    pub fn choose<L: VersionLine>(file: &Document, line: &L) -> Result<Option<Self>, L::Error> {
        let versions = line.versions();
        let Some(newest) = versions.len().checked_sub(1) else { return Ok(None) };
        let base = |index, why| Ok(Some(Self { index, why }));
        if let Some(named) = file.header_field("revision")
            && let Some(index) = versions.iter().rposition(|version| version.revision == named)
        {
            return base(index, Why::Revision);
        }
        let head = line.document(newest)?;
        if versions.iter().any(|version| version.is_file) || only_removes(&head, file) {
            return base(newest, Why::Meant);
        }
        let mut first_missed = None;
        // What the file lacks again, and where it would stand if that were all.
        let (mut insisted, mut insists) = (BTreeSet::new(), None);
        for index in (1..versions.len()).rev().filter(|index| versions[*index].origin.is_online()) {
            let (before, after) = (line.document(index - 1)?, line.document(index)?);
            let mut changes = ChangeSet::between(&before, &after);
            changes.keep_standing(&head);
            changes.leave_out(&insisted);
            if versions[index].origin == Origin::CarriedOver {
                // Carried by the file, what was put back tells nothing: it was there before.
                let again = put_back_in(index, &changes, line)?;
                let missing = again.iter().filter(|id| sight(file, &changes.of_note(id)) == Some(false));
                let missing: BTreeSet<String> = missing.cloned().collect();
                if !missing.is_empty() {
                    insists.get_or_insert(first_missed);
                }
                insisted.extend(missing);
                changes.leave_out(&again);
            }
            match sight(file, &changes) {
                Some(true) => return base(index, Why::Carries),
                Some(false) => first_missed = Some(index),
                None => {}
            }
        }
        match (first_missed, insists) {
            (missed, Some(before)) if missed == before => {
                base(missed.map_or(newest, |missed| missed - 1), Why::Insists)
            }
            (Some(missed), _) => base(missed - 1, Why::CarriesNothing),
            (None, _) => base(newest, Why::NothingOnline),
        }
    }

    /// The notes that were put back after this version and not changed online since: what
    /// was put back once is not put back again.
    fn put_back<L: VersionLine>(self, line: &L) -> Result<BTreeSet<String>, L::Error> {
        let versions = line.versions();
        let mut notes = BTreeSet::new();
        if versions[self.index..].iter().all(|version| version.origin != Origin::CarriedOver) {
            return Ok(notes);
        }
        for index in (self.index + 1..versions.len()).filter(|index| versions[*index].origin.is_online()) {
            let (before, after) = (line.document(index - 1)?, line.document(index)?);
            let changes = ChangeSet::between(&before, &after);
            if versions[index].origin == Origin::CarriedOver {
                notes.extend(put_back_in(index, &changes, line)?);
            } else {
                for (id, _) in changes.notes() {
                    notes.remove(id);
                }
            }
        }
        Ok(notes)
    }

    /// Carries over into `file` what came online after its base and still stands. `None` if
    /// there is nothing.
    pub fn carry_over<L: VersionLine>(self, file: &Document, line: &L) -> Result<Option<Applied>, L::Error> {
        let versions = line.versions();
        let put_back = self.put_back(line)?;
        let mut all: Option<Applied> = None;
        let mut index = self.index + 1;
        while index < versions.len() {
            let first = index;
            while versions.get(index).is_some_and(|version| version.origin.is_online()) {
                index += 1;
            }
            if first < index {
                let (before, after) = (line.document(first - 1)?, line.document(index - 1)?);
                let head = line.document(versions.len() - 1)?;
                let mut changes = ChangeSet::between(&before, &after);
                changes.keep_standing(&head);
                changes.leave_out(&put_back);
                let target = all.as_ref().map_or(file, |applied| &applied.document);
                let applied = changes.apply_notes(target, Forms::Targets);
                if applied.document.source() != target.source() || !applied.losses.is_empty() {
                    let mut joined = all.unwrap_or_else(|| Applied::unchanged(file));
                    joined.document = applied.document;
                    joined.losses.extend(applied.losses);
                    joined.waiting.extend(applied.waiting);
                    all = Some(joined);
                }
            }
            index = index.max(first + 1);
        }
        Ok(all)
    }
}

/// The notes of a carried-over version that were put back. One that stood in no version
/// before came online while the file could not be written, and stands there for the first
/// time.
fn put_back_in<L: VersionLine>(
    index: usize,
    changes: &ChangeSet<'_>,
    line: &L,
) -> Result<BTreeSet<String>, L::Error> {
    let mut again = BTreeSet::new();
    for (id, change) in changes.notes() {
        let mut is_again = !matches!(change, NoteChange::Added(_));
        let mut earlier = index;
        while earlier > 0 && !is_again {
            earlier -= 1;
            is_again = line.document(earlier)?.note(id).is_some();
        }
        if is_again {
            again.insert(id.clone());
        }
    }
    Ok(again)
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
        && has_same_unreadable(newest, file)
}

/// Whether what cannot be read in `file` stands in `newest` in the same bytes: a change set
/// says nothing of it, and somebody may have written there.
fn has_same_unreadable(newest: &Document, file: &Document) -> bool {
    let known = Notes::of(newest);
    let mut unreadable = file.notes().filter(|note| note.state() != State::Good);
    unreadable.all(|note| {
        note.id().and_then(|id| known.first(id)).is_some_and(|known| is_spelled_alike(known, note))
    })
}

/// Whether the author of `file` has seen these changes: a value or a note of theirs is in
/// it. `None` if it says nothing about that: they were all taken back since, or it only
/// lacks what they took out, as it also does if it is older than that.
fn sight(file: &Document, changes: &ChangeSet<'_>) -> Option<bool> {
    let (notes, spelled) = (Notes::of(file), Notes::of(changes.to));
    let told = changes.notes().iter().filter_map(|(id, change)| {
        let is_there = match (change, notes.first(id)) {
            (NoteChange::Added(_), present) => present.is_some(),
            (NoteChange::Removed(_), None) => return None,
            (NoteChange::Changed(fields), Some(present)) => {
                fields.iter().any(|(field, change)| change.to.is_some() && stands(present, field, change))
            }
            (NoteChange::Respelled, Some(present)) => {
                spelled.first(id).is_some_and(|spelled| is_spelled_alike(spelled, present))
            }
            (NoteChange::Removed(_), Some(_)) | (NoteChange::Changed(_) | NoteChange::Respelled, None) => {
                false
            }
        };
        Some(is_there)
    });
    told.reduce(|one, other| one || other)
}
