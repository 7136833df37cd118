//! Which parts of a layer Markdown reads as code or HTML, where nothing is a note.
//!
//! pulldown-cmark decides, by its byte offsets. It is asked only where it has
//! something to say: a stretch of text without a line that could open a fence, an
//! HTML block or an indented sub-bullet has no such parts. [`Opaque`] therefore
//! watches the lines go by, remembers the last line at which every container is
//! closed, and on a suspicious line has the text from there on parsed, up to a line
//! where all is closed again. `tests/parse_props.rs` holds it equal to parsing everything.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::text::{Line, Span};

use super::{bullet, yaml};

/// A stretch of code or HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpaqueSpan {
    pub(super) span: Span,
    /// Code rather than HTML.
    pub(super) is_code: bool,
    /// Code by its indentation alone. The short cut asks about such lines only where they
    /// could be fields, so nothing else may depend on it.
    pub(super) is_indented: bool,
    /// Never closed: it reaches the end of the text only for want of an end.
    pub(super) is_open: bool,
}

/// What Markdown makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Ordinary text, which may be a note.
    Text,
    /// Part of code.
    Code,
    /// Part of an HTML block; `true` for its first line.
    Html(bool),
}

pub(super) struct Opaque<'a> {
    source: &'a str,
    /// Every line before this offset is settled by `spans`.
    known_until: usize,
    /// A line start at which no container, fence or HTML block is open.
    safe: usize,
    spans: Vec<OpaqueSpan>,
    cursor: usize,
    /// Ask for everything at once, as the plain definition has it.
    asks_always: bool,
    /// A CR without LF ends a line for Markdown, not for us: any of our lines may then
    /// hold the start of a block.
    has_lone_cr: bool,
}

impl<'a> Opaque<'a> {
    pub(super) fn new(source: &'a str, start: usize, asks_always: bool) -> Self {
        let bytes = source.as_bytes();
        let has_lone_cr = memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'));
        Self {
            source,
            known_until: start,
            safe: start,
            spans: Vec::new(),
            cursor: 0,
            asks_always,
            has_lone_cr,
        }
    }

    /// All spans found so far; complete behind the last line read.
    pub(super) fn into_spans(self) -> Vec<OpaqueSpan> {
        self.spans
    }

    /// How Markdown reads `line`. Lines are to be asked for in order.
    #[inline]
    pub(super) fn reading(&mut self, line: Line) -> Reading {
        if line.start >= self.known_until {
            let asks = self.asks_always || self.has_lone_cr;
            if !asks && !is_suspicious(self.source, line) {
                return Reading::Text;
            }
            if asks || !self.passes_plain_fence(line) {
                self.settle(line);
            }
        }
        self.settled(line)
    }

    /// Tells that `passed` is no Markdown (a metadata block) and that every container is
    /// closed behind it.
    #[inline]
    pub(super) fn restart(&mut self, passed: Span) {
        self.safe = passed.end;
        // What was parsed there and beyond did not know of the block.
        if self.known_until > passed.start {
            self.known_until = passed.end;
            let keep = self.spans.partition_point(|opaque| opaque.span.start < passed.start);
            self.spans.truncate(keep);
            self.cursor = self.cursor.min(keep);
        }
    }

    /// Tells that the ordinary line at `offset` closes every container before it.
    #[inline]
    pub(super) fn passes_safe_line(&mut self, offset: usize) {
        self.safe = offset;
    }

    fn settled(&mut self, line: Line) -> Reading {
        let text = line.text(self.source);
        let first = line.start + (text.len() - text.trim_start_matches([' ', '\t']).len());
        while self.spans.get(self.cursor).is_some_and(|opaque| opaque.span.end <= first) {
            self.cursor += 1;
        }
        match self.spans.get(self.cursor) {
            Some(opaque) if opaque.span.contains(first) => {
                if opaque.is_code {
                    Reading::Code
                } else {
                    Reading::Html(opaque.span.start >= line.start)
                }
            }
            _ => Reading::Text,
        }
    }

