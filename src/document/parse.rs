//! From text to segments and notes, in one pass over the lines.
//!
//! Two grammars take turns: metadata blocks open notes whose body runs on, and bullets
//! are read under a section heading that names a kind. Markdown has the first word:
//! a line of code or HTML is never structure.

use crate::note::Kind;
use crate::text::{Line, Span, is_blank, trim_blanks, trim_blanks_end};

use super::bullet::{self, Heading};
use super::diagnostic::{Diagnostic, Problem};
use super::field::{Entry, Field, Style};
use super::note::{Content, Form, Hot, NoteData, State};
use super::opaque::{self, Opaque};
use super::{
    Document, HeaderData, Section, Segment, SegmentKind, continuation, escape, guard, ids, note, plain, yaml,
};

const BOM: char = '\u{FEFF}';

/// What the lines that come belong to.
enum Open {
    Nothing,
    /// The body of a front-matter note.
    Body(usize),
    Bullet(OpenBullet),
}

struct OpenBullet {
    note: usize,
    /// Whether further indented lines are still part of its content.
    takes_content: bool,
    /// The field that more deeply indented lines belong to, and the column of its dash.
    last_field: Option<(usize, usize)>,
    /// Empty lines that become part of the content if more of it follows.
    empty_lines: usize,
    further: Vec<Span>,
}

struct Parser<'a> {
    source: &'a str,
    opaque: Opaque<'a>,
    segments: Vec<Segment>,
    /// Everything before this offset is in `segments`.
    emitted: usize,
    /// The kind of the bullets that come.
    section: Option<Kind>,
    open: Open,
    notes: Vec<NoteData>,
    entries: Vec<Entry>,
    pieces: Vec<Span>,
    header: Option<HeaderData>,
    sections: Vec<Section>,
    diagnostics: Vec<Diagnostic>,
    /// Where the text above is such that a `---` would underline it.
    is_text_above: bool,
    /// How Markdown reads the line at hand.
    reading: opaque::Reading,
    /// Ask Markdown and YAML about everything.
    in_full: bool,
}

pub(super) fn parse(source: String, in_full: bool) -> Document {
    let start = if source.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut parser = Parser {
        source: &source,
        opaque: Opaque::new(&source, start, in_full),
        segments: Vec::new(),
        emitted: 0,
        section: None,
        open: Open::Nothing,
        notes: Vec::new(),
        entries: Vec::new(),
        pieces: Vec::new(),
        header: None,
        sections: Vec::new(),
        diagnostics: Vec::new(),
        is_text_above: false,
        reading: opaque::Reading::Text,
        in_full,
    };
    let mut at = start;
    if let Some(first) = Line::at(&source, start) {
        at = parser.layer_header(first).unwrap_or(start);
    }
    while let Some(line) = Line::at(&source, at) {
        at = parser.line(line);
    }
    parser.close();
    parser.emit_to(source.len(), SegmentKind::Prose);
    for note in &mut parser.notes {
        note.hot = Hot::of(&parser.entries[note.entries.clone()]);
    }
    let Parser { segments, notes, entries, pieces, header, mut sections, diagnostics, opaque, .. } = parser;
    if let Some(last) = sections.last_mut().filter(|last| last.end == 0) {
        last.end = source.len();
    }
    let opaque = opaque.into_spans();
    let mut document = Document {
        source,
        segments,
        notes,
        entries,
        pieces,
        header,
        sections,
        diagnostics,
        conflicts: Vec::new(),
        copies: Vec::new(),
        ids: ids::Ids::none(),
    };
    document.ids = ids::Ids::of(document.notes());
    guard::check(&mut document, &opaque);
    document
}

