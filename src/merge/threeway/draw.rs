//! A merge as text, with git's markers where the sides disagree.

use similar::{DiffOp, MergeResolution, TextDiff, TextMerge};

use crate::document::Form;
use crate::merge::lines::comparable;
use crate::text::{Span, Splice, splice};

use super::Marks;
use super::join::{Clash, Joined};

/// How much the markers take in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// The lines of a note that differ.
    Lines,
    /// Whole notes: where a marker among the lines of a note would not be read as one.
    Notes,
}

/// The layer with markers. With `is_flipped` the target is their side.
pub(super) fn draw(joined: &Joined, marks: &Marks, grain: Grain, is_flipped: bool) -> Option<String> {
    let pen = Pen { marks, grain, is_flipped, eol: joined.document.eol() };
    let source = joined.document.source();
    let mut splices = joined.prose.splices.clone();
    for clash in &joined.prose.clashes {
        let text = pen.mark(clash.place.of(source), &clash.base, &clash.lost);
        splices.push(Splice::replace(clash.place, text));
    }
    for clash in &joined.clashes {
        let note = joined.document.note_at(clash.note).filter(|note| note.is_contiguous())?;
        let (start, raw) = (note.span().start, note.raw());
        let kept = raw.trim_end().len();
        let end = start + raw[kept..].find('\n').map_or(raw.len(), |newline| kept + newline + 1);
        splices.push(Splice::replace(Span::new(start, end), pen.note(clash, note.form())));
    }
    splice(source, splices).ok()
}

/// The two sides and the base between markers, each of whole lines or nothing.
pub(super) fn marked(marks: &Marks, eol: &str, ours: &str, base: &str, theirs: &str) -> String {
    let marker = |sign: &str, label: &str| {
        let gap = if label.is_empty() { "" } else { " " };
        format!("{}{gap}{label}{eol}", sign.repeat(marks.size))
    };
    let base = match &marks.base {
        Some(label) => marker("|", label) + base,
        None => String::new(),
    };
    marker("<", &marks.ours) + ours + &base + &marker("=", "") + theirs + &marker(">", &marks.theirs)
}

struct Pen<'a> {
    marks: &'a Marks,
    grain: Grain,
    is_flipped: bool,
    eol: &'static str,
}

impl Pen<'_> {
    fn mark(&self, target: &str, base: &str, newer: &str) -> String {
        let [target, base, newer] = [target, base, newer].map(|lines| self.lines(lines));
        let (ours, theirs) = if self.is_flipped { (newer, target) } else { (target, newer) };
        marked(self.marks, self.eol, &ours, &base, &theirs)
    }

    /// Lines with the line end of the layer.
    fn lines(&self, lines: &str) -> String {
        lines.replace("\r\n", "\n").replace('\n', self.eol)
    }

    fn note(&self, clash: &Clash, form: Form) -> String {
        let base = clash.base.as_deref().unwrap_or_default();
        match (&clash.target, &clash.newer) {
            // A bullet is short, and what stands below it is its own only in one piece.
            (Some(target), Some(newer)) if self.grain == Grain::Lines && form == Form::FrontMatter => {
                if self.marks.base.is_some() && clash.base.is_some() {
                    self.three(target, base, newer)
                } else {
                    self.two(target, newer)
                }
            }
            (target, newer) => {
                let [target, newer] = [target, newer].map(|side| side.as_deref().unwrap_or_default());
                self.mark(target, base, newer)
            }
        }
    }

    /// Markers around the lines that differ.
    fn two(&self, target: &str, newer: &str) -> String {
        let compared = [target, newer].map(comparable);
        let diff = TextDiff::from_lines(&*compared[0], &*compared[1]);
        let [before, after] = [target, newer].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let mut out = String::new();
        let mut hunk = (String::new(), String::new());
        let close = |hunk: &mut (String, String), out: &mut String| {
            if *hunk != (String::new(), String::new()) {
                out.push_str(&self.mark(&hunk.0, "", &hunk.1));
                *hunk = (String::new(), String::new());
            }
        };
        for op in diff.ops() {
            let (mine, other) = (&before[op.old_range()], &after[op.new_range()]);
            if matches!(op, DiffOp::Equal { .. }) {
                close(&mut hunk, &mut out);
                out.push_str(&self.lines(&mine.concat()));
            } else {
                hunk.0.push_str(&mine.concat());
                hunk.1.push_str(&other.concat());
            }
        }
        close(&mut hunk, &mut out);
        out
    }

    /// As [`Self::two`], with the base between them.
    fn three(&self, target: &str, base: &str, newer: &str) -> String {
        let compared = [base, target, newer].map(comparable);
        let merged = TextMerge::from_lines(&*compared[0], &*compared[1], &*compared[2]);
        let [base, target, newer] =
            [base, target, newer].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let mut out = String::new();
        for region in merged.regions() {
            let (mine, other) = (&target[region.ours_range()], &newer[region.theirs_range()]);
            if mine == other || region.resolution() == MergeResolution::Unchanged {
                out.push_str(&self.lines(&mine.concat()));
            } else {
                let base = base[region.base_range()].concat();
                out.push_str(&self.mark(&mine.concat(), &base, &other.concat()));
            }
        }
        out
    }
}
