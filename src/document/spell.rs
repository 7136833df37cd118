//! How values are spelled in a file: YAML scalars and lists, and the lines of bullets.
//! Pure text; whether it reads back as meant is checked by `edit`.

use crate::text::Span;

use super::field::{Field, Style};
use super::{continuation, escape, yaml};

/// A value as YAML behind `key:` and a blank, in the spelling `style` if it can be.
/// `eol` is the line end of further lines, which are part of the value.
pub(super) fn yaml_value(field: &Field, text: &str, style: Option<Style>, eol: &str) -> String {
    let style = style.filter(|_| {
        !(matches!(field, Field::Tags | Field::Evidence) && text.contains('\n')) || is_list_style(style)
    });
    let is_list = is_list_style(style)
        || style.is_none() && (*field == Field::Tags || *field == Field::Evidence && text.contains('\n'));
    if is_list {
        let items = text.split('\n').filter(|item| !item.is_empty());
        // Tags fit on a line; reasons are sentences, and a line each merges well.
        return if style == Some(Style::FlowList) || style.is_none() && *field == Field::Tags {
            format!("[{}]", items.map(flow_item).collect::<Vec<_>>().join(", "))
        } else {
            items.map(|item| format!("{eol}  - {}", scalar(item, None))).collect()
        };
    }
    scalar(text, style)
}

const fn is_list_style(style: Option<Style>) -> bool {
    matches!(style, Some(Style::FlowList | Style::BlockList))
}

/// One scalar: plain if that is surely the text, else quoted.
fn scalar(text: &str, style: Option<Style>) -> String {
    match style {
        Some(Style::Single) if !text.contains(|c: char| c.is_control() || is_break(c)) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        Some(Style::Double) => double_quoted(text),
        _ if yaml::is_plain(text) => text.to_owned(),
        _ => double_quoted(text),
    }
}

fn flow_item(text: &str) -> String {
    if yaml::is_plain(text) && !text.contains(['[', ']', '{', '}', ',', '"', '\'', ':']) {
        text.to_owned()
    } else {
        double_quoted(text)
    }
}

/// Characters that YAML 1.1 takes for line breaks, or strips.
const fn is_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_break(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A `key: value` line of a block, with its line end.
pub(super) fn yaml_line(field: &Field, text: &str, eol: &str) -> String {
    let value = yaml_value(field, text, None, eol);
    let gap = if value.starts_with(['\r', '\n']) { "" } else { " " };
    let key = field.key();
    let key = if yaml::key_of(&format!("{key}:")).is_some_and(|(read, _)| read == key) && yaml::is_plain(key)
    {
        key.to_owned()
    } else {
        double_quoted(key)
    };
    format!("{key}:{gap}{value}{eol}")
}

/// A front-matter block without an end of line behind the last line of its body.
pub(super) fn block(fields: &[(Field, String)], content: &str, eol: &str) -> String {
    let mut out = format!("---{eol}");
    for (field, text) in fields {
        out.push_str(&yaml_line(field, text, eol));
    }
    out.push_str("---");
    if !content.is_empty() {
        out.push_str(eol);
        out.push_str(eol);
        out.push_str(&escape::write_body(content, eol));
    }
    out
}

/// The value of a sub-bullet, further lines indented below its dash.
pub(super) fn sub_bullet_value(field: &Field, text: &str, indent: usize, eol: &str) -> String {
    match field {
        Field::Tags => text.replace('\n', ", "),
        Field::Evidence => {
            let mut lines = text.split('\n');
            let first = lines.next().unwrap_or("");
            format!("{first}{}", further_lines(&lines.collect::<Vec<_>>(), indent, eol))
        }
        _ => text.to_owned(),
    }
}

/// A `  - key: value` line, without a line end behind it.
pub(super) fn sub_bullet(field: &Field, text: &str, indent: usize, eol: &str) -> String {
    let value = sub_bullet_value(field, text, indent + 2, eol);
    format!("{}- {}: {value}", " ".repeat(indent), field.key())
}

/// Further lines under a bullet, each with a line end before it.
pub(super) fn further_lines(lines: &[&str], indent: usize, eol: &str) -> String {
    let mut out = String::new();
    for line in continuation::escaped(lines) {
        out.push_str(eol);
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(&line);
        }
    }
    out
}

/// The fields that a bullet's own line carries.
pub(super) const ON_THE_LINE: [Field; 4] = [Field::Id, Field::Kind, Field::Importance, Field::Content];

/// A whole bullet, in the order in which pi writes its lines, without a line end
/// behind the last one.
pub(super) fn bullet(fields: &[(Field, String)], content: &str, eol: &str) -> String {
    let get = |field: &Field| fields.iter().find(|(name, _)| name == field).map(|(_, text)| text.as_str());
    let mut out = String::from("- ");
    if let Some(id) = get(&Field::Id) {
        out.push_str(&format!("**[{id}]** (importance {}) ", get(&Field::Importance).unwrap_or("0.50")));
    }
    let mut lines = content.split('\n');
    out.push_str(lines.next().unwrap_or(""));
    out.push_str(&further_lines(&lines.collect::<Vec<_>>(), 2, eol));
    let mut push = |field: &Field, text: &str| {
        out.push_str(eol);
        out.push_str(&sub_bullet(field, text, 2, eol));
    };
    // As pi has them: evidence (always), model, scope; then what pi passes over.
    push(&Field::Evidence, get(&Field::Evidence).unwrap_or(""));
    if let Some(model) = get(&Field::Model) {
        push(&Field::Model, model);
    }
    if let Some(scope) = scope_text(get(&Field::Scope), get(&Field::Project)) {
        push(&Field::Scope, &scope);
    }
    for (field, text) in fields {
        let is_done = ON_THE_LINE.contains(field)
            || matches!(
                field,
                Field::Evidence | Field::Model | Field::Scope | Field::Project | Field::Other(_)
            );
        if !is_done {
            push(field, text);
        }
    }
    out
}

/// The value of a `scope:` sub-bullet, which names the project too.
pub(super) fn scope_text(scope: Option<&str>, project: Option<&str>) -> Option<String> {
    match (scope, project) {
        (Some("global"), _) => Some("global".into()),
        (_, Some(project)) => Some(format!("project ({project})")),
        (Some(scope), None) => Some(scope.to_owned()),
        (None, None) => None,
    }
}

/// The span of the lines that `span` touches, whole.
pub(super) fn whole_lines(source: &str, span: Span) -> Span {
    let start = source[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source[span.end..].find('\n').map_or(source.len(), |newline| span.end + newline + 1);
    Span::new(start, end)
}
