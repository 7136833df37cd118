//! Changing a layer: changes become splices, the result is parsed again and must read
//! as intended, else nothing is changed and the refusal says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::note::Kind;
use crate::text::{Location, Span, Splice, locate, splice, trim_blanks};

use super::compose::{NewNote, Place};
use super::diagnostic::Problem;
use super::field::Field;
use super::note::{Form, Note, State};
use super::{Document, escape, note};

/// One change of a layer. Notes are named by their index in [`Document::notes`].
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Gives a field a value, as [`Note::get`] would read it (a list is its items, a line
    /// each). Setting what is already so is no edit.
    Set {
        /// The note's index.
        note: usize,
        /// The field; also [`Field::Content`].
        field: Field,
        /// The value.
        text: String,
    },
    /// Takes a field out of the file.
    Unset {
        /// The note's index.
        note: usize,
        /// The field; neither id, kind nor content.
        field: Field,
    },
    /// Takes a note out, with one empty line.
    Remove {
        /// The note's index.
        note: usize,
        /// Whether the section's heading goes too if nothing else stands below it.
        with_section: bool,
    },
    /// Puts a new note in.
    Insert {
        /// The note.
        note: NewNote,
        /// How it is written; `None` is as most notes of the layer.
        form: Option<Form>,
        /// Where it goes.
        place: Place,
    },
    /// Puts the bytes of another version of a note in its place.
    Respell {
        /// The note's index.
        note: usize,
        /// The other version.
        with: NewNote,
    },
    /// Puts a note elsewhere in the layer, bytes and all.
    Move {
        /// The note's index.
        note: usize,
        /// Where it goes.
        place: Place,
    },
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no note with this index.
    NoSuchNote(usize),
    /// Git's conflict markers stand in the layer.
    Conflict,
    /// The note cannot be read, so it cannot be changed.
    Unparsed,
    /// The metadata is laid out so that its fields have no lines of their own.
    Layout,
    /// A field that cannot be taken away or be written in this form.
    Unwritable(Field, Form),
    /// A value that the field cannot have.
    BadValue {
        /// The field.
        field: Field,
        /// What it may be.
        expected: &'static str,
    },
    /// Another note has this id.
    IdTaken(String),
    /// Two changes of one note that cannot both be made.
    Overlap,
    /// Read back, the layer would not say what was meant.
    Misread(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNote(_) => f.write_str("there is no such note"),
            Self::Conflict => f.write_str("git's conflict markers stand in this layer; resolve them first"),
            Self::Unparsed => f.write_str("the note's metadata cannot be read; mend it first (`layers check` says where)"),
            Self::Layout => f.write_str("the note's metadata is laid out so that it cannot be edited in place; put each key on a line of its own"),
            Self::Unwritable(field, Form::Bullet) => {
                write!(f, "a bullet cannot say this about `{field}`; `layers fmt --to front-matter` gives the note a form that can")
            }
            Self::Unwritable(field, Form::FrontMatter) => write!(f, "`{field}` cannot be taken away or changed so"),
            Self::BadValue { field, expected } => write!(f, "`{field}` must be {expected}"),
            Self::IdTaken(id) => write!(f, "the id {id} stands in this layer already"),
            Self::Overlap => f.write_str("two of the changes are about the same bytes"),
            Self::Misread(what) => write!(f, "read back, {what}"),
        }
    }
}

/// A refused change. The layer is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal}")]
pub struct EditError {
    /// Why.
    pub refusal: Refusal,
    /// The id of the note concerned, if it has one.
    pub id: Option<String>,
    /// Where the note or the obstacle stands.
    pub location: Option<Location>,
}

/// What a note is to say after the edit.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) set: BTreeMap<Field, Option<String>>,
}

