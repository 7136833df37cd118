//! What no single line shows: conflict markers, ids used twice, notes that a fence
//! swallows, and whether an id still stands somewhere in the text. A mistake in the
//! text is never a deletion (docs/format.md, "Both forms").

use memchr::memmem;

use crate::text::{Line, Lines, Span};

use super::diagnostic::{Diagnostic, Problem};
use super::note::{Content, State};
use super::opaque::OpaqueSpan;
use super::{Document, Note, escape, yaml};

/// Where an id stands in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// As the id of the note with this index, readable or not.
    Note(usize),
    /// In text that is not read as its note, here.
    Text(Span),
    /// Nowhere.
    Absent,
}

/// Adds what only the whole document shows, and puts the diagnostics in order.
pub(super) fn check(document: &mut Document, opaque: &[OpaqueSpan]) {
    let mut found = Vec::new();
    conflicts(document, opaque, &mut found);
    duplicates(document, &mut found);
    swallowed(document, opaque, &mut found);
    stray_ids(document, opaque, &mut found);
    for note in document.notes() {
        if note.state() == State::Good && is_silent(document, note) {
            found.push(Diagnostic { problem: Problem::NoContent, span: first_line(document, note) });
        }
    }
    if !document.source.contains('\n') && document.source.trim_end().contains('\r') {
        found.push(Diagnostic { problem: Problem::ClassicMacLines, span: Span::at(0) });
    }
    document.diagnostics.extend(found);
    document.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
}

/// Whether a note has no content, without putting the content together.
fn is_silent(document: &Document, note: Note<'_>) -> bool {
    match &note.data().content {
        Content::Body(body) => body.is_empty(),
        Content::Pieces(pieces) => document.pieces[pieces.clone()].iter().all(|piece| piece.is_empty()),
    }
}

fn first_line(document: &Document, note: Note<'_>) -> Span {
    let start = note.span().start;
    Line::at(&document.source, start).map_or(Span::at(start), |line| Span::new(start, line.text_end))
}

/// Finds complete sets of git's markers outside of code and marks the notes they touch.
fn conflicts(document: &mut Document, opaque: &[OpaqueSpan], found: &mut Vec<Diagnostic>) {
    let source = &document.source;
    let mut regions = Vec::new();
    let mut from = 0;
    while let Some(at) = memmem::find(&source.as_bytes()[from..], b"<<<<<<<").map(|at| from + at) {
        from = at + 7;
        let is_line_start = at == 0 || source.as_bytes()[at - 1] == b'\n';
        let code = &opaque[..opaque.partition_point(|opaque| opaque.span.start <= at)];
        let is_in_code =
            code.last().is_some_and(|last| last.is_code && !last.is_open && last.span.contains(at));
        if !is_line_start || is_in_code {
            continue;
        }
        let opening = Line::at(source, at).map_or("", |line| line.text(source));
        let Some(size) = escape::conflict_marker(opening, '<') else { continue };
        let is_marker = |text: &str, sign| escape::conflict_marker(text, sign) == Some(size);
        let mut has_split = false;
        for line in Lines::within(source, Span::new(at, source.len())).skip(1) {
            let text = line.text(source);
            if is_marker(text, '<') {
                break; // the first was no conflict of git's
            } else if text.len() == size && is_marker(text, '=') {
                has_split = true;
            } else if is_marker(text, '>') {
                if has_split {
                    regions.push(Span::new(at, line.end));
                    from = line.end;
                }
                break;
            }
        }
    }
    for region in &regions {
        let line =
            Line::at(source, region.start).map_or(*region, |line| Span::new(line.start, line.text_end));
        found.push(Diagnostic { problem: Problem::ConflictMarkers, span: line });
        let first = document.notes.partition_point(|note| note.span.end <= region.start);
        let touched = document.notes[first..].iter_mut().take_while(|note| note.span.start < region.end);
        for note in touched {
            note.state = State::Conflicted;
        }
    }
    document.conflicts = regions;
}

/// Reports ids used more than once; two equal copies are one note.
fn duplicates(document: &mut Document, found: &mut Vec<Diagnostic>) {
    let mut copies = Vec::new();
    let mut lines: Option<Vec<usize>> = None;
    for (index, earlier) in document.ids.repeated() {
        let note = Note::new(document, index);
        let is_clear = |note: &Note<'_>| note.state() != State::Conflicted;
        let mut earlier = earlier.map(|index| Note::new(document, index)).filter(is_clear);
        let Some((earlier, id)) = earlier.find(|earlier| earlier.id() == note.id()).zip(note.id()) else {
            continue;
        };
        if !is_clear(&note) {
            continue;
        }
        let line = lines.get_or_insert_with(|| note_lines(document))[earlier.index()];
        let problem = if is_equal_copy(earlier, note) {
            copies.push(index);
            Problem::EqualCopy(id.to_owned(), line)
        } else {
            Problem::DuplicateId(id.to_owned(), line)
        };
        found.push(Diagnostic { problem, span: first_line(document, note) });
    }
    copies.sort_unstable();
    document.copies = copies;
}

