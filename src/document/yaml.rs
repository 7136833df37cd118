//! The metadata blocks of the front-matter form: where they begin and end, and what
//! they say. The YAML library decides what a block says. (`plain` reads the blocks about
//! which there can be no doubt.)

use serde_yaml::Value;

use crate::text::{Line, Lines, Span};

use super::diagnostic::{Diagnostic, Problem};
use super::field::{Entry, Field, Style};

/// Largest block that is given to the YAML library, which is quadratic on some input.
pub(super) const MAX_BLOCK: usize = 16 * 1024;
/// Most brackets open at once that are given to the YAML library.
pub(super) const MAX_DEPTH: usize = 32;

/// Whether a line without its end is `---`, blanks behind it allowed.
pub(super) fn is_rule(text: &str) -> bool {
    text.strip_prefix("---").is_some_and(|rest| rest.trim_ascii().is_empty())
}

/// Whether a line without its end closes a block: `---` or `...`.
fn is_closing(text: &str) -> bool {
    is_rule(text) || text.strip_prefix("...").is_some_and(|rest| rest.trim_ascii().is_empty())
}

/// The key that a line in column 0 starts with, and the offset behind its colon.
pub(super) fn key_of(text: &str) -> Option<(&str, usize)> {
    let first = *text.as_bytes().first()?;
    let (key, behind) = if matches!(first, b'"' | b'\'') {
        let close = text[1..].find(char::from(first))? + 1;
        (&text[1..close], close + 1)
    } else if first.is_ascii_alphabetic() || first == b'_' || first >= 0x80 {
        let len = text
            .find(|c: char| {
                !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/') || !c.is_ascii())
            })
            .unwrap_or(text.len());
        (&text[..len], len)
    } else {
        return None;
    };
    let rest = &text[behind..];
    let colon = rest.trim_start_matches([' ', '\t']);
    let after = colon.strip_prefix(':')?;
    (after.is_empty() || after.starts_with([' ', '\t'])).then(|| (key, text.len() - after.len()))
}

/// Whether a metadata block may begin with this line below its `---`.
fn opens_block(text: &str) -> bool {
    text.starts_with('#') || key_of(text).is_some()
}

/// A block that begins with a `---` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The YAML between the `---` lines.
    pub(super) yaml: Span,
    /// Behind the closing line; for an unclosed block, behind all that it takes.
    pub(super) end: usize,
    pub(super) is_closed: bool,
}

/// The block that the `---` line `opening` begins, if it begins one.
///
/// A block that is never closed counts as one only where it carries an `id` or a
/// `kind`: it then takes everything up to the next block.
pub(super) fn block_at(source: &str, opening: Line) -> Option<Block> {
    let first = Line::at(source, opening.end)?;
    if !opens_block(first.text(source)) {
        return None;
    }
    let mut is_yamlish = true;
    let mut is_blank_above = false;
    let mut has_note_key = false;
    let mut at = opening.end;
    // Behind the last line that is not empty.
    let mut text_end = at;
    while let Some(line) = Line::at(source, at) {
        let text = line.text(source);
        if is_closing(text) {
            let is_next_note =
                is_rule(text) && (is_blank_above || !is_yamlish) && would_be_note(source, line);
            if is_next_note {
                break;
            }
            return Some(Block { yaml: Span::new(opening.end, line.start), end: line.end, is_closed: true });
        }
        let key = key_of(text).map(|(key, _)| key);
        is_blank_above = text.trim_ascii().is_empty();
        if !is_blank_above {
            text_end = line.end;
        }
        has_note_key |= is_yamlish && matches!(key, Some("id" | "kind"));
        is_yamlish &= key.is_some()
            || is_blank_above
            || text.starts_with([' ', '\t', '#', ']', '}'])
            || text.starts_with("- ");
        at = line.end;
    }
    has_note_key.then_some(Block { yaml: Span::new(opening.end, text_end), end: text_end, is_closed: false })
}

/// Whether the `---` line `opening` begins a closed block with an `id` or a `kind`.
fn would_be_note(source: &str, opening: Line) -> bool {
    let mut has_note_key = false;
    let mut at = opening.end;
    while let Some(line) = Line::at(source, at) {
        let text = line.text(source);
        if is_closing(text) {
            return has_note_key;
        }
        let key = key_of(text);
        if at == opening.end && key.is_none() && !text.starts_with('#') {
            return false;
        }
        has_note_key |= matches!(key, Some(("id" | "kind", _)));
        at = line.end;
    }
    false
}

/// The values of the top-level `id:` lines of a block, parsed or not.
pub(super) fn ids_in(source: &str, yaml: Span) -> Vec<&str> {
    let lines = Lines::within(source, yaml).map(|line| line.text(source));
    lines
        .filter_map(|text| match key_of(text) {
            Some(("id", behind)) => Some(text[behind..].trim_ascii().trim_matches(['"', '\''])),
            _ => None,
        })
        .filter(|id| !id.is_empty())
        .collect()
}

