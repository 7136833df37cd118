//! Where a new note goes, and what a removed one takes with it. Both are each other's
//! inverse: what is inserted and removed again leaves the bytes as they were.

use sha2::{Digest, Sha256};

use crate::note::Kind;
use crate::text::{Line, Span, trim_blanks};

use super::note::Form;
use super::{Document, Field, Note, SegmentKind, bullet, escape, opaque, spell};

/// A note that is not in a layer yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNote {
    /// What it is for.
    pub kind: Kind,
    /// Its fields but kind and content, as [`Note::get`] gives them; absent ones are left out.
    pub fields: Vec<(Field, String)>,
    /// What it says.
    pub content: String,
    /// Its bytes in the layer it comes from, taken as they are if the form is the same.
    spelled: Option<(Form, String)>,
}

impl NewNote {
    /// A note with an id and a content.
    pub fn new(id: impl Into<String>, kind: Kind, content: impl Into<String>) -> Self {
        Self { kind, fields: vec![(Field::Id, id.into())], content: content.into(), spelled: None }
    }

    /// Text that is already spelled in a form: notes of one kind, without a line end behind.
    pub(super) const fn spelled(kind: Kind, form: Form, text: String) -> Self {
        Self { kind, fields: Vec::new(), content: String::new(), spelled: Some((form, text)) }
    }

    /// With one more field.
    #[must_use]
    pub fn with(mut self, field: Field, text: impl Into<String>) -> Self {
        self.spelled = None;
        self.fields.retain(|(name, _)| *name != field);
        self.fields.push((field, text.into()));
        self
    }

    /// A note of a layer, to be put into another one or elsewhere: its own bytes if the
    /// form is the same, comments and all.
    pub fn of(note: Note<'_>) -> Self {
        let fields = note.fields().into_iter().filter(|field| *field != Field::Kind).filter_map(|field| {
            let text = match field {
                Field::Scope => note.scope()?.as_str().to_owned(),
                Field::Project => return None,
                _ => note.get(&field)?.into_owned(),
            };
            Some((field, text))
        });
        let mut fields: Vec<_> = fields.collect();
        if let Some(project) = note.project() {
            fields.push((Field::Project, project.into_owned()));
        }
        // Said to be nobody's, which silence need not mean elsewhere.
        if note.has(&Field::Model) && note.get(&Field::Model).is_none() {
            fields.push((Field::Model, String::new()));
        }
        let raw = note.own_bytes();
        let raw = raw.strip_suffix('\n').map_or(&*raw, |raw| raw.strip_suffix('\r').unwrap_or(raw));
        Self {
            kind: note.kind(),
            fields,
            content: note.content().into_owned(),
            spelled: Some((note.form(), raw.replace("\r\n", "\n"))),
        }
    }

    /// The note that a text of its own holds; see [`Note::snippet`].
    pub fn from_snippet(text: &str) -> Option<Self> {
        Document::parse(text).notes().next().map(Self::of)
    }

    /// The form that its bytes are spelled in, if it has bytes of its own.
    pub fn form(&self) -> Option<Form> {
        self.spelled.as_ref().map(|(form, _)| *form)
    }

    /// Its id, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.get(&Field::Id)
    }

    /// The text of one of its fields.
    pub fn get(&self, field: &Field) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, text)| text.as_str())
    }

    /// As text in a form, without a line end behind it.
    pub(super) fn spell(&self, form: Form, eol: &str) -> String {
        if let Some((spelled, raw)) = &self.spelled
            && *spelled == form
        {
            return if eol == "\n" { raw.clone() } else { raw.replace('\n', eol) };
        }
        match form {
            Form::Bullet => spell::bullet(&self.fields, &escape::normal_bullet(&self.content), eol),
            Form::FrontMatter => {
                let mut fields = self.fields.clone();
                let behind_id = usize::from(fields.first().is_some_and(|(field, _)| *field == Field::Id));
                fields.insert(behind_id, (Field::Kind, self.kind.as_str().to_owned()));
                spell::block(&fields, &escape::normal_body(&self.content), eol)
            }
        }
    }
}

