//! Further lines of a text under a bullet: how they are written so that they read back,
//! and how they are read. Knows nothing of notes but the names of their fields.
//!
//! A bullet's text goes on in lines that are indented (docs/format.md "Notes as bullets").
//! Three kinds of line would not stay text there, and get a backslash, which reading
//! takes away again (one, however many there are):
//!
//! * a line that reads as a field of the note, such as `- model: x`, at any indent: pi's
//!   reader takes it at any indent too;
//! * a line that starts with `<` outside fences, since an HTML block could swallow the
//!   note's own fields below it;
//! * lines that start with a fence, unless all of them stand without indent and pair up:
//!   an open fence would swallow the fields as well.

use std::borrow::Cow;

use super::bullet;

/// Whether a line, apart from its indent, reads as `- field: value`.
pub fn reads_as_field(line: &str) -> bool {
    let dash = line.len() - line.trim_start().len();
    bullet::sub_bullet_at(line, dash, line.len()).is_some()
}

/// A text as lines that end with LF: CR LF, a lone CR, U+2028 and U+2029 each end a line
/// for one reader or another, so they become LF; empty lines at either end go, because
/// no reader could tell them from the space between notes.
pub fn normalised(text: &str) -> Cow<'_, str> {
    const ODD: [char; 3] = ['\r', '\u{2028}', '\u{2029}'];
    if !text.contains(ODD) {
        return Cow::Borrowed(text.trim_matches('\n'));
    }
    let text = text.replace("\r\n", "\n").replace(ODD, "\n");
    Cow::Owned(text.trim_matches('\n').to_owned())
}

/// Appends a text whose first line goes on a bullet's line and whose further lines get
/// `indent`, escaped as the module says. Writes no newline at its end.
pub fn push(out: &mut String, text: &str, indent: &str) {
    let text = normalised(text);
    let mut lines = text.split('\n');
    out.push_str(lines.next().unwrap_or_default());
    for line in escaped(&lines.collect::<Vec<_>>()) {
        out.push('\n');
        if !line.trim_start().is_empty() {
            out.push_str(indent);
            out.push_str(&line);
        }
    }
}

/// Further lines as they are written, without their indent.
pub(super) fn escaped<'a>(lines: &[&'a str]) -> Vec<Cow<'a, str>> {
    let fences = Fences::of(lines);
    let escaped = lines.iter().enumerate().map(|(number, line)| {
        let rest = line.trim_start();
        let bare = rest.trim_start_matches('\\');
        let was_escaped = bare.len() < rest.len() && could_be_escaped(bare);
        if was_escaped
            || reads_as_field(bare)
            || (bare.starts_with('<') && !fences.covers(number))
            || (is_fence(bare) && fences == Fences::Doubtful)
        {
            return Cow::Owned(format!("{}\\{rest}", &line[..line.len() - rest.len()]));
        }
        Cow::Borrowed(*line)
    });
    escaped.collect()
}

/// A further line as it was before [`push`] wrote it; its indent is the caller's to take off.
pub fn unescaped(line: &str) -> Cow<'_, str> {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let bare = rest.trim_start_matches('\\');
    if bare.len() < rest.len() && could_be_escaped(bare) {
        return Cow::Owned(format!("{}{}", &line[..indent], &rest[1..]));
    }
    Cow::Borrowed(line)
}

fn could_be_escaped(bare: &str) -> bool {
    bare.starts_with('<') || is_fence(bare) || reads_as_field(bare)
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// The fenced code among further lines.
#[derive(PartialEq)]
enum Fences {
    /// Each pair of fences with the lines between them.
    Paired(Vec<std::ops::RangeInclusive<usize>>),
    /// At least one fence is open, indented, or within another.
    Doubtful,
}

impl Fences {
    fn of(lines: &[&str]) -> Self {
        let mut pairs = Vec::new();
        let mut open: Option<(usize, &str)> = None;
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_fence(line.trim_start())) {
            if line.starts_with(char::is_whitespace) {
                return Self::Doubtful;
            }
            let info = line.trim_start_matches(if line.starts_with('`') { '`' } else { '~' });
            let marker = &line[..line.len() - info.len()];
            match open {
                // A backtick fence with a backtick behind it is text.
                None if marker.starts_with('`') && info.contains('`') => return Self::Doubtful,
                None => open = Some((number, marker)),
                Some((start, opener)) if marker.starts_with(opener) && info.trim().is_empty() => {
                    pairs.push(start..=number);
                    open = None;
                }
                Some(_) => return Self::Doubtful,
            }
        }
        if open.is_some() { Self::Doubtful } else { Self::Paired(pairs) }
    }

    fn covers(&self, number: usize) -> bool {
        matches!(self, Self::Paired(pairs) if pairs.iter().any(|pair| pair.contains(&number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(text: &str) -> String {
        let mut out = String::new();
        push(&mut out, text, "  ");
        out
    }

    #[test]
    fn fields_html_and_doubtful_fences_are_escaped_and_nothing_else() {
        for (text, expected) in [
            ("a\n- one\n- fix: it", "a\n  - one\n  - fix: it"),
            ("a\n- model: x\n   -  Evidence : y", "a\n  \\- model: x\n     \\-  Evidence : y"),
            ("a\n```sh\n<b>\n```\n\nb", "a\n  ```sh\n  <b>\n  ```\n\n  b"),
            ("a\n```\nb", "a\n  \\```\n  b"),
            ("a\n- x\n  ```\n```", "a\n  - x\n    \\```\n  \\```"),
            ("a\n<div>\n\\<b", "a\n  \\<div>\n  \\\\<b"),
            ("a\n\\`x", "a\n  \\`x"),
            ("```\nb", "```\n  b"),
        ] {
            assert_eq!(pushed(text), expected);
        }
    }

    #[test]
    fn every_line_end_becomes_one_and_the_ends_are_trimmed() {
        assert_eq!(pushed("\n\na\r\nb\rc\u{2028}d\u{2029}\n"), "a\n  b\n  c\n  d");
    }

    #[test]
    fn what_was_written_reads_back() {
        for text in [
            "a\n\\- model: x\n- model: y",
            "a\n\\\\<i>\n<i>",
            "a\n~~~\n\\~~~\n  \\ b",
            "a\n\n b\n```\n<x\n```",
        ] {
            let written = pushed(text);
            let lines = written.split('\n').enumerate().map(|(number, line)| {
                if number == 0 {
                    Cow::Borrowed(line)
                } else {
                    unescaped(line.strip_prefix("  ").unwrap_or(line))
                }
            });
            assert_eq!(lines.collect::<Vec<_>>().join("\n"), text);
        }
    }
}
