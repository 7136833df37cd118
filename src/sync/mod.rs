//! One pass over layers: files and store are brought together, nothing is lost on the way.
//!
//! Everything that writes a layer goes through a [`Session`]: it holds the root's lock,
//! reads the file under it, lets [`crate::reconcile`] decide, writes the file if it still
//! is what was read, and records all of it in one transaction. The file is written before
//! the transaction is committed: after a crash in between the store does not know the new
//! file yet, and the next pass reads it as it reads any other.

mod change;
mod checkout;
mod journal;
mod line;
mod look;
mod marks;
mod pass;
mod peek;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::document::Document;
use crate::files::{Expected, Found, Lock, LockError};
use crate::merge::{Base, Loss, Why};
use crate::mint::{MintError, fresh_id, now_millis};
use crate::note::LayerKind;
use crate::reconcile::{Facts, Held, Known, Seen, Settled, View, Writing, reconcile};
use crate::secret::{Values, has_sealed, seal};
use crate::store::{Hash, LayerRow, StatePlace, Store, StoreError, VersionId};
use crate::workspace::{LayerRef, WorkTree, WorkspaceError};

pub use change::{
    Author, ChangeError, Changed, Remedy, admit, change_layer, edit_error, find_note, rewrite_layer,
};
pub use checkout::layer_paths;
pub use journal::{Recalled, recall};
pub use peek::{Peeked, Peeker};

use journal::Batch;
use line::StoredLine;
pub use look::place_of;

use look::Looked;
use marks::Marks;

/// Why a pass did not take place. Trouble with one layer is in its [`LayerReport`].
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// Another process writes below this root.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No ids can be made.
    #[error(transparent)]
    Mint(#[from] MintError),
}

/// What a pass may do.
#[derive(Clone, Copy)]
pub struct PassOptions<'a> {
    /// Nothing is written, neither files nor store.
    pub dry_run: bool,
    /// Whether notes without an id get one.
    pub names: bool,
    /// What looks like a mistake is meant: files that were held are taken as they are.
    pub accept: bool,
    /// Whether writing a layer must wait, because an editor has it open.
    pub is_open: &'a dyn Fn(&LayerRef) -> bool,
    /// Whether a file that reads worse than what is known of it, as in the middle of a save,
    /// is left alone.
    pub spare: &'a dyn Fn(&LayerRef) -> bool,
}

impl Default for PassOptions<'_> {
    fn default() -> Self {
        Self { dry_run: false, names: true, accept: false, is_open: &|_| false, spare: &|_| false }
    }
}

/// Why a layer's file does not get what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Git's conflict markers stand in it.
    Conflict,
    /// So much is gone from it at once that it is rather a mistake.
    Held(Held),
    /// Git is in the middle of something in its work tree.
    Git(&'static str),
    /// An editor has it open.
    Editor,
    /// It could not be written; the error is in the report.
    Unwritable,
    /// A note that cannot be read is to be changed.
    Unreadable,
}

/// What a pass did with one layer.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which may hold with any other")]
pub struct LayerReport {
    /// The layer.
    pub layer: LayerRef,
    /// What its file held; none if it was not read, as it is known, or cannot be.
    pub before: Option<Document>,
    /// What its file holds now, or would in a dry run.
    pub after: Option<Document>,
    /// Whether the file was written, or would be.
    pub wrote: bool,
    /// Whether anything is known now that was not.
    pub is_news: bool,
    /// What happened to notes. With [`Happened::Gone`], it is in the archive.
    pub happened: Vec<(String, Happened)>,
    /// Notes that a stale save or an exporter lacked and that were put back.
    pub carried: Vec<String>,
    /// Whether that was a stale save.
    pub is_stale: bool,
    /// Protected notes that were put back.
    pub put_back: Vec<String>,
    /// Notes that got an id: what they were called, and the id.
    pub named: Vec<(String, String)>,
    /// What lost.
    pub losses: Vec<Loss>,
    /// What counts instead of what the file says.
    pub view: View,
    /// Why the file does not get what it lacks.
    pub waits: Option<Waits>,
    /// Whether it was left alone, as it reads worse than before ([`PassOptions::spare`]).
    pub is_spared: bool,
    /// Why it is left out.
    pub error: Option<WorkspaceError>,
}

/// What happened to a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Happened {
    /// It is new.
    Created,
    /// It says something else.
    Updated,
    /// It left the file and is in the archive.
    Gone,
    /// It came from another layer.
    Moved,
    /// It stands in a file again.
    Returned,
}

