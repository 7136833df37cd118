//! From the bytes of `harness.json` to a [`Config`], one key at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::json::{Node, Shape, document};
use super::{
    AutoRefine, Binding, Config, ConfigWarning, Dedupe, Injection, Layers, Loose, Orphans, OutcomeImportance,
    RemindRefine,
};
use crate::note::{Approval, Scope};
use crate::slug;

/// Reads `harness.json`; a missing file (`None`) gives the defaults without a warning.
///
/// Never fails: see the module for what a malformed file or value gives. `null` means
/// "not set" for every key and is no reason for a warning. Unknown keys are left to
/// whoever knows them, but in `layers`, which is ours alone.
pub fn parse(bytes: Option<&[u8]>) -> (Config, Vec<ConfigWarning>) {
    let Some(bytes) = bytes else { return (Config::default(), Vec::new()) };
    // Bad UTF-8 is replaced, not refused (fixtures/golden/config.json).
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader { text: &text, warnings: Vec::new() };
    let config = reader.config();
    (config, reader.warnings)
}

struct Reader<'t> {
    text: &'t str,
    warnings: Vec<ConfigWarning>,
}

/// One object of the file and what its keys are called from outside.
struct Section<'t> {
    prefix: &'static str,
    node: Option<Node<'t>>,
}

impl<'t> Section<'t> {
    fn key(&self, key: &str) -> String {
        if self.prefix.is_empty() { key.to_owned() } else { format!("{}.{key}", self.prefix) }
    }

    /// The value of a key, unless absent or null.
    fn value(&self, key: &str) -> Option<(Node<'t>, Shape<'t>)> {
        let node = self.node?.member(key)?;
        match node.shape() {
            Shape::Null => None,
            shape => Some((node, shape)),
        }
    }
}

impl<'t> Reader<'t> {
    fn config(&mut self) -> Config {
        let root = match document(self.text) {
            Ok(root) => root,
            Err(fault) => {
                let help = if self.text.starts_with('\u{feff}') {
                    "save the file without a byte order mark"
                } else {
                    "harness.json is strict JSON: double quotes, no comments, no trailing commas"
                };
                let message =
                    format!("not JSON: expected {}; all settings are at their defaults", fault.expected);
                self.warn(fault.at, None, message, help.to_owned());
                return Config::default();
            }
        };
        if root.shape() != Shape::Object {
            self.warn(
                root.start(),
                None,
                format!("expected an object, found {}; all settings are at their defaults", found(&root)),
                "write the settings between `{` and `}`".to_owned(),
            );
            return Config::default();
        }
        let top = Section { prefix: "", node: Some(root) };
        let default = Config::default();
        let physical = self.word(&top, "virtualBinding", &[("virtual", false), ("physical", true)], false);
        Config {
            durable_scope: self.word(
                &top,
                "durableScope",
                &[("global", Scope::Global), ("project", Scope::Project)],
                default.durable_scope,
            ),
            auto_import: self.truth(&top, "autoImport", default.auto_import),
            remind_refine: self.remind_refine(&top, default.remind_refine),
            auto_refine: self.auto_refine(&top, default.auto_refine),
            classifier_model: self.classifier_model(&top),
            virtual_binding: if physical { Binding::Physical } else { Binding::Virtual },
            proposer: self.loose(&top, "proposer", default.proposer, "text", |shape| match shape {
                Shape::Text(text) => Some(text.clone().into_owned()),
                _ => None,
            }),
            outcome_importance: self.outcome_importance(&top, default.outcome_importance),
            injection: self.injection(&top, default.injection),
            dedupe: self.dedupe(&top, default.dedupe),
            layers: self.layers(&top, &default.layers),
        }
    }

    fn remind_refine(&mut self, top: &Section<'t>, default: RemindRefine) -> RemindRefine {
        let section = self.section(top, "remindRefine");
        RemindRefine {
            enabled: self.loose_truth(&section, "enabled", default.enabled),
            every_turns: self.loose_number(&section, "everyTurns", default.every_turns),
        }
    }

    fn auto_refine(&mut self, top: &Section<'t>, default: AutoRefine) -> AutoRefine {
        let section = self.section(top, "autoRefine");
        AutoRefine {
            enabled: self.loose_truth(&section, "enabled", default.enabled),
            every_turns: self.loose_number(&section, "everyTurns", default.every_turns),
            commit: self.loose_truth(&section, "commit", default.commit),
            gate: self.truth(&section, "gate", default.gate),
        }
    }

