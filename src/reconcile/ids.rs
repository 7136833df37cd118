//! Ids for notes that have none, and for copies that took one along.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::{Change, Document, Field, Note, State};
use crate::effective::id_of;
use crate::merge::VersionLine;

/// Gives every good note an id of its own, by the smallest edit each: notes without one,
/// and of several with one id all but the one that says what the id said before (or the
/// first, if none does). Two equal copies are one note and stay as they are.
pub(super) fn name(
    document: &Document,
    head: &Document,
    mint: &mut dyn FnMut() -> String,
) -> (Document, Vec<(String, String)>) {
    let lacking = lacking(document, head);
    let mut named = Vec::new();
    let mut edited = document.clone();
    // Indexes stay, as nothing but ids is set. One that cannot be written must not keep the
    // others from theirs.
    for index in lacking {
        let Some(note) = document.note_at(index) else { continue };
        let id = mint();
        if let Ok(next) = edited.set(index, Field::Id, id.clone()) {
            edited = next;
            named.push((id_of(note).into_owned(), id));
        }
    }
    (edited, named)
}

/// How many versions back a note without an id is looked for.
const LOOK_BACK: usize = 50;

/// A note without an id in a save from before it got one: it has that id again, so that
/// what came online about it since finds it.
pub(super) fn adopt<L: VersionLine>(file: &Document, line: &L) -> Result<Document, L::Error> {
    let unnamed = |document: &Document| {
        let mut notes = document.notes().filter(|note| note.state() == State::Good && note.id().is_none());
        notes.any(|note| !note.content().is_empty())
    };
    let mut file = file.clone();
    for index in (0..line.versions().len()).rev().take(LOOK_BACK) {
        if !unnamed(&file) {
            break;
        }
        let version = line.document(index)?;
        file = adopt_from(&version, &file);
    }
    Ok(file)
}

/// Gives notes without an id the ids of equal ones in another version.
pub(super) fn adopt_from(named: &Document, file: &Document) -> Document {
    let mut changes = Vec::new();
    let mut taken = BTreeSet::new();
    for note in file.notes().filter(|note| note.id().is_none() && note.state() == State::Good) {
        let same = named.notes().find(|other| {
            other.id().is_some_and(|id| file.is_absent(id) && !taken.contains(id))
                && other.kind() == note.kind()
                && other.content() == note.content()
        });
        if let Some(id) = same.and_then(Note::id) {
            taken.insert(id);
            changes.push(Change::Set { note: note.index(), field: Field::Id, text: id.to_owned() });
        }
    }
    file.apply(&changes).unwrap_or_else(|_| file.clone())
}

/// The notes that need an id.
pub(super) fn lacking(document: &Document, head: &Document) -> Vec<usize> {
    let mut lacking = Vec::new();
    let mut holders: BTreeMap<&str, Vec<Note<'_>>> = BTreeMap::new();
    for note in document.notes().filter(|note| note.state() == State::Good) {
        match note.id() {
            None if note.content().is_empty() => {}
            None => lacking.push(note.index()),
            Some(_) if document.is_equal_copy(note) => {}
            Some(id) => holders.entry(id).or_default().push(note),
        }
    }
    for (id, notes) in holders.into_iter().filter(|(_, notes)| notes.len() > 1) {
        let before = head.note(id);
        let says_so = |note: &Note<'_>| before.is_some_and(|before| before.content() == note.content());
        let owner = notes.iter().position(says_so).unwrap_or(0);
        lacking.extend(notes.iter().enumerate().filter(|(at, _)| *at != owner).map(|(_, note)| note.index()));
    }
    lacking.sort_unstable();
    lacking
}
