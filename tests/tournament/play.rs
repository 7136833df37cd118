//! The three ways to merge, and how each is judged.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use harness_layers::document::{Document, Field, Note as Parsed, State};
use harness_layers::merge::{Marks, Versions, merge};
use harness_layers::note::Kind;
use tempfile::TempDir;

use super::arena::{Form, Note, Pair, Wanted, written};

/// How a way to merge did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    /// Merged, and right.
    pub(crate) clean: usize,
    /// Left to people, because the branches disagree.
    pub(crate) conflict: usize,
    /// Left to people for nothing.
    pub(crate) needless: usize,
    /// A note lost, blended or twice there; a disagreement passed over in silence.
    pub(crate) wrong: usize,
}

/// The table.
#[derive(Default)]
pub(crate) struct Scores {
    pub(crate) stock: Score,
    pub(crate) union: Score,
    pub(crate) ours: Score,
    pub(crate) first_fault: Option<String>,
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<12} {:>8} {:>9} {:>9} {:>7}", "", "clean", "conflict", "needless", "wrong")?;
        for (name, score) in [("stock git", self.stock), ("git union", self.union), ("our driver", self.ours)]
        {
            let Score { clean, conflict, needless, wrong } = score;
            writeln!(f, "{name:<12} {clean:>8} {conflict:>9} {needless:>9} {wrong:>7}")?;
        }
        Ok(())
    }
}

/// A merged file, and whether it is marked.
struct Outcome {
    text: String,
    is_marked: bool,
}

enum Verdict {
    Clean,
    Conflict,
    Needless(String),
    Wrong(String),
}

pub(crate) fn play(form: Form, seeds: Range<u64>) -> Scores {
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let mut scores = Scores::default();
    for seed in seeds {
        let pair = Pair::random(seed);
        let wanted = pair.wanted();
        let files =
            |layer: usize| [&pair.base, &pair.ours, &pair.theirs].map(|side| written(&side[layer], form));
        let by_git = |more: &[&str]| [0, 1].map(|layer| merge_file(folder.path(), &files(layer), more));
        tally(&mut scores.stock, &judge(&by_git(&[]), &wanted, false));
        tally(&mut scores.union, &judge(&by_git(&["--union"]), &wanted, false));
        let ours = [0, 1].map(|layer| by_driver(&files(layer)));
        let verdict = judge(&ours, &wanted, true);
        tally(&mut scores.ours, &verdict);
        if let Verdict::Needless(why) | Verdict::Wrong(why) = verdict {
            scores.first_fault.get_or_insert(format!("seed {seed}, {form:?}: {why}"));
        }
    }
    scores
}

fn tally(score: &mut Score, verdict: &Verdict) {
    *match verdict {
        Verdict::Clean => &mut score.clean,
        Verdict::Conflict => &mut score.conflict,
        Verdict::Needless(_) => &mut score.needless,
        Verdict::Wrong(_) => &mut score.wrong,
    } += 1;
}

fn merge_file(folder: &Path, [base, ours, theirs]: &[String; 3], more: &[&str]) -> Outcome {
    for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let done = Command::new("git")
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
        .args(["merge-file", "-p", "-q"])
        .args(more)
        .args(["ours", "base", "theirs"])
        .output()
        .unwrap();
    let code = done.status.code().unwrap();
    assert!(code < 128, "{done:?}");
    Outcome { text: String::from_utf8(done.stdout).unwrap(), is_marked: code > 0 }
}

fn by_driver([base, ours, theirs]: &[String; 3]) -> Outcome {
    let merged = merge(Versions { base, ours, theirs }, &Marks::default()).unwrap();
    Outcome { is_marked: !merged.disagreements.is_empty(), text: merged.text }
}

/// With `is_strict`, what is not between markers is looked at too.
fn judge(outcomes: &[Outcome; 2], wanted: &BTreeMap<String, Wanted>, is_strict: bool) -> Verdict {
    let is_marked = outcomes.iter().any(|outcome| outcome.is_marked);
    let is_disputed = wanted.values().any(|wanted| matches!(wanted, Wanted::Dispute(_)));
    if !is_marked || is_strict {
        if let Err(why) = compare(outcomes, wanted) {
            return Verdict::Wrong(why);
        }
    }
    match (is_marked, is_disputed) {
        (true, true) => Verdict::Conflict,
        (true, false) => Verdict::Needless(outcomes.iter().map(|outcome| outcome.text.as_str()).collect()),
        (false, true) => Verdict::Wrong("a disagreement is not told".into()),
        (false, false) => Verdict::Clean,
    }
}

fn compare(outcomes: &[Outcome; 2], wanted: &BTreeMap<String, Wanted>) -> Result<(), String> {
    let documents = outcomes.each_ref().map(|outcome| Document::parse(outcome.text.as_str()));
    let of = |id: &str| {
        let places = documents.iter().enumerate();
        let notes = places.flat_map(|(layer, document)| document.notes().map(move |note| (layer, note)));
        notes.filter(|(_, note)| note.id() == Some(id)).collect::<Vec<_>>()
    };
    for (id, wanted) in wanted {
        let found = of(id);
        let is_right = match (wanted, &found[..]) {
            (Wanted::Gone, []) => true,
            (Wanted::Note(layer, note), [(at, parsed)]) => at == layer && says(*parsed, note),
            (Wanted::Dispute(layer), found) => {
                !found.is_empty()
                    && found.iter().all(|(at, note)| at == layer && note.state() == State::Conflicted)
            }
            _ => false,
        };
        if !is_right {
            let at = match wanted {
                Wanted::Note(layer, _) | Wanted::Dispute(layer) => *layer,
                Wanted::Gone => 0,
            };
            let found: Vec<_> = found.iter().map(|(at, note)| (at, note.state(), note.raw())).collect();
            return Err(format!("{id} is to be {wanted:?} and is {found:?}\n{}", outcomes[at].text));
        }
    }
    let count: usize =
        documents.iter().map(|document| document.notes().filter(|note| note.id().is_none()).count()).sum();
    if count > 0 { Err(format!("{count} notes without an id")) } else { Ok(()) }
}

fn says(parsed: Parsed<'_>, note: &Note) -> bool {
    let kind = if note.is_skill { Kind::Skill } else { Kind::Memory };
    let of = |key: &str| {
        let text = parsed.get(&Field::from_key(key))?;
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        Some(lines.join("\n"))
    };
    parsed.state() == State::Good
        && parsed.kind() == kind
        && parsed.content() == note.lines.join("\n")
        && ["importance", "evidence", "model"].iter().all(|key| of(key) == note.fields.get(key).cloned())
}