impl Parser<'_> {
    fn report(&mut self, problem: Problem, span: Span) {
        self.diagnostics.push(Diagnostic { problem, span });
    }

    /// Puts everything up to `end` into a segment of this kind. Empty lines before it
    /// go with it only if the segment above is of the same note.
    fn emit(&mut self, line_start: usize, end: usize, kind: SegmentKind) {
        if self.segments.last().is_some_and(|last| last.kind == kind) {
            self.emit_to(end, kind);
        } else {
            self.emit_to(line_start, SegmentKind::Prose);
            self.emit_to(end, kind);
        }
    }

    fn emit_to(&mut self, end: usize, kind: SegmentKind) {
        if end <= self.emitted {
            return;
        }
        match self.segments.last_mut() {
            Some(last) if last.kind == kind => last.span.end = end,
            _ => self.segments.push(Segment { kind, span: Span::new(self.emitted, end) }),
        }
        self.emitted = end;
    }

    /// The layer header, if the text starts with one; gives the offset behind it.
    fn layer_header(&mut self, first: Line) -> Option<usize> {
        if !yaml::is_rule(first.text(self.source)) {
            return None;
        }
        let kept = self.entries.len();
        let (block, reading) = self.block(first)?;
        let is_header = block.is_closed && matches!(reading, yaml::Reading::Mapping) && {
            let has = |key: &str| self.entries[kept..].iter().any(|entry| entry.key() == key);
            has("layer") && !has("id") && !has("kind")
        };
        if !is_header {
            self.entries.truncate(kept);
            return None;
        }
        let span = Span::new(first.start, block.end);
        self.header = Some(HeaderData { span, entries: kept..self.entries.len() });
        self.emit(first.start, block.end, SegmentKind::Header);
        self.opaque.restart(span);
        Some(block.end)
    }

    /// Reads the line and gives the offset of the next one to read.
    fn line(&mut self, line: Line) -> usize {
        let text = line.text(self.source);
        let is_blank =
            !text.as_bytes().first().is_some_and(u8::is_ascii_graphic) && trim_blanks(text).is_empty();
        if is_blank {
            if let Open::Bullet(open) = &mut self.open {
                open.empty_lines += 1;
            }
            self.is_text_above = false;
            return line.end;
        }
        self.reading = self.opaque.reading(line);
        match self.reading {
            opaque::Reading::Text => {}
            opaque::Reading::Html(true)
                if matches!(self.open, Open::Body(_)) && escape::is_end_of_note(text) =>
            {
                return self.end_mark(line);
            }
            opaque::Reading::Code | opaque::Reading::Html(_) => {
                self.is_text_above = false;
                self.plain_line(line);
                return line.end;
            }
        }
        if yaml::is_rule(text)
            && let Some(end) = self.metadata_block(line)
        {
            return end;
        }
        if opaque::is_boundary(text) {
            self.opaque.passes_safe_line(line.start);
        }
        if let Open::Body(_) = self.open {
            if bullet::canonical_section(trim_blanks_end(text)).is_some()
                || self.is_conflict_around_notes(line)
            {
                self.close();
            } else {
                self.is_text_above = is_paragraph(text);
                self.plain_line(line);
                return line.end;
            }
        }
        self.bullet_line(line);
        line.end
    }

    /// Whether git's marker in this line opens a conflict about whole notes: the note above
    /// has no part in it. A side that has no note there is empty.
    fn is_conflict_around_notes(&self, line: Line) -> bool {
        if escape::conflict_marker(line.text(self.source), '<').is_none() {
            return false;
        }
        let mut next = Line::at(self.source, line.end);
        while let Some(line) = next {
            let text = line.text(self.source);
            if !['|', '='].into_iter().any(|sign| escape::conflict_marker(text, sign).is_some()) {
                return yaml::is_rule(text)
                    && yaml::block_at(self.source, line)
                        .is_some_and(|block| has_note_key(self.source, block.yaml));
            }
            next = Line::at(self.source, line.end);
        }
        false
    }

    /// A line that is no structure: of a body, of a bullet's content, or prose.
    fn plain_line(&mut self, line: Line) {
        match self.open {
            Open::Nothing => self.emit(line.start, line.end, SegmentKind::Prose),
            Open::Body(note) => self.body_line(note, line),
            Open::Bullet(_) => {
                if !self.continues_bullet(line) {
                    if let Open::Bullet(open) = &mut self.open {
                        open.takes_content = false;
                    }
                    self.emit(line.start, line.end, SegmentKind::Prose);
                }
            }
        }
    }

    fn body_line(&mut self, note: usize, line: Line) {
        self.emit(line.start, line.end, SegmentKind::Note(note));
        let data = &mut self.notes[note];
        data.span.end = line.end;
        if let Content::Body(body) = &mut data.content {
            if body.is_empty() {
                body.start = line.start;
            }
            body.end = line.text_end;
        }
    }

    /// `<!-- /note -->`: the end of a body, part of its note.
    fn end_mark(&mut self, line: Line) -> usize {
        if let Open::Body(note) = self.open {
            self.emit(line.start, line.end, SegmentKind::Note(note));
            self.notes[note].span.end = line.end;
        }
        self.open = Open::Nothing;
        self.is_text_above = false;
        self.opaque.restart(Span::at(line.end));
        line.end
    }

    /// The block that a `---` line begins, and what it says; its fields are added.
    fn block(&mut self, opening: Line) -> Option<(yaml::Block, yaml::Reading)> {
        if !self.in_full
            && let Some(block) = plain::block_at(self.source, opening, &mut self.entries)
        {
            return Some((block, yaml::Reading::Mapping));
        }
        let block = yaml::block_at(self.source, opening)?;
        let reading = if block.is_closed {
            yaml::read(self.source, block.yaml, &mut self.entries)
        } else {
            let span = Span::new(opening.start, opening.text_end);
            yaml::Reading::Broken(Diagnostic { problem: Problem::UnclosedBlock, span })
        };
        Some((block, reading))
    }

    /// A metadata block: a note, or text that goes with what is open.
    fn metadata_block(&mut self, opening: Line) -> Option<usize> {
        let kept = self.entries.len();
        let (block, reading) = self.block(opening)?;
        let problem = match reading {
            yaml::Reading::Mapping => None,
            yaml::Reading::Other => return None,
            yaml::Reading::Broken(diagnostic) => {
                self.entries.truncate(kept);
                Some(diagnostic)
            }
        };
        let is_note = if problem.is_some() {
            has_note_key(self.source, block.yaml)
        } else {
            self.entries[kept..].iter().any(|entry| matches!(entry.field(), Field::Id | Field::Kind))
        };
        if !is_note {
            let is_mapping = problem.is_none();
            self.entries.truncate(kept);
            if !is_mapping {
                return None;
            }
            self.foreign_block(Span::new(opening.start, block.end));
            self.opaque.restart(Span::new(opening.start, block.end));
            self.is_text_above = false;
            return Some(block.end);
        }
        if self.is_text_above {
            self.report(Problem::NoBlankLineAbove, Span::new(opening.start, opening.text_end));
        }
        self.close();
        self.front_matter_note(opening, block, kept, problem);
        self.opaque.restart(Span::new(opening.start, block.end));
        self.is_text_above = false;
        Some(block.end)
    }

    /// A metadata block that is no note: text of the open body, or prose.
    fn foreign_block(&mut self, span: Span) {
        if let Open::Body(note) = self.open {
            for line in crate::text::Lines::within(self.source, span) {
                self.body_line(note, line);
            }
        } else {
            if let Open::Bullet(open) = &mut self.open {
                open.takes_content = false;
            }
            self.emit(span.start, span.end, SegmentKind::Prose);
        }
    }

    fn end_section(&mut self, at: usize) {
        if let Some(last) = self.sections.last_mut().filter(|last| last.end == 0) {
            last.end = at;
        }
    }

    fn front_matter_note(
        &mut self,
        opening: Line,
        block: yaml::Block,
        kept: usize,
        problem: Option<Diagnostic>,
    ) {
        let index = self.notes.len();
        let mut state = State::Good;
        let mut kind = Kind::Memory;
        let is_broken = problem.is_some();
        if let Some(diagnostic) = problem {
            self.diagnostics.push(diagnostic);
            state = State::Unparsed;
            if let Some(entry) = id_entry(self.source, block.yaml) {
                self.entries.push(entry);
            }
        } else {
            let (found, problems) = check_fields(self.source, &self.entries[kept..]);
            kind = found.unwrap_or(kind);
            if problems.iter().any(|diagnostic| diagnostic.severity() == super::Severity::Error) {
                state = State::Unparsed;
            }
            self.diagnostics.extend(problems);
        }
        let entries = kept..self.entries.len();
        let is_editable =
            !is_broken && self.entries[entries.clone()].iter().all(|entry| !entry.span().is_empty());
        self.emit(opening.start, block.end, SegmentKind::Note(index));
        self.notes.push(NoteData {
            form: Form::FrontMatter,
            state,
            kind,
            span: Span::new(opening.start, block.end),
            entries,
            content: Content::Body(Span::at(block.end)),
            head: block.yaml,
            head_end: block.end,
            indent: 0,
            is_editable,
            hot: None,
        });
        self.open = if block.is_closed { Open::Body(index) } else { Open::Nothing };
    }

    /// A line outside of bodies: heading, bullet, sub-bullet, further text or prose.
    fn bullet_line(&mut self, line: Line) {
        let text = trim_blanks_end(line.text(self.source));
        let end = line.start + text.len();
        self.is_text_above = is_paragraph(text);
        match text.as_bytes()[0] {
            b'#' => {
                self.close();
                if let Heading::Section(kind) = bullet::heading(text) {
                    self.section = kind;
                    self.end_section(line.start);
                    if let Some(kind) = kind {
                        self.sections.push(Section { kind, heading: line.span(), end: 0 });
                    }
                }
                self.emit(line.start, line.end, SegmentKind::Prose);
            }
            b'-' if let Some(bullet) = bullet::bullet(self.source, line.start, end) => {
                self.bullet_note(line, bullet);
            }
            _ if matches!(self.open, Open::Bullet(_)) => {
                if bullet::is_foreign_bullet(text) {
                    self.report(Problem::ForeignBullet, Span::new(line.start, end));
                    self.close();
                    self.emit(line.start, line.end, SegmentKind::Prose);
                } else {
                    if !text.starts_with(is_blank) && self.is_paragraph_going_on(text) {
                        self.report(Problem::UnindentedLine, Span::new(line.start, end));
                    }
                    self.plain_line(line);
                }
            }
            _ => {
                if self.section.is_some() && bullet::is_foreign_bullet(text) {
                    self.report(Problem::ForeignBullet, Span::new(line.start, end));
                }
                self.emit(line.start, line.end, SegmentKind::Prose);
            }
        }
    }

    /// Whether Markdown would take this line in column 0 for more of the open bullet.
    fn is_paragraph_going_on(&self, text: &str) -> bool {
        matches!(&self.open, Open::Bullet(open) if open.takes_content && open.empty_lines == 0)
            && !text.starts_with(['-', '>', '|', '<', '=', '`', '~', '['])
    }

    fn bullet_note(&mut self, line: Line, bullet: bullet::Bullet) {
        self.close();
        let content = bullet.content.of(self.source);
        let id = bullet.id.map(|id| id.of(self.source));
        let Some(kind) = self.section else {
            if let Some(id) = id.filter(|id| !id.is_empty()) {
                self.report(
                    Problem::BulletOutsideSection(id.to_owned()),
                    Span::new(line.start, bullet.id_end),
                );
            }
            self.emit(line.start, line.end, SegmentKind::Prose);
            return;
        };
        let is_note = match id {
            // An id is never dropped, whatever comes with it.
            Some(id) => !id.is_empty() || !content.is_empty() && !bullet::is_placeholder(content),
            None => !bullet::is_placeholder(content),
        };
        if !is_note {
            self.emit(line.start, line.end, SegmentKind::Prose);
            return;
        }
        let index = self.notes.len();
        let kept = self.entries.len();
        if let Some(id) = bullet.id {
            let entry = Entry::new(&Field::Id, id, id, Style::Plain);
            self.entries.push(entry);
            check_id(id.of(self.source), id, &mut self.diagnostics);
        }
        if let Some(number) = bullet.importance {
            let span = Span::new(bullet.id_end, number.end + 1);
            let entry = Entry::new(&Field::Importance, span, number, Style::Plain);
            check_importance(self.source, &entry, &mut self.diagnostics);
            self.entries.push(entry);
        } else if content.get(..11).is_some_and(|start| start.eq_ignore_ascii_case("(importance")) {
            self.report(Problem::MalformedImportance, bullet.content);
        }
        let first = self.pieces.len();
        self.pieces.push(bullet.content);
        self.emit(line.start, line.end, SegmentKind::Note(index));
        self.notes.push(NoteData {
            form: Form::Bullet,
            state: State::Good,
            kind,
            span: line.span(),
            entries: kept..self.entries.len(),
            content: Content::Pieces(first..first + 1),
            head: line.span(),
            head_end: bullet.id_end,
            indent: bullet.indent,
            is_editable: true,
            hot: None,
        });
        self.open = Open::Bullet(OpenBullet {
            note: index,
            takes_content: true,
            last_field: None,
            empty_lines: 0,
            further: Vec::new(),
        });
    }

    /// Takes a line for the open bullet if it belongs there: a sub-bullet however far
    /// below (as pi has it), or indented text right below.
    fn continues_bullet(&mut self, line: Line) -> bool {
        let source = self.source;
        let reading = self.reading;
        let text = trim_blanks_end(line.text(source));
        let end = line.start + text.len();
        let Open::Bullet(open) = &mut self.open else { return false };
        let note = open.note;
        if reading == opaque::Reading::Text
            && let Some(sub) = bullet::sub_bullet(source, line.start, end)
        {
            let is_scope_read = sub.field != Field::Scope || bullet::scope(source, sub.value).is_some();
            open.empty_lines = 0;
            if is_scope_read {
                open.last_field = Some((self.entries.len(), column(source, line.start, sub.dash)));
                let entry = Entry::new(&sub.field, line.span(), sub.value, Style::Plain);
                let known = self.diagnostics.len();
                check_field(source, &entry, &mut self.diagnostics);
                if self.diagnostics[known..].iter().any(|found| found.severity() == super::Severity::Error) {
                    self.notes[note].state = State::Unparsed;
                }
                self.entries.push(entry);
                self.notes[note].entries.end = self.entries.len();
            } else {
                open.last_field = None;
                let ignored = sub.value.of(source).to_owned();
                self.report(Problem::ScopeIgnored(ignored), sub.value);
            }
            self.emit(line.start, line.end, SegmentKind::Note(note));
            self.notes[note].span.end = line.end;
            return true;
        }
        let lead = text.len() - text.trim_start_matches([' ', '\t']).len();
        let columns = column(source, line.start, line.start + lead);
        if columns < 2 || !open.takes_content {
            return false;
        }
        if let Some((entry, dash)) = open.last_field
            && columns > dash + 1
            && open.empty_lines == 0
        {
            // More of the field above; only evidence has room for it.
            let entry = &mut self.entries[entry];
            let value_end = entry.value().end;
            if entry.is(&Field::Evidence) {
                let joined =
                    format!("{}\n{}", entry.text(source), continuation::unescaped(trim_blanks(text)));
                entry.extend(line.end, end);
                entry.set_text(source, &escape::normal_evidence(&joined));
                entry.set_style(Style::Lines);
            } else {
                entry.extend(line.end, value_end);
            }
        } else {
            open.last_field = None;
            open.further.extend((0..open.empty_lines).map(|_| Span::at(line.start)));
            let dedent = dedent(text, self.notes[note].indent);
            open.further.push(Span::new(line.start + dedent, line.text_end));
        }
        open.empty_lines = 0;
        self.emit(line.start, line.end, SegmentKind::Note(note));
        self.notes[note].span.end = line.end;
        true
    }

    /// Closes what is open.
    fn close(&mut self) {
        let Open::Bullet(open) = std::mem::replace(&mut self.open, Open::Nothing) else { return };
        if open.further.is_empty() {
            return;
        }
        // The note's first line was the last piece: no other note came in between.
        self.pieces.extend(open.further);
        if let Content::Pieces(pieces) = &mut self.notes[open.note].content {
            pieces.end = self.pieces.len();
        }
    }
}

