//! Metadata blocks that are nothing but `key: value` lines, comments and lists of words, read in
//! one pass over their bytes without the YAML library. The rules are so narrow that the
//! library could read nothing else (a property test holds it); whatever they do not cover is
//! left to `yaml`.

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
    /// Between the brackets of a list of words.
    pub(super) const LIST: u8 = 16;
    /// In a comment.
    pub(super) const COMMENT: u8 = 32;
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
            | if byte != b'"' && byte != b'\'' && byte != b'\\' { class::QUOTED } else { 0 }
            | if is_key || matches!(byte, b' ' | b'.' | b'/' | b'+' | b'@' | b',') { class::LIST } else { 0 }
            | class::COMMENT;
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
            let is_empty = entries.len() == kept;
            if !is_rule(line.text(source)) || is_empty || at - opening.end > MAX_BLOCK {
                return None;
            }
            return Some(Block { yaml: Span::new(opening.end, at), end: line.end, is_closed: true });
        }
        if bytes[at] == b'#' {
            if !all(line.text(source).as_bytes(), class::COMMENT) {
                return None;
            }
            at = line.end;
            continue;
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
    let entry = |value, style| Entry::new(&Field::from_key(key), line.span(), value, style);
    let style = match inside {
        [b'"', quoted @ .., b'"'] if is_tame(quoted) => Style::Tame(true),
        [b'\'', quoted @ .., b'\''] if is_tame(quoted) => Style::Tame(false),
        [b'[', words @ .., b']'] => {
            let mut entry = entry(value, Style::FlowList);
            let is_list =
                matches!(entry.field(), Field::Evidence | Field::Tags | Field::Source | Field::Other(_));
            entry.set_text(source, &items(words).filter(|_| is_list)?);
            return Some(entry);
        }
        [first, ..] if CLASSES[usize::from(*first)] & class::FIRST != 0 && all(inside, class::FREE) => {
            let text = value.of(source);
            if is_yaml_word(text) || text.starts_with("...") {
                return None;
            }
            Style::Plain
        }
        _ if is_plain(value.of(source)) => Style::Plain,
        _ => {
            let (said, comment) = value.of(source).split_once(" #")?;
            let said = said.trim_end_matches(' ');
            let is_sure = is_plain(said) && all(comment.as_bytes(), class::COMMENT);
            return is_sure.then(|| entry(Span::new(value.start, value.start + said.len()), Style::Plain));
        }
    };
    Some(entry(value, style))
}

/// The words between brackets, a line each, if they are words and nothing else to YAML.
fn items(list: &[u8]) -> Option<String> {
    let list = std::str::from_utf8(list).ok().filter(|list| all(list.as_bytes(), class::LIST))?;
    // What begins with a letter is no number.
    let is_word =
        |word: &&str| word.starts_with(|first: char| first.is_ascii_alphabetic()) && !is_yaml_word(word);
    let words: Option<Vec<&str>> =
        list.split(',').map(|word| Some(word.trim_matches(' ')).filter(is_word)).collect();
    Some(words?.join("\n"))
}

/// Whether the inside of a quoted value is nothing but ordinary characters.
fn is_tame(quoted: &[u8]) -> bool {
    matches!(quoted, [first, .., last] if *first != b' ' && *last != b' ') && all(quoted, class::QUOTED)
        || matches!(quoted, [only] if *only != b' ' && all(quoted, class::QUOTED))
}
