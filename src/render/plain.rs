//! The block without markup.
//!
//! In column 0 stand only the frame's own lines and `[id] `; every further line of a
//! content is indented by four blanks. In ids `]` and a backslash get a backslash.

use std::fmt::Write as _;

use super::{ABOUT, Label, Section, by_kind, omitted, push_escaped, text};

/// The block; the caller has seen that there is a note.
pub(super) fn block(sections: &[Section<'_>]) -> String {
    let mut out = String::from("Continual Harness state\n");
    out.push_str(&ABOUT.join("\n"));
    for section in sections {
        for (kind, notes) in by_kind(section) {
            out.push_str("\n\n");
            out.push_str(kind.block_title());
            match section.label {
                None => {}
                Some(Label::Global) => out.push_str(" (global)"),
                Some(Label::Project(key)) => {
                    out.push_str(" (project ");
                    push_escaped(&mut out, key, &['\\', ')']);
                    out.push(')');
                }
            }
            out.push(':');
            for note in notes {
                out.push_str("\n[");
                push_escaped(&mut out, note.id, &['\\', ']']);
                out.push_str("] ");
                push_content(&mut out, note.content);
            }
        }
    }
    let omitted = omitted(sections);
    if omitted > 0 {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n\n({omitted} item(s) not shown — below the injection budget. Raise injection.maxTokens/maxPerKind in harness.json or run /harness prune.)"
        );
    }
    out
}

fn push_content(out: &mut String, content: &str) {
    for (index, line) in text(content).split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if index > 0 && !line.trim().is_empty() {
            out.push_str("    ");
        }
        out.push_str(line);
    }
}
