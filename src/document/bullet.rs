//! The bullet form, a line at a time: the grammar that pi-continual-harness reads
//! (its vectors are in fixtures/golden/parse.json), and what we read beyond it.
//! Knows lines only; `parse` knows what is open around them.

use crate::note::{Kind, Scope};
use crate::text::{Span, is_blank, trim_blanks, trim_blanks_start};

use super::field::Field;

/// A bullet in column 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bullet {
    /// The id, without brackets and blanks; may be empty (from `[ ]`).
    pub(super) id: Option<Span>,
    /// Behind `]**`, where an importance may be added.
    pub(super) id_end: usize,
    /// The digits and dots of `(importance 0.50)`.
    pub(super) importance: Option<Span>,
    /// The rest of the line, trimmed.
    pub(super) content: Span,
    /// Columns from the dash to the text: the indentation of further lines.
    pub(super) indent: usize,
}

/// A `  - key: value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SubBullet {
    pub(super) field: Field,
    /// The trimmed value.
    pub(super) value: Span,
    /// Offset of the dash.
    pub(super) dash: usize,
}

/// A reader over one line.
struct Cursor<'a> {
    source: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..self.end]
    }

    /// Passes blanks; `false` if there are none.
    fn blanks(&mut self) -> bool {
        let rest = self.rest();
        let passed = rest.len() - trim_blanks_start(rest).len();
        self.at += passed;
        passed > 0
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Passes the characters of `set`; `None` if there are none.
    fn run(&mut self, is_in: impl Fn(char) -> bool) -> Option<Span> {
        let rest = self.rest();
        let len = rest.find(|c| !is_in(c)).unwrap_or(rest.len());
        let span = Span::new(self.at, self.at + len);
        self.at = span.end;
        (len > 0).then_some(span)
    }

    fn trimmed_rest(&self) -> Span {
        trimmed(self.source, Span::new(self.at, self.end))
    }
}

/// `span` without the blanks at both ends.
pub(super) fn trimmed(source: &str, span: Span) -> Span {
    let text = span.of(source);
    if let [first, .., last] = text.as_bytes()
        && first.is_ascii_graphic()
        && last.is_ascii_graphic()
    {
        return span;
    }
    let start = span.start + (text.len() - trim_blanks_start(text).len());
    Span::new(start, start + trim_blanks(text).len())
}

/// Rules 7 and 8: a bullet in column 0. `end` is behind the last character that is
/// no blank. A dash alone is none.
pub(super) fn bullet(source: &str, start: usize, end: usize) -> Option<Bullet> {
    let mut line = Cursor { source, at: start, end };
    if !(line.eat("-") && line.blanks()) || line.rest().is_empty() {
        return None;
    }
    let text_start = line.at;
    let between = &source[start + 1..text_start];
    let indent = if between.bytes().all(|b| b == b' ') && between.len() <= 4 { 1 + between.len() } else { 2 };
    let mut bullet =
        Bullet { id: None, id_end: text_start, importance: None, content: line.trimmed_rest(), indent };
    if line.eat("**[")
        && let Some(id) = line.run(|c| c != ']')
        && line.eat("]**")
    {
        bullet.id = Some(trimmed(source, id));
        bullet.id_end = line.at;
        bullet.content = line.trimmed_rest();
        line.blanks();
        if line.eat("(importance")
            && line.blanks()
            && let Some(number) = line.run(|c| c.is_ascii_digit() || c == '.')
            && line.eat(")")
        {
            bullet.importance = Some(number);
            bullet.content = line.trimmed_rest();
        }
    }
    Some(bullet)
}

/// Rules 4 to 6 and the other keys of the format: an indented `- key: value`.
///
/// pi reads `evidence`, `model` and `scope` after `- `; we also read a `*` or `+`,
/// emphasis around the key and a blank before the colon, since a person who wrote
/// `* model: x` must not find the note to be everybody's.
pub(super) fn sub_bullet(source: &str, start: usize, end: usize) -> Option<SubBullet> {
    // As pi writes it: two blanks, `- `, the name, `: `.
    let bytes = &source.as_bytes()[start..end];
    if let [b' ', b' ', b'-', b' ', rest @ ..] = bytes {
        let name = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if let [b':', b' ', first, ..] = rest[name..]
            && first.is_ascii_graphic()
        {
            let dash = start + 2;
            let field = Field::of_sub_bullet(&source[dash + 2..dash + 2 + name])?;
            return Some(SubBullet { field, value: Span::new(dash + 2 + name + 2, end), dash });
        }
    }
    let mut line = Cursor { source, at: start, end };
    if line.blanks() { sub_bullet_at(source, line.at, end) } else { None }
}