/// Whether a block that cannot be read is meant as a note.
fn has_note_key(source: &str, yaml: Span) -> bool {
    let mut lines = crate::text::Lines::within(source, yaml);
    lines.any(|line| matches!(yaml::key_of(line.text(source)), Some(("id" | "kind", _))))
}

/// The id of a block that cannot be read, so that it still counts as present.
fn id_entry(source: &str, yaml: Span) -> Option<Entry> {
    let mut lines = crate::text::Lines::within(source, yaml);
    lines.find_map(|line| {
        let text = line.text(source);
        let (key, behind) = yaml::key_of(text)?;
        (key == "id").then_some(())?;
        let raw = text[behind..].trim_ascii();
        let id = raw.trim_matches(['"', '\'']);
        let id = id.split(" #").next().unwrap_or(id).trim_ascii();
        let start = line.start + behind + text[behind..].find(id)?;
        let value = Span::new(start, start + id.len());
        (!id.is_empty()).then(|| Entry::new(&Field::Id, Span::at(line.start), value, Style::Plain))
    })
}

/// What is wrong with the fields of a block, and its kind.
fn check_fields(source: &str, entries: &[Entry]) -> (Option<Kind>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let mut kind = None;
    for entry in entries {
        let text = entry.text(source);
        match entry.field() {
            Field::Id if !text.is_empty() => check_id(text, entry.value(), &mut problems),
            Field::Kind if !text.is_empty() => match text.parse() {
                Ok(found) => kind = Some(found),
                Err(_) => problems
                    .push(Diagnostic { problem: Problem::UnknownKind(text.into()), span: entry.value() }),
            },
            Field::Scope if !text.is_empty() && bullet::scope(text, Span::new(0, text.len())).is_none() => {
                problems
                    .push(Diagnostic { problem: Problem::UnknownScope(text.into()), span: entry.value() });
            }
            _ => check_field(source, entry, &mut problems),
        }
    }
    (kind, problems)
}

