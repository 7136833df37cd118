//! What changed between two versions of a layer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::document::{Document, Field, NewNote, Note, State};
use crate::effective::id_of;

use super::lines;
use crate::note::two_decimals;

/// A field that changed. The values are what the field says, apart from its spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// What it said; `None` if it was absent.
    pub from: Option<String>,
    /// What it says now.
    pub to: Option<String>,
}

/// What happened to one note.
#[derive(Clone, Debug, PartialEq)]
pub enum NoteChange {
    /// It is new.
    Added(NewNote),
    /// It is gone.
    Removed(NewNote),
    /// Some of its fields changed.
    Changed(BTreeMap<Field, FieldChange>),
    /// It says the same in other bytes: a comment, an order, a quote.
    Respelled,
}

/// The difference between two versions of a layer: notes by id, and prose. The order of
/// notes in the file is no content.
#[derive(Clone, Debug)]
pub struct ChangeSet<'a> {
    pub(super) from: &'a Document,
    pub(super) to: &'a Document,
    notes: Vec<(String, NoteChange)>,
}

impl<'a> ChangeSet<'a> {
    /// What changed from one version to another. A note whose id still stands in the text
    /// of `to` is not gone, whether or not it can be read (docs/format.md, "Both forms").
    pub fn between(from: &'a Document, to: &'a Document) -> Self {
        if from.source() == to.source() {
            return Self { from, to, notes: Vec::new() };
        }
        let (before, after) = (Notes::of(from), Notes::of(to));
        let mut notes = Vec::new();
        let mut is_met = vec![false; from.notes().len()];
        let mut next = 0;
        for note in to.notes() {
            let id = id_of(note);
            if !after.is_first(note, &id) {
                continue; // a copy
            }
            let old = before.first_or_at(&id, next);
            if let Some(old) = old {
                is_met[old.index()] = true;
                next = old.index() + 1;
            }
            match old {
                None if note.state() == State::Good => {
                    notes.push((id.into_owned(), NoteChange::Added(NewNote::of(note))));
                }
                // Most notes of most versions: not a byte is other.
                Some(old) if is_same_text(old, note) => {}
                Some(old) if note.state() == State::Good && old.state() == State::Good => {
                    let changed = differences(old, note);
                    if !changed.is_empty() {
                        notes.push((id.into_owned(), NoteChange::Changed(changed)));
                    } else if !is_spelled_alike(old, note) {
                        notes.push((id.into_owned(), NoteChange::Respelled));
                    }
                }
                // What cannot be read has not changed: its last good version stays.
                _ => {}
            }
        }
        for note in from.notes().filter(|note| !is_met[note.index()]) {
            let id = id_of(note);
            let is_present = after.first(&id).is_some() || note.id().is_some_and(|id| !to.is_absent(id));
            if before.is_first(note, &id) && !is_present && note.state() == State::Good {
                notes.push((id.into_owned(), NoteChange::Removed(NewNote::of(note))));
            }
        }
        Self { from, to, notes }
    }

    /// Leaves out what `head`, a later version, says otherwise: it was taken back or changed
    /// again since.
    pub(super) fn keep_standing(&mut self, head: &Document) {
        let (present, spelled) = (Notes::of(head), Notes::of(self.to));
        self.notes.retain_mut(|(id, change)| match (change, present.first(id)) {
            (NoteChange::Added(_), present) => present.is_some(),
            (NoteChange::Removed(_), present) => present.is_none() && head.is_absent(id),
            // Nothing says otherwise: of what cannot be read, the last good version counts.
            (NoteChange::Changed(_) | NoteChange::Respelled, Some(present))
                if present.state() != State::Good =>
            {
                true
            }
            (NoteChange::Changed(_) | NoteChange::Respelled, None) => !head.is_absent(id),
            (NoteChange::Changed(fields), Some(present)) => {
                fields.retain(|field, change| stands(present, field, change));
                !fields.is_empty()
            }
            (NoteChange::Respelled, Some(present)) => {
                spelled.first(id).is_some_and(|spelled| is_spelled_alike(spelled, present))
            }
        });
    }

    /// What happened to one note.
    pub(super) fn of_note(&self, id: &str) -> Self {
        let notes = self.notes.iter().filter(|(it, _)| it == id).cloned().collect();
        Self { notes, ..*self }
    }

    /// Leaves these notes out.
    pub(super) fn leave_out(&mut self, notes: &BTreeSet<String>) {
        self.notes.retain(|(id, _)| !notes.contains(id));
    }

    /// The notes that changed, by id (or by what a note without one is called), in the
    /// order of the newer version, removed ones last.
    pub fn notes(&self) -> &[(String, NoteChange)] {
        &self.notes
    }

