//! The document model: a layer file as a sequence of segments whose concatenation is
//! the file, byte for byte, with the notes in it, in both forms.
//!
//! Parsing never fails and never changes a byte: what cannot be read is a
//! [`Diagnostic`] and stays as it is. Edits ([`Change`]) are splices: they replace the
//! bytes concerned, are read back, and are refused if they do not read as intended.
//! Knows no file, no store, no clock.

mod bullet;
mod compose;
pub mod continuation;
mod diagnostic;
mod edit;
mod escape;
mod field;
mod format;
mod guard;
mod ids;
mod note;
mod opaque;
mod parse;
mod plain;
mod respell;
mod spell;
mod verify;
mod yaml;

pub use compose::{NewNote, Place};
pub use diagnostic::{Diagnostic, Problem, Severity};
pub use edit::{Change, EditError, Refusal};

pub use field::Field;

pub use format::{Conversion, Left};
pub use guard::Presence;
pub use note::{Form, Note, State};

use crate::text::{Span, Splice};

use field::Entry;
use note::NoteData;

/// What a stretch of a layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Text that belongs to no note.
    Prose,
    /// The layer header.
    Header,
    /// The note with this index, or a part of it.
    Note(usize),
}

/// A stretch of a layer. All segments together are the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Where it stands.
    pub span: Span,
}

/// The stretch below a heading that gives bullets their kind.
#[derive(Clone, Copy, Debug)]
struct Section {
    kind: crate::note::Kind,
    /// The heading's line, with its line end.
    heading: Span,
    /// Where the next section, another kind of heading's section or the text ends it.
    end: usize,
}

/// The optional metadata block at the start of a layer.
#[derive(Clone, Debug)]
struct HeaderData {
    span: Span,
    entries: std::ops::Range<usize>,
}

/// A parsed layer. It owns its text.
///
/// ```
/// use harness_layers::document::Document;
///
/// let layer = Document::parse("---\nid: n1\nimportance: 0.8\n---\n\nUse port 8080.\n");
/// let note = layer.note("n1").unwrap();
/// assert_eq!((&*note.content(), note.importance()), ("Use port 8080.", 0.8));
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    source: String,
    segments: Vec<Segment>,
    notes: Vec<NoteData>,
    entries: Vec<Entry>,
    /// The lines of bullets' contents, without their indentation.
    pieces: Vec<Span>,
    header: Option<HeaderData>,
    sections: Vec<Section>,
    diagnostics: Vec<Diagnostic>,
    conflicts: Vec<Span>,
    /// Notes that are equal copies of earlier ones, in order.
    copies: Vec<usize>,
    ids: ids::Ids,
}

impl Document {
    /// Parses a layer. Never fails: what cannot be read is in [`Self::diagnostics`].
    pub fn parse(source: impl Into<String>) -> Self {
        parse::parse(source.into(), false)
    }

    /// As [`Self::parse`], with pulldown-cmark and the YAML library asked about everything
    /// instead of where a line calls for it. Slow; for tests, which hold both equal.
    #[doc(hidden)]
    pub fn parse_in_full(source: impl Into<String>) -> Self {
        parse::parse(source.into(), true)
    }

    /// The text, byte for byte as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The segments in order; their spans follow on each other without gaps.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The notes in the order of the file, unreadable ones included.
    pub fn notes(&self) -> impl ExactSizeIterator<Item = Note<'_>> + DoubleEndedIterator + Clone {
        (0..self.notes.len()).map(|index| Note::new(self, index))
    }

    /// The note with this index in [`Self::notes`].
    pub fn note_at(&self, index: usize) -> Option<Note<'_>> {
        (index < self.notes.len()).then(|| Note::new(self, index))
    }

    /// The first note with this id.
    pub fn note(&self, id: &str) -> Option<Note<'_>> {
        let mut notes = self.ids.candidates(id).map(|index| Note::new(self, index));
        notes.find(|note| note.id() == Some(id))
    }

    /// Whether each note has an id and no other note has the same. Quick; of layers where it
    /// is so it may say no, by an accident of hashing.
    pub(crate) fn has_distinct_ids(&self) -> bool {
        self.ids.are_distinct(self.notes.len())
    }

    /// The text of a key of the layer header.
    pub fn header_field(&self, key: &str) -> Option<&str> {
        let header = self.header.as_ref()?;
        let entries = &self.entries[header.entries.clone()];
        entries.iter().find(|entry| entry.key() == key).map(|entry| entry.text(&self.source))
    }

    /// The layer with another value of its header's `revision`, quoted where digits alone
    /// would read as a number. `None` if the header has no such key, or none that can be
    /// edited in place.
    pub fn with_revision(&self, revision: &str) -> Option<Self> {
        let header = self.header.as_ref()?;
        let entries = &self.entries[header.entries.clone()];
        let value = entries.iter().find(|entry| entry.key() == "revision")?.value();
        let quoted = format!("\"{revision}\"");
        let is_number = revision.parse::<f64>().is_ok();
        let text = if is_number { quoted } else { revision.to_owned() };
        let changed =
            Self::parse(crate::text::splice(&self.source, vec![Splice::replace(value, text)]).ok()?);
        (changed.header_field("revision") == Some(revision)).then_some(changed)
    }

    /// Where the layer header stands.
    pub fn header_span(&self) -> Option<Span> {
        self.header.as_ref().map(|header| header.span)
    }

    /// Everything wrong or odd, in the order of the file.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The stretches between git's conflict markers, markers included. While there
    /// is one, the layer is not to be written (docs/format.md, "Both forms").
    pub fn conflicts(&self) -> &[Span] {
        &self.conflicts
    }

    /// The form that most notes have; `None` without notes.
    pub fn form(&self) -> Option<Form> {
        let bullets = self.notes.iter().filter(|note| note.form == Form::Bullet).count();
        match (bullets, self.notes.len() - bullets) {
            (0, 0) => None,
            (bullets, blocks) if bullets > blocks => Some(Form::Bullet),
            _ => Some(Form::FrontMatter),
        }
    }

    /// The line end that the text uses: that of its first line, LF if there is none.
    pub fn eol(&self) -> &'static str {
        self.eol_at(0)
    }

    /// The line end in use around an offset: that of the line it stands in, else of
    /// the line above, else LF.
    fn eol_at(&self, offset: usize) -> &'static str {
        let source = self.source.as_bytes();
        let offset = offset.min(source.len());
        let newline = memchr::memchr(b'\n', &source[offset..])
            .map(|found| offset + found)
            .or_else(|| memchr::memrchr(b'\n', &source[..offset]));
        match newline {
            Some(at) if at > 0 && source[at - 1] == b'\r' => "\r\n",
            _ => "\n",
        }
    }
}