/// All that an edit does, before it is done.
#[derive(Default)]
pub(super) struct Plan {
    splices: Vec<Splice>,
    pub(super) wanted: BTreeMap<usize, Wanted>,
    pub(super) removed: BTreeSet<usize>,
    /// New notes with their offset, in the order given.
    pub(super) inserted: Vec<(usize, Form, NewNote)>,
    /// Headings that come with new sections.
    pub(super) new_prose: Vec<String>,
    /// Headings that go with emptied sections, end marks that stay.
    pub(super) may_lose_prose: bool,
}

impl Document {
    /// The layer with these changes, all or none. Only the bytes concerned differ; a
    /// change to what is already so changes none.
    ///
    /// ```
    /// use harness_layers::document::{Change, Document, Field};
    ///
    /// let layer = Document::parse("---\nimportance: 0.70    # reviewed in March\nid: n1\n---\n\nUse 30 s.\n");
    /// let change = Change::Set { note: 0, field: Field::Importance, text: "0.80".into() };
    /// let edited = layer.apply(&[change]).unwrap();
    /// assert_eq!(edited.source(), "---\nimportance: 0.80    # reviewed in March\nid: n1\n---\n\nUse 30 s.\n");
    /// ```
    pub fn apply(&self, changes: &[Change]) -> Result<Self, EditError> {
        if let Some(conflict) = self.conflicts.first().filter(|_| !changes.is_empty()) {
            let location = Some(locate(&self.source, conflict.start));
            return Err(EditError { refusal: Refusal::Conflict, id: None, location });
        }
        let mut plan = Plan::default();
        for change in changes {
            self.plan(change, &mut plan)?;
        }
        let wanted = std::mem::take(&mut plan.wanted);
        for (index, wanted) in &wanted {
            let found = Note::new(self, *index);
            self.spell_note(found, wanted, &mut plan.splices).map_err(|refusal| error(found, refusal))?;
        }
        plan.wanted = wanted;
        plan.splices.retain(|edit| edit.text != edit.span.of(&self.source));
        if plan.splices.is_empty() {
            return Ok(self.clone());
        }
        let text = splice(&self.source, united(std::mem::take(&mut plan.splices)))
            .map_err(|_| EditError { refusal: Refusal::Overlap, id: None, location: None })?;
        let edited = Self::parse(text);
        self.verify(&edited, &plan)?;
        Ok(edited)
    }

    /// Sets one field of one note; see [`Self::apply`].
    pub fn set(&self, note: usize, field: Field, text: impl Into<String>) -> Result<Self, EditError> {
        self.apply(&[Change::Set { note, field, text: text.into() }])
    }

    /// Takes one field out of one note; see [`Self::apply`].
    pub fn unset(&self, note: usize, field: Field) -> Result<Self, EditError> {
        self.apply(&[Change::Unset { note, field }])
    }

    fn plan(&self, change: &Change, plan: &mut Plan) -> Result<(), EditError> {
        let find = |index: usize| {
            self.note_at(index).ok_or(EditError {
                refusal: Refusal::NoSuchNote(index),
                id: None,
                location: None,
            })
        };
        match change {
            Change::Set { note, field, text } => {
                let found = find(*note)?;
                self.check_value(found, field, text).map_err(|refusal| error(found, refusal))?;
                if *field == Field::Kind && found.form() == Form::Bullet {
                    // A bullet's kind is its section.
                    if text.parse::<Kind>() != Ok(found.kind()) {
                        let mut moved = NewNote::of(found);
                        moved.kind = text.parse().unwrap_or(moved.kind);
                        self.plan_move(found, moved, Place::End, plan);
                    }
                    return Ok(());
                }
                let normal = normal(found.form(), field, text);
                plan.wanted.entry(*note).or_default().set.insert(field.clone(), Some(normal));
            }
            Change::Unset { note, field } => {
                let found = find(*note)?;
                if matches!(field, Field::Id | Field::Kind | Field::Content) {
                    return Err(error(found, Refusal::Unwritable(field.clone(), found.form())));
                }
                if found.state() == State::Unparsed {
                    return Err(error(found, Refusal::Unparsed));
                }
                plan.wanted.entry(*note).or_default().set.insert(field.clone(), None);
            }
            Change::Remove { note, with_section } => {
                find(*note)?;
                plan.splices.extend(self.removal(*note, *with_section).into_iter().map(Splice::remove));
                plan.removed.insert(*note);
                plan.may_lose_prose |= *with_section;
            }
            Change::Insert { note, form, place } => self.plan_insert(note.clone(), *form, *place, plan)?,
            Change::Respell { note, with } => {
                let found = find(*note)?;
                self.plan_respelling(found, with, plan).map_err(|refusal| error(found, refusal))?;
            }
            Change::Move { note, place } => {
                let found = find(*note)?;
                self.plan_move(found, NewNote::of(found), *place, plan);
            }
        }
        Ok(())
    }

