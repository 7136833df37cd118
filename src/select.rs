//! Which notes go into a block: the policy of pi-continual-harness, exactly (golden
//! "Injection"), with a verdict for every candidate. Knows no file and no markdown but
//! the length of a rendered bullet.

use crate::config::{Injection, Orphans};
use crate::note::{Approval, Kind};
use crate::render::{Label, Section, Shown, markdown};

/// The budget's share of the block's fixed lines, of each kind's title and of the
/// footer, in tokens; paid whether or not they are printed (fixtures/golden/inject.json).
const COST_OF_FRAME: u32 = 55;
const COST_OF_KIND: u32 = 8;
const COST_OF_FOOTER: u32 = 18;

/// A model that is every model's (docs/block.md "Which notes").
pub const ANY_MODEL: &str = "*";

/// Whether a note could be shown at all, or the first reason why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It competes for a place.
    Eligible,
    /// No model was asked for, so nothing is shown.
    NoModel,
    /// Switched off.
    Inactive,
    /// Waits for a person's approval.
    Pending,
    /// A person said no.
    Rejected,
    /// Owned by another model.
    OtherModel,
    /// Owned by no model, and the configuration shows those to nobody.
    Orphan,
    /// Of another project.
    OtherProject,
    /// In a repo layer that the user has not trusted.
    Untrusted,
    /// New or changed in a repo layer of which only what the user has seen counts.
    Unreviewed,
    /// Its metadata could not be read.
    Unparsed,
    /// Holds conflict markers.
    Conflicted,
    /// The file does not say what counts: its last good version does, or a change that waits.
    Replaced,
    /// A layer of higher precedence holds the same id.
    Shadowed,
    /// Has no text.
    Empty,
    /// Says what an earlier note of its layer with the same id says: both are one note.
    Copy,
}

impl Standing {
    /// This reason, or the next one if there is none yet.
    #[must_use]
    pub fn or_else(self, next: impl FnOnce() -> Self) -> Self {
        if self == Self::Eligible { next() } else { self }
    }

    /// Whether the note is none of this project's, for whatever model, and has nothing to do
    /// with others of its id.
    pub const fn is_apart(self) -> bool {
        matches!(self, Self::OtherProject | Self::Replaced | Self::Untrusted | Self::Unreviewed)
    }

    /// The reason in words, for tables; none for an eligible note.
    pub const fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::Eligible => return None,
            Self::NoModel => "no model asked for",
            Self::Inactive => "inactive",
            Self::Pending => "pending approval",
            Self::Rejected => "rejected",
            Self::OtherModel => "other model",
            Self::Orphan => "no model, and orphans are off",
            Self::OtherProject => "other project",
            Self::Untrusted => "untrusted layer (`layers trust`)",
            Self::Unreviewed => "waits for you (`layers review`)",
            Self::Unparsed => "unparsed",
            Self::Conflicted => "in conflict",
            Self::Replaced => "another version of it counts",
            Self::Shadowed => "shadowed by another layer",
            Self::Empty => "empty",
            Self::Copy => "equal copy of an earlier note",
        })
    }
}

/// The fields of a note that decide its [`Standing`], whatever layer it is in.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// Its model; none or empty for an orphan.
    pub model: Option<&'a str>,
    /// Whether it is switched on.
    pub active: bool,
    /// Its approval; none counts as approved.
    pub approval: Option<Approval>,
}

/// The standing of a note by its own fields (docs/block.md "Which notes", 2 and 3). Reasons
/// that come from its place (project, trust, precedence) or its text (unparsed, empty)
/// are the caller's, joined with [`Standing::or_else`].
///
/// `asked` is the model asked for; none and empty are alike: pi shows orphans for the
/// empty model, which is no model anyone could mean.
pub fn standing(fields: &Fields<'_>, asked: Option<&str>, orphans: Orphans) -> Standing {
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else { return Standing::NoModel };
    if !fields.active {
        return Standing::Inactive;
    }
    match fields.approval {
        Some(Approval::Pending) => return Standing::Pending,
        Some(Approval::Rejected) => return Standing::Rejected,
        Some(Approval::Approved) | None => {}
    }
    match (fields.model.unwrap_or_default(), orphans) {
        ("", Orphans::None) => Standing::Orphan,
        ("", Orphans::Adopt | Orphans::Any) => Standing::Eligible,
        (model, _) if model == asked || model == ANY_MODEL => Standing::Eligible,
        _ => Standing::OtherModel,
    }
}

