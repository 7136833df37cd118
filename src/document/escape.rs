//! Lines of a body that would read as structure, and the backslash that keeps them text:
//! a line that would be structure, with any number of backslashes before it, has one more
//! in the file than it says. So every text can be written, and reading gives it back.
//! (`continuation` does the same for the lines of bullets.)

use std::borrow::Cow;

use crate::text::{Line, Lines, Span, trim_blanks, trim_blanks_end, trim_blanks_start};

use super::{bullet, continuation, opaque, yaml};

/// The line that ends the body of a front-matter note early.
pub(super) const END_OF_NOTE: &str = "<!-- /note -->";

/// Whether a line in column 0 would end a body: a rule (which may open a block), the
/// end mark, a section of the bullet form, a conflict marker.
fn ends_body(text: &str) -> bool {
    yaml::is_rule(text)
        || is_end_of_note(text)
        || bullet::canonical_section(trim_blanks_end(text)).is_some()
        || is_conflict_marker(text)
}

/// Whether a line is the end mark of a body.
pub(super) fn is_end_of_note(text: &str) -> bool {
    trim_blanks_end(text) == END_OF_NOTE
}

/// Whether a line opens, parts or closes a conflict of git's.
pub(super) fn is_conflict_marker(text: &str) -> bool {
    ['<', '|', '>'].into_iter().any(|sign| conflict_marker(text, sign).is_some())
}

/// How long the marker of git's is that a line consists of, with or without a label. Seven
/// is git's least; the attribute `conflict-marker-size` gives longer ones.
pub(super) fn conflict_marker(text: &str, sign: char) -> Option<usize> {
    let rest = text.trim_start_matches(sign);
    let size = text.len() - rest.len();
    (size >= 7 && (rest.is_empty() || rest.starts_with(' '))).then_some(size)
}

/// Whether Markdown reads the line at `offset` as part of code or HTML. An end mark is a
/// comment by itself, but one that ends the body.
fn is_opaque(spans: &[opaque::OpaqueSpan], offset: usize, is_end_mark: bool) -> bool {
    spans.iter().any(|opaque| {
        opaque.span.contains(offset) && !(is_end_mark && !opaque.is_code && opaque.span.start == offset)
    })
}

/// What a body says: LF line ends, one backslash less before lines that would end it.
pub(super) fn read_body(body: &str) -> Cow<'_, str> {
    let has_cr = body.contains('\r');
    let may_escape = body.starts_with('\\') || body.contains("\n\\");
    if !has_cr && !may_escape {
        return Cow::Borrowed(body);
    }
    let spans = if may_escape { opaque::opaque_spans(body, 0) } else { Vec::new() };
    let mut out = String::with_capacity(body.len());
    for line in Lines::new(body) {
        let text = line.text(body).trim_end_matches('\r');
        let is_escaped = text.starts_with('\\')
            && ends_body(text.trim_start_matches('\\'))
            && !is_opaque(&spans, line.start, false);
        out.push_str(if is_escaped { &text[1..] } else { text });
        if line.end > line.text_end {
            out.push('\n');
        }
    }
    Cow::Owned(out)
}

/// A content as the body of a front-matter note, with the given line end.
pub(super) fn write_body(content: &str, eol: &str) -> String {
    let spans = opaque::opaque_spans(content, 0);
    let mut out = String::with_capacity(content.len() + 8);
    for line in Lines::new(content) {
        let text = line.text(content);
        let bare = text.trim_start_matches('\\');
        let must_escape = ends_body(bare)
            && !is_opaque(&spans, line.start, is_end_of_note(bare))
            // A rule alone is a rule; only above a key it opens a block.
            && (bare.len() < text.len() || !yaml::is_rule(bare) || opens_block(content, line));
        if must_escape {
            out.push('\\');
        }
        out.push_str(text);
        if line.end > line.text_end {
            out.push_str(eol);
        }
    }
    out
}

fn opens_block(content: &str, rule: Line) -> bool {
    Line::at(content, rule.end).is_some_and(|next| {
        let text = next.text(content);
        text.starts_with('#') || yaml::key_of(text).is_some()
    })
}

/// What the lines of a bullet say together.
pub(super) fn read_pieces<'a>(source: &'a str, pieces: &[Span]) -> Cow<'a, str> {
    match pieces {
        [] => Cow::Borrowed(""),
        [only] => Cow::Borrowed(only.of(source)),
        [first, further @ ..] => {
            let mut out = String::from(first.of(source));
            for piece in further {
                out.push('\n');
                out.push_str(&continuation::unescaped(piece.of(source).trim_end_matches('\r')));
            }
            // A bullet may leave its first line empty.
            if first.is_empty() { Cow::Owned(trim_blanks_start(&out).to_owned()) } else { Cow::Owned(out) }
        }
    }
}

/// A content as a body can say it: LF line ends, no empty lines around it.
pub(super) fn normal_body(content: &str) -> String {
    let lines: Vec<&str> = content.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let Some(first) = lines.iter().position(|line| !trim_blanks(line).is_empty()) else {
        return String::new();
    };
    let last = lines.iter().rposition(|line| !trim_blanks(line).is_empty()).unwrap_or(first);
    lines[first..=last].join("\n")
}

/// A content as a bullet can say it: as a body, with no blanks around the first line
/// and none in empty lines.
pub(super) fn normal_bullet(content: &str) -> String {
    let text = normal_body(content);
    let lines: Vec<&str> = text
        .split('\n')
        .enumerate()
        .map(|(index, line)| match trim_blanks(line) {
            "" => "",
            trimmed if index == 0 => trimmed,
            _ => line,
        })
        .collect();
    lines.join("\n")
}

/// Evidence as both forms can say it: a reason a line, no blanks around it.
pub(super) fn normal_evidence(evidence: &str) -> String {
    let lines = evidence.split(['\n', '\r']).map(trim_blanks).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}
