//! `harness.json` as types: pi-continual-harness's keys and ours, each with a default.
//! Knows no path: bytes in, a [`Config`] and its warnings out.
//!
//! The rules are those of fixtures/golden/config.json: a malformed file gives the defaults, a
//! malformed value the default of that key, and nothing is refused. What pi does without
//! a word we do with a [`ConfigWarning`] (docs/block.md "Selection").

mod json;
mod read;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::note::{Approval, Scope};

pub use read::parse;

/// A value that pi takes unchecked: ours is typed, and pi's can be read back.
///
/// For pi `"enabled": "yes"` is on and `"no"` too. Here a value of the wrong type counts
/// as the default, with a warning; `written` keeps what pi sees.
#[derive(Clone, Debug, PartialEq)]
pub struct Loose<T> {
    /// What holds for `layers`.
    pub value: T,
    /// What the file says, if it is no `T`.
    pub written: Option<Value>,
}

impl<T> From<T> for Loose<T> {
    fn from(value: T) -> Self {
        Self { value, written: None }
    }
}

/// All of `harness.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `durableScope`: read and without effect, as in pi since 0.9. Default global.
    pub durable_scope: Scope,
    /// `autoImport`: read layers at session start. Default false.
    pub auto_import: bool,
    /// `remindRefine`.
    pub remind_refine: RemindRefine,
    /// `autoRefine`.
    pub auto_refine: AutoRefine,
    /// `classifier.model`: not empty. Default none.
    pub classifier_model: Option<String>,
    /// `virtualBinding`. Default virtual.
    pub virtual_binding: Binding,
    /// `proposer`: any text. Default `steering`.
    pub proposer: Loose<String>,
    /// `outcomeImportance`.
    pub outcome_importance: OutcomeImportance,
    /// `injection`.
    pub injection: Injection,
    /// `dedupe`.
    pub dedupe: Dedupe,
    /// `layers`: the keys of our own.
    pub layers: Layers,
}

/// `remindRefine`: a reminder every so many turns.
#[derive(Clone, Debug, PartialEq)]
pub struct RemindRefine {
    /// Default false.
    pub enabled: Loose<bool>,
    /// Default 50; pi checks no range.
    pub every_turns: Loose<f64>,
}

/// `autoRefine`: a refinement every so many turns.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoRefine {
    /// Default false.
    pub enabled: Loose<bool>,
    /// Default 100; pi checks no range.
    pub every_turns: Loose<f64>,
    /// Default false.
    pub commit: Loose<bool>,
    /// Default false; only `true` is true.
    pub gate: bool,
}

/// `virtualBinding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The default.
    Virtual,
    /// Only for exactly `"physical"`.
    Physical,
}

impl Binding {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Virtual => "virtual",
            Self::Physical => "physical",
        }
    }
}

/// `outcomeImportance`: cited notes gain importance.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeImportance {
    /// Default false.
    pub enabled: Loose<bool>,
    /// Any finite number. Default 0.03.
    pub bump: f64,
}

/// `injection`: how much goes into the block (fixtures/golden/inject.json).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Injection {
    /// Whether budget and cap hold at all. Default true.
    pub enabled: bool,
    /// The budget; finite and above 0. Default 1500.
    pub max_tokens: f64,
    /// The cap of each kind, rounded down when used; finite and above 0. Default 10.
    pub max_per_kind: f64,
    /// UTF-16 units in a token; finite and above 0. Default 4.
    pub chars_per_token: f64,
}

impl Default for Injection {
    fn default() -> Self {
        Self { enabled: true, max_tokens: 1500.0, max_per_kind: 10.0, chars_per_token: 4.0 }
    }
}

/// `dedupe`: when two notes count as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dedupe {
    /// Above 0, at most 1. Default 0.6.
    pub threshold: f64,
    /// Whether evidence is merged; only `false` is false. Default true.
    pub merge: bool,
}

/// What happens to notes without a model (docs/block.md "Which notes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// They count as the asked model's, and the session-start hook writes that down.
    Adopt,
    /// They count as every model's and are never adopted.
    Any,
    /// They are shown to nobody.
    None,
}

impl Orphans {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Adopt => "adopt",
            Self::Any => "any",
            Self::None => "none",
        }
    }
}

