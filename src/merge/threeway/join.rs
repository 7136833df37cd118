//! The changes of one side carried onto the other, and the notes in dispute told apart.

use std::collections::BTreeMap;

use crate::document::{Change, Document, Field, Form, NewNote, Note, Place, State};
use crate::effective::id_of;
use crate::merge::apply::{Forms, Lost, place_of, says_the_same};
use crate::merge::changes::{ChangeSet, NoteChange, Notes, said};
use crate::merge::lines::{Overlap, Woven};
use crate::merge::prose::{self, Carried};
use crate::text::{Span, Splice, splice};

use super::Disagreement;

/// A note that the sides have differently, as each would have it if all else is merged. The
/// bytes end in one line end; `None` where a version has no such note.
pub(super) struct Clash {
    pub(super) id: String,
    /// Its index in [`Joined::document`].
    pub(super) note: usize,
    pub(super) target: Option<String>,
    pub(super) base: Option<String>,
    pub(super) newer: Option<String>,
}

/// A merge before its conflicts are drawn.
pub(super) struct Joined {
    /// The target with all notes, those in dispute too, and with its own prose.
    pub(super) document: Document,
    pub(super) clashes: Vec<Clash>,
    pub(super) prose: Carried,
}

impl Joined {
    /// `None` if a change cannot be carried over as it is meant.
    pub(super) fn of(base: &Document, target: &Document, newer: &Document) -> Option<Self> {
        let set = ChangeSet::between(base, newer);
        let applied = set.apply_notes(target, Forms::Own);
        let mut document = applied.document;
        for waiting in &applied.waiting {
            document = in_its_own_form(&document, newer.note(&waiting.id)?)?;
        }
        let mut fields: BTreeMap<String, Vec<Field>> = BTreeMap::new();
        let mut removals = Vec::new();
        for loss in applied.losses {
            let id = loss.id?;
            match loss.lost {
                Lost::Value { field, .. } => fields.entry(id).or_default().push(field?),
                Lost::Removal | Lost::Note(_) => removals.push(id),
            }
        }
        let sides = Sides { base: Notes::of(base), target: Notes::of(target), newer: Notes::of(newer) };
        for id in removals.iter().filter(|id| sides.target.first(id).is_none()) {
            document = put_back(&document, sides.newer.first(id)?, newer)?;
        }
        for (id, change) in set.notes() {
            let is_edit = matches!(change, NoteChange::Changed(_) | NoteChange::Respelled);
            if is_edit && !fields.contains_key(id) && !removals.contains(id) {
                document = sides.with_bytes_of_both(id, document);
            }
        }
        let mut clashes = Vec::new();
        for id in removals {
            clashes.push(sides.removal(id, &document)?);
        }
        for (id, fields) in fields {
            clashes.extend(sides.dispute(id, &fields, &document)?);
        }
        clashes.sort_by_key(|clash| clash.note);
        let prose = prose::carry(base, newer, &document);
        Some(Self { document, clashes, prose })
    }

    pub(super) fn is_clean(&self) -> bool {
        self.clashes.is_empty() && self.prose.clashes.is_empty()
    }

    /// What is in dispute, in the order of the layer.
    pub(super) fn disagreements(&self) -> Vec<Disagreement> {
        let start = |clash: &Clash| self.document.note_at(clash.note).map_or(0, |note| note.span().start);
        let notes = self.clashes.iter().map(|clash| (start(clash), Disagreement::Note(clash.id.clone())));
        let prose = self.prose.clashes.iter().map(|clash| (clash.place.start, Disagreement::Prose));
        let mut all: Vec<_> = notes.chain(prose).collect();
        all.sort();
        all.into_iter().map(|(_, disagreement)| disagreement).collect()
    }
}

/// The base without what stands between conflict markers: the ancestor that git makes of
/// several may hold such, and nobody said it. The notes concerned count as new on both sides.
pub(super) fn without_conflicts(base: &Document) -> Document {
    if base.conflicts().is_empty() {
        return base.clone();
    }
    let mut gone: Vec<Span> = base.conflicts().to_vec();
    gone.extend(base.notes().filter(|note| note.state() == State::Conflicted).map(Note::span));
    gone.sort_by_key(|span| (span.start, span.end));
    let mut apart: Vec<Span> = Vec::new();
    for span in gone {
        match apart.last_mut().filter(|last| span.start <= last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => apart.push(span),
        }
    }
    let splices = apart.into_iter().map(Splice::remove).collect();
    splice(base.source(), splices).map_or_else(|_| base.clone(), Document::parse)
}

/// A new note that the layer's form cannot say.
fn in_its_own_form(document: &Document, note: Note<'_>) -> Option<Document> {
    if document.note(note.id()?).is_some() || note.state() != State::Good {
        return None;
    }
    let form = Some(note.form());
    document.apply(&[Change::Insert { note: NewNote::of(note), form, place: Place::End }]).ok()
}