/// What a block says.
#[derive(Debug)]
pub(super) enum Reading {
    /// A mapping; its fields are in the list that was given.
    Mapping,
    /// Valid YAML, but no mapping.
    Other,
    /// It cannot be read.
    Broken(Diagnostic),
}

/// Whether an unquoted value on the line of its key is surely that text to YAML.
pub(super) fn is_plain(value: &str) -> bool {
    let bytes = value.as_bytes();
    let Some(&first) = bytes.first() else { return false };
    if !(first.is_ascii_alphanumeric()
        || matches!(first, b'_' | b'.' | b'/' | b'(' | b'+' | b'$' | b'^')
        || first >= 0x80)
    {
        return false;
    }
    let is_odd = |at: usize, byte: u8| match byte {
        b':' => bytes.get(at + 1).is_none_or(|next| *next == b' '),
        b'#' => bytes[at - 1] == b' ',
        _ => !(b' '..0x7F).contains(&byte),
    };
    if bytes.iter().enumerate().any(|(at, byte)| *byte < 0x80 && is_odd(at, *byte)) {
        return false;
    }
    // Beyond ASCII: line breaks to YAML, a byte order mark, control characters.
    let is_control = |c: char| {
        matches!(c, '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    };
    let is_odd = is_yaml_word(value) || value.starts_with("...") || value.ends_with(' ');
    !is_odd && (value.is_ascii() || !value.contains(is_control))
}

/// Words that are no text to YAML.
pub(super) fn is_yaml_word(text: &str) -> bool {
    matches!(text.len(), 4 | 5)
        && ["null", "true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads a block with the library, and appends its fields to `entries` in the order of
/// the file.
pub(super) fn read(source: &str, yaml: Span, entries: &mut Vec<Entry>) -> Reading {
    let text = yaml.of(source);
    let broken = |problem, span| Reading::Broken(Diagnostic { problem, span });
    if text.len() > MAX_BLOCK {
        return broken(Problem::BlockTooLarge(MAX_BLOCK), Span::new(yaml.start, yaml.start));
    }
    if let Some(at) = too_deep(text) {
        return broken(Problem::BlockTooDeep(MAX_DEPTH), Span::at(yaml.start + at));
    }
    let layout = layout(source, yaml);
    for (index, entry) in layout.iter().enumerate() {
        if let Some(earlier) = layout[..index].iter().find(|earlier| earlier.is_same(entry)) {
            if entry.is(&Field::Id) {
                let ids = ids_in(source, yaml);
                if ids.first() != ids.last() {
                    let ids = ids.into_iter().map(str::to_owned).collect();
                    return broken(Problem::Blend(ids), earlier.span());
                }
            }
            return broken(Problem::DuplicateKey(entry.key().to_owned()), entry.span());
        }
    }
    let mapping = match serde_yaml::from_str::<Value>(text) {
        Ok(Value::Mapping(mapping)) => mapping,
        Ok(_) => return Reading::Other,
        Err(error) => {
            let at =
                error.location().map_or(0, |location| offset_of(text, location.line(), location.column()));
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
            return broken(Problem::InvalidYaml(message), Span::at(yaml.start + at));
        }
    };
    let keys_agree = layout.len() == mapping.len()
        && layout.iter().zip(mapping.keys()).all(|(entry, key)| key.as_str() == Some(entry.key()));
    if keys_agree {
        for (mut entry, value) in layout.into_iter().zip(mapping.values()) {
            if let Some(problem) = settle(source, &mut entry, value) {
                return broken(problem, entry.value());
            }
            entries.push(entry);
        }
    } else {
        // Anchors, `? key`, a flow mapping: read, but not to be edited in place.
        for (key, value) in &mapping {
            let Some(key) = key.as_str() else { continue };
            let nowhere = Span::at(yaml.start);
            let mut entry = Entry::new(&Field::from_key(key), nowhere, nowhere, Style::Lines);
            if let Some(problem) = settle(source, &mut entry, value) {
                return broken(problem, Span::at(yaml.start));
            }
            entries.push(entry);
        }
    }
    Reading::Mapping
}

/// The offset of a place that the library names by line and column, both from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let Some(line) = Lines::new(text).nth(line.saturating_sub(1)) else { return text.len() };
    let inside = line.text(text).char_indices().nth(column.saturating_sub(1));
    inside.map_or(line.text_end, |(at, _)| line.start + at)
}

/// The offset at which more than [`MAX_DEPTH`] brackets are open, those in quotes included.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(at);
        }
    }
    None
}

/// Gives `entry` what the library read. Numbers, dates and the like are the text
/// that stands in the file (`created: 2026-03-18` is no date).
fn settle(source: &str, entry: &mut Entry, value: &Value) -> Option<Problem> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(flag) if entry.style() != Style::Plain => flag.to_string(),
        Value::Number(number) if entry.style() != Style::Plain => number.to_string(),
        Value::Bool(_) | Value::Number(_) => return None,
        Value::Sequence(items) => {
            let scalars: Option<Vec<String>> = items.iter().map(scalar).collect();
            match (scalars, &entry.field()) {
                (Some(items), Field::Evidence | Field::Tags | Field::Other(_) | Field::Source) => {
                    items.join("\n")
                }
                (None, Field::Other(_)) => entry.value().of(source).to_owned(),
                _ => return Some(Problem::NotAScalar(entry.key().to_owned())),
            }
        }
        Value::Mapping(_) | Value::Tagged(_) => match &entry.field() {
            Field::Other(_) => entry.value().of(source).to_owned(),
            _ => return Some(Problem::NotAScalar(entry.key().to_owned())),
        },
    };
    entry.set_text(source, &text);
    None
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null => Some(String::new()),
        Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    }
}