    fn classifier_model(&mut self, top: &Section<'t>) -> Option<String> {
        let section = self.section(top, "classifier");
        let (node, shape) = section.value("model")?;
        match shape {
            Shape::Text(text) if !text.is_empty() => Some(text.into_owned()),
            _ => {
                self.malformed(&node, &section.key("model"), "a model's name", "none");
                None
            }
        }
    }

    fn outcome_importance(&mut self, top: &Section<'t>, default: OutcomeImportance) -> OutcomeImportance {
        let section = self.section(top, "outcomeImportance");
        OutcomeImportance {
            enabled: self.loose_truth(&section, "enabled", default.enabled),
            bump: self.number(&section, "bump", default.bump, "a number", f64::is_finite),
        }
    }

    fn injection(&mut self, top: &Section<'t>, default: Injection) -> Injection {
        let section = self.section(top, "injection");
        let mut above_zero = |key, default| {
            self.number(&section, key, default, "a number above 0", |value| value.is_finite() && value > 0.0)
        };
        let max_tokens = above_zero("maxTokens", default.max_tokens);
        let max_per_kind = above_zero("maxPerKind", default.max_per_kind);
        let chars_per_token = above_zero("charsPerToken", default.chars_per_token);
        let enabled = self.truth(&section, "enabled", default.enabled);
        Injection { enabled, max_tokens, max_per_kind, chars_per_token }
    }

    fn dedupe(&mut self, top: &Section<'t>, default: Dedupe) -> Dedupe {
        let section = self.section(top, "dedupe");
        let within = |value| value > 0.0 && value <= 1.0;
        Dedupe {
            threshold: self.number(
                &section,
                "threshold",
                default.threshold,
                "a number above 0 and at most 1",
                within,
            ),
            merge: self.truth(&section, "merge", default.merge),
        }
    }

    fn layers(&mut self, top: &Section<'t>, default: &Layers) -> Layers {
        let section = self.section(top, "layers");
        self.unknown(&section, &default.to_json());
        let orphans = [("adopt", Orphans::Adopt), ("any", Orphans::Any), ("none", Orphans::None)];
        let approval = self.subsection(&section, "approval", "layers.approval");
        let online = [("approved", Approval::Approved), ("pending", Approval::Pending)];
        Layers {
            orphans: self.word(&section, "orphans", &orphans, default.orphans),
            projects: self.projects(&section),
            approval_online: self.word(&approval, "online", &online, default.approval_online),
            repo_share: self.number(
                &section,
                "repoShare",
                default.repo_share,
                "a number from 0 to 1",
                |value| (0.0..=1.0).contains(&value),
            ),
            git_folder: self.path(&section, "gitFolder"),
            settle_ms: self.whole(&section, "settleMs", default.settle_ms, 60_000),
            hold_seconds: self.whole(&section, "holdSeconds", default.hold_seconds, 86_400),
            lock_timeout_ms: self.whole(&section, "lockTimeoutMs", default.lock_timeout_ms, 600_000),
        }
    }

    /// Keys of the object that is ours alone which nobody will ever read: a slip of the hand.
    fn unknown(&mut self, section: &Section<'t>, known: &Value) {
        let names: Vec<&str> =
            known.as_object().map(|known| known.keys().map(String::as_str).collect()).unwrap_or_default();
        for (key, node) in section.node.map(|node| node.members()).unwrap_or_default() {
            if !names.contains(&key.as_ref()) {
                let message = format!("`{}` is unknown and does nothing", section.key(&key));
                let help = format!("known are {}", names.join(", "));
                self.warn(node.start(), Some(section.key(&key)), message, help);
            }
        }
    }

    fn projects(&mut self, section: &Section<'t>) -> BTreeMap<String, String> {
        let section = self.subsection(section, "projects", "layers.projects");
        let mut projects = BTreeMap::new();
        for (prefix, node) in section.node.map(|node| node.members()).unwrap_or_default() {
            // The last of duplicate keys wins, also if it is no good.
            projects.remove(prefix.as_ref());
            match node.shape() {
                Shape::Null => {}
                Shape::Text(key) if slug::is_key(&key) => {
                    projects.insert(prefix.into_owned(), key.into_owned());
                }
                _ => self.malformed(&node, &section.key(&prefix), "a key of `[a-z0-9._-]`", "no key"),
            }
        }
        projects
    }