/// A note that may or may not be shown. Candidates come in layer order, which settles
/// ties of importance.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The note as the block would show it.
    pub shown: Shown<'a>,
    /// Whether it competes.
    pub standing: Standing,
    /// Whether it stands in a repo layer, so that it may be other people's.
    pub is_of_repo: bool,
}

/// As much of a candidate as has to be known to rank it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    /// Its kind.
    pub kind: Kind,
    /// Its importance; what is no number comes last.
    pub importance: f64,
    /// Whether it competes.
    pub standing: Standing,
    /// Whether it stands in a repo layer.
    pub is_of_repo: bool,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is in the block.
    Taken,
    /// Its kind has `maxPerKind` notes of higher rank.
    OverKindCap,
    /// What is left of `maxTokens` is too little for it.
    OverBudget,
    /// Repo layers have had what they get while the user's own notes want the rest.
    OverRepoShare,
    /// It did not compete.
    Out(Standing),
}

/// The answer to "why is this note there, or not?".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Its place among the eligible notes of its kind, from 0; none if it did not compete.
    pub rank: Option<usize>,
    /// Its cost in tokens; none if nothing had to know it ([`cost`] tells).
    pub cost: Option<f64>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What goes into a block, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// For each kind that shows any: indexes of candidates in the order shown.
    pub taken: Vec<(Kind, Vec<usize>)>,
    /// How many eligible candidates are not shown.
    pub omitted: usize,
    /// One for each candidate, in their order.
    pub verdicts: Vec<Verdict>,
    /// Tokens for bullets, frame and titles already taken off; none if disabled.
    pub budget: Option<f64>,
    /// Tokens that the bullets taken use.
    pub spent: f64,
}

impl Selection {
    /// The section that shows this selection of the candidates it was made from.
    pub fn section<'a>(&self, candidates: &[Candidate<'a>], label: Option<Label<'a>>) -> Section<'a> {
        let taken = self.taken.iter().flat_map(|(_, indexes)| indexes);
        Section {
            label,
            notes: taken.filter_map(|&index| candidates.get(index)).map(|one| one.shown).collect(),
            omitted: self.omitted,
        }
    }
}

/// The length of a text in UTF-16 units over `chars_per_token`, rounded up.
pub fn estimate(text: &str, chars_per_token: f64) -> f64 {
    // Counting is only needed where a character takes more than one byte.
    let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
    #[expect(clippy::cast_precision_loss, reason = "no text is 2^53 long")]
    let units = units as f64;
    (units / chars_per_token).ceil()
}

/// What a note costs: the estimate of its bullet as the markdown block prints it, with
/// indents, whatever form is asked for, so that every form shows the same notes.
pub fn cost(shown: &Shown<'_>, injection: &Injection) -> f64 {
    estimate(&markdown::bullet(shown), injection.chars_per_token)
}

