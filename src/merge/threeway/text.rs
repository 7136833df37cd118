//! Layers merged as nothing but text, line by line, as git does it without us.

use std::collections::BTreeMap;

use similar::{MergeResolution, TextMerge};

use crate::document::{Document, Note};
use crate::merge::lines::comparable;

use super::draw::marked;
use super::{Disagreement, Marks, Merged};

/// Line by line. Where that would lose a note or make one twice without saying so, the whole
/// layers stand side by side.
pub(super) fn merge(base: &Document, ours: &Document, theirs: &Document, marks: &Marks) -> Merged {
    let texts = [base, ours, theirs].map(Document::source);
    let compared = texts.map(comparable);
    let merge = TextMerge::from_lines(&*compared[0], &*compared[1], &*compared[2]);
    let lines = texts.map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let mut text = String::new();
    for region in merge.regions() {
        let before = lines[0][region.base_range()].concat();
        let mine = lines[1][region.ours_range()].concat();
        let other = lines[2][region.theirs_range()].concat();
        match region.resolution() {
            MergeResolution::Theirs => text.push_str(&other),
            MergeResolution::Conflict => text.push_str(&marked(marks, "\n", &mine, &before, &other)),
            _ => text.push_str(&mine),
        }
    }
    if merge.is_conflicted() {
        return Merged { text, disagreements: vec![Disagreement::Text] };
    }
    if keeps_notes(base, ours, theirs, &Document::parse(text.as_str())) {
        return Merged { text, disagreements: Vec::new() };
    }
    let text = marked(marks, "\n", texts[1], texts[0], texts[2]);
    Merged { text, disagreements: vec![Disagreement::Text] }
}

/// Whether each note that a side has, and the other did not take out, is there as often as
/// it was.
fn keeps_notes(base: &Document, ours: &Document, theirs: &Document, merged: &Document) -> bool {
    let [base, ours, theirs, found] = [base, ours, theirs, merged].map(counts);
    let of = |side: &BTreeMap<String, usize>, id: &String| side.get(id).copied().unwrap_or(0);
    let ids = ours.keys().chain(theirs.keys()).chain(found.keys());
    ids.into_iter().all(|id| {
        let (base, ours, theirs) = (of(&base, id), of(&ours, id), of(&theirs, id));
        let wanted = if ours == base { theirs } else { ours };
        let is_settled = ours == base || theirs == base || ours == theirs;
        is_settled && (of(&found, id) == wanted || wanted > 0 && !merged.is_absent(id) && of(&found, id) < 2)
    })
}

fn counts(document: &Document) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for id in document.notes().filter_map(Note::id) {
        *counts.entry(id.to_owned()).or_default() += 1;
    }
    counts
}
