//! Bytes and places: spans, lines, blanks, splices. Knows no markdown and no notes.

mod blank;
mod lines;
mod splice;

pub use blank::{is_blank, trim_blanks, trim_blanks_end, trim_blanks_start};
pub use lines::{Line, Lines, Location, locate};
pub use splice::{Splice, SpliceError, splice};

use std::ops::Range;

/// A half-open range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The empty span at `offset`.
    pub const fn at(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    /// Length in bytes.
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers nothing.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies inside.
    pub const fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether both share a byte.
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The text it covers.
    pub fn of(self, source: &str) -> &str {
        &source[self.start..self.end]
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}
