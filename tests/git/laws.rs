//! What holds for every merge, over the collected odd layers with random edits of their lines:
//! no line that a side wrote is missing, and markers stand where the sides disagree.

use std::fs;

use harness_layers::document::{Document, Note, State};
use harness_layers::merge::{Marks, Versions, merge};

const ROUNDS: u64 = 60;

/// Numbers that a seed decides.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).unwrap()
    }
}

/// A version with some lines changed, added, taken out or moved.
fn edited(base: &str, name: &str, dice: &mut Dice) -> String {
    let eol = if base.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = base.split_inclusive('\n').map(str::to_owned).collect();
    for number in 0..=dice.below(3) {
        let at = dice.below(lines.len() + 1);
        let new = match dice.below(5) {
            0 => format!("---{eol}id: {name}{number}{eol}---{eol}{eol}A note of {name}{number}.{eol}"),
            1 => format!("- **[{name}{number}]** (importance 0.70) A bullet of {name}{number}.{eol}"),
            2 => format!("x-{name}: {number} of {name}{eol}"),
            _ => format!("Words {number} of {name}.{eol}"),
        };
        match dice.below(4) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = new,
            _ => lines.insert(at, new),
        }
    }
    lines.concat()
}

fn ids(document: &Document) -> Vec<&str> {
    document.notes().filter(|note| note.state() == State::Good).filter_map(Note::id).collect()
}

#[test]
fn no_line_that_a_side_wrote_and_no_note_is_missing() {
    let mut count = 0;
    for entry in fs::read_dir("fixtures/documents").unwrap() {
        let path = entry.unwrap().path();
        let Ok(base) = fs::read_to_string(&path) else { continue };
        if !Document::parse(base.as_str()).conflicts().is_empty() {
            continue;
        }
        for seed in 0..ROUNDS {
            let mut dice = Dice(seed);
            let [ours, theirs] = ["ours", "theirs"].map(|name| edited(&base, name, &mut dice));
            let merge = merge(Versions { base: &base, ours: &ours, theirs: &theirs }, &Marks::default());
            let Ok(merged) = merge else {
                // An edit took markers out of their fence.
                let is_marked = |side: &str| !Document::parse(side).conflicts().is_empty();
                assert!(is_marked(&ours) || is_marked(&theirs), "{} {seed}", path.display());
                continue;
            };
            let fault = || {
                format!(
                    "{} {seed}\n== base\n{base}\n== ours\n{ours}\n== theirs\n{theirs}\n== merged {:?}\n{}",
                    path.display(),
                    merged.disagreements,
                    merged.text
                )
            };
            for line in ours
                .lines()
                .chain(theirs.lines())
                .map(str::trim)
                .filter(|line| line.contains(" of ours") || line.contains(" of theirs"))
            {
                // Where the other side has no bullets any more, it stands there as a block.
                let line = line.rsplit(") ").next().unwrap_or(line);
                assert!(merged.text.contains(line), "{line:?} is missing: {}", fault());
            }
            let [base, ours, theirs, found] =
                [&base, &ours, &theirs, &merged.text].map(|it| Document::parse(it.as_str()));
            for id in ids(&ours).into_iter().chain(ids(&theirs)) {
                let is_taken_out = !base.is_absent(id) && (ours.is_absent(id) || theirs.is_absent(id));
                assert!(is_taken_out || !found.is_absent(id), "{id} is missing: {}", fault());
            }
            if merged.disagreements.is_empty() {
                assert!(found.conflicts().is_empty(), "{}", fault());
                count += 1;
            } else {
                assert!(
                    merged.text.contains("<<<<<<< ours") && merged.text.contains(">>>>>>> theirs"),
                    "{}",
                    fault()
                );
            }
        }
    }
    assert!(count > 500, "most merge clean: {count}");
}
