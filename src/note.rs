//! The words of the domain as plain types: kinds, scopes, approvals, importance, ids.
//! Knows no file, no markdown, no clock.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// What a note is for. The order is the order of every listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A supplement to the system prompt.
    Prompt,
    /// A remembered fact.
    Memory,
    /// A reusable procedure.
    Skill,
    /// A role for a sub-agent.
    Subagent,
}

impl Kind {
    /// All kinds, in listing order.
    pub const ALL: [Self; 4] = [Self::Prompt, Self::Memory, Self::Skill, Self::Subagent];

    /// The word in front matter and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Memory => "memory",
            Self::Skill => "skill",
            Self::Subagent => "subagent",
        }
    }

    /// The title of the kind's section in a bullet file, as pi-continual-harness writes it.
    pub const fn section_title(self) -> &'static str {
        match self {
            Self::Prompt => "Supplemental prompt notes",
            Self::Memory => "Memory facts",
            Self::Skill => "Skill descriptions",
            Self::Subagent => "Sub-agent specs",
        }
    }

    /// The title of the kind's section in a rendered block, as pi-continual-harness writes it.
    pub const fn block_title(self) -> &'static str {
        match self {
            Self::Prompt => "Self-improved prompt notes",
            Self::Memory => "Remembered facts",
            Self::Skill => "Available skill notes",
            Self::Subagent => "Reusable sub-agent specs",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no [`Kind`], [`Scope`] or [`Approval`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is none of {expected}")]
pub struct UnknownWord {
    /// What was given.
    pub word: String,
    /// The words that would do, for people.
    pub expected: &'static str,
}

impl FromStr for Kind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .ok_or_else(|| UnknownWord { word: word.to_owned(), expected: "prompt, memory, skill, subagent" })
    }
}

/// Whom a note is for, apart from its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Every project.
    Global,
    /// One project key.
    Project,
}

impl Scope {
    /// The word in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "global" => Ok(Self::Global),
            "project" => Ok(Self::Project),
            _ => Err(UnknownWord { word: word.to_owned(), expected: "global, project" }),
        }
    }
}

/// Where a layer lives. The order is that of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// `<root>/harness-state.md`: every project's.
    Global,
    /// `.harness/<key>.md` in a work tree: shared, committed, written by anybody.
    Repo,
    /// `<root>/harness-state/<key>.md`: one project's, private.
    Home,
}

impl LayerKind {
    /// The word in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Repo => "repo",
            Self::Home => "home",
        }
    }
}

/// Whether a person has let a note into prompts. An absent approval counts as approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// Waits for a person.
    Pending,
    /// Let in.
    Approved,
    /// Kept out.
    Rejected,
}

impl Approval {
    /// The word in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }
}

impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Approval {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "pending" => Ok(Self::Pending),
            "approved" => Ok(Self::Approved),
            "rejected" => Ok(Self::Rejected),
            _ => Err(UnknownWord { word: word.to_owned(), expected: "pending, approved, rejected" }),
        }
    }
}

/// The importance of a note that gives none (pi-continual-harness's default).
pub const DEFAULT_IMPORTANCE: f64 = 0.5;

/// Writes an importance with two decimals, exact ties away from zero, as
/// JavaScript's `toFixed(2)` does (Rust's `{:.2}` rounds ties to even).
pub fn two_decimals(value: f64) -> String {
    // A tie at the third decimal is exact only for multiples of 1/8: then the
    // decimal expansion ends with a 5 that Rust's full-precision form shows.
    let exact = format!("{value:.3}");
    let is_tie = exact.ends_with('5') && exact.parse::<f64>() == Ok(value) && (value * 8.0).fract() == 0.0;
    if is_tie {
        let nudged = value + f64::copysign(0.001, value);
        return format!("{nudged:.2}");
    }
    format!("{value:.2}")
}

/// How long an id may be, in bytes (docs/format.md: `[A-Za-z0-9._:-]{1,128}`).
pub const MAX_ID_LEN: usize = 128;

/// Whether an id has the shape that `layers` itself accepts for new notes:
/// `[A-Za-z0-9._:-]{1,128}`.
pub fn is_well_formed_id(id: &str) -> bool {
    (1..=MAX_ID_LEN).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'))
}

/// Makes an id `h_<base36 milliseconds>_<5 random base36>`; pure: time and
/// randomness are given. `random` is reduced modulo 36^5 (bias below 4e-12).
pub fn mint_id(unix_millis: u64, random: u64) -> String {
    let mut id = String::from("h_");
    push_base36(&mut id, unix_millis, 1);
    id.push('_');
    push_base36(&mut id, random % 36_u64.pow(5), 5);
    id
}

fn push_base36(out: &mut String, mut number: u64, min_digits: usize) {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    while number > 0 || digits.len() < min_digits {
        digits.push(char::from(DIGITS[usize::try_from(number % 36).unwrap_or(0)]));
        number /= 36;
    }
    out.extend(digits.iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_decimals_rounds_exact_ties_away_from_zero() {
        for (value, text) in [
            (0.125, "0.13"),
            (0.625, "0.63"),
            (0.015, "0.01"),
            (1.005, "1.00"),
            (-0.001, "-0.00"),
            (0.375, "0.38"),
            (0.5, "0.50"),
            (1.0, "1.00"),
        ] {
            assert_eq!(two_decimals(value), text, "{value}");
        }
    }

    #[test]
    fn minted_ids_have_the_documented_shape() {
        assert_eq!(mint_id(1_754_600_000_000, 0), "h_me1vjcow_00000");
        assert!(is_well_formed_id(&mint_id(u64::MAX, u64::MAX)));
    }
}
