//! The text that belongs to no note, merged line by line around the notes.

use similar::{MergeResolution, TextMerge};

use crate::document::{Document, SegmentKind};
use crate::effective::id_of;
use crate::text::{Lines, Span, Splice, splice};

use super::lines::LostLines;

/// Stands for a note among the lines of prose; no line of a file starts with it.
const NOTE: char = '\u{0}';

/// A layer's prose with a line for each note, and where the lines stand.
struct Skeleton {
    text: String,
    lines: Vec<Span>,
}

impl Skeleton {
    /// `keeps` says which notes have a line.
    fn of(document: &Document, keeps: impl Fn(&str) -> bool) -> Self {
        let source = document.source();
        let mut skeleton = Self { text: String::new(), lines: Vec::new() };
        let mut seen = None;
        for segment in document.segments() {
            if let SegmentKind::Note(index) = segment.kind {
                let id = document.note_at(index).map(|note| id_of(note).into_owned()).unwrap_or_default();
                if seen != Some(index) && keeps(&id) {
                    skeleton.push(&format!("{NOTE}{id}"), segment.span);
                }
                seen = Some(index);
                continue;
            }
            for line in Lines::within(source, segment.span) {
                skeleton.push(line.text(source), line.span());
            }
        }
        skeleton
    }

    fn push(&mut self, line: &str, span: Span) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines.push(span);
    }
}

/// Whether two versions differ in their prose, empty lines aside.
pub(super) fn differs(one: &Document, other: &Document) -> bool {
    let [one, other] = [one, other].map(|document| Skeleton::of(document, |_| false).text);
    !words(&one).eq(words(&other))
}

/// The lines that are not empty, without blanks at their end.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty())
}

/// Carries the prose changes from `from` to `to` onto `target`, whose notes are merged
/// already. Gives the new text and the lines that lost against the target's own.
pub(super) fn merge(from: &Document, to: &Document, target: &Document) -> (String, Vec<LostLines>) {
    // Notes serve as landmarks, if all three have them.
    let has = |document: &Document, id: &str| document.notes().any(|note| id_of(note) == id);
    let is_common = |id: &str| has(from, id) && has(to, id) && has(target, id);
    let [base, ours, theirs] = [from, target, to].map(|document| Skeleton::of(document, is_common));
    let merged = TextMerge::from_lines(&base.text, &ours.text, &theirs.text);
    let theirs: Vec<&str> = theirs.text.split_inclusive('\n').collect();
    let our_lines: Vec<&str> = ours.text.split_inclusive('\n').collect();
    let mut splices = Vec::new();
    let mut lost = Vec::new();
    for region in merged.regions() {
        let range = region.ours_range();
        let (mine, other) = (&our_lines[range.clone()], &theirs[region.theirs_range()]);
        let prose =
            |lines: &[&str]| lines.iter().filter(|line| !line.starts_with(NOTE)).copied().collect::<String>();
        // Empty lines come and go with the notes; they are nobody's words.
        if words(&prose(mine)).eq(words(&prose(other))) {
            continue;
        }
        match region.resolution() {
            MergeResolution::Theirs => {
                let eol = if target.source().contains("\r\n") { "\r\n" } else { "\n" };
                let at = ours.lines.get(range.start).map_or(target.source().len(), |span| span.start);
                // Lines of notes stay where they are: order is no content.
                splices.extend(
                    range
                        .clone()
                        .filter(|index| !our_lines[*index].starts_with(NOTE))
                        .map(|index| Splice::remove(ours.lines[index])),
                );
                let mut text = prose(other).replace('\n', eol);
                if at == target.source().len()
                    && !target.source().is_empty()
                    && !target.source().ends_with('\n')
                    && !text.is_empty()
                {
                    text.insert_str(0, eol);
                }
                if !text.is_empty() {
                    splices.push(Splice::insert(at, text));
                }
            }
            MergeResolution::Conflict => {
                let (kept, gone) = (prose(mine), prose(other));
                let text = |text: String| text.trim_end_matches('\n').to_owned();
                lost.push(LostLines { kept: text(kept), lost: text(gone) });
            }
            _ => {}
        }
    }
    // No two regions share a line, so this cannot fail; if it did, nothing would change.
    (splice(target.source(), splices).unwrap_or_else(|_| target.source().to_owned()), lost)
}
