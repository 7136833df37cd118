//! Layers merged as nothing but text, line by line, as git does it without us.

use std::collections::BTreeMap;

use similar::{ConflictStyle, TextMerge};

use crate::document::Document;

use super::draw::marked;
use super::{Disagreement, Marks, Merged};

/// Line by line. Where that would lose a note or make one twice without saying so, the whole
/// layers stand side by side.
pub(super) fn merge(base: &Document, ours: &Document, theirs: &Document, marks: &Marks) -> Merged {
    let mut merge = TextMerge::from_lines(base.source(), ours.source(), theirs.source());
    if !merge.is_conflicted() {
        let text = written(&merge).unwrap_or_default();
        if keeps_notes(base, ours, theirs, &Document::parse(text.as_str())) {
            return Merged { text, disagreements: Vec::new() };
        }
    }
    let disagreements = vec![Disagreement::Text];
    if merge.is_conflicted() {
        let style = if marks.base.is_some() { ConflictStyle::Diff3 } else { ConflictStyle::Merge };
        let label = marks.base.as_deref().unwrap_or_default();
        merge.conflict_style(style).conflict_marker_size(marks.size).labels(
            label,
            &marks.ours,
            &marks.theirs,
        );
        if let Some(text) = written(&merge) {
            return Merged { text, disagreements };
        }
    }
    let text = marked(marks, "\n", ours.source(), base.source(), theirs.source());
    Merged { text, disagreements }
}

fn written(merge: &TextMerge<'_, '_, '_, str>) -> Option<String> {
    let mut bytes = Vec::new();
    merge.to_writer(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
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
    for id in document.notes().filter_map(|note| note.id()) {
        *counts.entry(id.to_owned()).or_default() += 1;
    }
    counts
}
