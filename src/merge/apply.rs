//! Applying a change set to a third version, which has the last word.

use std::collections::BTreeMap;

use crate::document::{Change, Document, EditError, Field, Form, NewNote, Note, Place, State};
use crate::effective::id_of;

use super::changes::{ChangeSet, FieldChange, NoteChange, Notes, fields_of, meaning, said};
use super::lines::{self, LostLines, Overlap};
use super::prose;

/// What a change would have done, had the target not said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Lost {
    /// A field would have another value; for contents and prose, these lines.
    Value {
        /// The field; `None` is prose.
        field: Option<Field>,
        /// What the target keeps.
        kept: Option<String>,
        /// What the change says.
        lost: Option<String>,
    },
    /// The note would be gone; the target changed it.
    Removal,
    /// The note would be changed; the target has removed it. The changed note.
    Note(Box<NewNote>),
}

/// Something that lost, in full, so that it can be brought back.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The note; `None` for prose.
    pub id: Option<String>,
    /// What was lost.
    pub lost: Lost,
}

/// A change that cannot be made now: the note cannot be read or be written so.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The note.
    pub id: String,
    /// Why; `None` if the note is there but cannot be read.
    pub why: Option<EditError>,
}

/// What came of applying a change set.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The target with the changes.
    pub document: Document,
    /// What lost against the target.
    pub losses: Vec<Loss>,
    /// What could not be done yet.
    pub waiting: Vec<Waiting>,
}

impl Applied {
    /// A document to which nothing was done.
    pub fn unchanged(document: &Document) -> Self {
        Self { document: document.clone(), losses: Vec::new(), waiting: Vec::new() }
    }
}

/// How a new note is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forms {
    /// As most notes of the target are.
    Targets,
    /// As it was written, if the target has notes like that, too.
    Own,
}

impl Forms {
    pub(super) fn of(self, newer: Note<'_>, target: &Document) -> Form {
        let own = newer.form();
        let is_known = || target.notes().any(|note| note.form() == own);
        match target.form() {
            Some(form) if self == Self::Targets || !is_known() => form,
            _ => own,
        }
    }
}

/// What one note asks for.
struct Step {
    id: String,
    changes: Vec<Change>,
}

impl ChangeSet<'_> {
    /// Carries the changes onto `target`. Its own changes win, field by field and, in
    /// contents, evidence and prose, line by line (tests/merge_table.rs walks all cases).
    ///
    /// Applying to the version it starts from gives the version it leads to, byte for
    /// byte; applying twice is applying once, as long as no line repeats within a text.
    pub fn apply(&self, target: &Document) -> Applied {
        if target.source() == self.from.source() {
            return Applied::unchanged(self.to);
        }
        if self.from.source() == self.to.source() || target.source() == self.to.source() {
            return Applied::unchanged(target);
        }
        let mut applied = self.apply_notes(target, Forms::Targets);
        if prose::differs(self.from, self.to) {
            applied.document = self.merge_prose(applied.document, &mut applied.losses);
        }
        applied
    }

    /// As [`Self::apply`], without the prose.
    pub(super) fn apply_notes(&self, target: &Document, forms: Forms) -> Applied {
        let (mut losses, mut waiting) = (Vec::new(), Vec::new());
        let mut steps = Vec::new();
        let (base, newer, present) = (Notes::of(self.from), Notes::of(self.to), Notes::of(target));
        for (id, change) in self.notes() {
            let before = base.first(id);
            let sides = Sides { base: before, newer: newer.first(id), target: present.heir(id, before) };
            let changes = match (change, sides.newer, sides.target) {
                (NoteChange::Added(new), Some(newer), None) if target.is_absent(id) => {
                    let form = forms.of(newer, target);
                    let place = place_of(newer, self.to, target, form);
                    vec![Change::Insert { note: new.clone(), form: Some(form), place }]
                }
                _ => sides.settle(id, change, target, &mut losses, &mut waiting),
            };
            if !changes.is_empty() {
                steps.push(Step { id: id.clone(), changes });
            }
        }
        let document = carry_out(target, steps, &mut waiting);
        Applied { document, losses, waiting }
    }

    fn merge_prose(&self, document: Document, losses: &mut Vec<Loss>) -> Document {
        let (text, lost) = prose::merge(self.from, self.to, &document);
        losses.extend(lost.into_iter().map(|lines| loss(None, None, lines)));
        let merged = Document::parse(text);
        // Prose that would turn into a note, or swallow one, is not taken.
        let notes = |document: &Document| {
            document.notes().map(|note| note.own_bytes().into_owned()).collect::<Vec<_>>()
        };
        if notes(&merged) == notes(&document) {
            return merged;
        }
        let lost = Lost::Value { field: None, kept: None, lost: Some(self.to.source().to_owned()) };
        losses.push(Loss { id: None, lost });
        document
    }
}