/// The top-level fields of a block mapping by its lines: a line in column 0 with a
/// key opens one, everything below that is indented or a `- ` item goes with it.
fn layout(source: &str, yaml: Span) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut inside_until = yaml.start;
    for line in Lines::within(source, yaml) {
        let text = line.text(source);
        if line.start < inside_until || text.trim_ascii().is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some((key, behind)) = key_of(text) {
            let (value, style) = value_at(source, line.start + behind, yaml.end);
            let end = Line::at(source, value.end)
                .filter(|_| value.end > line.text_end)
                .map_or(line.end, |last| last.end);
            inside_until = end;
            entries.push(Entry::new(&Field::from_key(key), Span::new(line.start, end), value, style));
        }
    }
    entries
}

/// The value behind a key's colon: its span as spelled, without a comment behind it.
fn value_at(source: &str, behind_colon: usize, limit: usize) -> (Span, Style) {
    let bytes = source.as_bytes();
    let mut start = behind_colon;
    while start < limit && matches!(bytes[start], b' ' | b'\t') {
        start += 1;
    }
    let line_end = Line::at(source, start).map_or(limit, |line| line.text_end).min(limit);
    match bytes.get(start).filter(|_| start < line_end) {
        Some(quote @ (b'"' | b'\'')) => {
            let style = if *quote == b'"' { Style::Double } else { Style::Single };
            let mut at = start + 1;
            while at < limit {
                match bytes[at] {
                    b'\\' if style == Style::Double => at += 1,
                    byte if byte == *quote && style == Style::Single && bytes.get(at + 1) == Some(quote) => {
                        at += 1;
                    }
                    byte if byte == *quote => return (Span::new(start, at + 1), style),
                    _ => {}
                }
                at += 1;
            }
            (Span::new(start, limit), Style::Lines)
        }
        Some(b'[' | b'{') => {
            let style = if bytes[start] == b'[' { Style::FlowList } else { Style::Lines };
            (Span::new(start, flow_end(source, start, limit)), style)
        }
        Some(b'|' | b'>') => {
            (Span::new(start, lines_end(source, line_end, limit, Below::Text)), Style::Lines)
        }
        Some(b'#') | None => {
            // An empty value, or one on the lines below.
            let end = lines_end(source, line_end, limit, Below::Items);
            if end == line_end {
                return (Span::at(behind_colon), Style::Plain);
            }
            let below = source[line_end..end].trim_start();
            let style = if below.starts_with("- ") { Style::BlockList } else { Style::Lines };
            (Span::new(behind_colon, end), style)
        }
        Some(_) => {
            let text = &source[start..line_end];
            let comment = text.find(" #").or_else(|| text.find("\t#")).unwrap_or(text.len());
            let end = start + text[..comment].trim_end_matches([' ', '\t']).len();
            let below = lines_end(source, line_end, limit, Below::Plain);
            if below > line_end {
                (Span::new(start, below), Style::Lines)
            } else {
                (Span::new(start, end), Style::Plain)
            }
        }
    }
}

/// What the indented lines below a key are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// A block scalar: `#` is text.
    Text,
    /// More of an unquoted value.
    Plain,
    /// A list or map; `- ` lines need no indent.
    Items,
}

/// Behind the last of the lines below that belong to a value.
fn lines_end(source: &str, from: usize, limit: usize, below: Below) -> usize {
    let mut end = from;
    let mut first = None;
    let Some(mut at) = Line::at(source, from).map(|rest| rest.end) else { return from };
    while at < limit
        && let Some(line) = Line::at(source, at)
    {
        let text = line.text(source);
        let is_inside =
            text.starts_with([' ', '\t']) || below == Below::Items && (text.starts_with("- ") || text == "-");
        let rest = text.trim_ascii_start();
        let indent = text.len() - rest.len();
        // The text of a block scalar in a list or map is indented more than the first item.
        let is_comment = match below {
            Below::Text => false,
            Below::Plain => rest.starts_with('#'),
            Below::Items => rest.starts_with('#') && first.is_none_or(|first| indent <= first),
        };
        if is_comment || rest.is_empty() {
            // Inside only if more follows.
        } else if is_inside {
            first.get_or_insert(indent);
            end = line.text_end;
        } else {
            break;
        }
        at = line.end;
    }
    end
}

/// Behind the bracket that closes the one at `start`.
fn flow_end(source: &str, start: usize, limit: usize) -> usize {
    let bytes = source.as_bytes();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut at = start;
    while at < limit {
        match (quote, bytes[at]) {
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    limit
}
