//! A text without its credentials, from which one who has them gets it back: what is kept
//! of a file that holds some.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest as _, Sha256};

use super::find;
use super::mask::{OPEN, replaced};

/// The text with a name in the place of each credential, and beside it eight hex digits of
/// its SHA-256, so that two of one kind are told apart: `[masked: GitHub token #1f0c93aa]`.
pub fn seal(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, &found, |secret| stand_in(secret.kind, secret.span.of(text))))
}

fn stand_in(kind: &str, value: &str) -> String {
    let digest = Sha256::digest(value.as_bytes());
    let tag: String = digest[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{OPEN}{kind} #{tag}]")
}

/// The credentials of a text, for opening what was sealed of it. Prints none of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values {
    /// What stands for a value, the kind of it, the value.
    all: Vec<(String, &'static str, String)>,
}

impl Values {
    /// Those of a text.
    pub fn of(text: &str) -> Self {
        let one = |secret: &super::Secret| {
            let value = secret.span.of(text);
            (stand_in(secret.kind, value), secret.kind, value.to_owned())
        };
        let mut all: Vec<_> = find(text).iter().map(one).collect();
        all.sort();
        all.dedup();
        Self { all }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The kinds of those that another text does not have, with a part of a text that is
    /// asked about each.
    pub fn new_beside<'v>(&'v self, known: &'v str) -> impl Iterator<Item = NewValue<'v>> {
        let is_new = |value: &String| !known.contains(value.as_str());
        self.all
            .iter()
            .filter(move |(_, _, value)| is_new(value))
            .map(|(_, kind, value)| NewValue { kind, value })
    }

    /// A sealed text as it was, as far as its credentials are among these.
    pub fn open(&self, text: String) -> String {
        if self.all.is_empty() || !text.contains(OPEN) {
            return text;
        }
        self.all.iter().fold(text, |text, (sealed, _, value)| text.replace(sealed.as_str(), value))
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|(sealed, ..)| sealed)).finish()
    }
}

/// A credential that was not known.
pub struct NewValue<'v> {
    /// What it is.
    pub kind: &'static str,
    value: &'v str,
}

impl NewValue<'_> {
    /// Whether a text holds it, or a part of it of at least a line.
    pub fn is_in(&self, text: &str) -> bool {
        // Written in a file, the lines of a note may be indented.
        let line = self.value.lines().map(str::trim).max_by_key(|line| line.len()).unwrap_or(self.value);
        text.contains(self.value) || text.contains(line)
    }
}

impl fmt::Debug for NewValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)
    }
}

/// Whether a text holds what stands for a credential.
pub fn has_sealed(text: &str) -> bool {
    text.contains(OPEN)
}
