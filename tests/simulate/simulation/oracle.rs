//! The laws. The oracle knows every word that was ever accepted, and looks after each step
//! where it is.

use std::collections::BTreeSet;

use harness_layers::config::Orphans;
use harness_layers::document::{Document, Note, State};
use harness_layers::effective::{Audience, judge};
use harness_layers::note::LayerKind;
use harness_layers::reach::ReadLayer;
use harness_layers::select::Standing;
use harness_layers::sync::{LayerReport, PassOptions, Waits, place_of};
use harness_layers::workspace::LayerRef;

use super::schedule::Step;
use super::world::{Stamped, World};

/// The agents; what the first keeps to itself the second must not see.
pub(super) const MODELS: [&str; 2] = ["a/one", "b/two"];

/// The first layer that is in a repository.
const FIRST_REPO: usize = 2;

#[derive(Default)]
pub(super) struct Oracle {
    /// Words that were accepted: an agent was told so, or a pass has read them.
    pub(super) accepted: BTreeSet<String>,
    /// Words of notes that only one model may see, and their notes.
    pub(super) private: BTreeSet<String>,
    pub(super) private_ids: BTreeSet<String>,
    /// Words that a stale save did without once already.
    pub(super) missed: BTreeSet<String>,
    /// Words that have to count after the next pass.
    pub(super) owed: BTreeSet<String>,
    /// All texts that the files ever had.
    pub(super) had: BTreeSet<String>,
    /// Words that count for somebody, or stand in a file.
    pub(super) counting: BTreeSet<String>,
    /// Words that somebody wrote into each layer.
    written: Vec<BTreeSet<String>>,
    /// Words that git took away: they are in stored versions.
    git_took: BTreeSet<String>,
    /// What is known to be kept in the store; nothing that is kept goes.
    kept: BTreeSet<String>,
    /// The files as the last pass left them.
    left: Vec<Stamped>,
    /// The ids of the notes in each.
    ids: Vec<Vec<String>>,
    /// Layers whose file does not have yet what counts.
    waiting: BTreeSet<usize>,
}

/// What the store keeps of what is in no file.
#[derive(Default)]
struct Kept {
    /// In archive, conflicts and the journal.
    all: BTreeSet<String>,
    /// In conflicts.
    lost: BTreeSet<String>,
}

impl Oracle {
    pub(super) fn begin(&mut self, layers: &[LayerRef]) {
        self.written = vec![BTreeSet::new(); layers.len()];
        for (at, layer) in layers.iter().enumerate() {
            let text = std::fs::read_to_string(&layer.path).unwrap_or_default();
            self.written_to(at, &text);
        }
    }

    /// Somebody writes this into a layer.
    pub(super) fn written_to(&mut self, layer: usize, text: &str) {
        self.written[layer].extend(words(text));
        // Two work trees of one repository are one project's, and git carries texts across.
        if layer >= FIRST_REPO {
            let text: Vec<String> = words(text).collect();
            self.written[FIRST_REPO..].iter_mut().for_each(|written| written.extend(text.iter().cloned()));
        }
    }

    /// A note goes from one layer to another, with all that was and will be said in it.
    pub(super) fn may_go(&mut self, from: usize, to: usize) {
        let all = self.written[from].clone();
        self.written[to].extend(all);
    }

    /// Git put something else there.
    pub(super) fn git_put(&mut self, layer: usize, before: &str, after: &str) {
        self.had.insert(before.to_owned());
        self.had.insert(after.to_owned());
        self.written_to(layer, after);
        let stays: BTreeSet<String> = words(after).collect();
        self.git_took.extend(words(before).filter(|word| !stays.contains(word)));
    }

    pub(super) fn ids_in(&self, layer: usize) -> &[String] {
        self.ids.get(layer).map_or(&[], Vec::as_slice)
    }
}