    fn plan_respelling(&self, found: Note<'_>, with: &NewNote, plan: &mut Plan) -> Result<(), Refusal> {
        if found.form() == Form::Bullet && found.kind() != with.kind {
            self.plan_move(found, with.clone(), Place::End, plan);
            return Ok(());
        }
        let spans: Vec<Span> = found.own_spans().collect();
        let [only] = spans[..] else { return Err(Refusal::Layout) };
        let text = only.of(&self.source);
        let kept = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        let span = Span::new(only.start, only.start + kept.len());
        plan.splices.push(Splice::replace(span, with.spell(found.form(), self.eol_at(only.start))));
        plan.removed.insert(found.index());
        plan.inserted.push((only.start, found.form(), with.clone()));
        Ok(())
    }

    fn plan_move(&self, found: Note<'_>, moved: NewNote, place: Place, plan: &mut Plan) {
        let form = found.form();
        let insertion = self.insertion(&moved, form, place);
        plan.splices.extend(self.removal(found.index(), false).into_iter().map(Splice::remove));
        plan.removed.insert(found.index());
        plan.new_prose.extend(insertion.prose);
        plan.splices.push(Splice::insert(insertion.offset, insertion.text));
        plan.inserted.push((insertion.offset, form, moved));
    }

    fn plan_insert(
        &self,
        note: NewNote,
        form: Option<Form>,
        place: Place,
        plan: &mut Plan,
    ) -> Result<(), EditError> {
        let form = form.or_else(|| self.form()).unwrap_or(Form::FrontMatter);
        let refuse = |refusal| Err(EditError { refusal, id: note.id().map(str::to_owned), location: None });
        if let Some(id) = note.id() {
            let is_new = plan.inserted.iter().all(|(_, _, earlier)| earlier.id() != Some(id));
            let is_free = self.note(id).is_none_or(|found| plan.removed.contains(&found.index()));
            if !is_new || !is_free || self.stands_as_text(id) {
                return refuse(Refusal::IdTaken(id.to_owned()));
            }
        }
        if form == Form::Bullet {
            if escape::normal_bullet(&note.content).is_empty() {
                return refuse(Refusal::BadValue { field: Field::Content, expected: "some text" });
            }
            if let Some((field, _)) = note.fields.iter().find(|(field, _)| matches!(field, Field::Other(_))) {
                return refuse(Refusal::Unwritable(field.clone(), form));
            }
        }
        let insertion = self.insertion(&note, form, place);
        plan.new_prose.extend(insertion.prose);
        plan.splices.push(Splice::insert(insertion.offset, insertion.text));
        plan.inserted.push((insertion.offset, form, note));
        Ok(())
    }

    /// Whether an id stands in the layer, though no note is read that has it: a second id of
    /// a block, one in a fence that is not closed. It counts as present.
    fn stands_as_text(&self, id: &str) -> bool {
        self.diagnostics.iter().any(|found| match &found.problem {
            Problem::Blend(ids) | Problem::Swallowed(ids) => ids.iter().any(|known| known == id),
            Problem::IdInText(known) | Problem::BulletOutsideSection(known) => known == id,
            _ => false,
        })
    }

