//! Replacing some bytes of a text and keeping every other one.

use super::Span;

/// Replaces the bytes under `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// What goes.
    pub span: Span,
    /// What comes.
    pub text: String,
}

impl Splice {
    /// A splice that only adds.
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self { span: Span::at(offset), text: text.into() }
    }

    /// A splice that only removes.
    pub const fn remove(span: Span) -> Self {
        Self { span, text: String::new() }
    }

    /// A splice that puts `text` in the place of `span`.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }
}

/// A splice that overlaps another, ends past the text or cuts a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes {}..{} cannot be replaced: they overlap another edit or cut a character", .0.start, .0.end)]
pub struct SpliceError(pub Span);

/// Carries out all `splices` at once. Insertions at one offset keep their order.
pub fn splice(source: &str, mut splices: Vec<Splice>) -> Result<String, SpliceError> {
    splices.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let added: usize = splices.iter().map(|edit| edit.text.len()).sum();
    let mut out = String::with_capacity(source.len() + added);
    let mut kept_from = 0;
    for Splice { span, text } in splices {
        let kept = source.get(kept_from..span.start).zip(source.get(span.start..span.end));
        out.push_str(kept.ok_or(SpliceError(span))?.0);
        out.push_str(&text);
        kept_from = span.end;
    }
    out.push_str(&source[kept_from..]);
    Ok(out)
}
