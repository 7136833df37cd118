//! Names of projects as file stems: pi's slug of a working directory, and our own keys.
//! Knows no file system: both are functions of a name alone.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// How long a slug or a key may be, in bytes; both are ASCII (fixtures/golden/slug.json).
pub const MAX_LEN: usize = 80;

/// The slug of a name that leaves nothing (fixtures/golden/slug.json).
const PI_DEFAULT: &str = "default";

/// The stem of pi's project layer for a working directory (fixtures/golden/slug.json): trimmed,
/// runs of separators to one `-`, all but ASCII letters, digits and `-` deleted,
/// lower case, the last 80 characters.
///
/// It must equal pi's to find pi's file, so its collisions (`/a/b-c` and `/a-b/c`,
/// every name without ASCII letters) and a leading `-` after the cut are kept:
/// a pi slug says where pi would look, never who a project is.
///
/// ```
/// use harness_layers::slug::pi_slug;
/// assert_eq!(pi_slug(Some("/srv/My Shop")), "srv-myshop");
/// assert_eq!(pi_slug(None), "default");
/// ```
pub fn pi_slug(cwd: Option<&str>) -> String {
    let mut slug = String::new();
    for c in cwd.unwrap_or_default().trim_matches(is_blank).chars() {
        match c {
            // One hyphen for a run, whether of separators, of hyphens, or of both
            // with deleted characters between them.
            '/' | '\\' | '-' if !slug.ends_with('-') => slug.push('-'),
            _ if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ => {}
        }
    }
    let slug = slug.strip_prefix('-').unwrap_or(&slug);
    let slug = slug.strip_suffix('-').unwrap_or(slug);
    // All ASCII by now, so bytes are characters and any cut is a boundary.
    let slug = &slug[slug.len().saturating_sub(MAX_LEN)..];
    if slug.is_empty() { PI_DEFAULT.to_owned() } else { slug.to_owned() }
}

/// The blanks that pi trims (fixtures/golden/slug.json): Rust's white space, less
/// U+0085, with U+FEFF.
fn is_blank(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// Whether a word can be a project key as it stands: 1 to 80 of `[a-z0-9._-]`, with a
/// letter or digit among them, so that no key is `.`, `..` or mere punctuation
/// (docs/format.md "Which project").
pub fn is_key(word: &str) -> bool {
    word.len() <= MAX_LEN
        && word.bytes().all(is_key_byte)
        && word.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn is_key_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')
}

/// The project key for any name, most often a folder's (docs/format.md "Which project").
///
/// A name that differs from a key in ASCII case only gives that key: people take
/// `Shop` and `shop` for one name, and file systems may too. Every other name outside
/// the alphabet, or too long, gets `-` and eight hex digits of its SHA-256, so that
/// `größe`, `gr e` and `項目` each have a key of their own instead of meeting on an
/// equal or an empty one.
///
/// ```
/// use harness_layers::slug::{is_key, key_slug};
/// assert_eq!(key_slug("My-App"), "my-app");
/// assert!(key_slug("my app").starts_with("my-app-"));
/// assert!(is_key(&key_slug("..")));
/// ```
pub fn key_slug(name: &str) -> String {
    const HASH_LEN: usize = 8;
    let lower = name.to_ascii_lowercase();
    if is_key(&lower) {
        return lower;
    }
    let mut stem = String::new();
    for c in lower.chars() {
        if u8::try_from(c).is_ok_and(is_key_byte) {
            stem.push(c);
        } else if !stem.ends_with('-') {
            stem.push('-');
        }
    }
    stem.truncate(MAX_LEN - HASH_LEN - 1);
    let stem = stem.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let stem = if stem.is_empty() { "project" } else { stem };
    let digest = Sha256::digest(name.as_bytes());
    let mut slug = format!("{stem}-");
    for byte in digest.iter().take(HASH_LEN / 2) {
        // Writing to a String cannot fail.
        let _ = write!(slug, "{byte:02x}");
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_own_slug() {
        for key in ["a", "my-app", "v1.2", "a_b", ".dotted", "0"] {
            assert!(is_key(key), "{key}");
            assert_eq!(key_slug(key), key);
        }
    }

    #[test]
    fn names_outside_the_alphabet_never_meet() {
        let names =
            ["", " ", ".", "..", "...", "-", "/", "a/b", "a\\b", "a b", "ab ", "項目", "目項", "größe"];
        let mut keys: Vec<_> = names.iter().map(|name| key_slug(name)).collect();
        for key in &keys {
            assert!(is_key(key), "{key}");
        }
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), names.len());
    }

    #[test]
    fn long_names_keep_their_start_and_differ_by_hash() {
        let (one, two) = (key_slug(&"x".repeat(81)), key_slug(&"x".repeat(82)));
        assert_ne!(one, two);
        assert!(one.len() <= MAX_LEN && is_key(&one), "{one}");
    }

    #[test]
    fn what_is_no_key() {
        for word in ["", ".", "..", "A", "a b", "a/b", "é", "_", &"x".repeat(81)] {
            assert!(!is_key(word), "{word}");
        }
    }
}