/// Where a note is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the end of its section (bullets) or of the layer (front matter).
    End,
    /// Behind the note that precedes it in the order of the SHA-256 of the ids, so that
    /// two branches rarely add at one place (docs/format.md, "Both forms").
    ByHash,
    /// Behind the note with this index; bullets only within its section.
    After(usize),
}

/// An insertion: the text and where it goes, and whether a section came with it.
#[derive(Debug)]
pub(super) struct Insertion {
    pub(super) offset: usize,
    pub(super) text: String,
    /// Lines of the text that are prose: a section's heading.
    pub(super) prose: Option<String>,
}

impl Document {
    /// Whether bullets of this kind have a section here.
    pub fn has_section(&self, kind: Kind) -> bool {
        self.sections.iter().any(|section| section.kind == kind)
    }

    /// The text that puts `note` into the layer in `form`.
    pub(super) fn insertion(&self, note: &NewNote, form: Form, place: Place) -> Insertion {
        match form {
            Form::FrontMatter => self.block_insertion(note, place),
            Form::Bullet => self.bullet_insertion(note, place),
        }
    }

    /// Behind the last line that is not empty before `limit`, line end included.
    fn behind_text(&self, limit: usize) -> usize {
        let text = &self.source[..limit];
        let start = self.text_start();
        let kept =
            text[start.min(limit)..].trim_end_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').len();
        if kept == 0 {
            return start;
        }
        let last = start + kept;
        Line::at(&self.source, last).map_or(last, |rest| rest.end).min(limit)
    }

