//! Repo layers get at most their share of a block while the user's own notes want the rest:
//! laws for any notes.

#![expect(clippy::unwrap_used, reason = "a failed test is to panic")]

use harness_layers::config::Injection;
use harness_layers::note::Kind;
use harness_layers::select::{Contender, Outcome, Selection, Standing, select_by};
use proptest::prelude::*;

type Note = (usize, u8, bool, u16);

/// Kind, importance, whether it is of a repo layer, cost.
fn notes() -> impl Strategy<Value = Vec<Note>> {
    proptest::collection::vec((0..4_usize, 0..=4_u8, any::<bool>(), 1..60_u16), 0..50)
}

fn selected(notes: &[Note], injection: &Injection, share: f64) -> Selection {
    let contenders: Vec<Contender> = notes
        .iter()
        .map(|&(kind, importance, is_of_repo, _)| Contender {
            kind: Kind::ALL[kind],
            importance: f64::from(importance) / 4.0,
            standing: Standing::Eligible,
            is_of_repo,
        })
        .collect();
    select_by(&contenders, injection, share, |index| f64::from(notes[index].3))
}

/// What was taken: of the user's own notes and of repo layers', as indexes.
fn taken(notes: &[Note], selection: &Selection) -> (Vec<usize>, Vec<usize>) {
    let mut all: Vec<usize> = selection.taken.iter().flat_map(|(_, taken)| taken.clone()).collect();
    all.sort_unstable();
    all.into_iter().partition(|&index| !notes[index].2)
}

fn spent(notes: &[Note], taken: &[usize]) -> f64 {
    taken.iter().map(|&index| f64::from(notes[index].3)).sum()
}

fn of_kind(notes: &[Note], taken: &[usize], kind: usize) -> usize {
    taken.iter().filter(|&&index| notes[index].0 == kind).count()
}

proptest! {
    #[test]
    fn own_notes_lose_to_a_repository_only_within_its_share(
        notes in notes(),
        max_tokens in 100..900_u16,
        max_per_kind in 1..12_u8,
        share in prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..=1.0],
    ) {
        let (max_tokens, max_per_kind) = (f64::from(max_tokens), f64::from(max_per_kind));
        let injection = Injection { max_tokens, max_per_kind, ..Injection::default() };
        let selection = selected(&notes, &injection, share);
        prop_assert_eq!(&selection, &selected(&notes, &injection, share), "deterministic");
        let budget = selection.budget.unwrap();
        let (own, of_repo) = taken(&notes, &selection);
        prop_assert!(spent(&notes, &own) + spent(&notes, &of_repo) <= budget);
        let total = spent(&notes, &own) + spent(&notes, &of_repo);
        prop_assert!((selection.spent - total).abs() < f64::EPSILON, "whole numbers add up exactly");

        // What does not fit into the share goes where own notes leave room, and no further.
        let dear: Vec<Note> =
            notes.iter().map(|note| (note.0, note.1, note.2, if note.2 { u16::MAX } else { note.3 })).collect();
        let (alone, _) = taken(&dear, &selected(&dear, &injection, share));
        if spent(&notes, &of_repo) > budget * share {
            prop_assert_eq!(&own, &alone, "nobody's own note makes room");
        }
        for kind in 0..4 {
            let (own, of_repo) = (of_kind(&notes, &own, kind), of_kind(&notes, &of_repo, kind));
            let wanting = notes.iter().filter(|note| note.0 == kind && !note.2).count();
            prop_assert!(own + of_repo <= whole(max_per_kind));
            let places = whole(max_per_kind * share).max(whole(max_per_kind).saturating_sub(wanting));
            prop_assert!(of_repo <= places, "{of_repo} of {places}");
        }
    }

    /// Without a repo layer, and without own notes, the share changes nothing.
    #[test]
    fn whoever_is_alone_has_all(notes in notes(), is_of_repo in any::<bool>(), share in 0.0..=1.0) {
        let notes: Vec<Note> = notes.into_iter().map(|note| (note.0, note.1, is_of_repo, note.3)).collect();
        let injection = Injection { max_tokens: 400.0, ..Injection::default() };
        prop_assert_eq!(selected(&notes, &injection, share), selected(&notes, &injection, 1.0));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn whole(number: f64) -> usize {
    number as usize
}

#[test]
fn what_is_over_the_share_says_so() {
    let notes: Vec<Note> = (0..20).map(|at| (1, if at < 10 { 4 } else { 1 }, at < 10, 10)).collect();
    let selection = selected(&notes, &Injection::default(), 0.5);
    let (own, of_repo) = taken(&notes, &selection);
    assert_eq!((own.len(), of_repo.len()), (5, 5), "half of the ten places each");
    assert_eq!(selection.verdicts[5].outcome, Outcome::OverRepoShare);
    assert_eq!(selection.verdicts[15].outcome, Outcome::OverKindCap);
    let few = Injection { max_tokens: 73.0 + 8.0 + 60.0, max_per_kind: 40.0, ..Injection::default() };
    let (own, of_repo) = taken(&notes, &selected(&notes, &few, 0.5));
    assert_eq!((own.len(), of_repo.len()), (3, 3), "half of the tokens each");
}