/// Selects from candidates. Deterministic. `repo_share` is how much of cap and budget notes of
/// repo layers get while the user's own want it, 0 to 1.
pub fn select(candidates: &[Candidate<'_>], injection: &Injection, repo_share: f64) -> Selection {
    let contenders: Vec<Contender> = candidates
        .iter()
        .map(|one| Contender {
            kind: one.shown.kind,
            importance: one.shown.importance,
            standing: one.standing,
            is_of_repo: one.is_of_repo,
        })
        .collect();
    select_by(&contenders, injection, repo_share, |index| cost(&candidates[index].shown, injection))
}

/// The same where texts are looked up only for the few notes that are priced: those under
/// the cap of their kind. `price` gives the [`cost`] of the contender with an index.
pub fn select_by(
    contenders: &[Contender],
    injection: &Injection,
    repo_share: f64,
    price: impl FnMut(usize) -> f64,
) -> Selection {
    let mut kinds = ranked(contenders, injection.enabled);
    let mut verdicts = verdicts(contenders, &kinds);
    if !injection.enabled {
        let taken = kinds.into_iter().filter(|(_, indexes)| !indexes.is_empty()).collect();
        return Selection { taken, omitted: 0, verdicts, budget: None, spent: 0.0 };
    }

    let mut omitted = 0;
    for (_, indexes) in &mut kinds {
        omitted += cap(contenders, indexes, &mut verdicts, injection.max_per_kind, repo_share);
    }
    let budget = budget(injection, kinds.iter().filter(|(_, indexes)| !indexes.is_empty()).count());
    let mut filling = Filling { contenders, kinds: &kinds, price, costs: vec![None; contenders.len()] };
    let spent = filling.fill(&mut verdicts, budget, repo_share);

    let mut taken = Vec::new();
    for (kind, mut indexes) in kinds {
        let before = indexes.len();
        indexes.retain(|&index| verdicts[index].outcome == Outcome::Taken);
        omitted += before - indexes.len();
        if !indexes.is_empty() {
            taken.push((kind, indexes));
        }
    }
    Selection { taken, omitted, verdicts, budget: Some(budget), spent }
}

/// Leaves of a kind's notes, in their rank, as many as it may show; how many go. Repo layers
/// have their share of the places, and those that the user's own notes do not need.
fn cap(
    contenders: &[Contender],
    indexes: &mut Vec<usize>,
    verdicts: &mut [Verdict],
    max_per_kind: f64,
    repo_share: f64,
) -> usize {
    let cap = whole(max_per_kind);
    let of_repo = indexes.iter().filter(|&&index| contenders[index].is_of_repo).count();
    let own = indexes.len() - of_repo;
    let places = whole(max_per_kind.floor() * repo_share).max(cap.saturating_sub(own));
    let (mut taken, mut taken_of_repo) = (0, 0);
    let before = indexes.len();
    indexes.retain(|&index| {
        let is_of_repo = contenders[index].is_of_repo;
        if taken == cap {
            verdicts[index].outcome = Outcome::OverKindCap;
            return false;
        }
        if is_of_repo && taken_of_repo == places {
            verdicts[index].outcome = Outcome::OverRepoShare;
            return false;
        }
        taken += 1;
        taken_of_repo += usize::from(is_of_repo);
        true
    });
    before - indexes.len()
}

/// How many whole things that is.
fn whole(number: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded down, saturating")]
    let whole = number as usize;
    whole
}

/// The notes under the cap, on their way into the budget.
struct Filling<'a, P> {
    contenders: &'a [Contender],
    kinds: &'a [(Kind, Vec<usize>); 4],
    price: P,
    /// What is known already.
    costs: Vec<Option<f64>>,
}

impl<P: FnMut(usize) -> f64> Filling<'_, P> {
    /// Fills the budget round-robin over the kinds by rank; what was spent. What the user's own
    /// notes would spend without any of a repo layer is theirs, down to their share.
    fn fill(&mut self, verdicts: &mut [Verdict], budget: f64, repo_share: f64) -> f64 {
        let order = self.order();
        let has_both = order.iter().any(|&index| self.contenders[index].is_of_repo)
            && order.iter().any(|&index| !self.contenders[index].is_of_repo);
        let mut left_of_repo = budget;
        if has_both {
            let mut left = budget;
            for &index in order.iter().filter(|&&index| !self.contenders[index].is_of_repo) {
                let cost = self.cost(index);
                if cost <= left {
                    left -= cost;
                }
            }
            left_of_repo = left.max(budget * repo_share);
        }
        let (mut left, mut spent) = (budget, 0.0);
        for index in order {
            let cost = self.cost(index);
            verdicts[index].cost = Some(cost);
            let is_of_repo = self.contenders[index].is_of_repo;
            if cost > left {
                verdicts[index].outcome = Outcome::OverBudget;
            } else if is_of_repo && cost > left_of_repo {
                verdicts[index].outcome = Outcome::OverRepoShare;
            } else {
                left -= cost;
                left_of_repo -= if is_of_repo { cost } else { 0.0 };
                spent += cost;
            }
        }
        spent
    }

    /// The notes of rank 0 of each kind, then those of rank 1, and so on.
    fn order(&self) -> Vec<usize> {
        let ranks = self.kinds.iter().map(|(_, indexes)| indexes.len()).max().unwrap_or(0);
        let of_rank = |rank: usize| self.kinds.iter().filter_map(move |(_, of)| of.get(rank).copied());
        (0..ranks).flat_map(of_rank).collect()
    }

    fn cost(&mut self, index: usize) -> f64 {
        if let Some(cost) = self.costs[index] {
            return cost;
        }
        let cost = (self.price)(index);
        self.costs[index] = Some(cost);
        cost
    }
}

/// The eligible candidates of each kind, by importance if asked to, ties in their order.
fn ranked(contenders: &[Contender], by_importance: bool) -> [(Kind, Vec<usize>); 4] {
    let mut keys: [Vec<(u64, usize)>; 4] = Default::default();
    for (index, one) in contenders.iter().enumerate().filter(|(_, one)| one.standing == Standing::Eligible) {
        let key = if by_importance { descending(one.importance) } else { 0 };
        keys[one.kind as usize].push((key, index));
    }
    Kind::ALL.map(|kind| {
        // Pairs of integers sort fast, and the index makes an unstable sort stable.
        let mut keys = std::mem::take(&mut keys[kind as usize]);
        keys.sort_unstable();
        (kind, keys.into_iter().map(|(_, index)| index).collect())
    })
}

