//! One look at every byte: where a credential may begin, and which of the readers is to say
//! whether one does.

use super::{Secret, assigned, key_block, token, url};

/// Nothing begins with this byte.
const PLAIN: u8 = 0;
/// A letter or digit: a word may begin.
const WORD: u8 = 1;
/// `:` or `=`: what stands before it may name what stands behind.
const SIGN: u8 = 2;
/// Other bytes that are part of a word, but begin none.
const INNER: u8 = 3;

const CLASS: [u8; 256] = {
    let mut class = [PLAIN; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let it = byte as u8;
        class[byte] = match it {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => WORD,
            b':' | b'=' => SIGN,
            b'_' | 0x80.. => INNER,
            _ => PLAIN,
        };
        byte += 1;
    }
    class
};

/// Finds all that looks like a credential; what is found may overlap.
pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let mut before = PLAIN;
    for (at, &byte) in bytes.iter().enumerate() {
        let class = CLASS[usize::from(byte)];
        match class {
            WORD if before == PLAIN || before == SIGN => word(text, at, found),
            SIGN if bytes[at..].starts_with(b"://") => url::read(text, at, found),
            // Of `::` and `==` neither; of `:=` the first.
            SIGN if before != SIGN && bytes.get(at + 1) != Some(&byte) => assigned::at_sign(text, at, found),
            _ => {}
        }
        before = class;
        // `\n` as two characters, as a text has it that was put on one line.
        if before == WORD && is_escape(bytes, at) {
            before = PLAIN;
        }
    }
}

/// Whether the byte ends a `\n`, `\r` or `\t` of two characters.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at], b'n' | b'r' | b't') && at > 0 && bytes[at - 1] == b'\\'
}

fn word(text: &str, at: usize, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let Some(&second) = bytes.get(at + 1) else { return };
    if token::may_begin(bytes[at], second) {
        token::read(text, at, found);
    }
    if bytes[at] == b'B' && second == b'E' {
        key_block::read(text, at, found);
    }
    if assigned::may_begin(&bytes[at..]) {
        assigned::at_word(text, at, found);
    }
}