/// All at once; if that is refused, one note after the other, so that one does not hold
/// up the rest.
fn carry_out(target: &Document, steps: Vec<Step>, waiting: &mut Vec<Waiting>) -> Document {
    let all: Vec<Change> = steps.iter().flat_map(|step| step.changes.iter().cloned()).collect();
    if let Ok(document) = target.apply(&all) {
        return document;
    }
    let mut document = target.clone();
    for step in steps {
        // Indexes of notes move as others come and go.
        let renamed = step
            .changes
            .into_iter()
            .filter_map(|change| moved(change, target, &document))
            .collect::<Vec<_>>();
        match document.apply(&renamed) {
            Ok(edited) => document = edited,
            Err(why) => waiting.push(Waiting { id: step.id, why: Some(why) }),
        }
    }
    document
}

/// A change of `before` as a change of `now`.
fn moved(change: Change, before: &Document, now: &Document) -> Option<Change> {
    let index = |index: usize| {
        let id = id_of(before.note_at(index)?).into_owned();
        now.notes().find(|note| id_of(*note) == id).map(Note::index)
    };
    Some(match change {
        Change::Set { note, field, text } => Change::Set { note: index(note)?, field, text },
        Change::Unset { note, field } => Change::Unset { note: index(note)?, field },
        Change::Remove { note, with_section } => Change::Remove { note: index(note)?, with_section },
        Change::Respell { note, with } => Change::Respell { note: index(note)?, with },
        Change::Move { note, place } => Change::Move { note: index(note)?, place },
        Change::Insert { note, form, place: Place::After(neighbour) } => {
            let place = index(neighbour).map_or(Place::End, Place::After);
            Change::Insert { note, form, place }
        }
        insert @ Change::Insert { .. } => insert,
    })
}

/// One note in the three versions.
struct Sides<'a> {
    base: Option<Note<'a>>,
    newer: Option<Note<'a>>,
    target: Option<Note<'a>>,
}

impl Sides<'_> {
    /// The edits of the target that carry the change over.
    fn settle(
        &self,
        id: &str,
        change: &NoteChange,
        target: &Document,
        losses: &mut Vec<Loss>,
        waiting: &mut Vec<Waiting>,
    ) -> Vec<Change> {
        let id_in_text = !target.is_absent(id);
        match (change, self.target) {
            (_, Some(present)) if present.state() != State::Good => {
                waiting.push(Waiting { id: id.to_owned(), why: None });
                Vec::new()
            }
            // Still there as text, so neither gone nor to be added once more.
            (_, None) if id_in_text => {
                waiting.push(Waiting { id: id.to_owned(), why: None });
                Vec::new()
            }
            (NoteChange::Added(_) | NoteChange::Removed(_) | NoteChange::Respelled, None) => Vec::new(),
            (NoteChange::Changed(_), None) => {
                if let Some(newer) = self.newer {
                    losses.push(Loss {
                        id: Some(id.to_owned()),
                        lost: Lost::Note(Box::new(NewNote::of(newer))),
                    });
                }
                Vec::new()
            }
            (NoteChange::Removed(_), Some(present)) => {
                if self.base.is_some_and(|base| says_the_same(base, present)) {
                    return vec![Change::Remove { note: present.index(), with_section: false }];
                }
                losses.push(Loss { id: Some(id.to_owned()), lost: Lost::Removal });
                Vec::new()
            }
            (NoteChange::Added(_), Some(present)) => {
                let Some(newer) = self.newer else { return Vec::new() };
                let fields = fields_of(newer, present).into_iter().filter_map(|field| {
                    let to = meaning(newer, &field)?;
                    Some((field, FieldChange { from: None, to: Some(to) }))
                });
                settle_fields(id, &fields.collect(), newer, present, losses)
            }
            (NoteChange::Changed(fields), Some(present)) => {
                if let (Some(base), Some(newer)) = (self.base, self.newer)
                    && base.own_bytes() == present.own_bytes()
                    && present.is_contiguous()
                {
                    return vec![Change::Respell { note: present.index(), with: NewNote::of(newer) }];
                }
                let Some(newer) = self.newer else { return Vec::new() };
                settle_fields(id, fields, newer, present, losses)
            }
            (NoteChange::Respelled, Some(present)) => {
                if let (Some(base), Some(newer)) = (self.base, self.newer)
                    && base.own_bytes() == present.own_bytes()
                    && present.is_contiguous()
                {
                    return vec![Change::Respell { note: present.index(), with: NewNote::of(newer) }];
                }
                Vec::new()
            }
        }
    }
}

