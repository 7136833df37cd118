//! Changing a layer: changes become splices, the result is parsed again and must read
//! as intended, else nothing is changed and the refusal says why.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::note::Kind;
use crate::text::{Line, Location, Span, Splice, locate, splice, trim_blanks};

use super::compose::{NewNote, Place};
use super::field::{Entry, Field, Style};
use super::note::{Content, Form, Note, State};
use super::{Document, SegmentKind, continuation, escape, note, spell, yaml};

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
            Self::IdTaken(id) => write!(f, "another note of this layer has the id {id}"),
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
struct Wanted {
    set: BTreeMap<Field, Option<String>>,
}

/// All that an edit does, before it is done.
#[derive(Default)]
struct Plan {
    splices: Vec<Splice>,
    wanted: BTreeMap<usize, Wanted>,
    removed: Vec<usize>,
    /// New notes with their offset, in the order given.
    inserted: Vec<(usize, Form, NewNote)>,
    /// Headings that come with new sections.
    new_prose: Vec<String>,
    /// Headings that go with emptied sections, end marks that stay.
    may_lose_prose: bool,
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
            self.spell_note(found, wanted, &mut plan.splices)
                .map_err(|refusal| self.error(found, refusal))?;
        }
        plan.wanted = wanted;
        plan.splices.retain(|edit| edit.text != edit.span.of(&self.source));
        if plan.splices.is_empty() {
            return Ok(self.clone());
        }
        let text = splice(&self.source, std::mem::take(&mut plan.splices)).map_err(|_| EditError {
            refusal: Refusal::Overlap,
            id: None,
            location: None,
        })?;
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

    fn error(&self, note: Note<'_>, refusal: Refusal) -> EditError {
        EditError { refusal, id: note.id().map(str::to_owned), location: Some(note.location()) }
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
                self.check_value(found, field, text).map_err(|refusal| self.error(found, refusal))?;
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
                    return Err(self.error(found, Refusal::Unwritable(field.clone(), found.form())));
                }
                if found.state() == State::Unparsed {
                    return Err(self.error(found, Refusal::Unparsed));
                }
                plan.wanted.entry(*note).or_default().set.insert(field.clone(), None);
            }
            Change::Remove { note, with_section } => {
                find(*note)?;
                plan.splices.extend(self.removal(*note, *with_section).into_iter().map(Splice::remove));
                plan.removed.push(*note);
                plan.may_lose_prose |= *with_section;
            }
            Change::Insert { note, form, place } => self.plan_insert(note.clone(), *form, *place, plan)?,
            Change::Move { note, place } => {
                let found = find(*note)?;
                self.plan_move(found, NewNote::of(found), *place, plan);
            }
        }
        Ok(())
    }

    fn plan_move(&self, found: Note<'_>, moved: NewNote, place: Place, plan: &mut Plan) {
        let form = found.form();
        let insertion = self.insertion(&moved, form, place);
        plan.splices.extend(self.removal(found.index(), false).into_iter().map(Splice::remove));
        plan.removed.push(found.index());
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
            if !is_new || !is_free {
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

    /// Whether a field may have this value at all.
    fn check_value(&self, found: Note<'_>, field: &Field, text: &str) -> Result<(), Refusal> {
        let bad = |expected| Err(Refusal::BadValue { field: field.clone(), expected });
        if found.state() == State::Unparsed {
            return Err(Refusal::Unparsed);
        }
        match field {
            Field::Id if !is_readable_id(text) => bad("letters, digits and `._:-`, 128 at most"),
            Field::Id
                if self.notes().any(|other| other.index() != found.index() && other.id() == Some(text)) =>
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

    /// The splices that make one note say what is wanted.
    fn spell_note(&self, found: Note<'_>, wanted: &Wanted, splices: &mut Vec<Splice>) -> Result<(), Refusal> {
        let mut scope_is_due = false;
        for (field, text) in &wanted.set {
            if is_already(found, field, text.as_deref()) {
                continue;
            }
            match (found.form(), field) {
                (_, Field::Content) => self.spell_content(found, text.as_deref().unwrap_or(""), splices),
                (Form::FrontMatter, _) => self.spell_key(found, field, text.as_deref(), splices)?,
                // Both stand on one line.
                (Form::Bullet, Field::Scope | Field::Project) => scope_is_due = true,
                (Form::Bullet, _) => self.spell_sub_bullet(found, field, text.as_deref(), splices)?,
            }
        }
        if scope_is_due {
            let now = |field: &Field, present: Option<String>| match wanted.set.get(field) {
                Some(text) => text.clone(),
                None => present,
            };
            let scope = now(&Field::Scope, found.scope().map(|scope| scope.as_str().to_owned()));
            let project = now(&Field::Project, found.project().map(Cow::into_owned));
            if project.as_ref().is_some_and(|project| project.contains([')', '\n'])) {
                return Err(Refusal::BadValue { field: Field::Project, expected: "a key without `)`" });
            }
            let scope = scope.or_else(|| project.is_some().then(|| "project".to_owned()));
            let text = spell::scope_text(scope.as_deref(), project.as_deref());
            self.spell_sub_bullet(found, &Field::Scope, text.as_deref(), splices)?;
        }
        Ok(())
    }

    /// A key of a metadata block: its value, its line, or a new last line.
    fn spell_key(
        &self,
        found: Note<'_>,
        field: &Field,
        text: Option<&str>,
        splices: &mut Vec<Splice>,
    ) -> Result<(), Refusal> {
        let data = found.data();
        if !data.is_editable {
            return Err(Refusal::Layout);
        }
        let source = &self.source;
        let eol = self.eol_at(data.span.start);
        match (found.entry(field), text) {
            (Some(entry), Some(text)) => splices.push(self.key_splice(entry, text, eol)),
            (Some(entry), None) => {
                // A comment behind the value is a person's: it stays, on a line of its own.
                let behind = source[entry.value.end..entry.span.end].trim();
                let kept = if behind.starts_with('#') { format!("{behind}{eol}") } else { String::new() };
                splices.push(Splice::replace(entry.span, kept));
            }
            (None, Some(text)) => {
                let last = found.entries().iter().map(|entry| entry.span.end).max().unwrap_or(data.head.end);
                splices.push(Splice::insert(last, spell::yaml_line(field, text, eol)));
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The value of a key that is there, in the spelling it has.
    fn key_splice(&self, entry: &Entry, text: &str, eol: &str) -> Splice {
        let source = &self.source;
        let style = match entry.style {
            Style::Lines => None,
            style => Some(style),
        };
        let mut value = spell::yaml_value(&entry.field, text, style, eol);
        let is_list = value.starts_with(['\r', '\n']);
        let mut span = entry.value;
        if is_list {
            // The items start on the next line: nothing may stand behind the colon.
            let line = spell::whole_lines(source, Span::at(entry.span.start));
            let colon =
                entry.span.start + yaml::key_of(line.of(source).trim_end()).map_or(0, |(_, behind)| behind);
            if source[colon..span.start].trim().is_empty() {
                span.start = colon;
            }
        } else if source.as_bytes().get(span.start.wrapping_sub(1)) == Some(&b':') {
            value.insert(0, ' ');
        }
        Splice::replace(span, value)
    }

    /// A field of a bullet: on its own line, or a sub-bullet.
    fn spell_sub_bullet(
        &self,
        found: Note<'_>,
        field: &Field,
        text: Option<&str>,
        splices: &mut Vec<Splice>,
    ) -> Result<(), Refusal> {
        let data = found.data();
        let source = &self.source;
        let eol = self.eol_at(data.span.start);
        if matches!(field, Field::Other(_)) {
            return Err(Refusal::Unwritable(field.clone(), Form::Bullet));
        }
        if text.is_some_and(|text| {
            trim_blanks(text).is_empty() && !matches!(field, Field::Evidence | Field::Model)
        }) {
            return Err(Refusal::BadValue { field: field.clone(), expected: "some text" });
        }
        let mut entries = found.entries().iter().filter(|entry| entry.field == *field).collect::<Vec<_>>();
        let last = entries.pop();
        // Of several lines the last counts; for evidence all do, so the others go.
        if field == &Field::Evidence || text.is_none() {
            splices.extend(entries.iter().map(|entry| Splice::remove(self.lines_removal(entry.span))));
        }
        match (field, last, text) {
            (Field::Id, Some(entry), Some(text)) => splices.push(Splice::replace(entry.value, text)),
            (Field::Id, None, Some(text)) => {
                let content = found.content();
                // Behind an id, `(importance` would be read as one.
                let guard = if content.starts_with("(importance") {
                    format!("(importance {}) ", crate::note::two_decimals(found.importance()))
                } else {
                    String::new()
                };
                splices.push(Splice::insert(data.head_end, format!("**[{text}]** {guard}")));
            }
            (Field::Importance, None, Some(text)) if found.has(&Field::Id) => {
                let gap = if source[data.head_end..].starts_with([' ', '\t']) { "" } else { " " };
                splices.push(Splice::insert(data.head_end, format!(" (importance {text}){gap}")));
            }
            (Field::Importance, Some(entry), Some(text)) => splices.push(Splice::replace(entry.value, text)),
            (_, Some(entry), Some(text)) => {
                let line = spell::whole_lines(source, Span::at(entry.span.start));
                let lead = line.of(source).len() - line.of(source).trim_start_matches([' ', '\t']).len();
                let mut value = spell::sub_bullet_value(field, text, lead.max(2) + 2, eol);
                if source[..entry.value.start].ends_with(':') && !value.is_empty() {
                    value.insert(0, ' ');
                }
                splices.push(Splice::replace(entry.value, value));
            }
            (_, Some(entry), None) => splices.push(Splice::remove(self.lines_removal(entry.span))),
            (_, None, Some(text)) => {
                let line = spell::sub_bullet(field, text, 2, eol);
                let is_ended = source[..data.span.end].ends_with('\n');
                let text = if is_ended { format!("{line}{eol}") } else { format!("{eol}{line}") };
                splices.push(Splice::insert(data.span.end, text));
            }
            (_, None, None) => {}
        }
        Ok(())
    }

    fn spell_content(&self, found: Note<'_>, text: &str, splices: &mut Vec<Splice>) {
        let data = found.data();
        let source = &self.source;
        let eol = self.eol_at(data.span.start);
        match &data.content {
            Content::Body(body) if body.is_empty() => {
                let is_ended = source[..data.head_end].ends_with('\n');
                let text = escape::write_body(text, eol);
                let text = if is_ended { format!("{eol}{text}{eol}") } else { format!("{eol}{eol}{text}") };
                splices.push(Splice::insert(data.head_end, text));
            }
            Content::Body(body) if text.is_empty() => {
                let end = Line::at(source, body.end).map_or(body.end, |rest| rest.end);
                splices.push(Splice::remove(Span::new(data.head_end, end)));
            }
            Content::Body(body) => splices.push(minimal(source, *body, escape::write_body(text, eol))),
            Content::Pieces(pieces) => {
                let pieces = &self.pieces[pieces.clone()];
                let mut lines = text.split('\n');
                let first = lines.next().unwrap_or("");
                let Some((head, further)) = pieces.split_first() else { return };
                let gap =
                    if head.is_empty() && !source[..head.start].ends_with([' ', '\t']) { " " } else { "" };
                splices.push(Splice::replace(*head, format!("{gap}{first}")));
                let lines: Vec<&str> = lines.collect();
                if lines.len() == further.len()
                    && further.iter().zip(&lines).all(|(piece, line)| piece.is_empty() == line.is_empty())
                {
                    let written = continuation::escaped(&lines);
                    for ((piece, line), written) in further.iter().zip(lines).zip(written) {
                        if continuation::unescaped(piece.of(source)) != line {
                            splices.push(Splice::replace(*piece, written));
                        }
                    }
                    return;
                }
                let mut gone: Vec<Span> = Vec::new();
                for piece in further.iter().filter(|piece| !piece.is_empty()) {
                    let mut span = spell::whole_lines(source, *piece);
                    let previous = gone.last().map_or(data.head.end, |last| last.end);
                    if trim_blanks(&source[previous.min(span.start)..span.start]).is_empty() {
                        span.start = previous.min(span.start); // the empty lines of the content
                    }
                    match gone.last_mut().filter(|last| last.end >= span.start) {
                        Some(last) => last.end = span.end,
                        None => gone.push(span),
                    }
                }
                let is_ended = source[..data.head.end].ends_with('\n');
                let further = spell::further_lines(&lines, data.indent, eol);
                if let Some(last) = gone.last_mut() {
                    *last = self.lines_removal(*last);
                }
                let offset =
                    if is_ended { data.head.end - self.eol_len_before(data.head.end) } else { data.head.end };
                splices.push(Splice::insert(offset, further));
                splices.extend(gone.into_iter().map(Splice::remove));
            }
        }
    }

    /// Lines that go: where the last line end of the file was missing, it still is.
    fn lines_removal(&self, mut span: Span) -> Span {
        if span.end == self.source.len() && !self.source.ends_with('\n') {
            span.start -= self.eol_len_before(span.start);
        }
        span
    }

    fn eol_len_before(&self, offset: usize) -> usize {
        match self.source.as_bytes()[..offset] {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            _ => 0,
        }
    }

    /// Whether the edited layer says what was meant, and nothing else has changed.
    fn verify(&self, edited: &Self, plan: &Plan) -> Result<(), EditError> {
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
            id: note.and_then(|note| note.id()).map(str::to_owned),
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
                            return Err(self.error(*before, Refusal::Misread(field)));
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

/// An id that both forms can write: pi's files may hold odder ones than we give.
fn is_readable_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= crate::note::MAX_ID_LEN
        && trim_blanks(id) == id
        && !id.contains([']', '\n', '\r'])
}

/// A value as the form can say it.
fn normal(form: Form, field: &Field, text: &str) -> String {
    match (form, field) {
        (Form::FrontMatter, Field::Content) => escape::normal_body(text),
        (Form::Bullet, Field::Content) => escape::normal_bullet(text),
        (_, Field::Evidence | Field::Tags) => escape::normal_evidence(text),
        (_, Field::Other(_)) => text.to_owned(),
        _ => trim_blanks(text).to_owned(),
    }
}

/// Whether a field already has a value; setting it is then no edit.
fn is_already(note: Note<'_>, field: &Field, text: Option<&str>) -> bool {
    let Some(text) = text else {
        return !note.has(field) && !(*field == Field::Project && note.project().is_some());
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

/// The splice that turns `span` into `text` and touches only the lines that differ.
fn minimal(source: &str, span: Span, text: String) -> Splice {
    let old = span.of(source);
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), text.split_inclusive('\n').collect());
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let limit = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(limit).take_while(|(a, b)| a == b).count();
    let len = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let (head_len, tail_len) = (len(&before[..head]), len(&before[before.len() - tail..]));
    Splice::replace(
        Span::new(span.start + head_len, span.end - tail_len),
        &text[head_len..text.len() - tail_len],
    )
}
