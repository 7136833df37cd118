//! Private keys between `-----BEGIN … PRIVATE KEY-----` and its end: RFC 7468 and 4716, as
//! OpenSSL, OpenSSH and OpenPGP (RFC 9580) write them. On lines of their own, indented, or
//! on one line with `\n` between.

use memchr::memmem;

use super::Secret;
use super::random::is_random;

const KIND: &str = "private key";
const DASHES: &str = "-----";
/// Longer than any key.
const MOST: usize = 64 * 1024;
/// How many characters of base64 a key has at least: one of Ed25519 has 64.
const LEAST: usize = 40;

/// Reads a key block whose `BEGIN` is at `at`.
pub(super) fn read(text: &str, at: usize, found: &mut Vec<Secret>) {
    let Some(label) = text[at..].strip_prefix("BEGIN ") else { return };
    let Some(start) =
        at.checked_sub(DASHES.len()).filter(|start| text[..at].ends_with(DASHES) && *start < at)
    else {
        return;
    };
    let Some(label) = label.split_once(DASHES).map(|(label, _)| label) else { return };
    if label.len() > 40 || !label.contains("PRIVATE KEY") {
        return;
    }
    let body = at + "BEGIN ".len() + label.len() + DASHES.len();
    let mut limit = text.len().min(body + MOST);
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let end_line = format!("{DASHES}END {label}{DASHES}");
    let (end, behind) = match memmem::find(&text.as_bytes()[body..limit], end_line.as_bytes()) {
        Some(length) => (body + length, body + length + end_line.len()),
        // Cut off: as far as it goes on like a key.
        None => (body + base64_run(&text[body..limit]), body + base64_run(&text[body..limit])),
    };
    if is_key(&text[body..end]) {
        found.push(Secret::shaped(KIND, start, behind));
    }
}

/// Whether enough that looks random stands between the lines.
fn is_key(body: &str) -> bool {
    let longest = chunks(body).max_by_key(|(_, chunk)| chunk.len()).map_or("", |(_, chunk)| chunk);
    longest.len() >= LEAST && is_random(longest)
}

/// What is left of a text without white space and escapes, with the offsets.
fn chunks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_of = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_of(bytes[at]) {
            let is_escape = bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(|next| b"nrt".contains(next));
            at += if is_escape { 2 } else { 1 };
        }
        let start = at;
        while at < bytes.len() && is_of(bytes[at]) {
            at += 1;
        }
        (start < at).then(|| (start, &text[start..at]))
    })
}

/// Behind the last chunk of a key without an end. Its header lines are short; after its
/// lines one shorter may come.
fn base64_run(text: &str) -> usize {
    let mut end = 0;
    let mut has_begun = false;
    for (start, chunk) in chunks(text) {
        let is_line = chunk.len() >= LEAST;
        if !is_line && has_begun {
            let is_rest = text[end..start]
                .trim_matches(['\\', 'n', 'r', 't', ' ', '\t', '\r', '\n', '>', '"'])
                .is_empty()
                && !chunk.bytes().all(|byte| byte.is_ascii_lowercase());
            return if is_rest { start + chunk.len() } else { end };
        }
        if is_line {
            (end, has_begun) = (start + chunk.len(), true);
        }
    }
    end
}
