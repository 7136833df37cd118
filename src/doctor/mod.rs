//! What is wrong around the layers, and how to put it right: root, store, the system's
//! limits, git. Looks, and changes nothing.

mod git;
mod root;
mod store;
mod watching;

pub use git::{around, driver, home};
pub use root::root;
pub use store::store;
pub use watching::watching;

use crate::document::Severity;

/// A part of the surroundings that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Examined {
    /// What was looked at, one word.
    pub area: &'static str,
    /// What is there, for people.
    pub summary: String,
    /// What is wrong with it.
    pub findings: Vec<Ailment>,
}

/// Something that is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Ailment {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Examined {
    fn new(area: &'static str, summary: impl Into<String>) -> Self {
        Self { area, summary: summary.into(), findings: Vec::new() }
    }

    /// A part that was looked at elsewhere.
    pub fn of(area: &'static str, summary: impl Into<String>, findings: Vec<Ailment>) -> Self {
        Self { area, summary: summary.into(), findings }
    }

    fn find(&mut self, severity: Severity, message: impl Into<String>, help: impl Into<String>) {
        self.findings.push(Ailment { severity, message: message.into(), help: help.into() });
    }
}
