//! Credentials in a text: where something stands that looks like one, and the text without
//! it. Knows no notes, no layers and no files. docs/secrets.md tells what is found, how well,
//! and what is made of it.
//!
//! Why not a crate: what there is on crates.io for this are whole programs. `secretscan`
//! (0.2.5, 73 rules) brings 110 packages, takes 58 ms to compile its patterns, and hands the
//! values out in what it finds; `ripsecrets` (0.1.11) reads paths, not texts; `keyhog` wants a
//! GPU; gitleaks keeps its rules as patterns for Go. `layers render` runs before every turn
//! and takes a few milliseconds in all. So the shapes stand in a table of our own
//! ([`token`](self) and its neighbours), found by two bytes and a prefix, without patterns:
//! nothing is compiled at the start, and a clean text is looked at once.

mod assigned;
mod key_block;
mod mask;
mod random;
mod seal;
mod token;
mod trigger;
mod url;

use crate::text::Span;

pub use mask::{blot, mask, mask_value};
pub use seal::{NewValue, Values, has_sealed, seal};

/// Something that looks like a credential. Tells where, never what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is, for people: `GitHub token`.
    pub kind: &'static str,
    /// The bytes that have to be kept from view.
    pub span: Span,
    /// Whether its own shape tells; else what stands before it does.
    is_shaped: bool,
}

impl Secret {
    const fn shaped(kind: &'static str, start: usize, end: usize) -> Self {
        Self { kind, span: Span::new(start, end), is_shaped: true }
    }

    const fn named(kind: &'static str, start: usize, end: usize) -> Self {
        Self { kind, span: Span::new(start, end), is_shaped: false }
    }
}

/// The credentials in a text, in order, none over another.
///
/// ```
/// use harness_layers::secret::{find, mask};
/// let text = ["token: gh", "p_x8Kd02LmQz71vBn4Tc9Wy5Rj3Hs6Fg0PaUe2"].concat();
/// assert_eq!(find(&text)[0].kind, "GitHub token");
/// assert_eq!(mask(&text), "token: [masked: GitHub token]");
/// assert!(find("password: changeme, token budget: 1500").is_empty());
/// ```
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    trigger::scan(text, &mut found);
    if found.is_empty() {
        return found;
    }
    let mut found = apart(found);
    // The same value once more, where nothing around it tells.
    let mut again = Vec::new();
    for secret in &found {
        let value = secret.span.of(text);
        again.extend(
            text.match_indices(value)
                .map(|(at, _)| Secret { span: Span::new(at, at + value.len()), ..*secret }),
        );
    }
    if again.len() > found.len() {
        found = apart(again);
    }
    found
}

/// Whether a text holds a credential.
pub fn is_in(text: &str) -> bool {
    !find(text).is_empty()
}

/// Makes one of those that overlap: all that they cover, by the name that says more.
fn apart(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.span.start, std::cmp::Reverse(secret.span.end)));
    let mut apart: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.span.start < last.span.end => {
                last.span.end = last.span.end.max(secret.span.end);
                if secret.is_shaped && !last.is_shaped {
                    (last.kind, last.is_shaped) = (secret.kind, true);
                }
            }
            _ => apart.push(secret),
        }
    }
    apart
}
