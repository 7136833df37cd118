//! Lines as spans, and the line and column of an offset.

use super::Span;

/// One line: where it stands, without and with its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind its text: the line end (LF, or CR LF) comes next.
    pub text_end: usize,
    /// Offset of the next line.
    pub end: usize,
}

impl Line {
    /// Its text, without the line end.
    pub fn text(self, source: &str) -> &str {
        &source[self.start..self.text_end]
    }

    /// All of it.
    pub const fn span(self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Its line end: LF, CR LF, or nothing on the last line.
    pub fn eol(self, source: &str) -> &str {
        &source[self.text_end..self.end]
    }

    /// The line that starts at `start`; `None` at the end of the text.
    #[inline]
    pub fn at(source: &str, start: usize) -> Option<Self> {
        let bytes = source.as_bytes();
        if start >= bytes.len() {
            return None;
        }
        match memchr::memchr(b'\n', &bytes[start..]) {
            Some(found) => {
                let newline = start + found;
                let is_crlf = newline > start && bytes[newline - 1] == b'\r';
                Some(Self { start, text_end: newline - usize::from(is_crlf), end: newline + 1 })
            }
            None => Some(Self { start, text_end: bytes.len(), end: bytes.len() }),
        }
    }
}

/// The lines of a text from an offset on. LF ends a line; a CR right before it
/// belongs to the line end; nothing else breaks lines.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    source: &'a str,
    next: usize,
    end: usize,
}

impl<'a> Lines<'a> {
    /// All lines of `source`.
    pub const fn new(source: &'a str) -> Self {
        Self { source, next: 0, end: source.len() }
    }

    /// The lines that start within `span`.
    pub const fn within(source: &'a str, span: Span) -> Self {
        Self { source, next: span.start, end: span.end }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.next >= self.end {
            return None;
        }
        let line = Line::at(self.source, self.next)?;
        self.next = line.end;
        Some(line)
    }
}

/// A place for people: both numbers count from 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// The line and column of a byte offset; an offset past the end is the end.
pub fn locate(source: &str, offset: usize) -> Location {
    let before = &source.as_bytes()[..offset.min(source.len())];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    // Count the bytes that start a character: right even inside one.
    let column = before[line_start..].iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
    Location { line, column }
}