    /// Settles fenced code that reads the same whatever is open around it, which is
    /// nearly all of it: an empty line above, no line indented less than the fence, and
    /// a closing fence that closes it inside a list item as well as outside.
    fn passes_plain_fence(&mut self, opening: Line) -> bool {
        let Some(fence) = Fence::at(opening.text(self.source)) else { return false };
        let above = self.source[..opening.start].strip_suffix('\n').unwrap_or("");
        let above = above.strip_suffix('\r').unwrap_or(above);
        let above = above.trim_end_matches([' ', '\t']);
        if !above.is_empty() && !above.ends_with('\n') {
            return false;
        }
        let mut at = opening.end;
        while let Some(line) = Line::at(self.source, at) {
            let text = line.text(self.source);
            at = line.end;
            let rest = text.trim_start_matches(' ');
            let indent = text.len() - rest.len();
            // A CR alone is a line end to Markdown.
            if rest.contains('\r') || rest.starts_with('\t') {
                return false;
            }
            if rest.is_empty() {
                continue;
            }
            if indent < fence.indent {
                return false;
            }
            if !fence.is_closed_by(rest) || indent > fence.indent + 3 {
                continue;
            }
            if indent > 3 {
                return false;
            }
            let span = Span::new(opening.start + fence.indent, line.text_end);
            self.spans.push(OpaqueSpan { span, is_code: true, is_indented: false, is_open: false });
            self.known_until = line.end;
            return true;
        }
        false
    }

    /// Parses from the last safe line to a line where all is closed again.
    fn settle(&mut self, line: Line) {
        let from = self.safe.min(line.start);
        // The least stretch to ask for doubles, so that the work stays linear in
        // the length of what is found to be code or HTML.
        let mut least = line.end;
        loop {
            let until = if self.asks_always { self.source.len() } else { next_boundary(self.source, least) };
            let spans = opaque_spans(&self.source[from..until], from);
            let is_open = spans.last().is_some_and(|last| last.is_open);
            if is_open && until < self.source.len() {
                least = (from + 2 * (until - from)).min(self.source.len());
                while !self.source.is_char_boundary(least) {
                    least += 1;
                }
                continue;
            }
            let keep = self.spans.partition_point(|opaque| opaque.span.start < from);
            self.spans.truncate(keep);
            self.cursor = self.cursor.min(keep);
            self.spans.extend(spans);
            self.known_until = until;
            return;
        }
    }
}

/// The first line start at or behind `least` at which every container is closed if
/// no code or HTML is open: a heading, a bullet in column 0, a metadata block.
fn next_boundary(source: &str, least: usize) -> usize {
    let mut at = least;
    if at > 0 && source.as_bytes()[at - 1] != b'\n' {
        at = Line::at(source, at).map_or(source.len(), |rest| rest.end);
    }
    while let Some(line) = Line::at(source, at) {
        if is_boundary(line.text(source)) {
            return line.start;
        }
        at = line.end;
    }
    source.len()
}

/// Whether a line of ordinary text closes everything above it.
#[inline]
pub(super) fn is_boundary(text: &str) -> bool {
    match text.as_bytes() {
        // Not a setext underline, and no thematic break needs to be told apart.
        [b'-', b' ', rest @ ..] => rest.first().is_some_and(u8::is_ascii_graphic) && rest[0] != b'-',
        [b'#', ..] => {
            let rest = text.trim_start_matches('#');
            text.len() - rest.len() <= 6 && rest.starts_with(' ')
        }
        [b'-', b'-', b'-', ..] => yaml::is_rule(text),
        _ => false,
    }
}

/// Whether a line could open a fence or an HTML block, or could be a sub-bullet
/// that an indented code block hides.
#[inline]
fn is_suspicious(source: &str, line: Line) -> bool {
    let bytes = &source.as_bytes()[line.start..line.text_end];
    let Some(&first) = bytes.first() else { return false };
    if first.is_ascii_alphabetic() || first == b'#' || first >= 0x80 {
        return false;
    }
    // What may stand before a block's first character: indentation, list and quote marks.
    let mut at = 0;
    let mut columns = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => break,
        }
        at += 1;
    }
    if columns >= 4 && bullet::sub_bullet(source, line.start, line.text_end).is_some() {
        return true;
    }
    let rest = &bytes[at..];
    let marks = rest
        .iter()
        .take_while(|byte| {
            matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9')
        })
        .count();
    let rest = &rest[marks..];
    rest.first() == Some(&b'<') || rest.starts_with(b"```") || rest.starts_with(b"~~~")
}

