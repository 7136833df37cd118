//! The text that belongs to no note, merged line by line around the notes.

use similar::{MergeResolution, TextMerge};

use crate::document::{Document, SegmentKind};
use crate::effective::id_of;
use crate::text::{Lines, Span, Splice, splice};

use super::lines::{LostLines, comparable};

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

/// Prose changes as splices of a third version, and the places where they met its own.
pub(super) struct Carried {
    pub(super) splices: Vec<Splice>,
    pub(super) clashes: Vec<Clash>,
}

/// Prose that both sides changed, differently.
pub(super) struct Clash {
    /// The lines of the target.
    pub(super) place: Span,
    /// What the target says there.
    pub(super) kept: String,
    /// What the version before both said.
    pub(super) base: String,
    /// What the change says.
    pub(super) lost: String,
}

/// The prose changes from `from` to `to` for `target`, whose notes are merged already.
pub(super) fn carry(from: &Document, to: &Document, target: &Document) -> Carried {
    // Notes serve as landmarks, if all three have them.
    let has = |document: &Document, id: &str| document.notes().any(|note| id_of(note) == id);
    let is_common = |id: &str| has(from, id) && has(to, id) && has(target, id);
    let [base, ours, theirs] = [from, target, to].map(|document| Skeleton::of(document, is_common));
    let compared = [&base, &ours, &theirs].map(|side| comparable(&side.text));
    let merged = TextMerge::from_lines(&*compared[0], &*compared[1], &*compared[2]);
    let [base_lines, our_lines, their_lines] =
        [&base, &ours, &theirs].map(|side| side.text.split_inclusive('\n').collect::<Vec<_>>());
    let mut carried = Carried { splices: Vec::new(), clashes: Vec::new() };
    for region in merged.regions() {
        let range = region.ours_range();
        let (mine, other) = (prose(&our_lines[range.clone()]), prose(&their_lines[region.theirs_range()]));
        // Empty lines come and go with the notes; they are nobody's words.
        if words(&mine).eq(words(&other)) {
            continue;
        }
        let at = ours.lines.get(range.start).map_or(target.source().len(), |span| span.start);
        let is_prose = |index: &usize| !our_lines[*index].starts_with(NOTE);
        let before = prose(&base_lines[region.base_range()]);
        // A side that has only other empty lines than the base has changed nothing.
        let resolution = match region.resolution() {
            MergeResolution::Conflict if words(&other).eq(words(&before)) => continue,
            MergeResolution::Conflict if words(&mine).eq(words(&before)) => MergeResolution::Theirs,
            resolution => resolution,
        };
        match resolution {
            MergeResolution::Theirs => {
                // Lines of notes stay where they are: order is no content.
                let own = range.filter(is_prose).map(|index| Splice::remove(ours.lines[index]));
                carried.splices.extend(own);
                let text = as_lines_of(target, at, &other);
                if !text.is_empty() {
                    carried.splices.push(Splice::insert(at, text));
                }
            }
            MergeResolution::Conflict => {
                // The lines that stand together, behind the last note among them.
                let last: Vec<Span> =
                    range.rev().take_while(is_prose).map(|index| ours.lines[index]).collect();
                let place = match (last.last(), last.first()) {
                    (Some(first), Some(last)) => Span::new(first.start, last.end),
                    _ => Span::at(at),
                };
                carried.clashes.push(Clash { place, kept: mine, base: before, lost: other });
            }
            _ => {}
        }
    }
    carried
}

/// Lines without those that stand for notes.
fn prose(lines: &[&str]) -> String {
    lines.iter().filter(|line| !line.starts_with(NOTE)).copied().collect()
}

/// Lines as a layer can take them at an offset.
fn as_lines_of(target: &Document, at: usize, lines: &str) -> String {
    let source = target.source();
    let eol = if source.contains("\r\n") { "\r\n" } else { "\n" };
    let is_behind_a_line = at == source.len() && !source.is_empty() && !source.ends_with('\n');
    let lead = if is_behind_a_line && !lines.is_empty() { eol } else { "" };
    format!("{lead}{}", lines.replace('\n', eol))
}

/// Carries the prose changes from `from` to `to` onto `target`, whose notes are merged
/// already. Gives the new text and the lines that lost against the target's own.
pub(super) fn merge(from: &Document, to: &Document, target: &Document) -> (String, Vec<LostLines>) {
    let Carried { splices, clashes } = carry(from, to, target);
    let text = |text: String| text.trim_end_matches('\n').to_owned();
    let lost = clashes.into_iter().map(|clash| LostLines { kept: text(clash.kept), lost: text(clash.lost) });
    // No two regions share a line, so this cannot fail; if it did, nothing would change.
    (splice(target.source(), splices).unwrap_or_else(|_| target.source().to_owned()), lost.collect())
}