    fn text_start(&self) -> usize {
        if self.source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 }
    }

    /// The last stretch of the layer up to where it opens a code fence, a comment or an
    /// element, if it does not close it: what is put behind it would become part of it.
    pub fn open_end(&self) -> Option<Span> {
        let last = self.segments.last()?;
        let start = match last.kind {
            SegmentKind::Note(index) => self.notes[index].span.start,
            SegmentKind::Header => return None,
            SegmentKind::Prose => last.span.start.max(self.text_start()),
        };
        let opaque = opaque::opaque_spans(&self.source[start..], start);
        let open = opaque.last().filter(|last| last.is_open)?;
        Some(Span::new(start, open.span.start))
    }

    /// Behind all text, but before an end that is open.
    fn behind_all(&self) -> usize {
        self.behind_text(self.open_end().map_or(self.source.len(), |open| open.start))
    }

    fn block_insertion(&self, note: &NewNote, place: Place) -> Insertion {
        let offset = match self.neighbour(note, Form::FrontMatter, place) {
            Neighbour::After(index) => match self.open_end() {
                Some(open) if self.notes[index].span.end > open.start => self.behind_text(open.start),
                _ => self.notes[index].span.end,
            },
            Neighbour::Before(index) => self.behind_text(self.notes[index].span.start),
            Neighbour::None => self.behind_all(),
        };
        let eol = self.eol_above(offset);
        let mut text = note.spell(Form::FrontMatter, eol);
        // A note that is spelled as it stood somewhere may bring its own along.
        if self.needs_end_mark(offset) && !text.ends_with(escape::END_OF_NOTE) {
            text.push_str(eol);
            text.push_str(eol);
            text.push_str(escape::END_OF_NOTE);
        }
        self.set_apart(offset, &text, eol, None)
    }

    /// Whether the text behind `offset` would become part of a body that ends there.
    fn needs_end_mark(&self, offset: usize) -> bool {
        let rest = &self.source[offset..];
        let next = offset + rest.len() - rest.trim_start().len();
        if next >= self.source.len() {
            return false;
        }
        let line = Line::at(&self.source, next).map_or("", |line| line.text(&self.source));
        let is_block =
            self.notes.iter().any(|note| note.form == Form::FrontMatter && note.span.start == next);
        let is_section = bullet::canonical_section(line).is_some()
            && self.sections.iter().any(|s| s.heading.start == next);
        !is_block && !is_section
    }

    fn eol_above(&self, offset: usize) -> &'static str {
        self.eol_at(offset.saturating_sub(1))
    }

    /// Text as lines of their own at `offset`, with an empty line to the text above, or
    /// below if there is none above.
    fn set_apart(&self, offset: usize, text: &str, eol: &str, prose: Option<String>) -> Insertion {
        let above = &self.source[self.text_start()..offset];
        let below = &self.source[offset..];
        let text = if above.is_empty() {
            if below.is_empty() { format!("{text}{eol}") } else { format!("{text}{eol}{eol}") }
        } else if above.ends_with('\n') {
            let gap = if trim_blanks(above.lines().next_back().unwrap_or("")).is_empty() { "" } else { eol };
            format!("{gap}{text}{eol}")
        } else {
            format!("{eol}{eol}{text}") // a missing last line end stays missing
        };
        Insertion { offset, text, prose }
    }

    fn bullet_insertion(&self, note: &NewNote, place: Place) -> Insertion {
        if let Neighbour::After(index) = self.neighbour(note, Form::Bullet, place) {
            return self.beside(self.notes[index].span.end, note);
        }
        if let Neighbour::Before(index) = self.neighbour(note, Form::Bullet, place) {
            return self.beside(self.notes[index].span.start, note);
        }
        let Some(section) = self.sections.iter().rev().find(|section| section.kind == note.kind) else {
            return self.section_insertion(note);
        };
        let last = self.notes.iter().rev().find(|found| {
            found.form == Form::Bullet
                && section.heading.end <= found.span.start
                && found.span.start < section.end
        });
        if let Some(last) = last {
            return self.beside(last.span.end, note);
        }
        // Behind the section's own text, but before a front-matter note that stands in it.
        let block = self
            .notes
            .iter()
            .find(|found| section.heading.end <= found.span.start && found.span.start < section.end);
        let offset = self.behind_text(block.map_or(section.end, |block| block.span.start));
        let eol = self.eol_above(offset);
        let is_free_below =
            Line::at(&self.source, offset).is_none_or(|line| trim_blanks(line.text(&self.source)).is_empty());
        let text = note.spell(Form::Bullet, eol);
        if is_free_below {
            self.set_apart(offset, &text, eol, None)
        } else {
            Insertion { offset, text: format!("{text}{eol}"), prose: None }
        }
    }

    /// A bullet right below or above other bullets.
    fn beside(&self, offset: usize, note: &NewNote) -> Insertion {
        let eol = self.eol_above(offset);
        let text = note.spell(Form::Bullet, eol);
        let is_line_start = offset == 0 || self.source[..offset].ends_with('\n');
        let text = if is_line_start { format!("{text}{eol}") } else { format!("{eol}{text}") };
        Insertion { offset, text, prose: None }
    }

    /// A bullet with a section of its own: before that of a later kind, else at the end.
    fn section_insertion(&self, note: &NewNote) -> Insertion {
        let later = self.sections.iter().find(|section| section.kind > note.kind);
        let offset = match later {
            Some(section) => self.behind_text(section.heading.start),
            // A heading above text of a person's would say something about that text.
            None if self.segments.last().is_some_and(|last| last.kind == SegmentKind::Prose) => {
                self.behind_text(self.open_end().map_or(self.source.len(), |open| open.end))
            }
            None => self.behind_all(),
        };
        let eol = self.eol_above(offset);
        let heading = format!("## {}", note.kind.section_title());
        let text = format!("{heading}{eol}{eol}{}", note.spell(Form::Bullet, eol));
        self.set_apart(offset, &text, eol, Some(heading))
    }

    /// The note beside which a new one goes.
    fn neighbour(&self, note: &NewNote, form: Form, place: Place) -> Neighbour {
        match place {
            Place::After(index) if index < self.notes.len() => Neighbour::After(index),
            Place::End | Place::After(_) => Neighbour::None,
            Place::ByHash => {
                let hash = hash(note.id().unwrap_or(""));
                let fellows = self.notes().filter(|fellow| {
                    fellow.form() == form && (form == Form::FrontMatter || fellow.kind() == note.kind)
                });
                let before =
                    fellows.clone().filter_map(|fellow| Some((self::hash(fellow.id()?), fellow.index())));
                let before = before.filter(|(fellow, _)| *fellow <= hash).max();
                match (before, fellows.clone().next()) {
                    (Some((_, index)), _) => Neighbour::After(index),
                    (None, Some(first)) => Neighbour::Before(first.index()),
                    (None, None) => Neighbour::None,
                }
            }
        }
    }

    /// What goes with a note: its lines and one empty line; with `with_section`, the
    /// heading too if nothing else stands below it.
    pub(super) fn removal(&self, note: usize, with_section: bool) -> Vec<Span> {
        let data = &self.notes[note];
        let mut spans: Vec<Span> = Note::new(self, note).own_spans().collect();
        if with_section
            && let Some(section) = self
                .sections
                .iter()
                .find(|section| section.heading.end <= data.span.start && data.span.end <= section.end)
            && trim_blanks(&self.source[section.heading.end..data.span.start]).is_empty()
            && self.is_idle(Span::new(data.span.end, section.end))
            && let Some(first) = spans.first_mut()
        {
            first.start = section.heading.start;
        }
        let is_whole = spans.len() == 1;
        let is_set_apart = data.form == Form::FrontMatter || with_section;
        if let Some(only) = spans.first_mut().filter(|_| is_whole) {
            *only = self.with_gap(*only, is_set_apart);
        }
        spans
    }

    /// Whether nothing stands here that needs the section's heading: front-matter notes do not.
    fn is_idle(&self, span: Span) -> bool {
        let mut inside = self.segments.iter().filter(|segment| segment.span.overlaps(span));
        inside.all(|segment| match segment.kind {
            SegmentKind::Note(index) => self.notes[index].form == Form::FrontMatter,
            SegmentKind::Header | SegmentKind::Prose => {
                let (start, end) = (segment.span.start.max(span.start), segment.span.end.min(span.end));
                // An end that is open stands behind everything, whatever is above it.
                let end = self.open_end().map_or(end, |open| end.min(open.end).max(start));
                trim_blanks(&self.source[start..end]).is_empty()
            }
        })
    }

    /// A removed stretch of whole lines and the empty line that set it apart.
    fn with_gap(&self, mut span: Span, is_set_apart: bool) -> Span {
        let source = &self.source;
        let start = self.text_start();
        let is_blank_line = |line: Line| trim_blanks(line.text(source)).is_empty();
        let above = (span.start > start).then(|| {
            let before = &source[start..span.start - 1];
            let line_start = before.rfind('\n').map_or(start, |newline| start + newline + 1);
            Line::at(source, line_start)
        });
        let above = above.flatten().filter(|line| line.end <= span.start);
        let below = Line::at(source, span.end);
        let is_open_below = below.is_none_or(is_blank_line);
        match above {
            Some(line) if is_blank_line(line) && (is_set_apart || is_open_below) => span.start = line.start,
            None => {
                if let Some(line) = below.filter(|line| is_blank_line(*line)) {
                    span.end = line.end;
                }
            }
            Some(_) => {}
        }
        if span.end == source.len() && !source.ends_with('\n') && span.start > start {
            // The last line end was missing; it still is.
            span.start -= if source[..span.start].ends_with("\r\n") { 2 } else { 1 };
        }
        span
    }
}

/// Beside which note a new one goes.
enum Neighbour {
    After(usize),
    Before(usize),
    None,
}

fn hash(id: &str) -> [u8; 32] {
    Sha256::digest(id.as_bytes()).into()
}