/// What is wrong with a field that both forms write the same.
fn check_field(source: &str, entry: &Entry, problems: &mut Vec<Diagnostic>) {
    let text = entry.text(source);
    if text.is_empty() {
        return;
    }
    let problem = match entry.field() {
        Field::Importance => return check_importance(source, entry, problems),
        Field::Active | Field::Protected if note::flag(text).is_none() => {
            Problem::NotAFlag(entry.key().to_owned(), text.to_owned())
        }
        Field::Approval if text.parse::<crate::note::Approval>().is_err() => {
            Problem::UnknownApproval(text.to_owned())
        }
        _ => return,
    };
    problems.push(Diagnostic { problem, span: entry.value() });
}

fn check_importance(source: &str, entry: &Entry, problems: &mut Vec<Diagnostic>) {
    let text = entry.text(source);
    let problem = match note::number(text) {
        None => Problem::ImportanceNotANumber(text.to_owned()),
        Some(number) if !(0.0..=1.0).contains(&number) => Problem::ImportanceOutOfRange(text.to_owned()),
        Some(_) => return,
    };
    problems.push(Diagnostic { problem, span: entry.value() });
}

fn check_id(id: &str, span: Span, problems: &mut Vec<Diagnostic>) {
    if !id.is_empty() && !crate::note::is_well_formed_id(id) {
        problems.push(Diagnostic { problem: Problem::OddId(id.to_owned()), span });
    }
}

/// The column of `offset` in the line that starts at `start`, tabs to multiples of 4.
fn column(source: &str, start: usize, offset: usize) -> usize {
    source[start..offset]
        .chars()
        .fold(0, |column, c| if c == '\t' { column + 4 - column % 4 } else { column + 1 })
}

/// Whether a `---` below this line would underline it. Lines indented as code are left
/// out: most are none of a paragraph.
fn is_paragraph(text: &str) -> bool {
    let lead = text.len() - text.trim_start_matches([' ', '\t']).len();
    column(text, 0, lead) < 4 && !text.starts_with('#')
}

/// How many bytes of indentation a further line of a bullet loses: up to `indent`
/// spaces, or a tab.
fn dedent(text: &str, indent: usize) -> usize {
    let spaces = text.bytes().take(indent).take_while(|byte| *byte == b' ').count();
    if spaces < indent && text.as_bytes().get(spaces) == Some(&b'\t') { spaces + 1 } else { spaces }
}