impl World {
    /// A pass, and all laws.
    pub(super) fn settle(&mut self, step: Step) -> Result<(), String> {
        let found = self.stamped();
        self.oracle.had.extend(found.iter().map(|(text, _)| text.clone()));
        let of_git = if let Step::Git { tree, .. } = step { self.is_of_git(tree) } else { None };
        let order = self.order(step);
        let (mut reports, mut again) = (Vec::new(), Vec::new());
        for site in &order {
            reports.extend(self.pass(*site, step == Step::Accepts)?);
            let left = self.stamped();
            let second = self.pass(*site, false)?;
            no_second_news(&second)?;
            self.writes_nothing(&left)?;
            again.extend(second);
        }
        let left = self.stamped();
        if let [first, _, ..] = order[..] {
            // What a pass in one work tree did, one in another does not undo.
            let third = self.pass(first, false)?;
            if let Some(report) = third.iter().find(|report| !report.happened.is_empty()) {
                let (path, happened) = (report.layer.path.display(), &report.happened);
                return Err(format!("a third pass still has news of {path}: {happened:?}"));
            }
            self.writes_nothing(&left)?;
        }
        self.only_what_had_to(step, of_git, &found, &left)?;
        self.oracle.missed.extend(reports.iter().flat_map(put_back_words));
        self.oracle.waiting = (0..self.layers.len())
            .filter(|layer| {
                let path = &self.layers[*layer].path;
                again.iter().any(|report| report.layer.path == *path && report.waits.is_some())
            })
            .collect();
        self.oracle.left = left;
        self.accept_what_was_read(&again)?;
        self.nothing_is_lost()?;
        if reports.iter().any(|report| report.view.held.is_some() && !report.happened.is_empty()) {
            return Err("a held file archived something".to_owned());
        }
        Ok(())
    }