impl LayerReport {
    fn new(layer: &LayerRef) -> Self {
        Self {
            layer: layer.clone(),
            before: None,
            after: None,
            wrote: false,
            is_news: false,
            happened: Vec::new(),
            carried: Vec::new(),
            is_stale: false,
            put_back: Vec::new(),
            named: Vec::new(),
            losses: Vec::new(),
            view: View::default(),
            waits: None,
            is_spared: false,
            error: None,
        }
    }
}

/// What passes found that were made only so that something else could be done. Whoever does
/// that is not asked to look at it; it is kept for the one who talks to people.
#[derive(Clone, Debug, Default)]
pub struct Heard(Rc<RefCell<Vec<LayerReport>>>);

impl Heard {
    fn hear(&self, report: LayerReport) {
        if report.is_news || report.error.is_some() {
            self.0.borrow_mut().push(report);
        }
    }

    /// All of it, once.
    pub fn take(&self) -> Vec<LayerReport> {
        self.0.take()
    }
}

/// The right to write below one root, with the store open.
#[derive(Debug)]
pub struct Session {
    store: Store,
    root: PathBuf,
    marks: Marks,
    /// Who changes notes online through it.
    pub author: Author,
    /// What passes by the way found.
    pub heard: Heard,
    /// What is changed online through it is one batch.
    batch: Batch,
    _lock: Option<Lock>,
}

/// A layer on its way through a pass.
struct Work {
    /// Its index among the layers of the pass.
    at: usize,
    layer: LayerRef,
    place: PathBuf,
    row: Option<LayerRow>,
    looked: Looked,
    file: Document,
    settled: Option<Settled>,
    by_git: bool,
    /// Whether anything becomes known that was not.
    is_news: bool,
    /// The versions that the base was chosen from.
    versions: Vec<VersionId>,
    waits: Option<Waits>,
    error: Option<WorkspaceError>,
    wrote: bool,
    /// The notes that are back from the archive, once that is written down.
    returned: BTreeSet<String>,
}

/// How often a layer is begun anew because somebody writes it at the same time.
const TRIES: usize = 5;

impl Session {
    /// Takes the root's lock and opens the store.
    pub fn open(
        root: &Path,
        place: &StatePlace,
        patience: Duration,
        author: Author,
    ) -> Result<Self, SyncError> {
        Self::resume(root, place, patience, author, None)
    }

    /// As [`Self::open`], with the store of an earlier session if its file is as that left it.
    pub fn resume(
        root: &Path,
        place: &StatePlace,
        patience: Duration,
        author: Author,
        kept: Option<Store>,
    ) -> Result<Self, SyncError> {
        let lock = Lock::acquire(root, patience)?;
        let kept = kept.filter(|store| store.path() == place.file() && store.is_as_left());
        let store = match kept {
            Some(store) => store,
            None => Store::open(place, now_millis())?,
        };
        Self::of(root, place, store, Some(lock), author)
    }

    /// To look, and to pass without writing: makes neither root nor store.
    pub fn to_look(
        root: &Path,
        place: &StatePlace,
        patience: Duration,
        author: Author,
    ) -> Result<Self, SyncError> {
        // Where there is no root, nobody writes.
        let lock = root.is_dir().then(|| Lock::acquire(root, patience)).transpose()?;
        let store = Store::open_existing(place)?.map_or_else(|| Store::empty(place), Ok)?;
        Self::of(root, place, store, lock, author)
    }

    fn of(
        root: &Path,
        place: &StatePlace,
        store: Store,
        lock: Option<Lock>,
        author: Author,
    ) -> Result<Self, SyncError> {
        let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Ok(Self {
            store,
            root,
            marks: Marks::in_folder(place.folder()),
            author,
            heard: Heard::default(),
            batch: Batch::new()?,
            _lock: lock,
        })
    }

