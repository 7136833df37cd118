//! Line-level three-way merge of texts, where one side has the last word. Knows no notes.

use std::borrow::Cow;
use std::collections::HashMap;

use similar::{MergeResolution, TextMerge};

/// A text for comparing its lines, with as many as `split_inclusive('\n')` gives: to the diff
/// library, a CR alone would end a line, too.
pub(super) fn comparable(text: &str) -> Cow<'_, str> {
    let is_alone = |at: usize| !text[at + 1..].starts_with('\n');
    if !text.match_indices('\r').any(|(at, _)| is_alone(at)) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix("\r\n") {
        Some(line) => line.replace('\r', "\u{0}") + "\r\n",
        None => line.replace('\r', "\u{0}"),
    });
    Cow::Owned(lines.collect())
}

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
    let mut merged = Woven::default();
    weave(base, ours, theirs, overlap, &mut merged);
    (merged.ours, merged.lost)
}

/// A merge told three times: where both sides changed the same lines, as ours, as the base
/// and as theirs have them. Everywhere else the three are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Woven {
    pub(super) ours: String,
    pub(super) base: String,
    pub(super) theirs: String,
    lost: Vec<LostLines>,
}

impl Woven {
    /// Merges two changes of `base`, neither of which has the last word.
    pub(super) fn of(base: &str, ours: &str, theirs: &str, overlap: Overlap) -> Self {
        let mut woven = Self::default();
        weave(base, ours, theirs, overlap, &mut woven);
        woven
    }

    /// Whether no line was changed by both, differently.
    pub(super) fn is_clean(&self) -> bool {
        self.lost.is_empty()
    }

    fn push(&mut self, [ours, base, theirs]: [&[&str]; 3]) {
        for (out, lines) in [(&mut self.ours, ours), (&mut self.base, base), (&mut self.theirs, theirs)] {
            out.extend(lines.iter().copied());
        }
    }
}

fn weave(base: &str, ours: &str, theirs: &str, overlap: Overlap, out: &mut Woven) {
    // A last line without its end would differ from the same line with one.
    let ended =
        [base, ours, theirs].map(|text| if text.is_empty() { String::new() } else { format!("{text}\n") });
    let [base, ours, theirs] = &ended;
    let compared = [base, ours, theirs].map(|text| comparable(text));
    let merged = TextMerge::from_lines(&*compared[0], &*compared[1], &*compared[2]);
    let [base, ours, theirs] =
        [base, ours, theirs].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    for region in merged.regions() {
        let mine = &ours[region.ours_range()];
        let other = &theirs[region.theirs_range()];
        let before = &base[region.base_range()];
        match region.resolution() {
            MergeResolution::Theirs => out.push([other; 3]),
            MergeResolution::Conflict if overlap == Overlap::Both && before.is_empty() => {
                let new = other.iter().copied().filter(|line| !mine.contains(line));
                let both: Vec<&str> = mine.iter().copied().chain(new).collect();
                out.push([&both; 3]);
            }
            MergeResolution::Conflict => {
                out.push([mine, before, other]);
                let text = |lines: &[&str]| lines.concat().trim_end_matches('\n').to_owned();
                out.lost.push(LostLines { kept: text(mine), lost: text(other) });
            }
            _ => out.push([mine; 3]),
        }
    }
    for text in [&mut out.ours, &mut out.base, &mut out.theirs] {
        text.truncate(text.trim_end_matches('\n').len());
    }
}

/// Whether `ours` already has every line that `theirs` added and none that it removed.
/// Where lines repeat, alignment alone would add them once more.
pub(super) fn is_carried_out(base: &str, ours: &str, theirs: &str) -> bool {
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
    fn a_woven_merge_differs_in_the_lines_in_dispute_alone() {
        let woven = Woven::of("a\nb\nc\nd\ne", "a!\nb\nx\nd\ne", "a\nb\ny\nd\ne!", Overlap::LastWord);
        assert_eq!(woven.ours, "a!\nb\nx\nd\ne!");
        assert_eq!(woven.base, "a!\nb\nc\nd\ne!");
        assert_eq!(woven.theirs, "a!\nb\ny\nd\ne!");
        assert!(!woven.is_clean());
    }

    #[test]
    fn additions_at_one_place_stand_side_by_side_only_where_asked() {
        let (text, lost) = merge("a", "a\nb", "a\nc", Overlap::Both);
        assert_eq!((text.as_str(), lost.len()), ("a\nb\nc", 0));
        let (text, lost) = merge("a", "a\nb", "a\nc", Overlap::LastWord);
        assert_eq!((text.as_str(), lost.len()), ("a\nb", 1));
    }
}