/// The object `layers`: keys that pi does not know (docs/block.md "Selection").
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// `orphans`: `adopt`, `any` or `none`. Default adopt.
    pub orphans: Orphans,
    /// `projects`: path prefix to project key. An entry whose key is no key is left out.
    pub projects: BTreeMap<String, String>,
    /// `approval.online`: how notes made by agents start, `approved` or `pending`.
    /// Default approved.
    pub approval_online: Approval,
    /// `repoShare`: how much of the budget repo layers may take, 0 to 1. Default 0.5.
    pub repo_share: f64,
    /// `gitFolder`: the git work tree that `layers git sync` keeps in step, where that is
    /// not the root itself; relative to the root, `~/` is the home folder. Default none.
    pub git_folder: Option<String>,
    /// `settleMs`: how long a file must be quiet, whole, 0 to 60000. Default 200.
    pub settle_ms: u64,
    /// `holdSeconds`: how long writes wait for an open editor, whole, 0 to 86400. Default 600.
    pub hold_seconds: u64,
    /// `lockTimeoutMs`: how long a command waits for the lock, whole, 0 to 600000. Default 5000.
    pub lock_timeout_ms: u64,
}

impl Default for Layers {
    fn default() -> Self {
        Self {
            orphans: Orphans::Adopt,
            projects: BTreeMap::new(),
            approval_online: Approval::Approved,
            repo_share: 0.5,
            git_folder: None,
            settle_ms: 200,
            hold_seconds: 600,
            lock_timeout_ms: 5000,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            durable_scope: Scope::Global,
            auto_import: false,
            remind_refine: RemindRefine { enabled: false.into(), every_turns: 50.0.into() },
            auto_refine: AutoRefine {
                enabled: false.into(),
                every_turns: 100.0.into(),
                commit: false.into(),
                gate: false,
            },
            classifier_model: None,
            virtual_binding: Binding::Virtual,
            proposer: String::from("steering").into(),
            outcome_importance: OutcomeImportance { enabled: false.into(), bump: 0.03 },
            injection: Injection::default(),
            dedupe: Dedupe { threshold: 0.6, merge: true },
            layers: Layers::default(),
        }
    }
}

/// Something in `harness.json` that does not hold as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ConfigWarning {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The key, dotted (`injection.maxTokens`); none if the file as a whole is meant.
    pub key: Option<String>,
    /// What is wrong and what holds instead.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Injection {
    /// The section as JSON, in pi's order and names.
    pub fn to_json(&self) -> Value {
        json!({
            "enabled": self.enabled,
            "maxTokens": number(self.max_tokens),
            "maxPerKind": number(self.max_per_kind),
            "charsPerToken": number(self.chars_per_token),
        })
    }
}

impl Layers {
    /// The object as JSON, in the names of the file.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "orphans": self.orphans.as_str(),
            "projects": self.projects,
            "approval": { "online": self.approval_online },
            "repoShare": number(self.repo_share),
            "gitFolder": self.git_folder,
            "settleMs": self.settle_ms,
            "holdSeconds": self.hold_seconds,
            "lockTimeoutMs": self.lock_timeout_ms,
        })
    }
}

impl Config {
    /// What holds for `layers`, as JSON in pi's names, our own keys under `layers`.
    pub fn to_json(&self) -> Value {
        let mut all = self.view(View::Ours);
        if let Some(object) = all.as_object_mut() {
            object.insert("layers".to_owned(), self.layers.to_json());
        }
        all
    }

    /// What pi-continual-harness makes of the same file, unchecked values and all, without
    /// our own keys.
    pub fn to_pi_json(&self) -> Value {
        self.view(View::Pi)
    }

    fn view(&self, view: View) -> Value {
        json!({
            "durableScope": self.durable_scope,
            "autoImport": self.auto_import,
            "remindRefine": {
                "enabled": view.of(&self.remind_refine.enabled, |&on| on.into()),
                "everyTurns": view.of(&self.remind_refine.every_turns, |&turns| number(turns)),
            },
            "autoRefine": {
                "enabled": view.of(&self.auto_refine.enabled, |&on| on.into()),
                "everyTurns": view.of(&self.auto_refine.every_turns, |&turns| number(turns)),
                "commit": view.of(&self.auto_refine.commit, |&on| on.into()),
                "gate": self.auto_refine.gate,
            },
            "classifier": { "model": self.classifier_model },
            "virtualBinding": self.virtual_binding.as_str(),
            "proposer": view.of(&self.proposer, |text| text.as_str().into()),
            "outcomeImportance": {
                "enabled": view.of(&self.outcome_importance.enabled, |&on| on.into()),
                "bump": number(self.outcome_importance.bump),
            },
            "injection": self.injection.to_json(),
            "dedupe": { "threshold": number(self.dedupe.threshold), "merge": self.dedupe.merge },
        })
    }
}

#[derive(Clone, Copy)]
enum View {
    Ours,
    Pi,
}

impl View {
    fn of<T>(self, loose: &Loose<T>, typed: impl Fn(&T) -> Value) -> Value {
        match (self, &loose.written) {
            (Self::Pi, Some(written)) => written.clone(),
            _ => typed(&loose.value),
        }
    }
}

/// Whole doubles are printed as people wrote them, `50` and not `50.0`.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Value::from(value as i64);
    }
    Value::from(value)
}