/// The opening line of fenced code.
struct Fence {
    /// Spaces before it.
    indent: usize,
    mark: u8,
    len: usize,
}

impl Fence {
    fn at(text: &str) -> Option<Self> {
        let rest = text.trim_start_matches(' ');
        let mark = *rest.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let info = rest.trim_start_matches(char::from(mark));
        let (indent, len) = (text.len() - rest.len(), rest.len() - info.len());
        let is_fence =
            indent <= 3 && len >= 3 && !(mark == b'`' && info.contains('`')) && !info.contains('\r');
        is_fence.then_some(Self { indent, mark, len })
    }

    fn is_closed_by(&self, text: &str) -> bool {
        let behind = text.trim_start_matches(char::from(self.mark));
        // CommonMark allows a tab behind it; pulldown-cmark does not.
        text.len() - behind.len() >= self.len && behind.trim_matches(' ').is_empty()
    }
}

/// The code and HTML blocks of `text`, with `offset` added to their spans.
pub(super) fn opaque_spans(text: &str, offset: usize) -> Vec<OpaqueSpan> {
    let mut spans = Vec::new();
    // Whatever is open inside a list item or a quote ends with it, at the next
    // boundary at the latest; only outside can it go on.
    let mut containers = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let mut is_indented = false;
        let (is_code, is_closed) = match event {
            Event::Start(Tag::Item | Tag::BlockQuote(_)) => {
                containers += 1;
                continue;
            }
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_)) => {
                containers = containers.saturating_sub(1);
                continue;
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                (true, is_fence_closed(&text[range.clone()]))
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                is_indented = true;
                (true, true)
            }
            Event::Start(Tag::HtmlBlock) => (false, is_html_closed(text, range.clone().into())),
            _ => continue,
        };
        let reaches_end = text[range.end..].trim_ascii().is_empty();
        spans.push(OpaqueSpan {
            span: Span::new(offset + range.start, offset + range.end),
            is_code,
            is_indented,
            is_open: containers == 0 && reaches_end && !is_closed,
        });
    }
    spans
}

/// Whether the last line of a fenced block is its closing fence.
fn is_fence_closed(block: &str) -> bool {
    let Some(mark) = block.bytes().next() else { return false };
    let opening = block.bytes().take_while(|byte| *byte == mark).count();
    let Some((_, last)) = block.trim_end_matches(['\n', '\r', ' ']).rsplit_once('\n') else { return false };
    let fence = last.trim_start_matches(' ');
    last.len() - fence.len() <= 3 && fence.len() >= opening && fence.bytes().all(|byte| byte == mark)
}

/// Whether an HTML block has come to its end within `text`
/// (CommonMark 0.31, "HTML blocks": kinds 1 to 5 end at a mark, 6 and 7 at a blank line;
/// pulldown-cmark ends kind 1 at the tag that opened it only).
fn is_html_closed(text: &str, span: Span) -> bool {
    let block = span.of(text).trim_start().to_ascii_lowercase();
    for (start, end) in [("<!--", "-->"), ("<?", "?>"), ("<![cdata[", "]]>"), ("<!", ">")] {
        if block.starts_with(start) {
            return block.contains(end);
        }
    }
    for name in ["script", "pre", "style", "textarea"] {
        let Some(rest) = block.strip_prefix('<').and_then(|rest| rest.strip_prefix(name)) else { continue };
        if rest.is_empty() || rest.starts_with([' ', '\t', '>', '\n', '\r']) {
            return block.contains(&format!("</{name}>"));
        }
    }
    let tail = &text[span.end..];
    if block.ends_with('\n') { !tail.is_empty() } else { tail.matches('\n').count() > 1 }
}