    /// Whether both versions say the same. They may still be spelled differently.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && !super::prose::differs(self.from, self.to)
    }
}

/// The notes of a layer by id, the first of each.
pub(super) struct Notes<'a> {
    document: &'a Document,
    /// Those without an id, by what they are called.
    unnamed: HashMap<String, Note<'a>>,
    /// No note lacks an id or shares one: any note with an id is the first.
    is_distinct: bool,
}

impl<'a> Notes<'a> {
    pub(super) fn of(document: &'a Document) -> Self {
        let mut unnamed = HashMap::new();
        let is_distinct = document.has_distinct_ids();
        if !is_distinct {
            for note in document.notes().filter(|note| note.id().is_none()) {
                unnamed.entry(id_of(note).into_owned()).or_insert(note);
            }
        }
        Self { document, unnamed, is_distinct }
    }

    /// Whether no earlier note of this layer is called so.
    fn is_first(&self, note: Note<'_>, id: &str) -> bool {
        self.is_distinct || self.first(id).is_some_and(|first| first.index() == note.index())
    }

    /// As [`Self::first`], with a guess where it stands: most notes of two versions come
    /// in the same order.
    fn first_or_at(&self, id: &str, guess: usize) -> Option<Note<'a>> {
        let is_it = |note: &Note<'_>| self.is_distinct && note.id() == Some(id);
        self.document.note_at(guess).filter(is_it).or_else(|| self.first(id))
    }

    pub(super) fn first(&self, id: &str) -> Option<Note<'a>> {
        self.document.note(id).or_else(|| self.unnamed.get(id).copied())
    }

    /// Of several notes with one id the one that says what the id said before, else the
    /// first.
    pub(super) fn heir(&self, id: &str, before: Option<Note<'_>>) -> Option<Note<'a>> {
        let first = self.first(id)?;
        let Some(before) = before.filter(|before| before.content() != first.content()) else {
            return Some(first);
        };
        let is_heir = |note: &Note<'_>| note.id() == Some(id) && note.content() == before.content();
        Some(self.document.notes().find(is_heir).unwrap_or(first))
    }
}

/// Whether a note says what a change made of a field; of a text its lines are enough,
/// whatever other lines say.
pub(super) fn stands(note: Note<'_>, field: &Field, change: &FieldChange) -> bool {
    let now = said(note, field);
    let is_text = matches!(field, Field::Content | Field::Evidence | Field::Tags);
    now == change.to
        || is_text
            && now.zip(change.to.as_deref()).is_some_and(|(now, to)| {
                lines::is_carried_out(change.from.as_deref().unwrap_or_default(), &now, to)
            })
}

/// What a field says, apart from how it is spelled; `None` if it is absent.
pub(super) fn meaning(note: Note<'_>, field: &Field) -> Option<String> {
    match field {
        Field::Importance => Some(match note.written_importance() {
            // As it is written anywhere, unless that would be another number.
            Some(number) => Some(two_decimals(number))
                .filter(|text| text.parse() == Ok(number))
                .unwrap_or_else(|| number.to_string()),
            None => note.get(field)?.into_owned(),
        }),
        _ => note.get(field).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty()),
    }
}

/// What a field of a note says, its kind included, which need not be written.
pub(super) fn said(note: Note<'_>, field: &Field) -> Option<String> {
    match field {
        Field::Kind => Some(note.kind().to_string()),
        _ => meaning(note, field),
    }
}

/// All fields that either note has, with content and kind.
pub(super) fn fields_of(one: Note<'_>, other: Note<'_>) -> BTreeSet<Field> {
    let mut fields: BTreeSet<Field> = one.fields().into_iter().chain(other.fields()).collect();
    // A bullet says both on one line.
    fields.extend([Field::Content, Field::Kind, Field::Scope, Field::Project]);
    fields.remove(&Field::Id);
    fields
}

/// Whether two notes stand there in the same bytes and mean the same by them.
fn is_same_text(old: Note<'_>, new: Note<'_>) -> bool {
    old.kind() == new.kind() && old.form() == new.form() && is_spelled_alike(old, new)
}

/// Whether two notes have the same bytes. A last line without its end is the same line.
pub(super) fn is_spelled_alike(one: Note<'_>, other: Note<'_>) -> bool {
    let (one, other) = (one.own_bytes(), other.own_bytes());
    one == other || one.trim_end_matches(['\r', '\n']) == other.trim_end_matches(['\r', '\n'])
}

fn differences(old: Note<'_>, new: Note<'_>) -> BTreeMap<Field, FieldChange> {
    let fields = fields_of(old, new).into_iter().map(|field| {
        let change = FieldChange { from: said(old, &field), to: said(new, &field) };
        (field, change)
    });
    fields.filter(|(_, change)| change.from != change.to).collect()
}
