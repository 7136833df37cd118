//! Layers as data, two branches that edit them, and what a merge must make of both: knows
//! nothing of how anybody merges.

use std::collections::BTreeMap;

/// How notes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocks,
    Bullets,
}

/// How many notes a pair of layers starts with.
const NOTES: usize = 50;
/// Lines of a content. Only every other one is edited: neighbours are one place to git.
const LINES: usize = 5;
const LAYERS: usize = 2;

/// A note as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) id: String,
    pub(crate) is_skill: bool,
    pub(crate) fields: BTreeMap<&'static str, String>,
    pub(crate) lines: Vec<String>,
}

/// The layers of one branch, each a list of notes.
pub(crate) type Layers = [Vec<Note>; LAYERS];

/// Two branches that left from one commit.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) base: Layers,
    pub(crate) ours: Layers,
    pub(crate) theirs: Layers,
}

/// What must come of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It stands in this layer and says this.
    Note(usize, Note),
    /// It is gone.
    Gone,
    /// The branches disagree about it, in this layer.
    Dispute(usize),
}

/// SplitMix64: numbers that a seed decides.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit as u64).unwrap()
    }

    fn chance(&mut self, of_100: usize) -> bool {
        self.below(100) < of_100
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 8] = ["ka", "lo", "mi", "ne", "pu", "ra", "so", "te"];
        (0..3).map(|_| SYLLABLES[self.below(8)]).collect()
    }

    fn note(&mut self, id: String) -> Note {
        let lines = (0..LINES).map(|line| format!("{} {} {line}.", self.word(), self.word())).collect();
        let importance = format!("0.{}0", 1 + self.below(9));
        let mut fields = BTreeMap::from([("importance", importance)]);
        if self.chance(60) {
            fields.insert("evidence", self.word());
        }
        if self.chance(60) {
            fields.insert("model", format!("a/{}", self.word()));
        }
        Note { id, is_skill: self.chance(40), fields, lines }
    }
}

impl Pair {
    pub(crate) fn random(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut base: Layers = Default::default();
        for number in 0..NOTES {
            let note = dice.note(format!("n{number}"));
            let layer = usize::from(number % 3 == 0);
            base[layer].push(note);
        }
        sort(&mut base);
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        // What one branch moves to another layer, the other one leaves alone: no merge of
        // single files could see it.
        let mut movers: Vec<String> = Vec::new();
        for branch in [&mut ours, &mut theirs] {
            if dice.chance(30) {
                let id = format!("n{}", dice.below(NOTES));
                if !movers.contains(&id) {
                    shift(branch, &id, &mut dice);
                    movers.push(id);
                }
            }
        }
        for (branch, name) in [(&mut ours, "o"), (&mut theirs, "t")] {
            for number in 0..=dice.below(7) {
                edit(branch, &format!("{name}{number}"), &movers, &mut dice);
            }
        }
        if dice.chance(25) {
            let id = format!("n{}", dice.below(NOTES));
            let field = ["importance", "evidence", "model", "line"][dice.below(4)];
            if !movers.contains(&id) {
                for branch in [&mut ours, &mut theirs] {
                    if let Some(note) = find(branch, &id) {
                        set(note, field, 2, &mut dice);
                    }
                }
            }
        }
        for side in [&mut ours, &mut theirs] {
            sort(side);
        }
        Self { base, ours, theirs }
    }

    /// What must come of each note, by fields.
    pub(crate) fn wanted(&self) -> BTreeMap<String, Wanted> {
        let all = [&self.base, &self.ours, &self.theirs];
        let ids = all.iter().flat_map(|side| side.iter().flatten()).map(|note| note.id.clone());
        ids.map(|id| {
            let wanted = self.wanted_of(&id);
            (id, wanted)
        })
        .collect()
    }

    fn wanted_of(&self, id: &str) -> Wanted {
        let at = |side: &Layers| {
            let mut places = side.iter().enumerate();
            places.find_map(|(layer, notes)| Some((layer, notes.iter().find(|note| note.id == id)?.clone())))
        };
        let (base, ours, theirs) = (at(&self.base), at(&self.ours), at(&self.theirs));
        let settled = if ours == base {
            theirs
        } else if theirs == base || ours == theirs {
            ours
        } else {
            let (Some((layer, base)), Some((_, ours)), Some((_, theirs))) = (&base, &ours, &theirs) else {
                let layer = base.or(ours).or(theirs).map_or(0, |(layer, _)| layer);
                return Wanted::Dispute(layer);
            };
            match blend(base, ours, theirs) {
                Some(note) => Some((*layer, note)),
                None => return Wanted::Dispute(*layer),
            }
        };
        settled.map_or(Wanted::Gone, |(layer, note)| Wanted::Note(layer, note))
    }
}

