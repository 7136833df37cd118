//! The block as one `<harness_state>` element.
//!
//! Every text is escaped after it was sanitised, so a tag that a zero-width character
//! split, or one in other case or with blanks inside, is text like any other. Line breaks
//! and tabs in attributes are references, since XML readers turn bare ones into blanks.

use std::fmt::Write as _;

use super::{ABOUT, Label, Section, by_kind, clean, omitted, text};

/// The block; the caller has seen that there is a note.
pub(super) fn block(sections: &[Section<'_>]) -> String {
    let mut out = String::from("<harness_state>\n<about>");
    push_escaped(&mut out, &ABOUT.join("\n"));
    out.push_str("</about>\n");
    for section in sections {
        for (kind, notes) in by_kind(section) {
            for note in notes {
                out.push_str("<note");
                push_attribute(&mut out, "id", note.id);
                push_attribute(&mut out, "kind", kind.as_str());
                match section.label {
                    None => {}
                    Some(Label::Global) => push_attribute(&mut out, "scope", "global"),
                    Some(Label::Project(key)) => {
                        push_attribute(&mut out, "scope", "project");
                        push_attribute(&mut out, "project", key);
                    }
                }
                if let Some(title) = note.title {
                    push_attribute(&mut out, "title", title);
                }
                out.push('>');
                push_escaped(&mut out, &text(note.content));
                out.push_str("</note>\n");
            }
        }
    }
    let omitted = omitted(sections);
    if omitted > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<omitted count=\"{omitted}\">{omitted} item(s) not shown — below the injection budget. Raise injection.maxTokens/maxPerKind in harness.json or run /harness prune.</omitted>"
        );
    }
    out.push_str("</harness_state>");
    out
}

fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    for c in clean(value).chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            _ => push_escaped_char(out, c),
        }
    }
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str) {
    text.chars().for_each(|c| push_escaped_char(out, c));
}

fn push_escaped_char(out: &mut String, c: char) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        _ => out.push(c),
    }
}
