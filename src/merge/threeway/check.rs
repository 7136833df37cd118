//! Whether layers can be merged by notes at all, and whether what was drawn reads as meant.

use std::collections::BTreeMap;

use crate::document::{Document, Note, Problem, State};
use crate::effective::id_of;
use crate::text::Line;

use super::join::Joined;

/// Whether whatever is odd in one version is so in all three, byte for byte: notes that
/// cannot be read, ids that stand twice or in the text. Only then no change is about it.
pub(super) fn are_plain(base: &Document, ours: &Document, theirs: &Document) -> bool {
    let all = [base, ours, theirs].map(oddities);
    let notes = [base, ours, theirs].map(of_id);
    let odd: Vec<&String> = all.iter().flat_map(|side| &side.0).collect();
    let is_alike = odd.into_iter().all(|id| notes.iter().all(|side| side.get(id) == notes[0].get(id)));
    is_alike && all.iter().all(|side| side.1 == all[0].1)
}

/// The ids of odd notes, and the lines of text where something is wrong.
fn oddities(document: &Document) -> (Vec<String>, Vec<&str>) {
    let mut ids: Vec<String> =
        of_id(document).into_iter().filter(|(_, notes)| notes.len() > 1).map(|(id, _)| id).collect();
    let unread = document.notes().filter(|note| note.state() != State::Good || !note.is_contiguous());
    ids.extend(unread.map(|note| id_of(note).into_owned()));
    let in_text = document.diagnostics().iter().filter(|found| {
        matches!(
            found.problem,
            Problem::Blend(_)
                | Problem::Swallowed(_)
                | Problem::IdInText(_)
                | Problem::BulletOutsideSection(_)
                | Problem::UnclosedBlock
                | Problem::ClassicMacLines
        )
    });
    let lines = in_text
        .filter_map(|found| Some(Line::at(document.source(), found.span.start)?.text(document.source())));
    (ids, lines.collect())
}

fn of_id(document: &Document) -> BTreeMap<String, Vec<String>> {
    let mut notes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for note in document.notes() {
        notes.entry(id_of(note).into_owned()).or_default().push(bytes(note));
    }
    notes
}

/// The bytes of a note, without the empty lines behind it, which come and go.
fn bytes(note: Note<'_>) -> String {
    note.own_bytes().trim_end().to_owned()
}

/// Whether a drawn merge still holds every note that is not in dispute, just as merged and
/// in order, and has the others between markers.
pub(super) fn reads_as_meant(joined: &Joined, text: &str) -> bool {
    let drawn = Document::parse(text);
    let is_disputed = |index: usize| joined.clashes.iter().any(|clash| clash.note == index);
    let meant = joined.document.notes().filter(|note| !is_disputed(note.index())).map(bytes);
    let found = drawn.notes().filter(|note| note.state() != State::Conflicted).map(bytes);
    let is_marked = |id: &str| {
        let mut notes = drawn.notes().filter(|note| id_of(*note) == id).peekable();
        notes.peek().is_some() && notes.all(|note| note.state() == State::Conflicted)
    };
    meant.eq(found)
        && joined.clashes.iter().all(|clash| is_marked(&clash.id))
        && drawn.conflicts().is_empty() == joined.is_clean()
        && drawn.conflicts().len() >= joined.clashes.len() + joined.prose.clashes.len()
}