    fn section(&mut self, top: &Section<'t>, key: &'static str) -> Section<'t> {
        self.subsection(top, key, key)
    }

    /// A section that is null or no object counts as absent.
    fn subsection(&mut self, parent: &Section<'t>, key: &str, prefix: &'static str) -> Section<'t> {
        let node = match parent.value(key) {
            Some((node, Shape::Object)) => Some(node),
            Some((node, _)) => {
                self.malformed(&node, prefix, "an object", "all of it at its defaults");
                None
            }
            None => None,
        };
        Section { prefix, node }
    }

    fn truth(&mut self, section: &Section<'t>, key: &str, default: bool) -> bool {
        match section.value(key) {
            None => default,
            Some((_, Shape::Bool(value))) => value,
            Some((node, _)) => {
                self.malformed(&node, &section.key(key), "true or false", &default.to_string());
                default
            }
        }
    }

    fn path(&mut self, section: &Section<'t>, key: &str) -> Option<String> {
        match section.value(key)? {
            (_, Shape::Text(text)) if !text.is_empty() => Some(text.into_owned()),
            (node, _) => {
                self.malformed(&node, &section.key(key), "a path", "none");
                None
            }
        }
    }

    fn number(
        &mut self,
        section: &Section<'t>,
        key: &str,
        default: f64,
        expected: &str,
        holds: impl Fn(f64) -> bool,
    ) -> f64 {
        match section.value(key) {
            None => default,
            Some((_, Shape::Number(value))) if holds(value) => value,
            Some((node, _)) => {
                self.malformed(&node, &section.key(key), expected, &default.to_string());
                default
            }
        }
    }

    fn whole(&mut self, section: &Section<'t>, key: &str, default: u64, most: u32) -> u64 {
        let expected = format!("a whole number from 0 to {most}");
        #[expect(clippy::cast_precision_loss, reason = "defaults are far below 2^53")]
        let value = self.number(section, key, default as f64, &expected, |value| {
            value.fract() == 0.0 && (0.0..=f64::from(most)).contains(&value)
        });
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within range")]
        let value = value as u64;
        value
    }

    fn word<T: Copy>(&mut self, section: &Section<'t>, key: &str, words: &[(&str, T)], default: T) -> T {
        let Some((node, shape)) = section.value(key) else { return default };
        let found = match &shape {
            Shape::Text(text) => words.iter().find(|(word, _)| word == text),
            _ => None,
        };
        if let Some((_, value)) = found {
            return *value;
        }
        let expected: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        // The first word of each list is its default.
        self.malformed(&node, &section.key(key), &expected.join(" or "), &expected[0]);
        default
    }

    fn loose_truth(&mut self, section: &Section<'t>, key: &str, default: Loose<bool>) -> Loose<bool> {
        self.loose(section, key, default, "true or false", |shape| match shape {
            Shape::Bool(value) => Some(*value),
            _ => None,
        })
    }

    fn loose_number(&mut self, section: &Section<'t>, key: &str, default: Loose<f64>) -> Loose<f64> {
        self.loose(section, key, default, "a number", |shape| match shape {
            Shape::Number(value) if value.is_finite() => Some(*value),
            _ => None,
        })
    }

    fn loose<T: std::fmt::Display>(
        &mut self,
        section: &Section<'t>,
        key: &str,
        default: Loose<T>,
        expected: &str,
        typed: impl Fn(&Shape<'t>) -> Option<T>,
    ) -> Loose<T> {
        let Some((node, shape)) = section.value(key) else { return default };
        if let Some(value) = typed(&shape) {
            return value.into();
        }
        self.malformed(&node, &section.key(key), expected, &default.value.to_string());
        // What serde_json cannot hold (half surrogates, depth) no caller can show either.
        Loose { value: default.value, written: serde_json::from_str::<Value>(node.raw()).ok() }
    }

    fn malformed(&mut self, node: &Node<'t>, key: &str, expected: &str, instead: &str) {
        let message = format!("`{key}`: expected {expected}, found {}; using {instead}", found(node));
        let help = format!("set `{key}` to {expected}, or remove it");
        self.warn(node.start(), Some(key.to_owned()), message, help);
    }

    fn warn(&mut self, at: usize, key: Option<String>, message: String, help: String) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        self.warnings.push(ConfigWarning {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key,
            message,
            help,
        });
    }
}

/// A value for people: short, on one line.
fn found(node: &Node<'_>) -> Cow<'static, str> {
    const SHORT: usize = 24;
    match node.shape() {
        Shape::Array => "an array".into(),
        Shape::Object => "an object".into(),
        _ => {
            let raw = node.raw();
            match raw.char_indices().nth(SHORT) {
                Some((end, _)) => format!("{}…", &raw[..end]).into(),
                None => raw.to_owned().into(),
            }
        }
    }
}
