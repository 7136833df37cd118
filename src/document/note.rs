//! A note as it stands in a layer, and what its fields say.

use std::borrow::Cow;
use std::ops::Range;

use crate::note::{Approval, DEFAULT_IMPORTANCE, Kind, Scope};
use crate::text::{Location, Span, locate};

use super::field::{Entry, Field, Style};
use super::{Document, SegmentKind, bullet, escape};

/// How a note is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `- **[id]** (importance 0.50) content` in a section, as pi-continual-harness has it.
    Bullet,
    /// A metadata block and the text after it.
    FrontMatter,
}

/// Whether a note can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It reads well.
    Good,
    /// Its metadata cannot be read; its bytes stay and its id counts as present.
    Unparsed,
    /// It stands between git's conflict markers.
    Conflicted,
}

/// Where the content of a note stands.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// One stretch, without the empty lines around it.
    Body(Span),
    /// The lines in [`Document::pieces`], each without its indentation.
    Pieces(Range<usize>),
}

#[derive(Clone, Debug)]
pub(super) struct NoteData {
    pub(super) form: Form,
    pub(super) state: State,
    pub(super) kind: Kind,
    /// From its first to behind its last byte, line ends included. In the bullet form
    /// a line of prose may stand in between.
    pub(super) span: Span,
    /// Its fields in [`Document::entries`].
    pub(super) entries: Range<usize>,
    pub(super) content: Content,
    /// Front matter: the YAML. Bullet: the line of the bullet, with its line end.
    pub(super) head: Span,
    /// Front matter: behind the closing `---` line. Bullet: behind `]**` or the dash.
    pub(super) head_end: usize,
    /// Columns by which further lines of a bullet are indented.
    pub(super) indent: usize,
    /// Whether the fields' places are known, so that they can be edited.
    pub(super) is_editable: bool,
    /// The last entry of each field that judging a note asks for.
    pub(super) hot: Option<Hot>,
}

/// Where among a note's entries the fields stand that every render asks for, so that it
/// need not search: one byte each, the offset plus one, 0 for none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hot([u8; 7]);

impl Hot {
    /// `None` if there are more entries than a byte can count; then they are searched.
    pub(super) fn of(entries: &[Entry]) -> Option<Self> {
        let mut hot = Self::default();
        for (offset, entry) in entries.iter().enumerate() {
            if let Some(slot) = Self::slot(&entry.field()) {
                hot.0[slot] = u8::try_from(offset + 1).ok()?;
            }
        }
        Some(hot)
    }

    #[inline]
    const fn slot(field: &Field) -> Option<usize> {
        Some(match field {
            Field::Id => 0,
            Field::Scope => 1,
            Field::Project => 2,
            Field::Model => 3,
            Field::Importance => 4,
            Field::Active => 5,
            Field::Approval => 6,
            _ => return None,
        })
    }
}

/// A note of a [`Document`].
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    document: &'a Document,
    index: usize,
}

impl<'a> Note<'a> {
    pub(super) const fn new(document: &'a Document, index: usize) -> Self {
        Self { document, index }
    }

