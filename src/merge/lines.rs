//! Line-level three-way merge of texts, where one side has the last word. Knows no notes.

use std::collections::HashMap;

use similar::{MergeResolution, TextMerge};

/// What happens where both sides changed the same lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// The lines of the side with the last word; the others are lost, and told.
    LastWord,
    /// Where both only added, both additions: for lists of independent lines.
    Both,
}

/// Lines that a merge did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LostLines {
    /// What stands in their place.
    pub(super) kept: String,
    /// What would have stood there.
    pub(super) lost: String,
}

/// Merges two changes of `base`; `ours` has the last word.
pub(super) fn merge(base: &str, ours: &str, theirs: &str, overlap: Overlap) -> (String, Vec<LostLines>) {
    if theirs == base || theirs == ours {
        return (ours.to_owned(), Vec::new());
    }
    if ours == base {
        return (theirs.to_owned(), Vec::new());
    }
    if is_carried_out(base, ours, theirs) {
        return (ours.to_owned(), Vec::new());
    }
    // A last line without its end would differ from the same line with one.
    let [base, ours, theirs] =
        [base, ours, theirs].map(|text| if text.is_empty() { String::new() } else { format!("{text}\n") });
    let merged = TextMerge::from_lines(&base, &ours, &theirs);
    let ours: Vec<&str> = ours.split_inclusive('\n').collect();
    let theirs: Vec<&str> = theirs.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut lost = Vec::new();
    for region in merged.regions() {
        let mine = &ours[region.ours_range()];
        let other = &theirs[region.theirs_range()];
        match region.resolution() {
            MergeResolution::Theirs => out.extend(other.iter().copied()),
            MergeResolution::Conflict if overlap == Overlap::Both && region.base_range().is_empty() => {
                out.extend(mine.iter().copied());
                out.extend(other.iter().copied().filter(|line| !mine.contains(line)));
            }
            MergeResolution::Conflict => {
                out.extend(mine.iter().copied());
                let text = |lines: &[&str]| lines.concat().trim_end_matches('\n').to_owned();
                lost.push(LostLines { kept: text(mine), lost: text(other) });
            }
            _ => out.extend(mine.iter().copied()),
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    (out, lost)
}

/// Whether `ours` already has every line that `theirs` added and none that it removed.
/// Where lines repeat, alignment alone would add them once more.
fn is_carried_out(base: &str, ours: &str, theirs: &str) -> bool {
    let mut counts: HashMap<&str, [usize; 3]> = HashMap::new();
    for (side, text) in [base, ours, theirs].into_iter().enumerate() {
        for line in text.lines() {
            counts.entry(line).or_default()[side] += 1;
        }
    }
    let mut changed = counts.values().filter(|[base, _, theirs]| base != theirs).peekable();
    changed.peek().is_some()
        && changed.all(|[base, ours, theirs]| if theirs > base { ours >= theirs } else { ours <= theirs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_different_lines_meet_and_the_last_word_is_ours() {
        let (text, lost) = merge("a\nb\nc\nd", "a!\nb\nc\nd", "a\nb\nc\nd!", Overlap::LastWord);
        assert_eq!((text.as_str(), lost.len()), ("a!\nb\nc\nd!", 0));
        let (text, lost) = merge("port 8080", "port 9090", "port 7070", Overlap::LastWord);
        assert_eq!(text, "port 9090");
        assert_eq!(lost, [LostLines { kept: "port 9090".into(), lost: "port 7070".into() }]);
    }

    #[test]
    fn additions_at_one_place_stand_side_by_side_only_where_asked() {
        let (text, lost) = merge("a", "a\nb", "a\nc", Overlap::Both);
        assert_eq!((text.as_str(), lost.len()), ("a\nb\nc", 0));
        let (text, lost) = merge("a", "a\nb", "a\nc", Overlap::LastWord);
        assert_eq!((text.as_str(), lost.len()), ("a\nb", 1));
    }
}
