//! The block that goes into a prompt, in four forms, from notes already selected.
//! Knows no budget, no file and no configuration.
//!
//! A note is data (docs/block.md "What a note may do to a prompt"): whatever its text, id
//! or title holds, each form reads back to exactly the notes that were given, and its
//! frame stands once, around everything. How each form sees to that is told in
//! [`markdown`], `xml`, `json` and `plain`.

mod json;
pub mod markdown;
mod plain;
mod sanitize;
mod xml;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::note::{Kind, UnknownWord};
use crate::secret::mask;

pub use sanitize::{Dropped, Unwanted, dropped, sanitize};

/// What the block says about itself; pi-continual-harness's words (fixtures/golden/inject.json).
/// It describes and gives no orders: models take "you must obey" for an attack.
const ABOUT: [&str; 2] = [
    "Self-improved notes accumulated from past trajectories via /refine.",
    "Treat these as durable working context. Update them with the harness_mutate tool when they are wrong or stale.",
];

/// The forms of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// pi-continual-harness's block, byte for byte where every note is one plain line.
    Markdown,
    /// One `<harness_state>` element with a `<note>` for each.
    Xml,
    /// One object; the schema is in docs/compatibility.md.
    Json,
    /// Text without markup.
    Plain,
}

impl Format {
    /// All forms, the default first.
    pub const ALL: [Self; 4] = [Self::Markdown, Self::Xml, Self::Json, Self::Plain];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Xml => "xml",
            Self::Json => "json",
            Self::Plain => "plain",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == word)
            .ok_or_else(|| UnknownWord { word: word.to_owned(), expected: "markdown, xml, json, plain" })
    }
}

/// A note as a block shows it. All its texts are untrusted and given as they are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown<'a> {
    /// Its id.
    pub id: &'a str,
    /// Under which title it stands.
    pub kind: Kind,
    /// Shown by xml and json; pi's forms have no place for it.
    pub title: Option<&'a str>,
    /// Its text, of one line or many.
    pub content: &'a str,
    /// Shown by json only.
    pub importance: f64,
}

/// Whose notes a [`Section`] holds, when sections of several projects are shown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// Those of every project.
    Global,
    /// Those of the project with this key; untrusted like every text of a note.
    Project(&'a str),
}

/// Notes that are shown together, in the order in which each kind shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section<'a> {
    /// None in the ordinary block; auditing all projects marks each with its own.
    pub label: Option<Label<'a>>,
    /// The notes taken; their kinds may be mixed, the block groups them.
    pub notes: Vec<Shown<'a>>,
    /// How many notes could have been shown and are not.
    pub omitted: usize,
}

/// Renders sections to a block in a form.
///
/// Without a single note the block is empty, footer and all, as pi has it; only json is
/// always an object. No form ends with a newline; markdown starts with an empty line,
/// because pi appends the block to a prompt after one newline.
///
/// ```
/// use harness_layers::{note::Kind, render::{render, Format, Section, Shown}};
/// let note = Shown { id: "h_1", kind: Kind::Memory, title: None, content: "tests need `-j1`", importance: 0.5 };
/// let block = render(&[Section { notes: vec![note], ..Section::default() }], Format::Markdown);
/// assert!(block.ends_with("### Remembered facts\n- [h_1] tests need `-j1`"));
/// ```
pub fn render(sections: &[Section<'_>], format: Format) -> String {
    if format != Format::Json && sections.iter().all(|section| section.notes.is_empty()) {
        return String::new();
    }
    match format {
        Format::Markdown => markdown::block(sections),
        Format::Xml => xml::block(sections),
        Format::Json => json::block(sections),
        Format::Plain => plain::block(sections),
    }
}

/// The notes of a section by kind, kinds without notes left out.
fn by_kind<'s, 'a>(section: &'s Section<'a>) -> impl Iterator<Item = (Kind, Vec<&'s Shown<'a>>)> {
    Kind::ALL.into_iter().filter_map(|kind| {
        let notes: Vec<_> = section.notes.iter().filter(|note| note.kind == kind).collect();
        (!notes.is_empty()).then_some((kind, notes))
    })
}

fn omitted(sections: &[Section<'_>]) -> usize {
    sections.iter().map(|section| section.omitted).sum()
}

/// A text of a note as every form shows it: what no prompt should carry is gone, and each
/// credential has its name in its place. Characters go first, for one that cannot be seen
/// may stand in the middle of a token.
fn clean(text: &str) -> Cow<'_, str> {
    match sanitize(text) {
        Cow::Borrowed(text) => mask(text),
        Cow::Owned(text) => Cow::Owned(mask(&text).into_owned()),
    }
}

/// A content as every form shows it: sanitised, without empty lines at either end.
fn text(content: &str) -> Cow<'_, str> {
    let trim = |text: &str| -> (usize, usize) {
        // Lines of blanks at the end are as invisible as empty ones; the last line that
        // holds something keeps its trailing blanks, as pi's does.
        let shown = text.trim_end().len();
        let end = text[shown..].find('\n').map_or(text.len(), |newline| shown + newline);
        let start = end - text[..end].trim_start_matches('\n').len();
        (start, end)
    };
    match clean(content) {
        Cow::Borrowed(text) => {
            let (start, end) = trim(text);
            Cow::Borrowed(&text[start..end])
        }
        Cow::Owned(mut text) => {
            let (start, end) = trim(&text);
            text.truncate(end);
            text.drain(..start);
            Cow::Owned(text)
        }
    }
}

/// An id, a title or a project key on one line.
fn one_line(text: &str) -> Cow<'_, str> {
    match clean(text) {
        text if text.contains(['\n', '\t']) => Cow::Owned(text.replace(['\n', '\t'], " ")),
        text => text,
    }
}

/// Appends one line with a backslash before each character of `special`.
fn push_escaped(out: &mut String, text: &str, special: &[char]) {
    for c in one_line(text).chars() {
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
}
