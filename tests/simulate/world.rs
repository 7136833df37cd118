//! A small world in which agents, people, a refiner and pi change the same layers, and an
//! oracle that knows every text that was ever accepted. Everything follows from a seed.

#![allow(clippy::unwrap_used, reason = "a failed law is a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use harness_layers::config::Orphans;
use harness_layers::document::{Change, Document, Field, Form, NewNote, Note, Place};
use harness_layers::effective::{Audience, judge};
use harness_layers::export::{Exported, single};
use harness_layers::note::{Kind, LayerKind};
use harness_layers::reach::ReadLayer;
use harness_layers::select::Standing;
use harness_layers::store::StatePlace;
use harness_layers::sync::{Author, LayerReport, PassOptions, Peeker, Session, change_layer};
use harness_layers::workspace::{Env, LayerRef, Workspace};

/// Numbers that follow from a seed (xorshift64*, G. Marsaglia 2003, S. Vigna 2016).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % end.max(1)
    }
}

/// What happens next. Numbers choose among what is there, so that a step still means
/// something when steps before it are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    AgentAdds {
        layer: usize,
        private: bool,
    },
    AgentRewords {
        layer: usize,
        note: usize,
    },
    AgentWeighs {
        layer: usize,
        note: usize,
    },
    AgentArchives {
        layer: usize,
        note: usize,
    },
    /// A person opens the file.
    Opens {
        layer: usize,
    },
    /// The person edits what was opened, and saves it in one of several ways.
    Saves {
        layer: usize,
        edit: usize,
        way: usize,
    },
    /// A person edits the file as it is.
    Edits {
        layer: usize,
        edit: usize,
        way: usize,
    },
    /// A person cuts a note out of one file and puts it into another.
    Moves {
        from: usize,
        to: usize,
        note: usize,
    },
    /// A refiner reads the file, and later writes it back in its own way.
    Refines {
        layer: usize,
        seed: usize,
    },
    /// pi writes all it knows over the file.
    Exports {
        layer: usize,
        reads: bool,
    },
    Deletes {
        layer: usize,
    },
    /// A save that stops halfway.
    Truncates {
        layer: usize,
        at: usize,
    },
    /// The process dies after it has written files and before it has noted that.
    Crashes,
    Syncs,
    Accepts,
}

impl Step {
    fn random(dice: &mut Dice) -> Self {
        let layer = dice.below(2);
        match dice.below(40) {
            0..=5 => Self::AgentAdds { layer, private: dice.below(3) == 0 },
            6..=9 => Self::AgentRewords { layer, note: dice.below(8) },
            10..=11 => Self::AgentWeighs { layer, note: dice.below(8) },
            12 => Self::AgentArchives { layer, note: dice.below(8) },
            13..=15 => Self::Opens { layer },
            16..=20 => Self::Saves { layer, edit: dice.below(32), way: dice.below(3) },
            21..=25 => Self::Edits { layer, edit: dice.below(32), way: dice.below(3) },
            26..=27 => Self::Moves { from: layer, to: 1 - layer, note: dice.below(8) },
            28..=29 => Self::Refines { layer, seed: dice.below(1000) },
            30 => Self::Exports { layer, reads: dice.below(2) == 0 },
            31 => Self::Deletes { layer },
            32 => Self::Truncates { layer, at: dice.below(1000) },
            33 => Self::Crashes,
            34 => Self::Accepts,
            _ => Self::Syncs,
        }
    }
}

/// A world's beginning and what happens in it.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) form: bool,
    pub(crate) notes: usize,
    pub(crate) steps: Vec<Step>,
}

impl Schedule {
    pub(crate) fn random(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let form = dice.below(2) == 0;
        let notes = dice.below(5);
        let count = 4 + dice.below(9);
        Self { form, notes, steps: (0..count).map(|_| Step::random(&mut dice)).collect() }
    }

    /// The shortest schedule that still fails, found by leaving out steps.
    #[allow(dead_code, reason = "the example shortens, the test only runs")]
    pub(crate) fn shrunk(mut self) -> Self {
        let mut at = 0;
        while at < self.steps.len() {
            let mut shorter = self.clone();
            shorter.steps.remove(at);
            if shorter.run().is_err() {
                self = shorter;
            } else {
                at += 1;
            }
        }
        self
    }