/// The line of each note, from 1, in one pass.
fn note_lines(document: &Document) -> Vec<usize> {
    let source = document.source.as_bytes();
    let (mut line, mut at) = (1, 0);
    let lines = document.notes.iter().map(|note| {
        line += memchr::memchr_iter(b'\n', &source[at..note.span.start]).count();
        at = note.span.start;
        line
    });
    lines.collect()
}

/// Whether two notes say the same in every field.
pub(super) fn is_equal_copy(one: Note<'_>, other: Note<'_>) -> bool {
    let all = |note: Note<'_>| {
        let mut fields = note.fields();
        fields.sort();
        fields
            .into_iter()
            .map(|field| (note.get(&field).map(std::borrow::Cow::into_owned), field))
            .collect::<Vec<_>>()
    };
    one.kind() == other.kind()
        && one.state() == other.state()
        && one.content() == other.content()
        && all(one) == all(other)
}

/// Reports a fence or comment that is never closed and has notes in it.
fn swallowed(document: &Document, opaque: &[OpaqueSpan], found: &mut Vec<Diagnostic>) {
    let Some(last) = opaque.last().filter(|last| last.is_open) else { return };
    let source = &document.source;
    let mut ids = Vec::new();
    let mut is_rule_above = false;
    for line in Lines::within(source, last.span) {
        let text = line.text(source);
        if let Some(id) = bullet_id(text) {
            ids.push(id.to_owned());
        } else if is_rule_above {
            ids.extend(yaml::ids_in(source, line.span()).into_iter().map(str::to_owned));
        }
        is_rule_above = yaml::is_rule(text) || is_rule_above && yaml::key_of(text).is_some();
    }
    if !ids.is_empty() {
        let span = Line::at(source, last.span.start)
            .map_or(last.span, |line| Span::new(last.span.start, line.text_end));
        found.push(Diagnostic { problem: Problem::Swallowed(ids), span });
    }
}

/// The id of a line that looks like a bullet of ours.
fn bullet_id(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix('-')?.trim_start().strip_prefix("**[")?;
    rest.split_once("]**").map(|(id, _)| id.trim()).filter(|id| !id.is_empty())
}

/// Reports `id:` lines right below a `---` that open no note.
fn stray_ids(document: &Document, opaque: &[OpaqueSpan], found: &mut Vec<Diagnostic>) {
    let source = &document.source;
    let mut notes = document.notes.iter().peekable();
    for at in memmem::find_iter(source.as_bytes(), b"id:") {
        while notes.peek().is_some_and(|note| note.head_end <= at) {
            notes.next();
        }
        let is_in_head = notes.peek().is_some_and(|note| note.head.contains(at));
        let before = &opaque[..opaque.partition_point(|opaque| opaque.span.start <= at)];
        if is_in_head || before.last().is_some_and(|last| !last.is_indented && last.span.contains(at)) {
            continue;
        }
        let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let Some(line) = Line::at(source, line_start) else { continue };
        let id = source[at + 3..line.text_end].trim().trim_matches(['"', '\'']);
        let above = source[..line_start].trim_end_matches(['\n', '\r']);
        let above = above.rsplit('\n').next().unwrap_or("");
        let is_alone = source[line_start..at].trim().is_empty();
        if is_alone && above.trim() == "---" && crate::note::is_well_formed_id(id) {
            let span = Span::new(line_start, line.text_end);
            found.push(Diagnostic { problem: Problem::IdInText(id.to_owned()), span });
        }
    }
}

impl Document {
    /// Where an id stands: as a note, readable or not, or still as text in a place
    /// where its note may have been (a fence that is not closed, a missing blank line,
    /// a blend of two notes). Only an absent id may be taken for a deletion.
    pub fn presence(&self, id: &str) -> Presence {
        if let Some(note) = self.note(id) {
            return Presence::Note(note.index());
        }
        if id.is_empty() {
            return Presence::Absent;
        }
        let source = self.source.as_bytes();
        for at in memmem::find_iter(source, id.as_bytes()) {
            let end = at + id.len();
            let before = self.source[..at].rsplit('\n').next().unwrap_or("");
            let behind = self.source[end..].split('\n').next().unwrap_or("");
            let is_bullet = before.trim_end().ends_with('[') && behind.trim_start().starts_with(']');
            let key = before.trim_end_matches([' ', '\t', '"', '\'']);
            let is_key = key
                .strip_suffix("id:")
                .is_some_and(|lead| lead.trim_matches([' ', '\t', '>', '<', '!', '-', '{', '"']).is_empty());
            let is_whole = behind
                .trim_start_matches(['"', '\''])
                .chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '}' | '#'));
            if is_bullet || is_key && is_whole {
                return Presence::Text(Span::new(at, end));
            }
        }
        Presence::Absent
    }

    /// Whether an id stands nowhere in the layer. Only then its note may be taken for gone.
    pub fn is_absent(&self, id: &str) -> bool {
        self.presence(id) == Presence::Absent
    }

    /// Whether the note is a later, equal copy of one with the same id: both are one note.
    pub fn is_equal_copy(&self, note: Note<'_>) -> bool {
        self.copies.binary_search(&note.index()).is_ok()
    }
}