/// The same from its dash on, whatever stands before it.
pub(super) fn sub_bullet_at(source: &str, dash: usize, end: usize) -> Option<SubBullet> {
    let mut line = Cursor { source, at: dash, end };
    if !((line.eat("-") || line.eat("*") || line.eat("+")) && line.blanks()) {
        return None;
    }
    let is_emphasis = |c| matches!(c, '*' | '_' | '`');
    let is_opened = line.run(is_emphasis).is_some();
    let name = line.run(|c| c.is_ascii_alphabetic())?;
    let field = Field::of_sub_bullet(name.of(source))?;
    let is_closed = line.run(is_emphasis).is_some();
    line.blanks();
    if !line.eat(":") {
        return None;
    }
    if is_opened && !is_closed {
        line.run(is_emphasis); // `**evidence:** why`
    }
    Some(SubBullet { field, value: line.trimmed_rest(), dash })
}

/// Rule 6: the value of a `scope:` line. `None` where it names no scope.
pub(super) fn scope(source: &str, value: Span) -> Option<(Scope, Option<Span>)> {
    let mut line = Cursor { source, at: value.start, end: value.end };
    let word = line.run(|c| c.is_ascii_alphanumeric() || c == '_')?;
    let scope = match word.of(source) {
        word if word.eq_ignore_ascii_case("global") => Scope::Global,
        word if word.eq_ignore_ascii_case("project") => Scope::Project,
        _ => return None,
    };
    line.blanks();
    let mut project = None;
    if scope == Scope::Project && line.eat("(") {
        let slug = line.run(|c| c != ')').unwrap_or(Span::at(line.at));
        if line.eat(")") {
            project = Some(trimmed(source, slug)).filter(|slug| !slug.is_empty());
        }
    }
    Some((scope, project))
}

/// What a line in column 0 that starts with `#` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// `## Title`: sets the kind of the bullets below, or none if the title names none.
    Section(Option<Kind>),
    /// Any other: closes the note above.
    Other,
}

/// Rules 1 and 2. `text` is the line without the blanks at its end.
pub(super) fn heading(text: &str) -> Heading {
    match text.strip_prefix("##") {
        Some(title) if title.starts_with(is_blank) && !title.contains(['\r', '\u{2028}', '\u{2029}']) => {
            Heading::Section(kind_of_title(trim_blanks(title)))
        }
        _ => Heading::Other,
    }
}

/// The kind whose section heading pi writes with exactly this title, in any case.
pub(super) fn canonical_section(text: &str) -> Option<Kind> {
    let title = trim_blanks(text.strip_prefix("##").filter(|title| title.starts_with(is_blank))?);
    Kind::ALL.into_iter().find(|kind| kind.section_title().eq_ignore_ascii_case(title))
}

/// The vectors "heading: ..." of parse.json: the first hit wins, in any ASCII case.
fn kind_of_title(title: &str) -> Option<Kind> {
    const PHRASES: [(&str, Kind); 5] = [
        ("supplemental prompt notes", Kind::Prompt),
        ("memory facts", Kind::Memory),
        ("skill descriptions", Kind::Skill),
        ("sub-agent specs", Kind::Subagent),
        ("subagent specs", Kind::Subagent),
    ];
    const WORDS: [(&str, Kind); 8] = [
        ("prompt", Kind::Prompt),
        ("memory", Kind::Memory),
        ("skill", Kind::Skill),
        ("skills", Kind::Skill),
        ("subagent", Kind::Subagent),
        ("sub-agent", Kind::Subagent),
        ("subagents", Kind::Subagent),
        ("sub-agents", Kind::Subagent),
    ];
    let title = title.to_ascii_lowercase();
    let phrase = PHRASES.iter().find(|(phrase, _)| title.contains(phrase));
    phrase.or_else(|| WORDS.iter().find(|(word, _)| has_word(&title, word))).map(|(_, kind)| *kind)
}

/// Whether `word` stands in `text` between ASCII word boundaries.
fn has_word(text: &str, word: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        !is_word(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !is_word(bytes.get(at + word.len()))
    })
}

/// pi's placeholder for an empty store, which is no note.
pub(super) fn is_placeholder(content: &str) -> bool {
    let inner = content.strip_prefix('(').unwrap_or(content);
    inner.strip_suffix(')').unwrap_or(inner).eq_ignore_ascii_case("no active items")
}

/// Whether a line in column 0 is a list item that is no note: `*`, `+`, `1.` or `1)`.
pub(super) fn is_foreign_bullet(text: &str) -> bool {
    let rest = match text.as_bytes() {
        [b'*' | b'+', ..] => &text[1..],
        [b'0'..=b'9', ..] => {
            match text.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']) {
                Some(rest) => rest,
                None => return false,
            }
        }
        _ => return false,
    };
    rest.starts_with([' ', '\t'])
}
