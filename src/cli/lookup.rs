//! Finding a note by what people type: its id, or what it is called until it has one.

use super::failure::{Exit, Failure};
use crate::config::Config;
use crate::effective::Judged;
use crate::reach::Reach;
use crate::select::Standing;

/// How many ids are suggested.
const SUGGESTIONS: usize = 3;

/// A note that was asked for.
pub(crate) struct FoundNote<'a> {
    /// The one that counts: of the highest layer, unless it is another project's.
    pub(crate) note: Judged<'a>,
    /// The others with its id, in layer order.
    pub(crate) others: Vec<Judged<'a>>,
}

/// The note with an id.
pub(crate) fn find<'a>(judged: &[Judged<'a>], id: &str) -> Result<FoundNote<'a>, Failure> {
    let mut with_id: Vec<Judged<'a>> =
        judged.iter().filter(|one| one.id == id && one.standing != Standing::Replaced).cloned().collect();
    let rank = |one: &Judged<'_>| (one.standing != Standing::OtherProject, one.layer);
    // Of several in one layer the first counts.
    let best = with_id.iter().enumerate().rev().max_by_key(|(at, one)| (rank(one), std::cmp::Reverse(*at)));
    let Some(best) = best.map(|(at, _)| at) else { return Err(unknown(judged, id)) };
    let note = with_id.remove(best);
    Ok(FoundNote { note, others: with_id })
}

/// As [`find`], among all notes in reach.
pub(crate) fn find_in<'a>(
    reach: &'a Reach,
    config: &Config,
    model: Option<&str>,
    id: &str,
) -> Result<FoundNote<'a>, Failure> {
    find(&reach.judge(model, config.layers.orphans), id)
}

fn unknown(judged: &[Judged<'_>], id: &str) -> Failure {
    let failure = Failure::new(Exit::Findings, format_args!("no note in reach has the id `{id}`"));
    let near = nearest(judged.iter().map(|one| &*one.id), id);
    match near.as_slice() {
        [] => failure.help("`layers list --all` shows all notes in reach"),
        near => failure.help(format_args!("did you mean {}?", near.join(" or "))),
    }
}

/// The ids most like the one given, the nearest first.
pub(crate) fn nearest<'i>(ids: impl Iterator<Item = &'i str>, given: &str) -> Vec<String> {
    // An id of ours has some fifteen characters: three slips are near, eight are not.
    let limit = (given.chars().count() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = ids
        .filter_map(|id| {
            let is_part = given.len() > 2 && (id.contains(given) || given.contains(id));
            let distance = if is_part { 1 } else { distance(id, given, limit)? };
            (distance <= limit).then_some((distance, id))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(SUGGESTIONS).map(|(_, id)| id.to_owned()).collect()
}

/// How many characters have to be put in, taken out or changed to get from one to the
/// other, without regard to case; none if the lengths alone are too far apart.
fn distance(one: &str, other: &str, limit: usize) -> Option<usize> {
    let lower = |text: &str| text.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
    let (one, other) = (lower(one), lower(other));
    if one.len().abs_diff(other.len()) > limit {
        return None;
    }
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, a) in one.iter().enumerate() {
        let mut diagonal = above[0];
        above[0] = row + 1;
        for (column, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = above[column + 1];
            above[column + 1] = changed.min(above[column] + 1).min(diagonal + 1);
        }
    }
    above.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_strangers_are_not() {
        let ids = ["h_abc_12345", "h_abd_12345", "h_xyz_99999", "n1"];
        assert_eq!(nearest(ids.into_iter(), "h_abc_12346"), ["h_abc_12345", "h_abd_12345"]);
        assert_eq!(nearest(ids.into_iter(), "xyz"), ["h_xyz_99999"]);
        assert!(nearest(ids.into_iter(), "completely-other").is_empty());
    }
}
