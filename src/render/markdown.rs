//! The block as pi-continual-harness writes it (fixtures/golden/inject.json).
//!
//! A note is one bullet, `- [id] content`. What may a text do there?
//!
//! * *One line*: nothing. The item starts with `[`, so Markdown reads a paragraph, and
//!   `#`, a fence, `<!--`, `<div>` or `- ` later in its line open no block; what they may
//!   open within the line (a code span, an inline tag) ends with the paragraph. So every
//!   single line is plain and stands as it is, byte for byte pi's.
//! * *More lines*: each further line is indented by six blanks, four more than the item's
//!   text. Markdown opens no block so deep but an indented code block, and not even that
//!   within a paragraph: a heading, a setext underline, a list, a fence, HTML, a quote, a
//!   table, a definition of a link are all mere text there, and nothing in them needs an
//!   escape. After an empty line the text goes on as indented code, which ends with the item.
//! * *For readers who do not mind the indent* (models, line-based tools) a further line
//!   that looks like the block's own gets one backslash: `#\# Title` (levels 2 to 6; a
//!   single `#` is left alone, it is most often a comment in code), `\- [id]`, `_\(`
//!   like the footer.
//! * *Ids* stand between brackets: `[`, `]`, a backslash, a backtick, `<` and `>` get a
//!   backslash, a line break becomes a blank. Every id that `layers` mints or pi reads
//!   stays as it is.

use super::{ABOUT, Label, Section, Shown, by_kind, omitted, push_escaped, text};

/// Four more than where the text of an item starts: too deep for any block but code.
const INDENT: &str = "      ";

/// What could end or extend the brackets around an id.
const SPECIAL_IN_LABEL: [char; 6] = ['[', ']', '\\', '`', '<', '>'];

/// The block; the caller has seen that there is a note.
pub(super) fn block(sections: &[Section<'_>]) -> String {
    let mut out = String::from("\n## Continual Harness state\n");
    out.push_str(&ABOUT.join("\n"));
    for section in sections {
        for (kind, notes) in by_kind(section) {
            out.push_str("\n\n### ");
            out.push_str(kind.block_title());
            push_label(&mut out, section.label);
            for note in notes {
                out.push('\n');
                push_bullet(&mut out, note.id, note.content);
            }
        }
    }
    let omitted = omitted(sections);
    if omitted > 0 {
        out.push_str("\n\n");
        out.push_str(&footer(omitted));
    }
    out
}

fn push_label(out: &mut String, label: Option<Label<'_>>) {
    match label {
        None => {}
        Some(Label::Global) => out.push_str(" (global)"),
        Some(Label::Project(key)) => {
            out.push_str(" (project ");
            push_escaped(out, key, &SPECIAL_IN_LABEL);
            out.push(')');
        }
    }
}

fn footer(omitted: usize) -> String {
    format!(
        "_({omitted} item(s) not shown — below the injection budget. Raise `injection.maxTokens`/`maxPerKind` in harness.json or run `/harness prune`.)_"
    )
}

/// The bullet of one note as the block holds it, without a newline at its end.
pub fn bullet(note: &Shown<'_>) -> String {
    let mut out = String::with_capacity(note.id.len() + note.content.len() + 5);
    push_bullet(&mut out, note.id, note.content);
    out
}

fn push_bullet(out: &mut String, id: &str, content: &str) {
    out.push_str("- [");
    push_escaped(out, id, &SPECIAL_IN_LABEL);
    out.push_str("] ");
    let text = text(content);
    let mut lines = text.split('\n');
    out.push_str(lines.next().unwrap_or_default());
    for line in lines {
        out.push('\n');
        let rest = line.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            continue;
        }
        out.push_str(INDENT);
        out.push_str(&line[..line.len() - rest.len()]);
        let (before, after) = rest.split_at(frame_like(rest).unwrap_or(0));
        out.push_str(before);
        if frame_like(rest).is_some() {
            out.push('\\');
        }
        out.push_str(after);
    }
}

/// Where a backslash keeps a line from looking like one of the block's own.
fn frame_like(line: &str) -> Option<usize> {
    let hashes = line.len() - line.trim_start_matches('#').len();
    let after_hashes = line[hashes..].chars().next();
    if (2..=6).contains(&hashes) && after_hashes.is_none_or(char::is_whitespace) {
        return Some(hashes - 1);
    }
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        let label = rest.trim_start().trim_start_matches('*');
        return (rest.starts_with([' ', '\t']) && label.starts_with('[')).then_some(0);
    }
    line.starts_with("_(").then_some(1)
}
