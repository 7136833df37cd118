//! A text without its credentials.

use std::borrow::Cow;

use super::{Secret, find};

/// The beginning of what stands for a credential.
pub(super) const OPEN: &str = "[masked: ";

/// The text with a name in the place of each credential: for prompts and for people.
/// Doing it twice changes nothing.
pub fn mask(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, &found, |secret| format!("{OPEN}{}]", secret.kind)))
}

/// As [`mask`], for a value that stands under a key of its own, as in JSON.
pub fn mask_value<'t>(key: &str, value: &'t str) -> Cow<'t, str> {
    let masked = mask(value);
    if matches!(masked, Cow::Owned(_)) {
        return masked;
    }
    let sentence = format!("{key}: {value}");
    match find(&sentence)[..] {
        [secret] => Cow::Owned(format!("{OPEN}{}]", secret.kind)),
        _ => masked,
    }
}

/// The text with `*` in the place of every character of a credential: lines and columns
/// stay.
pub fn blot(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, &found, |secret| {
        let stars = |c| if matches!(c, '\n' | '\r') { c } else { '*' };
        secret.span.of(text).chars().map(stars).collect()
    }))
}

pub(super) fn replaced(text: &str, found: &[Secret], instead: impl Fn(&Secret) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in found {
        out.push_str(&text[from..secret.span.start]);
        out.push_str(&instead(secret));
        from = secret.span.end;
    }
    out.push_str(&text[from..]);
    out
}