    /// Whether a field may have this value at all.
    fn check_value(&self, found: Note<'_>, field: &Field, text: &str) -> Result<(), Refusal> {
        let bad = |expected| Err(Refusal::BadValue { field: field.clone(), expected });
        if found.state() == State::Unparsed {
            return Err(Refusal::Unparsed);
        }
        match field {
            Field::Id if !is_readable_id(text) => bad("letters, digits and `._:-`, 128 at most"),
            Field::Id
                if self.notes().any(|other| other.index() != found.index() && other.id() == Some(text))
                    || found.id() != Some(text) && self.stands_as_text(text) =>
            {
                Err(Refusal::IdTaken(text.to_owned()))
            }
            Field::Kind if text.parse::<Kind>().is_err() => bad("prompt, memory, skill or subagent"),
            Field::Scope if text.parse::<crate::note::Scope>().is_err() => bad("global or project"),
            Field::Approval if text.parse::<crate::note::Approval>().is_err() => {
                bad("pending, approved or rejected")
            }
            Field::Active | Field::Protected if note::flag(text).is_none() => bad("true or false"),
            Field::Importance if !note::number(text).is_some_and(|number| (0.0..=1.0).contains(&number)) => {
                bad("a number from 0 to 1")
            }
            Field::Content if found.form() == Form::Bullet && escape::normal_bullet(text).is_empty() => {
                bad("some text")
            }
            Field::Content | Field::Evidence | Field::Tags | Field::Other(_) => Ok(()),
            _ if text.contains(['\n', '\r']) => bad("one line"),
            _ => Ok(()),
        }
    }
}

/// The same splices, with removals that overlap made one: two notes that go may both take
/// the empty line between them.
fn united(mut splices: Vec<Splice>) -> Vec<Splice> {
    splices.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut united: Vec<Splice> = Vec::with_capacity(splices.len());
    for edit in splices {
        match united.last_mut() {
            Some(last) if last.text.is_empty() && edit.text.is_empty() && edit.span.start < last.span.end => {
                last.span.end = last.span.end.max(edit.span.end);
            }
            _ => united.push(edit),
        }
    }
    united
}

/// A refusal with the place of its note.
pub(super) fn error(note: Note<'_>, refusal: Refusal) -> EditError {
    EditError { refusal, id: note.id().map(str::to_owned), location: Some(note.location()) }
}

/// An id that both forms can write: pi's files may hold odder ones than we give.
fn is_readable_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= crate::note::MAX_ID_LEN
        && trim_blanks(id) == id
        && !id.contains([']', '\n', '\r'])
}

/// A value as the form can say it.
pub(super) fn normal(form: Form, field: &Field, text: &str) -> String {
    match (form, field) {
        (Form::FrontMatter, Field::Content) => escape::normal_body(text),
        (Form::Bullet, Field::Content) => escape::normal_bullet(text),
        (_, Field::Evidence | Field::Tags) => escape::normal_evidence(text),
        (_, Field::Other(_)) => text.to_owned(),
        _ => trim_blanks(text).to_owned(),
    }
}

/// Whether a field already has a value; setting it is then no edit.
pub(super) fn is_already(note: Note<'_>, field: &Field, text: Option<&str>) -> bool {
    let Some(text) = text else {
        return !(note.has(field) || *field == Field::Project && note.project().is_some());
    };
    match field {
        Field::Content => note.content() == text,
        Field::Importance => {
            note::number(text).is_some_and(|number| number.to_bits() == note.importance().to_bits())
        }
        Field::Active => note::flag(text) == Some(note.active()),
        Field::Protected => note::flag(text) == Some(note.protected()),
        Field::Kind => note.kind().as_str() == text,
        Field::Scope => note.scope().is_some_and(|scope| scope.as_str() == text),
        Field::Project => note.project().as_deref() == Some(text),
        Field::Approval => note.approval().unwrap_or(crate::note::Approval::Approved).as_str() == text,
        Field::Evidence | Field::Tags => {
            escape::normal_evidence(&note.get(field).unwrap_or_default()) == text
        }
        _ => note.entry_text(field) == Some(text),
    }
}