    /// At the end everything is looked up again, by a process that knows nothing yet.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.let_others();
        self.oracle.kept.clear();
        self.nothing_is_lost()
    }

    /// The sites, the one first in which something was done.
    fn order(&self, step: Step) -> Vec<usize> {
        let first = match step {
            Step::Moves { from, .. } => self.site_of(self.layer(from)),
            _ => 0,
        };
        let mut order: Vec<usize> = (0..self.sites.len()).collect();
        order.swap(0, first);
        order
    }

    fn pass(&mut self, site: usize, accept: bool) -> Result<Vec<LayerReport>, String> {
        let layers: Vec<LayerRef> =
            self.sites[site].layers.iter().map(|layer| self.layers[*layer].clone()).collect();
        let options = PassOptions { accept, ..PassOptions::default() };
        let reports = self.session(None).pass(&layers, &options).map_err(|error| error.to_string())?;
        match reports.iter().find_map(|report| report.error.as_ref()) {
            Some(error) => Err(format!("trouble with a layer: {error}")),
            None => Ok(reports),
        }
    }

    fn writes_nothing(&self, left: &[Stamped]) -> Result<(), String> {
        let is_as_left = self.stamped() == left;
        is_as_left.then_some(()).ok_or_else(|| "a pass with nothing to do wrote a file".to_owned())
    }

    /// No file changes where nothing had to: none that nobody touched, none in a work tree
    /// in which git is in the middle of something, none that git just put there.
    fn only_what_had_to(
        &self,
        step: Step,
        of_git: Option<usize>,
        found: &[Stamped],
        left: &[Stamped],
    ) -> Result<(), String> {
        let name = |layer: usize| self.layers[layer].path.display();
        if let Some(touched) = self.touched(step) {
            let untouched = (0..self.layers.len()).filter(|layer| !touched.contains(layer));
            for layer in untouched {
                if self.oracle.left.get(layer).is_some_and(|before| *before != left[layer]) {
                    return Err(format!("{} was written, and nobody touched it", name(layer)));
                }
            }
        }
        let under_way = self.under_way();
        for layer in under_way.iter().copied() {
            let is_agents = matches!(
                step,
                Step::AgentAdds { .. }
                    | Step::AgentRewords { .. }
                    | Step::AgentWeighs { .. }
                    | Step::AgentArchives { .. }
            );
            let before = if is_agents { &self.oracle.left[layer] } else { &found[layer] };
            if *before != left[layer] {
                return Err(format!("{} was written while git was at it", name(layer)));
            }
        }
        if let Some(layer) = of_git
            && !self.oracle.waiting.contains(&layer)
            && found[layer] != left[layer]
        {
            return Err(format!("{} is as git put it, and was written", name(layer)));
        }
        Ok(())
    }

    /// The layers that a step is about; none if it may be any.
    fn touched(&self, step: Step) -> Option<Vec<usize>> {
        match step {
            Step::AgentAdds { layer, .. }
            | Step::AgentRewords { layer, .. }
            | Step::AgentWeighs { layer, .. }
            | Step::AgentArchives { layer, .. }
            | Step::Opens { layer }
            | Step::Saves { layer, .. }
            | Step::Edits { layer, .. }
            | Step::Refines { layer, .. }
            | Step::Exports { layer, .. }
            | Step::Deletes { layer }
            | Step::Truncates { layer, .. }
            | Step::Together { layer, .. } => Some(vec![self.layer(layer)]),
            Step::Git { tree, .. } => Some(vec![FIRST_REPO + tree]),
            Step::Syncs => Some(Vec::new()),
            // A command means the innermost of several notes with one id.
            Step::Moves { .. } | Step::Accepts | Step::Crashes { .. } => None,
        }
    }

    /// What a pass has taken from a file is accepted. A file that it left aside was not read.
    fn accept_what_was_read(&mut self, reports: &[LayerReport]) -> Result<(), String> {
        self.oracle.ids = vec![Vec::new(); self.layers.len()];
        for layer in 0..self.layers.len() {
            let document = Document::parse(self.oracle.left[layer].0.as_str());
            let path = &self.layers[layer].path;
            let is_aside = reports.iter().any(|report| {
                report.layer.path == *path && matches!(report.waits, Some(Waits::Held(_) | Waits::Conflict))
            });
            // Git's files are taken as they are.
            if layer < FIRST_REPO {
                no_id_twice(&document)?;
            }
            self.oracle.ids[layer] = document.notes().filter_map(Note::id).map(str::to_owned).collect();
            if !is_aside {
                // What cannot be read as a note is nobody's word yet.
                let good = document.notes().filter(|note| note.state() == State::Good);
                let contents = good.map(|note| note.content().into_owned());
                self.oracle.accepted.extend(contents.flat_map(|content| words(&content).collect::<Vec<_>>()));
            }
        }
        Ok(())
    }

    fn nothing_is_lost(&mut self) -> Result<(), String> {
        let read: Vec<ReadLayer> = self
            .layers
            .iter()
            .filter_map(|layer| ReadLayer::read(&self.peeker, layer.clone()).ok())
            .map(|(read, _)| read)
            .collect();
        self.isolated(&read)?;
        let mut counting = BTreeSet::new();
        for (read, written) in read.iter().zip(&self.oracle.written) {
            let here = words_of(read);
            if let Some(foreign) = here.iter().find(|word| !written.contains(*word)) {
                return Err(format!("{foreign} is of another layer than {}", read.layer.path.display()));
            }
            counting.extend(here);
        }
        self.oracle.git_took.retain(|word| !counting.contains(word));
        let owed = std::mem::take(&mut self.oracle.owed);
        let missing: Vec<&String> =
            self.oracle.accepted.iter().filter(|it| !counting.contains(*it)).collect();
        let is_known = missing.iter().all(|word| self.oracle.kept.contains(*word));
        if !is_known || owed.iter().any(|word| !counting.contains(word)) {
            let missing: Vec<String> = missing.into_iter().cloned().collect();
            let kept = self.kept();
            let aside = self.beside_held_files();
            let is_kept = |word: &&String| kept.all.contains(*word) || aside.contains(*word);
            for word in missing.iter().filter(|word| !is_kept(word)) {
                if !self.oracle.git_took.contains(word) || !self.in_versions().contains(word) {
                    return Err(format!("{word} is lost: neither in a file nor kept"));
                }
            }
            // Where both changed one text, the file's side stands and the other is kept.
            if let Some(word) = owed.iter().find(|it| !counting.contains(*it) && !kept.lost.contains(*it)) {
                return Err(format!("{word} went with a save whose author had not seen it"));
            }
            self.oracle.kept = kept.all;
        }
        self.oracle.counting = counting;
        Ok(())
    }

    fn kept(&mut self) -> Kept {
        let layers = self.layers.clone();
        let session = self.session(None);
        let store = session.store().read();
        let mut kept = Kept::default();
        for layer in &layers {
            let Some(row) = store.layer(session.root(), &place_of(&layer.path)).unwrap() else { continue };
            for archived in store.archived(row.id, true).unwrap() {
                kept.all.extend(words(&archived.text));
            }
            for conflict in store.conflicts(row.id, true).unwrap() {
                kept.lost.extend(words(&conflict.lost.unwrap_or_default()));
            }
            for change in store.changes_of_layer(row.id, 10_000).unwrap() {
                kept.all.extend(words(&change.before.unwrap_or_default()));
            }
        }
        kept.all.extend(kept.lost.iter().cloned());
        kept
    }

    /// The words of the newest versions of layers whose files are held: half a word at the
    /// end of a file that was cut off takes the place of none until the file is accepted.
    fn beside_held_files(&mut self) -> BTreeSet<String> {
        let peeker = &self.peeker;
        let is_held = |layer: &&LayerRef| {
            ReadLayer::read(peeker, (*layer).clone()).is_ok_and(|(read, _)| read.view.held.is_some())
        };
        let held: Vec<LayerRef> = self.layers.iter().filter(is_held).cloned().collect();
        let session = self.session(None);
        let store = session.store().read();
        let rows =
            held.iter().filter_map(|layer| store.layer(session.root(), &place_of(&layer.path)).unwrap());
        let newest = rows.filter_map(|row| store.versions(row.id).unwrap().pop());
        newest.flat_map(|it| words(&store.text(it.hash).unwrap()).collect::<Vec<_>>()).collect()
    }

    /// All words of all versions of the files.
    fn in_versions(&mut self) -> BTreeSet<String> {
        let layers = self.layers.clone();
        let session = self.session(None);
        let store = session.store().read();
        let rows =
            layers.iter().filter_map(|layer| store.layer(session.root(), &place_of(&layer.path)).unwrap());
        let versions = rows.flat_map(|row| store.versions(row.id).unwrap());
        versions.flat_map(|it| words(&store.text(it.hash).unwrap()).collect::<Vec<_>>()).collect()
    }

    /// A private note is nobody else's.
    fn isolated(&self, read: &[ReadLayer]) -> Result<(), String> {
        if self.oracle.private.is_empty() {
            return Ok(());
        }
        let everywhere = self.sites.iter().map(|site| (Some("app"), site.layers.clone()));
        for (project, layers) in everywhere.chain([(None, vec![0])]) {
            let reach: Vec<_> = layers
                .iter()
                .filter_map(|layer| read.iter().find(|read| read.layer.path == self.layers[*layer].path))
                .filter(|read| project.is_some() || read.layer.kind == LayerKind::Global)
                .map(ReadLayer::in_reach)
                .collect();
            let is_current = |name: &str| project == Some(name);
            let audience =
                Audience { is_current: &is_current, model: Some(MODELS[1]), orphans: Orphans::Adopt };
            for judged in judge(&reach, &audience) {
                let content = judged.note.content();
                let private = words(&content).find(|word| self.oracle.private.contains(word));
                if judged.standing == Standing::Eligible
                    && let Some(word) = private
                {
                    return Err(format!("{word} of {} is shown to {}", MODELS[0], MODELS[1]));
                }
            }
        }
        Ok(())
    }
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

/// What counts of a layer, and what stands in its file.
fn words_of(read: &ReadLayer) -> BTreeSet<String> {
    let stand_ins = read.view.stand_ins.iter().flat_map(|stand_in| words(&stand_in.text));
    words(read.document.source()).chain(stand_ins).collect()
}

/// What was put back once is not put back again.
fn put_back_words(report: &LayerReport) -> Vec<String> {
    let after = report.after.as_ref();
    let notes = report.carried.iter().filter_map(|id| after?.note(id));
    notes.flat_map(|note| words(&note.content()).collect::<Vec<_>>()).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    // Ids that were made by chance are no words, nor is what stands behind their `_`.
    let is_word = |word: &&str| {
        let number = word.strip_prefix('w').and_then(|word| word.strip_suffix('x'));
        number.is_some_and(|number| number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(is_word).map(str::to_owned)
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