    /// Runs it; the first broken law, in words.
    pub(crate) fn run(&self) -> Result<(), String> {
        let mut world = World::new(self);
        for (number, step) in self.steps.iter().enumerate() {
            let done = world.step(*step).and_then(|()| match step {
                // Looking changes nothing.
                Step::Opens { .. } => Ok(()),
                _ => world.sync(*step == Step::Accepts),
            });
            if let Err(law) = done {
                let files = world_text(&world.layers) + &world.versions_text();
                return Err(format!("step {} {step:?}: {law}\n{files}", number + 1));
            }
        }
        Ok(())
    }
}

fn world_text(layers: &[LayerRef]) -> String {
    layers.iter().fold(String::new(), |mut all, layer| {
        let _ = write!(
            all,
            "--- {}\n{}",
            layer.path.display(),
            fs::read_to_string(&layer.path).unwrap_or_default()
        );
        all
    })
}

const MODELS: [&str; 2] = ["a/one", "b/two"];

/// A buffer.
#[derive(Clone, Default)]
struct Opened {
    text: String,
    /// As it was when it was opened.
    original: String,
    /// Words that agents wrote since, each with the note that it changed; none if the note
    /// was new.
    since: BTreeMap<String, Option<String>>,
    /// It was saved already without some of them: what that save lacked and still lacks was
    /// put back once, and is not a second time.
    has_missed: bool,
}

struct World {
    dir: tempfile::TempDir,
    root: PathBuf,
    place: StatePlace,
    /// The global layer and a project's.
    layers: Vec<LayerRef>,
    form: Form,
    words: usize,
    /// Words that were accepted: an agent was told so, or a pass has read them.
    accepted: BTreeSet<String>,
    /// Words of notes that only one model may see, with the note.
    private: BTreeMap<String, &'static str>,
    /// What a person opened.
    opened: BTreeMap<usize, Opened>,
    /// Words that a stale save did without once already.
    missed: BTreeSet<String>,
    /// Words that have to count after the next pass.
    owed: BTreeSet<String>,
    /// All texts that the files ever had.
    had: BTreeSet<String>,
    /// pi's memory.
    pi: BTreeMap<usize, Document>,
}