/// A verdict for each candidate as if there were room for all.
fn verdicts(contenders: &[Contender], kinds: &[(Kind, Vec<usize>); 4]) -> Vec<Verdict> {
    // Ranks come in an order that jumps about: a small table of them stays in the cache.
    let mut ranks = vec![0; contenders.len()];
    for (_, indexes) in kinds {
        for (rank, &index) in indexes.iter().enumerate() {
            ranks[index] = rank;
        }
    }
    let verdict = |(one, rank): (&Contender, usize)| match one.standing {
        Standing::Eligible => Verdict { rank: Some(rank), cost: None, outcome: Outcome::Taken },
        reason => Verdict { rank: None, cost: None, outcome: Outcome::Out(reason) },
    };
    contenders.iter().zip(ranks).map(verdict).collect()
}

/// A key that sorts high importances first. -0 and 0 are equal, as in JavaScript; what is
/// no number comes last.
fn descending(importance: f64) -> u64 {
    if importance.is_nan() {
        return u64::MAX;
    }
    let bits = (importance + 0.0).to_bits();
    let ascending = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    !ascending
}

fn budget(injection: &Injection, kinds: usize) -> f64 {
    let kinds = u32::try_from(kinds).unwrap_or(u32::MAX);
    (injection.max_tokens - f64::from(COST_OF_FRAME + COST_OF_KIND * kinds + COST_OF_FOOTER)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(content: &str, importance: f64) -> Candidate<'_> {
        let shown = Shown { id: "n", kind: Kind::Memory, title: None, content, importance };
        Candidate { shown, standing: Standing::Eligible, is_of_repo: false }
    }

    #[test]
    fn standing_gives_the_first_reason() {
        let fields = Fields { model: Some("a/m"), active: true, approval: None };
        let of = |fields, asked| standing(&fields, asked, Orphans::Adopt);
        assert_eq!(of(fields, Some("a/m")), Standing::Eligible);
        assert_eq!(of(fields, Some("a/M")), Standing::OtherModel);
        assert_eq!(of(fields, None), Standing::NoModel);
        assert_eq!(of(fields, Some("")), Standing::NoModel);
        assert_eq!(of(Fields { model: Some("*"), ..fields }, Some("b/m")), Standing::Eligible);
        assert_eq!(of(Fields { active: false, ..fields }, Some("b/m")), Standing::Inactive);
        let approval = Some(Approval::Pending);
        assert_eq!(of(Fields { approval, ..fields }, Some("a/m")), Standing::Pending);
    }

    #[test]
    fn orphans_are_everybodys_or_nobodys() {
        for model in [None, Some("")] {
            let orphan = Fields { model, active: true, approval: None };
            assert_eq!(standing(&orphan, Some("a/m"), Orphans::Adopt), Standing::Eligible);
            assert_eq!(standing(&orphan, Some("a/m"), Orphans::Any), Standing::Eligible);
            assert_eq!(standing(&orphan, Some("a/m"), Orphans::None), Standing::Orphan);
        }
    }

    #[test]
    fn a_long_important_note_is_taken_whole_before_forty_small_ones() {
        let long = "z".repeat(400);
        let mut candidates: Vec<_> = (0..40).map(|_| candidate("small note", 0.1)).collect();
        candidates.push(candidate(&long, 1.0));
        let selection = select(&candidates, &Injection { max_tokens: 500.0, ..Injection::default() }, 0.5);
        assert_eq!(selection.taken[0].1[0], 40);
        assert_eq!(selection.verdicts[40].rank, Some(0));
        assert_eq!(selection.omitted, 31, "ten of the kind are shown");
    }

    #[test]
    fn indents_of_further_lines_are_paid_for() {
        let injection = Injection { chars_per_token: 1.0, ..Injection::default() };
        assert_eq!(cost(&candidate("ab\ncd", 0.5).shown, &injection).to_string(), "17");
    }

    #[test]
    fn odd_importances_have_a_place() {
        let order = [f64::INFINITY, 1.0, 0.0, -1.0, f64::NEG_INFINITY, f64::NAN];
        assert!(order.is_sorted_by_key(|&importance| descending(importance)));
        assert_eq!(descending(0.0), descending(-0.0));
    }
}
