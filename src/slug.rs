//! Names of projects: our own keys and pi's slugs. Pure.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

const MAX_KEY_LEN: usize = 80;

/// Whether a text is a project key: `[a-z0-9_-][a-z0-9._-]*`, at most 80 bytes.
pub fn is_key(text: &str) -> bool {
    (1..=MAX_KEY_LEN).contains(&text.len())
        && !text.starts_with('.')
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

/// The project key for a name. A name outside the alphabet (case apart) gets a
/// hash, so that no two of them meet in one key.
pub fn key_slug(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if is_key(&lower) {
        return lower;
    }
    let kept: String = lower
        .chars()
        .map(|c| if matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-') { c } else { '-' })
        .take(MAX_KEY_LEN - 9)
        .collect();
    let mut key = kept.trim_matches(['-', '.']).to_owned();
    if !key.is_empty() {
        key.push('-');
    }
    for byte in Sha256::digest(name.as_bytes()).iter().take(4) {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

/// The slug that pi-continual-harness makes of a session's working directory.
pub fn pi_slug(cwd: Option<&str>) -> String {
    let mut slug = String::new();
    for c in cwd.unwrap_or_default().chars() {
        let c = if matches!(c, '/' | '\\') { '-' } else { c };
        let repeated = c == '-' && slug.ends_with('-');
        if (c.is_ascii_alphanumeric() || c == '-') && !repeated {
            slug.push(c.to_ascii_lowercase());
        }
    }
    let slug = slug.strip_prefix('-').unwrap_or(&slug);
    let slug = slug.strip_suffix('-').unwrap_or(slug);
    let tail = &slug[slug.len().saturating_sub(80)..];
    if tail.is_empty() { "default".to_owned() } else { tail.to_owned() }
}
