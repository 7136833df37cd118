//! Whether an edited layer says what was meant, and nothing else has changed.

use crate::text::trim_blanks;

use super::compose::NewNote;
use super::edit::{EditError, Plan, Refusal, Wanted, error, is_already, normal};
use super::field::Field;
use super::note::{Form, Note, State};
use super::{Document, SegmentKind, escape};

impl Document {
    /// Whether the edited layer says what was meant, and nothing else has changed.
    pub(super) fn verify(&self, edited: &Self, plan: &Plan) -> Result<(), EditError> {
        let mut expected: Vec<(usize, Expected<'_>)> = self
            .notes()
            .filter(|note| !plan.removed.contains(&note.index()))
            .map(|note| (note.span().start, Expected::Old(note)))
            .collect();
        // Stable: what is inserted at the start of a note comes before it.
        for (offset, form, note) in &plan.inserted {
            let at = expected.partition_point(|(start, item)| match item {
                Expected::Old(_) => start < offset,
                Expected::New(..) => start <= offset,
            });
            expected.insert(at, (*offset, Expected::New(*form, note)));
        }
        let misread = |what, note: Option<Note<'_>>| EditError {
            refusal: Refusal::Misread(what),
            id: note.and_then(super::note::Note::id).map(str::to_owned),
            location: note.map(Note::location),
        };
        if expected.len() != edited.notes.len() {
            return Err(misread(
                "the layer would have other notes: the text opens or closes a code fence, comment or block",
                None,
            ));
        }
        for ((_, item), after) in expected.iter().zip(edited.notes()) {
            match item {
                Expected::Old(before) => match plan.wanted.get(&before.index()) {
                    None if before.own_bytes() != after.own_bytes()
                        || before.state() != after.state()
                        || before.kind() != after.kind() =>
                    {
                        return Err(misread("another note would change", Some(*before)));
                    }
                    None => {}
                    Some(wanted) => {
                        if let Some(field) = first_difference(*before, after, wanted) {
                            return Err(error(*before, Refusal::Misread(field)));
                        }
                    }
                },
                Expected::New(form, new) => {
                    if !says(after, *form, new) {
                        return Err(EditError {
                            refusal: Refusal::Misread("the new note would not say what was meant"),
                            id: new.id().map(str::to_owned),
                            location: None,
                        });
                    }
                }
            }
        }
        if !plan.may_lose_prose && !is_prose_kept(self, edited, &plan.new_prose) {
            return Err(misread("text outside of the notes would change", None));
        }
        Ok(())
    }
}

enum Expected<'a> {
    Old(Note<'a>),
    New(Form, &'a NewNote),
}

/// What the edited note says otherwise than it should.
fn first_difference(before: Note<'_>, after: Note<'_>, wanted: &Wanted) -> Option<&'static str> {
    for (field, text) in &wanted.set {
        let is_empty = text.as_deref().is_none_or(str::is_empty);
        let is_right = match text {
            Some(text) if !is_empty => is_already(after, field, Some(text)),
            _ => after.get(field).is_none_or(|text| text.is_empty()),
        };
        if !is_right {
            return Some("the field would not have the value that was meant");
        }
    }
    let mut fields = before.fields();
    fields.extend(after.fields());
    fields.extend([Field::Content, Field::Kind]);
    let is_bullet = before.form() == Form::Bullet;
    let is_touched = |field: &Field| {
        wanted.set.contains_key(field)
            // On one line in a bullet.
            || is_bullet && matches!(field, Field::Scope | Field::Project)
                && (wanted.set.contains_key(&Field::Scope) || wanted.set.contains_key(&Field::Project))
            // An id may bring the importance along.
            || is_bullet && *field == Field::Importance && wanted.set.contains_key(&Field::Id)
    };
    let differs = |field: &Field| before.get(field) != after.get(field);
    let is_other = fields.iter().any(|field| !is_touched(field) && differs(field))
        || after.form() != before.form()
        || after.state() != before.state()
        || before.importance().to_bits() != after.importance().to_bits()
            && !wanted.set.contains_key(&Field::Importance);
    is_other.then_some("another field would change")
}

/// Whether a note in a layer says what a new one should.
fn says(after: Note<'_>, form: Form, new: &NewNote) -> bool {
    let content = match form {
        Form::Bullet => escape::normal_bullet(&new.content),
        Form::FrontMatter => escape::normal_body(&new.content),
    };
    after.form() == form
        && after.kind() == new.kind
        && after.state() == State::Good
        && after.content() == content
        && new.fields.iter().all(|(field, text)| {
            let text = normal(form, field, text);
            text.is_empty() && after.get(field).is_none() || is_already(after, field, Some(&text))
        })
}

/// Whether the text outside of the notes is the same, empty lines aside, with the
/// headings of new sections added.
fn is_prose_kept(before: &Document, after: &Document, new_prose: &[String]) -> bool {
    let lines = |document: &Document| {
        let prose = document.segments.iter().filter(|segment| !matches!(segment.kind, SegmentKind::Note(_)));
        let mut lines: Vec<String> = Vec::new();
        for segment in prose {
            lines.extend(
                segment
                    .span
                    .of(&document.source)
                    .lines()
                    .filter(|line| !trim_blanks(line).is_empty())
                    .map(str::to_owned),
            );
        }
        lines
    };
    let mut new_prose = new_prose.to_vec();
    let mut after = lines(after).into_iter().peekable();
    for line in lines(before) {
        while let Some(at) = after
            .peek()
            .filter(|next| **next != line)
            .and_then(|next| new_prose.iter().position(|new| new == next))
        {
            new_prose.swap_remove(at);
            after.next();
        }
        if after.next().as_ref() != Some(&line) {
            return false;
        }
    }
    after.all(|line| match new_prose.iter().position(|new| *new == line) {
        Some(at) => {
            new_prose.swap_remove(at);
            true
        }
        None => false,
    })
}