impl World {
    fn new(schedule: &Schedule) -> Self {
        let shm = Path::new("/dev/shm");
        let dir = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("harness-state")).unwrap();
        let env = Env {
            root_option: Some(root.clone()),
            project_option: Some("p".to_owned()),
            cwd: dir.path().to_owned(),
            ..Env::default()
        };
        let workspace = Workspace::discover(&env, &BTreeMap::new()).unwrap();
        let mut world = Self {
            place: StatePlace::in_folder(&dir.path().join("state")),
            root,
            dir,
            layers: workspace.layers,
            form: if schedule.form { Form::FrontMatter } else { Form::Bullet },
            words: 0,
            accepted: BTreeSet::new(),
            private: BTreeMap::new(),
            opened: BTreeMap::new(),
            missed: BTreeSet::new(),
            owed: BTreeSet::new(),
            had: BTreeSet::new(),
            pi: BTreeMap::new(),
        };
        for layer in 0..world.layers.len() {
            let mut document = Document::parse("<!-- kept by hand -->\n");
            for note in 0..schedule.notes {
                let id = format!("s{layer}{note}");
                let word = world.word();
                let note = NewNote::new(id, Kind::Memory, word);
                document = document
                    .apply(&[Change::Insert { note, form: Some(world.form), place: Place::End }])
                    .unwrap();
            }
            fs::write(&world.layers[layer].path, document.source()).unwrap();
        }
        world.sync(false).unwrap();
        world
    }

    /// A word that is nowhere yet.
    fn word(&mut self) -> String {
        self.words += 1;
        format!("w{:03}x", self.words)
    }

    fn read(&self, layer: usize) -> String {
        fs::read_to_string(&self.layers[layer].path).unwrap_or_default()
    }

    fn session(&self, who: Option<&str>) -> Session {
        Session::open(&self.root, &self.place, Duration::from_secs(5), Author::of(who)).unwrap()
    }

    fn save(&self, layer: usize, text: &str, way: usize) {
        let path = &self.layers[layer].path;
        match way {
            0 => fs::write(path, text).unwrap(),
            1 => {
                let aside = path.with_extension("md.new");
                fs::write(&aside, text).unwrap();
                fs::rename(aside, path).unwrap();
            }
            _ => {
                if path.exists() {
                    fs::rename(path, path.with_extension("md~")).unwrap();
                }
                fs::write(path, text).unwrap();
            }
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::AgentAdds { layer, private } => self.agent_adds(layer, private),
            Step::AgentRewords { layer, note } => {
                let word = self.word();
                let text = word.clone();
                let reword = |index| Change::Set { note: index, field: Field::Content, text: text.clone() };
                if let Some(id) = self.agent(layer, note, reword) {
                    self.accept_online(layer, word, Some(id));
                }
            }
            Step::AgentWeighs { layer, note } => {
                self.agent(layer, note, |index| Change::Set {
                    note: index,
                    field: Field::Importance,
                    text: "0.75".to_owned(),
                });
            }
            Step::AgentArchives { layer, note } => {
                self.agent(layer, note, |index| Change::Remove { note: index, with_section: false });
            }
            Step::Opens { layer } => {
                let text = self.read(layer);
                self.opened.insert(layer, Opened { original: text.clone(), text, ..Opened::default() });
            }
            Step::Saves { layer, edit, way } => self.saves(layer, edit, way),
            Step::Edits { layer, edit, way } => {
                let text = self.edited(&self.read(layer), edit).0;
                self.save(layer, &text, way);
            }
            Step::Moves { from, to, note } => self.moves(from, to, note),
            Step::Refines { layer, seed } => self.refines(layer, seed),
            Step::Exports { layer, reads } => self.exports(layer, reads),
            Step::Deletes { layer } => drop(fs::remove_file(&self.layers[layer].path)),
            Step::Truncates { layer, at } => {
                let text = self.read(layer);
                let mut at = at % text.len().max(1);
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                fs::write(&self.layers[layer].path, &text[..at.min(text.len())]).unwrap();
            }
            Step::Crashes => {
                let session = self.session(None);
                let options = PassOptions { dry_run: true, ..PassOptions::default() };
                for report in session.pass(&self.layers, &options).map_err(|error| error.to_string())? {
                    if let Some(after) = report.after.filter(|_| report.wrote) {
                        fs::write(&report.layer.path, after.source()).unwrap();
                    }
                }
            }
            Step::Syncs | Step::Accepts => {}
        }
        Ok(())
    }

    fn agent_adds(&mut self, layer: usize, private: bool) {
        let word = self.word();
        let mut note = NewNote::new(format!("a{}", self.words), Kind::Memory, word.clone());
        if private {
            note = note.with(Field::Model, MODELS[0]);
            self.private.insert(word.clone(), MODELS[0]);
        }
        let session = self.session(Some(MODELS[0]));
        let form = self.form;
        let done = change_layer(&session, &self.layers[layer], "", |_| {
            Ok(vec![Change::Insert { note: note.clone(), form: Some(form), place: Place::End }])
        });
        drop(session);
        // A refusal is an answer too; then nothing was accepted.
        if done.is_ok() {
            self.accept_online(layer, word, None);
        }
    }

    /// Changes the n-th note that is there for an agent; which, if it was taken.
    fn agent(&self, layer: usize, note: usize, change: impl Fn(usize) -> Change) -> Option<String> {
        let session = self.session(Some(MODELS[0]));
        let mut did = None;
        let done = change_layer(&session, &self.layers[layer], "", |document| {
            let with_ids: Vec<Note<'_>> = document
                .notes()
                .filter(|note| {
                    note.id().is_some_and(|id| document.note(id).is_some_and(|it| it.index() == note.index()))
                })
                .collect();
            did = None;
            if with_ids.is_empty() {
                return Ok(Vec::new());
            }
            let chosen = with_ids[note % with_ids.len()];
            did = chosen.id().map(str::to_owned);
            Ok(vec![change(chosen.index())])
        });
        did.filter(|_| done.is_ok())
    }

    fn accept_online(&mut self, layer: usize, word: String, changed: Option<String>) {
        if let Some(opened) = self.opened.get_mut(&layer) {
            opened.since.insert(word.clone(), changed);
        }
        self.accepted.insert(word);
    }

    /// A text with one edit, and the word that is new in it.
    fn edited(&mut self, text: &str, edit: usize) -> (String, String) {
        let word = self.word();
        let document = Document::parse(text);
        let notes: Vec<Note<'_>> = document.notes().filter(|note| note.id().is_some()).collect();
        let note = (!notes.is_empty()).then(|| notes[(edit / 4) % notes.len()].index());
        let change = match (edit % 4, note) {
            (0, Some(note)) => Change::Set { note, field: Field::Content, text: word.clone() },
            (1, Some(note)) => Change::Remove { note, with_section: false },
            (2, _) => {
                // By hand, without an id.
                let by_hand = match self.form {
                    Form::FrontMatter => format!("{text}\n---\nkind: memory\n---\n\n{word}\n"),
                    Form::Bullet => format!("{text}\n## Memory facts\n\n- {word}\n"),
                };
                return (by_hand, word);
            }
            _ => return (format!("Prose {word}.\n\n{text}"), word),
        };
        let text = document
            .apply(&[change])
            .map_or_else(|_| text.to_owned(), |document| document.source().to_owned());
        (text, word)
    }

    fn saves(&mut self, layer: usize, edit: usize, way: usize) {
        let Some(mut opened) = self.opened.get(&layer).cloned() else { return };
        let (text, word) = self.edited(&opened.text, edit);
        // Where the save is news, what its author cannot have seen has to stay, the first
        // time that it is missing.
        let is_news = text.contains(&word) && !self.had.contains(&text);
        let counting: BTreeSet<String> = self.counting();
        let had_missed = opened.has_missed;
        for (word, changed) in opened.since.iter().filter(|(word, _)| !text.contains(*word)) {
            // A note that came into the file since, and not online, goes with the save.
            let is_owed = match changed {
                None => true,
                Some(id) => !had_missed && opened.original.contains(id.as_str()),
            };
            let is_first = self.missed.insert(word.clone()) && is_owed;
            opened.has_missed = true;
            if is_first && is_news && counting.contains(word) {
                self.owed.insert(word.clone());
            }
        }
        self.save(layer, &text, way);
        opened.text = text;
        self.opened.insert(layer, opened);
    }

    fn moves(&self, from: usize, to: usize, note: usize) {
        let (source, target) = (Document::parse(self.read(from)), Document::parse(self.read(to)));
        let notes: Vec<Note<'_>> = source.notes().filter(|note| note.id().is_some()).collect();
        if notes.is_empty() {
            return;
        }
        let moved = notes[note % notes.len()];
        if target.note(moved.id().unwrap_or("")).is_some() {
            return;
        }
        let insert = Change::Insert { note: NewNote::of(moved), form: Some(moved.form()), place: Place::End };
        let remove = Change::Remove { note: moved.index(), with_section: false };
        if let (Ok(source), Ok(target)) = (source.apply(&[remove]), target.apply(&[insert])) {
            self.save(from, source.source(), 0);
            self.save(to, target.source(), 0);
        }
    }

    /// Another order, some notes reworded, some dropped, and whom they were for with them.
    fn refines(&mut self, layer: usize, seed: usize) {
        let mut dice = Dice::new(seed as u64);
        let document = Document::parse(self.read(layer));
        let mut notes: Vec<NewNote> =
            document.notes().filter(|note| note.id().is_some()).map(NewNote::of).collect();
        if notes.len() > 1 {
            let at = dice.below(notes.len());
            notes.rotate_left(at);
        }
        let mut text = Document::parse("Refined.\n");
        for note in notes {
            if dice.below(4) == 0 {
                continue;
            }
            let content = if dice.below(3) == 0 { self.word() } else { note.content.clone() };
            let plain = NewNote::new(note.id().unwrap_or("").to_owned(), note.kind, content);
            let insert = Change::Insert { note: plain, form: Some(self.form), place: Place::End };
            text = text.apply(&[insert]).unwrap_or(text);
        }
        self.save(layer, text.source(), 1);
    }

    fn exports(&mut self, layer: usize, reads: bool) {
        if self.form != Form::Bullet {
            return;
        }
        if reads || !self.pi.contains_key(&layer) {
            self.pi.insert(layer, Document::parse(self.read(layer)));
        }
        let memory = &self.pi[&layer];
        let notes: Vec<_> = memory
            .notes()
            .filter(|note| note.id().is_some())
            .map(|note| (note, note.content(), note.evidence(), note.model()))
            .collect();
        let notes: Vec<Exported<'_>> = notes
            .iter()
            .map(|(note, content, evidence, model)| Exported {
                id: note.id().unwrap_or(""),
                kind: note.kind(),
                content,
                evidence,
                importance: note.importance(),
                active: note.active(),
                model: model.as_deref(),
                scope: note.scope(),
                project: None,
            })
            .collect();
        if let Ok(text) = single(&notes) {
            self.save(layer, &text, 0);
        }
    }

    /// A pass, and all laws.
    fn sync(&mut self, accept: bool) -> Result<(), String> {
        for layer in 0..self.layers.len() {
            let text = self.read(layer);
            self.had.insert(text);
        }
        let session = self.session(None);
        let pass = |accept: bool| {
            session
                .pass(&self.layers, &PassOptions { accept, ..PassOptions::default() })
                .map_err(|error| error.to_string())
        };
        let reports = pass(accept)?;
        if let Some(error) = reports.iter().find_map(|report| report.error.as_ref()) {
            return Err(format!("trouble with a layer: {error}"));
        }
        // What was put back once is not put back again.
        let put_back: Vec<String> = reports.iter().flat_map(put_back_words).collect();
        let texts: Vec<String> = (0..self.layers.len()).map(|layer| self.read(layer)).collect();
        let stamps = self.stamps();
        Self::no_second_news(&pass(false)?)?;
        if stamps != self.stamps() || texts.iter().enumerate().any(|(layer, text)| *text != self.read(layer))
        {
            return Err("a pass with nothing to do wrote a file".to_owned());
        }
        let (kept, lost) = self.kept(&session);
        drop(session);
        self.had.extend(texts.iter().cloned());
        self.missed.extend(put_back);
        // What a pass has read is accepted.
        let held = reports.iter().any(|report| report.view.held.is_some());
        for text in &texts {
            let document = Document::parse(text.as_str());
            for word in words(text) {
                let is_of_note = document.notes().any(|note| note.content().contains(&word));
                if is_of_note {
                    self.accepted.insert(word);
                }
            }
            no_id_twice(&document)?;
        }
        let counting = self.counting();
        for word in &self.accepted {
            if !counting.contains(word) && !kept.contains(word) {
                return Err(format!("{word} is lost: neither in a file nor kept"));
            }
        }
        for word in std::mem::take(&mut self.owed) {
            // Where both changed one text, the file's side stands and the other is kept.
            if !counting.contains(&word) && !lost.contains(&word) {
                return Err(format!("{word} went with a save whose author had not seen it"));
            }
        }
        if held && reports.iter().any(|report| report.view.held.is_some() && !report.happened.is_empty()) {
            return Err("a held file archived something".to_owned());
        }
        self.isolated()
    }

    /// The versions of the files, for who has to find out what went wrong.
    fn versions_text(&self) -> String {
        let session = self.session(None);
        let store = session.store().read();
        let mut all = String::new();
        for layer in &self.layers {
            let place = harness_layers::sync::place_of(&layer.path);
            let Some(row) = store.layer(session.root(), &place).unwrap() else { continue };
            for version in store.versions(row.id).unwrap() {
                let text = store.text(version.hash).unwrap();
                let _ = write!(
                    all,
                    "=== {} version {}, {}\n{text}",
                    layer.path.display(),
                    version.id.0,
                    version.origin
                );
            }
        }
        all
    }

    fn no_second_news(reports: &[LayerReport]) -> Result<(), String> {
        match reports.iter().find(|report| report.is_news || report.wrote) {
            None => Ok(()),
            Some(report) => Err(format!(
                "a second pass still has news of {}: {:?} {:?} wrote {}",
                report.layer.path.display(),
                report.happened,
                report.named,
                report.wrote
            )),
        }
    }

    fn stamps(&self) -> Vec<Option<SystemTime>> {
        let modified = |layer: &LayerRef| fs::metadata(&layer.path).and_then(|it| it.modified()).ok();
        self.layers.iter().map(modified).collect()
    }

    /// All words that count for somebody, and those in the text of files.
    fn counting(&self) -> BTreeSet<String> {
        let peeker = Peeker::new(&self.root, Some(self.place.clone()));
        let mut all = BTreeSet::new();
        for layer in &self.layers {
            let Ok((read, _)) = ReadLayer::read(&peeker, layer.clone()) else { continue };
            all.extend(words(read.document.source()));
            all.extend(read.view.stand_ins.iter().flat_map(|stand_in| words(&stand_in.text)));
        }
        all
    }

    /// All words in archive, conflicts and the journal's `before`, and those in conflicts.
    fn kept(&self, session: &Session) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut all, mut lost) = (BTreeSet::new(), BTreeSet::new());
        let store = session.store().read();
        for layer in &self.layers {
            let place = harness_layers::sync::place_of(&layer.path);
            let Some(row) = store.layer(session.root(), &place).unwrap() else { continue };
            for archived in store.archived(row.id, true).unwrap() {
                all.extend(words(&archived.text));
            }
            for conflict in store.conflicts(row.id, true).unwrap() {
                lost.extend(words(&conflict.lost.unwrap_or_default()));
            }
            for change in store.changes_of_layer(row.id, 10_000).unwrap() {
                all.extend(words(&change.before.unwrap_or_default()));
            }
        }
        all.extend(lost.iter().cloned());
        (all, lost)
    }

    /// A private note is nobody else's, and a project's is no other project's.
    fn isolated(&self) -> Result<(), String> {
        let peeker = Peeker::new(&self.root, Some(self.place.clone()));
        let read: Vec<ReadLayer> = self
            .layers
            .iter()
            .filter_map(|layer| ReadLayer::read(&peeker, layer.clone()).ok())
            .map(|(read, _)| read)
            .collect();
        for is_home in [true, false] {
            let reach: Vec<_> = read
                .iter()
                .filter(|read| is_home || read.layer.kind == LayerKind::Global)
                .map(ReadLayer::in_reach)
                .collect();
            let is_current = |project: &str| is_home && project == "p";
            let audience =
                Audience { is_current: &is_current, model: Some(MODELS[1]), orphans: Orphans::Adopt };
            for judged in judge(&reach, &audience) {
                let content = judged.note.content();
                let private = words(&content).into_iter().find(|word| self.private.contains_key(word));
                if judged.standing == Standing::Eligible
                    && let Some(word) = private
                {
                    return Err(format!("{word} of {} is shown to {}", MODELS[0], MODELS[1]));
                }
            }
        }
        let _ = &self.dir;
        Ok(())
    }
}

fn put_back_words(report: &LayerReport) -> Vec<String> {
    let after = report.after.as_ref();
    let notes = report.carried.iter().filter_map(|id| after?.note(id));
    notes.flat_map(|note| words(&note.content())).collect()
}

fn words(text: &str) -> Vec<String> {
    let is_word = |word: &&str| word.len() >= 5 && word.starts_with('w') && word.ends_with('x');
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_word).map(str::to_owned).collect()
}

fn no_id_twice(document: &Document) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for note in document.notes().filter(|note| !document.is_equal_copy(*note)) {
        if let Some(id) = note.id().filter(|id| !seen.insert(*id)) {
            return Err(format!("the id {id} stands twice after a pass"));
        }
    }
    Ok(())
}
