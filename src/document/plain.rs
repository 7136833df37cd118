//! Metadata blocks that are nothing but `key: value` lines, read in one pass over their
//! bytes without the YAML library. The rules are so narrow that the library could read
//! nothing else (a property test holds it); whatever they do not cover is left to `yaml`.

use crate::text::{Line, Span};

use super::field::{Entry, Field, Style};
use super::yaml::{Block, MAX_BLOCK, is_plain, is_rule, is_yaml_word};

/// What a byte of a value means for reading it plainly.
mod class {
    /// Part of a key: letters, digits, `_` and `-`.
    pub(super) const KEY: u8 = 1;
    /// Anywhere in a plain value, without a look around.
    pub(super) const FREE: u8 = 2;
    /// The first byte of a plain value.
    pub(super) const FIRST: u8 = 4;
    /// Inside quotes, the quotes themselves and backslashes aside.
    pub(super) const QUOTED: u8 = 8;
}

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = b' ';
    while byte < 0x7F {
        let is_key = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let is_first =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'(' | b'+' | b'$' | b'^');
        classes[byte as usize] = if is_key { class::KEY } else { 0 }
            | if byte != b':' && byte != b'#' { class::FREE } else { 0 }
            | if is_first { class::FIRST } else { 0 }
            | if byte != b'"' && byte != b'\'' && byte != b'\\' { class::QUOTED } else { 0 };
        byte += 1;
    }
    classes
};

fn all(bytes: &[u8], class: u8) -> bool {
    bytes.iter().fold(class, |seen, byte| seen & CLASSES[usize::from(*byte)]) == class
}

/// The block that the `---` line `opening` begins, if all its lines are plain and it is
/// closed; its fields are added to `entries`. Otherwise nothing is.
pub(super) fn block_at(source: &str, opening: Line, entries: &mut Vec<Entry>) -> Option<Block> {
    let kept = entries.len();
    let block = read(source, opening, entries);
    if block.is_none() {
        entries.truncate(kept);
    }
    block
}

fn read(source: &str, opening: Line, entries: &mut Vec<Entry>) -> Option<Block> {
    let bytes = source.as_bytes();
    let kept = entries.len();
    let mut at = opening.end;
    loop {
        let line = Line::at(source, at)?;
        if bytes[at] == b'-' {
            if !is_rule(line.text(source)) || at == opening.end || at - opening.end > MAX_BLOCK {
                return None;
            }
            return Some(Block { yaml: Span::new(opening.end, at), end: line.end, is_closed: true });
        }
        let entry = entry_of(source, line)?;
        if entries[kept..].iter().any(|earlier| earlier.is_same(&entry)) {
            return None;
        }
        entries.push(entry);
        at = line.end;
    }
}

/// A `key: value` line that cannot mean anything else.
fn entry_of(source: &str, line: Line) -> Option<Entry> {
    let bytes = &source.as_bytes()[line.start..line.text_end];
    let colon = bytes.iter().position(|byte| CLASSES[usize::from(*byte)] & class::KEY == 0)?;
    if !bytes[0].is_ascii_alphabetic() || bytes[colon] != b':' {
        return None;
    }
    let key = &source[line.start..line.start + colon];
    let lead = bytes[colon + 1..].iter().take_while(|byte| **byte == b' ').count();
    let trail = bytes.iter().rev().take_while(|byte| **byte == b' ').count();
    if lead == 0 || colon + 1 + lead + trail >= bytes.len() || is_yaml_word(key) {
        return None;
    }
    let inside = &bytes[colon + 1 + lead..bytes.len() - trail];
    let value = Span::new(line.start + colon + 1 + lead, line.text_end - trail);
    let style = match inside {
        [b'"', quoted @ .., b'"'] if is_tame(quoted) => Style::Tame(true),
        [b'\'', quoted @ .., b'\''] if is_tame(quoted) => Style::Tame(false),
        [first, ..] if CLASSES[usize::from(*first)] & class::FIRST != 0 && all(inside, class::FREE) => {
            let text = value.of(source);
            if is_yaml_word(text) || text.starts_with("...") {
                return None;
            }
            Style::Plain
        }
        _ if is_plain(value.of(source)) => Style::Plain,
        _ => return None,
    };
    Some(Entry::new(&Field::from_key(key), line.span(), value, style))
}

/// Whether the inside of a quoted value is nothing but ordinary characters.
fn is_tame(quoted: &[u8]) -> bool {
    matches!(quoted, [first, .., last] if *first != b' ' && *last != b' ') && all(quoted, class::QUOTED)
        || matches!(quoted, [only] if *only != b' ' && all(quoted, class::QUOTED))
}