/// A note that the target took out, in the place that the other side has it in.
fn put_back(document: &Document, note: Note<'_>, newer: &Document) -> Option<Document> {
    let form = Forms::Own.of(note, document);
    let place = place_of(note, newer, document, form);
    let insert = Change::Insert { note: NewNote::of(note), form: Some(form), place };
    document.apply(&[insert]).ok().or_else(|| in_its_own_form(document, note))
}

/// The notes of the three versions.
struct Sides<'a> {
    base: Notes<'a>,
    target: Notes<'a>,
    newer: Notes<'a>,
}

impl Sides<'_> {
    /// Bytes that mean nothing were changed too: comments, quotes, the order of keys. If the
    /// lines of both sides' notes can be merged, and say what the merge by fields says, they
    /// are taken.
    fn with_bytes_of_both(&self, id: &str, document: Document) -> Document {
        let spelled = || {
            let (base, target, newer) = (self.base.first(id)?, self.target.first(id)?, self.newer.first(id)?);
            let merged = find(&document, id)?;
            let is_of_one_form = [base, target, newer].iter().all(|note| note.form() == merged.form());
            if !is_of_one_form || target.own_bytes() == base.own_bytes() {
                return None;
            }
            let [base, target, newer] = [base, target, newer].map(Note::snippet);
            let woven = Woven::of(&base, &target, &newer, Overlap::LastWord);
            let with = NewNote::from_snippet(&woven.ours).filter(|_| woven.is_clean())?;
            let spelled = document.apply(&[Change::Respell { note: merged.index(), with }]).ok()?;
            let is_same = find(&spelled, id).is_some_and(|note| says_the_same(note, merged));
            is_same.then_some(spelled)
        };
        spelled().unwrap_or(document)
    }

    /// A note that one side took out and the other changed.
    fn removal(&self, id: String, document: &Document) -> Option<Clash> {
        let note = find(document, &id)?;
        let bytes = own_lines(note)?;
        let base = self.base.first(&id).and_then(own_lines);
        let is_targets = self.target.first(&id).is_some();
        let (target, newer) = if is_targets { (Some(bytes), None) } else { (None, Some(bytes)) };
        Some(Clash { note: note.index(), id, target, base, newer })
    }

    /// A note with fields that both sides changed; no clash if they agree after all.
    /// `None` if the sides cannot be told in one place.
    fn dispute(&self, id: String, fields: &[Field], document: &Document) -> Option<Vec<Clash>> {
        let note = find(document, &id)?;
        let (target, newer, base) = (self.target.first(&id)?, self.newer.first(&id)?, self.base.first(&id));
        let (mut of_base, mut of_newer) = (Vec::new(), Vec::new());
        let mut fields = fields.to_vec();
        fields.dedup();
        for field in fields {
            if field == Field::Kind && note.form() == Form::Bullet {
                return None; // each kind has a section of its own
            }
            let [was, ours, theirs] =
                [base, Some(target), Some(newer)].map(|note| note.and_then(|note| said(note, &field)));
            if field.is_isolation() && theirs.is_none() {
                continue; // a key that is not there says nothing
            }
            let is_text = matches!(field, Field::Content | Field::Evidence | Field::Tags);
            let (was, theirs) = match (is_text, ours, theirs) {
                (true, Some(ours), Some(theirs)) => {
                    let overlap = if field == Field::Content { Overlap::LastWord } else { Overlap::Both };
                    let woven = Woven::of(was.as_deref().unwrap_or_default(), &ours, &theirs, overlap);
                    (Some(woven.base), Some(woven.theirs))
                }
                (_, _, theirs) => (
                    was.map(|was| written(base, &field, was)),
                    theirs.map(|it| written(Some(newer), &field, it)),
                ),
            };
            of_base.push(change(note, &field, was));
            of_newer.push(change(note, &field, theirs));
        }
        if of_newer.is_empty() {
            return Some(Vec::new());
        }
        let said_by = |changes: &[Change]| own_lines(document.apply(changes).ok()?.note_at(note.index())?);
        Some(vec![Clash {
            note: note.index(),
            target: Some(own_lines(note)?),
            base: base.and_then(|base| said_by(&of_base).or_else(|| own_lines(base))),
            newer: Some(said_by(&of_newer).or_else(|| own_lines(newer))?),
            id,
        }])
    }
}

/// A value as it is written: a number as 0.70, not as 0.7.
fn written(note: Option<Note<'_>>, field: &Field, value: String) -> String {
    let text = note.filter(|_| *field == Field::Importance).and_then(|note| note.entry_text(field));
    text.map_or(value, |text| text.trim().to_owned())
}

fn change(note: Note<'_>, field: &Field, value: Option<String>) -> Change {
    let (note, field) = (note.index(), field.clone());
    match value {
        Some(text) => Change::Set { note, field, text },
        None => Change::Unset { note, field },
    }
}

fn find<'a>(document: &'a Document, id: &str) -> Option<Note<'a>> {
    document.note(id).or_else(|| document.notes().find(|note| id_of(*note) == id))
}

/// The lines of a note, without the empty ones behind it.
fn own_lines(note: Note<'_>) -> Option<String> {
    note.is_contiguous().then(|| format!("{}\n", note.own_bytes().trim_end()))
}