/// Whether two notes say the same, however they are spelled.
pub(super) fn says_the_same(one: Note<'_>, other: Note<'_>) -> bool {
    one.kind() == other.kind()
        && fields_of(one, other)
            .iter()
            .all(|field| *field == Field::Kind || meaning(one, field) == meaning(other, field))
}

/// Field by field: what only the change touched is taken, what both touched is merged by
/// lines or stays.
fn settle_fields(
    id: &str,
    fields: &BTreeMap<Field, FieldChange>,
    newer: Note<'_>,
    present: Note<'_>,
    losses: &mut Vec<Loss>,
) -> Vec<Change> {
    let note = present.index();
    let mut changes = Vec::new();
    for (field, change) in fields {
        let now = said(present, field);
        // An isolation key that is not there is unchanged, not taken away.
        let now_or_base =
            if field.is_isolation() && now.is_none() { change.from.clone() } else { now.clone() };
        if change.to == now || change.to == now_or_base && now.is_some() {
            continue;
        }
        let value = if now_or_base == change.from {
            change.to.clone()
        } else {
            let is_text = matches!(field, Field::Content | Field::Evidence | Field::Tags);
            if let (true, Some(now), Some(to)) = (is_text, &now, &change.to) {
                // A list of reasons or words holds both sides' additions.
                let overlap = if *field == Field::Content { Overlap::LastWord } else { Overlap::Both };
                let base = change.from.as_deref().unwrap_or_default();
                let (text, lost) = lines::merge(base, now, to, overlap);
                losses.extend(lost.into_iter().map(|lines| loss(Some(id), Some(field), lines)));
                Some(text)
            } else {
                let lost =
                    Lost::Value { field: Some(field.clone()), kept: now.clone(), lost: change.to.clone() };
                losses.push(Loss { id: Some(id.to_owned()), lost });
                now.clone()
            }
        };
        if value == now {
            continue;
        }
        changes.push(match value {
            // A number as it is written: 0.70, not 0.7.
            Some(text) if *field == Field::Importance && change.to.as_ref() == Some(&text) => {
                let text = newer.entry_text(field).map_or(text, |written| written.trim().to_owned());
                Change::Set { note, field: field.clone(), text }
            }
            Some(text) => Change::Set { note, field: field.clone(), text },
            None => Change::Unset { note, field: field.clone() },
        });
    }
    changes
}

fn loss(id: Option<&str>, field: Option<&Field>, lines: LostLines) -> Loss {
    let lost = Lost::Value { field: field.cloned(), kept: Some(lines.kept), lost: Some(lines.lost) };
    Loss { id: id.map(str::to_owned), lost }
}

/// Behind the nearest note before it that the target has, too.
pub(super) fn place_of(newer: Note<'_>, to: &Document, target: &Document, form: Form) -> Place {
    let before = to.notes().take(newer.index()).collect::<Vec<_>>();
    let fellow = before.into_iter().rev().find_map(|fellow| {
        let id = id_of(fellow);
        target.notes().find(|note| {
            id_of(*note) == id
                && note.form() == form
                && (note.kind() == newer.kind() || form == Form::FrontMatter)
        })
    });
    fellow.map_or(Place::End, |fellow| Place::After(fellow.index()))
}