    /// Gives the right to write back, and the store for [`Self::resume`] if it can be kept.
    pub fn end(self) -> Option<Store> {
        let Self { store, _lock: lock, .. } = self;
        drop(lock);
        store.pause()
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The root, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a layer was ever seen at a path.
    pub fn knows(&self, path: &Path) -> bool {
        self.store.read().layer(&self.root, &place_of(path)).is_ok_and(|row| row.is_some())
    }

    /// Brings layers and store together. The layers are those of one work tree: only
    /// between them are moves looked for. Layers that are not trusted are passed by.
    pub fn pass(
        &self,
        layers: &[LayerRef],
        options: &PassOptions<'_>,
    ) -> Result<Vec<LayerReport>, SyncError> {
        let mut reports: Vec<LayerReport> = layers.iter().map(LayerReport::new).collect();
        self.pass_each(layers, options, &mut |at, report| reports[at] = report)?;
        Ok(reports)
    }

    /// A pass before something else is done; what it found is [`Self::heard`].
    pub fn catch_up(&self, layers: &[LayerRef]) -> Result<(), SyncError> {
        for report in self.pass(layers, &PassOptions::default())? {
            self.heard.hear(report);
        }
        Ok(())
    }

    /// Decides about each layer that has not been decided yet.
    fn settle(&self, works: &mut [Work], options: &PassOptions<'_>) -> Result<(), SyncError> {
        let todo: Vec<usize> = (0..works.len()).filter(|at| works[*at].settled.is_none()).collect();
        for at in todo.iter().copied() {
            let decided = {
                let (work, others) = (&works[at], &*works);
                let is_elsewhere = |id: &str| {
                    others
                        .iter()
                        .any(|other| other.layer.path != work.layer.path && other.file.note(id).is_some())
                };
                self.decide(work, options, &is_elsewhere)?
            };
            let work = &mut works[at];
            if let Some(decided) = decided {
                work.settled = Some(decided.settled);
                work.by_git = decided.by_git;
                work.is_news = decided.is_news;
                work.versions = decided.versions;
                work.waits = decided.blocked;
            }
        }
        arrivals(works, &self.store)?;
        isolate_copies(works);
        for at in todo {
            let work = &mut works[at];
            if let (Some(settled), Some(row)) = (&mut work.settled, &work.row) {
                isolate_returned(settled, &self.store, row)?;
            }
            if let Some(settled) = &work.settled {
                work.waits = waits(settled, work.waits.take());
            }
        }
        Ok(())
    }

    fn decide(
        &self,
        work: &Work,
        options: &PassOptions<'_>,
        is_elsewhere: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Decided>, SyncError> {
        let hash = work.looked.hash();
        let view = opened(view_of(work.row.as_ref()), work.file.source());
        let waiting = waiting_of(&self.store, work.row.as_ref(), work.file.source())?;
        // A row without a hash may be of a file that was there and is to be looked at again.
        let is_seen = hash.is_some() && work.row.as_ref().is_some_and(|row| row.seen == hash);
        let must_take = options.accept && view.held.is_some();
        if is_seen && waiting.is_none() && !must_take {
            return Ok(None);
        }
        let line = StoredLine::of(&self.store, work.row.as_ref().map(|row| row.id), work.file.source())?;
        let head = line.head()?;
        let is_new = head.as_ref().is_none_or(|head| head.source() != work.file.source());
        let by_git = is_new
            && head.as_ref().is_some_and(|head| {
                checkout::is_put_by_git(&work.layer.path, &work.looked.found, head.source())
            });
        let under_way = WorkTree::around(&work.layer.path).and_then(|tree| tree.under_way());
        let blocked = work
            .waits
            .clone()
            .or_else(|| under_way.map(Waits::Git))
            .or_else(|| (options.is_open)(&work.layer).then_some(Waits::Editor));
        let seen = match &work.looked.found {
            Found::Content(_) => Seen::Text(&work.file),
            Found::Absent => Seen::Absent,
        };
        let known = Known { line: &line, view: &view, waiting: waiting.as_ref() };
        let writing = match (&blocked, options.names) {
            (Some(_), _) => Writing::Waits,
            (None, false) => Writing::WithoutIds,
            (None, true) => Writing::Free,
        };
        let facts = Facts { by_git, writing, accept: options.accept, is_elsewhere };
        let mut minted = Ok(());
        let mut mint = || {
            fresh_id().unwrap_or_else(|error| {
                minted = Err(error);
                String::new()
            })
        };
        let settled = reconcile(seen, &known, &facts, &mut mint)?;
        minted?;
        let versions = line.rows.iter().map(|row| row.id).collect();
        let same = |one: Option<&(Document, Document)>, other: Option<&(Document, Document)>| {
            one.map(|(from, to)| (from.source(), to.source()))
                == other.map(|(from, to)| (from.source(), to.source()))
        };
        let is_news = settled.origin.is_some() && is_new
            || settled.document.source() != work.file.source()
            || settled.view != view
            || !same(settled.waiting.as_ref(), waiting.as_ref());
        Ok(Some(Decided { settled, by_git, is_news, versions, blocked }))
    }
}

/// Writes the files that must change. `false` if one has to be decided about again.
fn write_files(works: &mut [Work]) -> bool {
    let mut is_done = true;
    for work in works.iter_mut().filter(|work| !work.wrote) {
        let Some(settled) = &work.settled else { continue };
        if settled.document.source() == work.file.source() {
            continue;
        }
        let expected = match &work.looked.found {
            Found::Content(text) => Expected::Bytes(text.as_bytes()),
            Found::Absent => Expected::Absent,
        };
        match work.layer.replace(expected, settled.document.source().as_bytes()) {
            Ok(_) => work.wrote = true,
            Err(WorkspaceError::Write(crate::files::WriteError::Changed { .. })) => {
                // Somebody saved it in between: begin anew with what it holds now.
                is_done = false;
                (work.settled, work.waits) = (None, None);
                match Looked::at(&work.layer) {
                    Ok(looked) => {
                        work.file = looked.document();
                        work.looked = looked;
                    }
                    Err(error) => work.error = Some(error),
                }
            }
            Err(error) => {
                is_done = false;
                work.settled = None;
                work.waits = Some(Waits::Unwritable);
                work.error = Some(error);
            }
        }
    }
    is_done
}

/// What was decided about a layer.
struct Decided {
    settled: Settled,
    by_git: bool,
    is_news: bool,
    versions: Vec<VersionId>,
    blocked: Option<Waits>,
}

/// Why a file does not get what it lacks, where something keeps it from being written.
fn waits(settled: &Settled, blocked: Option<Waits>) -> Option<Waits> {
    if settled.is_conflicted {
        Some(Waits::Conflict)
    } else if let Some(held) = settled.view.held {
        Some(Waits::Held(held))
    } else if settled.waiting.is_some() || blocked == Some(Waits::Unwritable) {
        Some(blocked.unwrap_or(Waits::Unreadable))
    } else {
        None
    }
}

/// Looks for notes that left one layer and turned up in another: their history and the
/// isolation that they had go along.
fn arrivals(works: &mut [Work], store: &Store) -> Result<(), StoreError> {
    let mut moves = Vec::new();
    for (from, work) in works.iter().enumerate() {
        let Some(settled) = &work.settled else { continue };
        for step in settled.steps.iter().filter(|step| step.after.is_none()) {
            let to = works.iter().position(|other| {
                other.settled.as_ref().is_some_and(|settled| {
                    // In a layer that was never seen nothing is new, as far as is known.
                    let is_first = other.versions.is_empty() && settled.document.note(&step.id).is_some();
                    is_first
                        || settled.steps.iter().any(|there| there.id == step.id && there.before.is_none())
                })
            });
            if let Some(to) = to.filter(|to| *to != from && !is_from_others(work, &works[*to])) {
                moves.push((from, to, step.id.clone()));
            }
        }
    }
    for (from, to, id) in moves {
        let Some(left) = &works[from].settled else { continue };
        let Some(before) = left.steps.iter().find(|step| step.id == id).and_then(|step| step.before.clone())
        else {
            continue;
        };
        let whose =
            left.left.iter().find(|(it, _)| *it == id).map_or_else(|| before.clone(), |it| it.1.clone());
        // What the mover had before his eyes, if that was an older version.
        let seen = match left.base {
            Some(base) if base.why != Why::NothingOnline && base.why != Why::Meant => {
                let row = works[from].row.as_ref().map(|row| row.id);
                let line = StoredLine::of(store, row, works[from].file.source())?;
                base_note(&line, base, &id)?
            }
            _ => None,
        };
        if let Some(arrived) = &mut works[to].settled {
            arrived.arrive(&id, &before, &whose, seen.as_deref());
        }
        if let Some(left) = &mut works[from].settled {
            left.steps.retain(|step| step.id != id);
        }
    }
    Ok(())
}

/// A note that turned up in another layer while it was put back where it was missing is still
/// whose it was, in both.
fn isolate_copies(works: &mut [Work]) {
    let mut copies = Vec::new();
    for (from, work) in works.iter().enumerate() {
        let Some(settled) = &work.settled else { continue };
        for note in settled.carried.iter().filter_map(|id| settled.document.note(id)) {
            let id = note.id().unwrap_or_default();
            let is_new =
                |settled: &Settled| settled.steps.iter().any(|step| step.id == id && step.before.is_none());
            let there = works.iter().enumerate().filter(|(to, _)| *to != from);
            let there = there.filter(|(_, other)| other.settled.as_ref().is_some_and(is_new));
            copies.extend(there.map(|(to, _)| (to, id.to_owned(), note.snippet())));
        }
    }
    for (to, id, whose) in copies {
        if let Some(settled) = &mut works[to].settled {
            settled.view.arrive(&id, &whose, &settled.document);
        }
    }
}

/// A note that is back from the archive is still whose it was, unless it says otherwise.
pub(super) fn isolate_returned(
    settled: &mut Settled,
    store: &Store,
    row: &LayerRow,
) -> Result<(), StoreError> {
    let is_new = |id: &str| settled.steps.iter().any(|step| step.before.is_none() && step.id == id);
    if settled.steps.iter().all(|step| step.before.is_some()) {
        return Ok(());
    }
    let archived = store.read().archived(row.id, false)?;
    let back: Vec<_> = archived.into_iter().filter(|one| is_new(&one.note)).collect();
    for one in back {
        settled.view.arrive(&one.note, &one.text, &settled.document);
    }
    Ok(())
}

/// Whether others put into a repository what then stands there: a note that leaves the user's
/// own layer meanwhile has not moved into it, whatever id they chose.
fn is_from_others(from: &Work, to: &Work) -> bool {
    let is_shared = |work: &Work| work.layer.kind == LayerKind::Repo;
    let is_first = to.versions.is_empty();
    is_shared(to)
        && !is_shared(from)
        && (to.by_git || is_first && checkout::is_put_by_git(&to.layer.path, &to.looked.found, ""))
}

fn base_note(line: &StoredLine<'_>, base: Base, id: &str) -> Result<Option<String>, StoreError> {
    use crate::merge::VersionLine as _;
    Ok(line.document(base.index)?.note(id).map(crate::document::Note::snippet))
}

/// What counts of a layer instead of what its file says, as it is stored.
pub(super) fn view_of(row: Option<&LayerRow>) -> View {
    let text = row.and_then(|row| row.view.as_deref());
    // Written by this program; what a later version adds is left out.
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// A view with the credentials that the file has.
pub(super) fn opened(mut view: View, file: &str) -> View {
    if view.stand_ins.iter().any(|one| has_sealed(&one.text)) {
        let values = Values::of(file);
        for one in &mut view.stand_ins {
            one.text = values.open(std::mem::take(&mut one.text));
        }
    }
    view
}

/// How a view is stored: without credentials, and not at all if the file says everything.
pub(super) fn spelled(view: &View) -> Option<String> {
    if view.is_plain() {
        return None;
    }
    let mut view = view.clone();
    for one in &mut view.stand_ins {
        one.text = seal(&one.text).into_owned();
    }
    Some(serde_json::to_string(&view).unwrap_or_default())
}

/// The online changes that wait, with the credentials that the file has.
pub(super) fn waiting_of(
    store: &Store,
    row: Option<&LayerRow>,
    file: &str,
) -> Result<Option<(Document, Document)>, StoreError> {
    let Some((from, to)) = row.and_then(|row| row.waiting) else { return Ok(None) };
    let (tx, values) = (store.read(), Values::of(file));
    Ok(Some((Document::parse(values.open(tx.text(from)?)), Document::parse(values.open(tx.text(to)?)))))
}

impl Work {
    fn new(at: usize, layer: LayerRef, place: PathBuf, row: Option<LayerRow>, looked: Looked) -> Self {
        Self {
            at,
            layer,
            place,
            row,
            file: looked.document(),
            looked,
            settled: None,
            by_git: false,
            is_news: false,
            versions: Vec::new(),
            waits: None,
            error: None,
            wrote: false,
            returned: BTreeSet::new(),
        }
    }

    /// The SHA-256 of what the file holds, also of nothing.
    fn hash(&self) -> Hash {
        self.looked.hash().unwrap_or_else(|| Hash::of(""))
    }

    fn report(self, report: &mut LayerReport) {
        report.error = self.error;
        report.waits = self.waits;
        report.wrote = self.wrote;
        let Some(settled) = self.settled else {
            report.view = view_of(self.row.as_ref());
            report.waits = report.waits.take().or(report.view.held.map(Waits::Held));
            return;
        };
        report.is_news = self.is_news;
        report.happened = journal::happened(&settled, &self.returned);
        report.is_stale = settled
            .base
            .is_some_and(|base| matches!(base.why, Why::CarriesNothing | Why::Carries | Why::Revision))
            && !settled.carried.is_empty();
        report.wrote = settled.document.source() != self.file.source();
        report.before = Some(self.file);
        report.carried = settled.carried;
        report.put_back = settled.put_back;
        report.named = settled.named;
        report.losses = settled.losses;
        report.view = settled.view;
        report.after = Some(settled.document);
    }
}