    pub(super) fn data(self) -> &'a NoteData {
        &self.document.notes[self.index]
    }

    pub(super) fn entries(self) -> &'a [Entry] {
        &self.document.entries[self.data().entries.clone()]
    }

    /// Its place in the order of the file, from 0.
    pub const fn index(self) -> usize {
        self.index
    }

    /// How it is written.
    pub fn form(self) -> Form {
        self.data().form
    }

    /// Whether it can be used.
    pub fn state(self) -> State {
        self.data().state
    }

    /// From its first to behind its last byte.
    pub fn span(self) -> Span {
        self.data().span
    }

    /// The place of its first byte.
    pub fn location(self) -> Location {
        locate(&self.document.source, self.data().span.start)
    }

    /// Its bytes. In the bullet form a line of prose may stand in between.
    pub fn raw(self) -> &'a str {
        self.data().span.of(&self.document.source)
    }

    /// The stretches that are its own, without prose in between.
    pub(super) fn own_spans(self) -> impl Iterator<Item = Span> + use<'a> {
        let (segments, span) = (&self.document.segments, self.span());
        let first = segments.partition_point(|segment| segment.span.start < span.start);
        let inside = segments[first..].iter().take_while(move |segment| segment.span.start < span.end);
        inside
            .filter(move |segment| segment.kind == SegmentKind::Note(self.index))
            .map(|segment| segment.span)
    }

    /// Whether its bytes stand together, without prose in between.
    pub fn is_contiguous(self) -> bool {
        self.own_spans().nth(1).is_none()
    }

    /// The bytes that are its own, without prose in between.
    pub fn own_bytes(self) -> Cow<'a, str> {
        let mut own = self.own_spans().map(|span| span.of(&self.document.source));
        let head = own.next().unwrap_or("");
        match own.next() {
            None => Cow::Borrowed(head),
            Some(second) => Cow::Owned([head, second].into_iter().chain(own).collect()),
        }
    }

    /// The note as a layer of its own: its bytes, below the heading that gives a bullet its
    /// kind. What the header of its layer gives it is not said.
    pub fn snippet(self) -> String {
        let own = self.own_bytes();
        let own = own.trim_end_matches(['\r', '\n']);
        match self.form() {
            Form::FrontMatter => format!("{own}\n"),
            Form::Bullet => format!("## {}\n\n{own}\n", self.kind().section_title()),
        }
    }

    /// The last entry of a field: of several sub-bullets the last counts.
    #[inline]
    pub(super) fn entry(self, field: &Field) -> Option<&'a Entry> {
        if let (Some(hot), Some(slot)) = (self.data().hot, Hot::slot(field)) {
            let offset = usize::from(hot.0[slot]).checked_sub(1)?;
            return self.entries().get(offset);
        }
        self.entries().iter().rev().find(|entry| entry.is(field))
    }

    /// The text of a field as it stands in the file; `None` if it is absent or empty.
    /// A list is its items, a line each. The layer header's defaults are not asked.
    pub fn get(self, field: &Field) -> Option<Cow<'a, str>> {
        let source = &self.document.source;
        match field {
            Field::Content => Some(self.content()),
            Field::Evidence if self.form() == Form::Bullet => {
                let texts = self.entries().iter().filter(|entry| entry.is(&Field::Evidence));
                let mut texts = texts.map(|entry| entry.text(source)).filter(|text| !text.is_empty());
                let first = texts.next()?;
                let joined = texts.fold(None, |joined: Option<String>, text| {
                    Some(joined.unwrap_or_else(|| first.to_owned()) + "\n" + text)
                });
                Some(joined.map_or(Cow::Borrowed(first), Cow::Owned))
            }
            Field::Kind if self.form() == Form::Bullet => Some(Cow::Borrowed(self.kind().as_str())),
            // In a bullet, and at times in a block, both stand in one value.
            Field::Scope if self.scope().is_some() => self.scope().map(|scope| Cow::Borrowed(scope.as_str())),
            Field::Project if self.project().is_some() => self.project(),
            _ => {
                let entry = self.entry(field)?;
                let text = Some(entry.text(source)).filter(|text| !text.is_empty())?;
                let is_one_line =
                    matches!(entry.style(), Style::Plain | Style::Single | Style::Double | Style::Tame(_));
                if *field == Field::Tags && is_one_line && text.contains(',') {
                    // `tags: a, b`, as people write it and a bullet has to.
                    return Some(Cow::Owned(escape::normal_evidence(&text.replace(',', "\n"))));
                }
                Some(Cow::Borrowed(text))
            }
        }
    }

    /// The text of a field as it stands in the file, empty or not; `None` if the file
    /// has no line for it. Of several sub-bullets the last counts.
    pub fn entry_text(self, field: &Field) -> Option<&'a str> {
        self.entry(field).map(|entry| entry.text(&self.document.source))
    }

    /// Whether the file has a line for this field, even an empty one.
    pub fn has(self, field: &Field) -> bool {
        self.entry(field).is_some()
    }

    fn default_of(self, key: &str) -> Option<&'a str> {
        self.document.header_field(key).filter(|text| !text.is_empty())
    }

    /// Its id. A note without one is new.
    pub fn id(self) -> Option<&'a str> {
        let entry = self.entry(&Field::Id)?;
        Some(entry.text(&self.document.source)).filter(|id| !id.is_empty())
    }

    /// What it is for.
    pub fn kind(self) -> Kind {
        self.data().kind
    }

    /// A short name for people.
    pub fn title(self) -> Option<Cow<'a, str>> {
        self.get(&Field::Title)
    }

    /// What it says, with LF line ends.
    pub fn content(self) -> Cow<'a, str> {
        let source = &self.document.source;
        match &self.data().content {
            Content::Body(span) => escape::read_body(span.of(source)),
            Content::Pieces(pieces) => escape::read_pieces(source, &self.document.pieces[pieces.clone()]),
        }
    }

    /// Whether it has no text, or only what pi-continual-harness writes where no note is.
    pub fn says_nothing(self) -> bool {
        let content = self.content();
        content.is_empty() || bullet::is_placeholder(&content)
    }

    /// The scope it claims; where it stands has the last word (see `workspace`).
    pub fn scope(self) -> Option<Scope> {
        self.scope_and_project().0
    }

    /// The project that goes with `scope: project`.
    pub fn project(self) -> Option<Cow<'a, str>> {
        self.scope_and_project().1.map(Cow::Borrowed)
    }

    fn scope_and_project(self) -> (Option<Scope>, Option<&'a str>) {
        let source = &self.document.source;
        let project =
            || self.entry(&Field::Project).map(|entry| entry.text(source)).filter(|text| !text.is_empty());
        let Some(entry) = self.entry(&Field::Scope) else { return (None, project()) };
        let text = entry.text(source);
        match bullet::scope(text, Span::new(0, text.len())) {
            Some((Scope::Global, _)) => (Some(Scope::Global), None),
            Some((Scope::Project, slug)) if self.form() == Form::Bullet => {
                // A later line without a slug leaves the slug of an earlier one.
                let earlier = || {
                    let scopes = self.entries().iter().rev().filter(|entry| entry.is(&Field::Scope));
                    let mut slugs = scopes.map(|entry| {
                        let text = entry.text(source);
                        bullet::scope(text, Span::new(0, text.len()))
                            .and_then(|(_, slug)| slug)
                            .map(|slug| slug.of(text))
                    });
                    slugs.find_map(|slug| slug)
                };
                (Some(Scope::Project), slug.map(|slug| slug.of(text)).or_else(project).or_else(earlier))
            }
            Some((Scope::Project, slug)) => {
                (Some(Scope::Project), project().or_else(|| slug.map(|slug| slug.of(text))))
            }
            None => (None, project()),
        }
    }

    /// The model that owns it, from the note or the layer header; `None` is an orphan,
    /// `*` any model.
    pub fn model(self) -> Option<Cow<'a, str>> {
        let text = match self.entry(&Field::Model) {
            Some(entry) => Some(entry.text(&self.document.source)).filter(|text| !text.is_empty()),
            None => self.default_of("model"),
        };
        text.map(Cow::Borrowed)
    }

    /// The importance as written in the note; `None` if it is absent or no number.
    pub fn written_importance(self) -> Option<f64> {
        number(self.entry_text(&Field::Importance)?)
    }

    /// Its importance, in [0, 1].
    pub fn importance(self) -> f64 {
        let default = || number(self.default_of("importance")?);
        self.written_importance().or_else(default).unwrap_or(DEFAULT_IMPORTANCE).clamp(0.0, 1.0)
    }

    /// Whether it is in use; true unless it says otherwise.
    pub fn active(self) -> bool {
        self.entry_text(&Field::Active).and_then(flag).unwrap_or(true)
    }

    /// Whether its deletion by others is to be undone.
    pub fn protected(self) -> bool {
        self.get(&Field::Protected).and_then(|text| flag(&text)).unwrap_or(false)
    }

    /// Why it exists, one reason a line.
    pub fn evidence(self) -> Cow<'a, str> {
        self.get(&Field::Evidence).unwrap_or_default()
    }

    /// Whether a person has let it in; absent counts as approved.
    pub fn approval(self) -> Option<Approval> {
        self.entry_text(&Field::Approval)?.parse().ok()
    }

    /// Every field that the file has for it but the content, in the order of the file,
    /// each once.
    pub fn fields(self) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for entry in self.entries() {
            if !fields.contains(&entry.field()) {
                fields.push(entry.field());
            }
        }
        fields
    }
}

/// A number as both forms write it; hexadecimal and the like are none.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// A truth value, by the words of YAML 1.1.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