/// Both branches' edits of one note; `None` if they are about one field or line.
fn blend(base: &Note, ours: &Note, theirs: &Note) -> Option<Note> {
    fn settle<T: PartialEq + Clone>(base: &T, ours: &T, theirs: &T) -> Option<T> {
        if ours == base || ours == theirs {
            Some(theirs.clone())
        } else {
            (theirs == base).then(|| ours.clone())
        }
    }
    let mut note = base.clone();
    for field in ["importance", "evidence", "model"] {
        let of = |side: &Note| side.fields.get(field).cloned();
        let sides = [of(base), of(ours), of(theirs)];
        let settled = match &sides {
            // Reasons are a list: what both add stands side by side.
            [None, Some(ours), Some(theirs)] if field == "evidence" && ours != theirs => {
                Some(format!("{}\n{}", ours.min(theirs), ours.max(theirs)))
            }
            [base, ours, theirs] => settle(base, ours, theirs)?,
        };
        match settled {
            Some(value) => note.fields.insert(field, value),
            None => note.fields.remove(field),
        };
    }
    for line in 0..LINES {
        note.lines[line] = settle(&base.lines[line], &ours.lines[line], &theirs.lines[line])?;
    }
    Some(note)
}

fn find<'a>(layers: &'a mut Layers, id: &str) -> Option<&'a mut Note> {
    layers.iter_mut().flatten().find(|note| note.id == id)
}

fn set(note: &mut Note, field: &'static str, line: usize, dice: &mut Dice) {
    match field {
        "line" => note.lines[line] = format!("{} {}!", dice.word(), dice.word()),
        "importance" => {
            note.fields.insert(field, format!("0.{}5", 1 + dice.below(9)));
        }
        _ => {
            note.fields.insert(field, format!("b/{}", dice.word()));
        }
    }
}

/// One edit of a branch.
fn edit(branch: &mut Layers, fresh: &str, movers: &[String], dice: &mut Dice) {
    let id = format!("n{}", dice.below(NOTES));
    let is_free = !movers.contains(&id);
    match dice.below(100) {
        0..35 => {
            let note = dice.note(fresh.to_owned());
            let layer = &mut branch[dice.below(LAYERS)];
            // Most people append.
            let place = if dice.chance(60) { layer.len() } else { dice.below(layer.len() + 1) };
            layer.insert(place, note);
        }
        35..75 if is_free => {
            let field = ["importance", "evidence", "model", "line"][dice.below(4)];
            let line = 2 * dice.below(LINES.div_ceil(2));
            if let Some(note) = find(branch, &id) {
                set(note, field, line, dice);
            }
        }
        75..88 if is_free => {
            for layer in branch.iter_mut() {
                if let Some(at) = layer.iter().position(|note| note.id == id) {
                    let note = layer.remove(at);
                    layer.insert(dice.below(layer.len() + 1), note);
                }
            }
        }
        88..100 if is_free => {
            for layer in branch.iter_mut() {
                layer.retain(|note| note.id != id);
            }
        }
        _ => {}
    }
}

/// Moves a note to the other layer.
fn shift(branch: &mut Layers, id: &str, dice: &mut Dice) {
    for layer in 0..LAYERS {
        if let Some(at) = branch[layer].iter().position(|note| note.id == id) {
            let note = branch[layer].remove(at);
            let other = &mut branch[LAYERS - 1 - layer];
            other.insert(dice.below(other.len() + 1), note);
            return;
        }
    }
}

/// Memories first, as the bullet form has it in sections.
fn sort(layers: &mut Layers) {
    for layer in layers {
        layer.sort_by_key(|note| note.is_skill);
    }
}

/// A layer as a file.
pub(crate) fn written(notes: &[Note], form: Form) -> String {
    match form {
        Form::Blocks => notes.iter().map(block).collect::<Vec<_>>().join("\n"),
        Form::Bullets => {
            let section = |title: &str, is_skill: bool| {
                let notes = notes.iter().filter(|note| note.is_skill == is_skill).map(bullet);
                format!("## {title}\n\n{}", notes.collect::<String>())
            };
            section("Memory facts", false) + "\n" + &section("Skill descriptions", true)
        }
    }
}

fn block(note: &Note) -> String {
    let kind = if note.is_skill { "skill" } else { "memory" };
    let fields: String = note.fields.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    format!("---\nid: {}\nkind: {kind}\n{fields}---\n\n{}\n", note.id, note.lines.join("\n"))
}

fn bullet(note: &Note) -> String {
    let importance = note.fields.get("importance").unwrap();
    let rest: String = note
        .fields
        .iter()
        .filter(|(key, _)| **key != "importance")
        .map(|(key, value)| format!("  - {key}: {value}\n"))
        .collect();
    format!("- **[{}]** (importance {importance}) {}\n{rest}", note.id, note.lines.join("\n  "))
}
