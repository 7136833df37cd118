//! Importing files without a base, by the rules of pi-continual-harness
//! (fixtures/golden/import_merge.json): a note is known by its id, and what a file says of
//! it wins, also where it says nothing: no owner line is no owner. What no file mentions
//! stays. A kind never changes. What pi's files cannot say and ours can (`active`, a
//! header's defaults) counts as it stands. Where pi's rules drop text that stands in a
//! file, or notes that no file is about, ours do not (docs/compatibility.md).
//!
//! Its one job is to decide; it knows neither where a stored note lives nor how one is
//! written. Pure: notes and documents in, notes and what became of each out; fresh ids are
//! passed in. `layers import` calls it and makes the outcome edits of layers. Syncing does
//! not: with a base there is more to go by.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::document::{Document, Field, Note, State};
use crate::note::{Kind, Scope, two_decimals};
use crate::text::{Location, locate, trim_blanks};

/// What the ids that pi makes start with. It replaces others: any other is a new note to
/// it, each time it reads the file.
const OWN_ID: &str = "h_";

/// A note as pi knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub kind: Kind,
    /// What it says.
    pub content: String,
    /// Why it exists; may be empty.
    pub evidence: String,
    /// From 0 to 1.
    pub importance: f64,
    /// Whether it counts.
    pub active: bool,
    /// The model that owns it; empty is an orphan.
    pub owner: String,
    /// Whom it is for; none counts as global.
    pub scope: Option<Scope>,
    /// Its project, which counts with scope project only.
    pub project: Option<String>,
}

impl Item {
    /// A note of a layer or of another file. `project` is the one it is for, none if it is
    /// global: its place has a say in that. Without an id of its own it has an empty one.
    pub fn of(note: Note<'_>, project: Option<String>) -> Self {
        Self {
            id: note.id().unwrap_or_default().to_owned(),
            kind: note.kind(),
            content: note.content().into_owned(),
            evidence: note.evidence().into_owned(),
            importance: note.importance(),
            active: note.active(),
            owner: note.model().map(Cow::into_owned).unwrap_or_default(),
            scope: Some(if project.is_some() { Scope::Project } else { Scope::Global }),
            project,
        }
    }

    /// The project it is for; none if it is global.
    pub fn home(&self) -> Option<&str> {
        self.project.as_deref().filter(|project| self.scope == Some(Scope::Project) && !project.is_empty())
    }

    /// The fields that another version of it says otherwise, its kind and id aside.
    #[expect(clippy::float_cmp, reason = "pi compares exactly, and so do the vectors")]
    pub fn differences(&self, other: &Self) -> Vec<Field> {
        let scope = |item: &Self| item.scope.unwrap_or(Scope::Global);
        let differing = [
            (Field::Content, self.content != other.content),
            (Field::Evidence, self.evidence != other.evidence),
            (Field::Importance, self.importance != other.importance),
            (Field::Active, self.active != other.active),
            (Field::Model, self.owner != other.owner),
            (Field::Scope, scope(self) != scope(other)),
            (Field::Project, self.home() != other.home()),
        ];
        differing.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

/// A file to import, and the layer it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// What it says; none if there is no file.
    pub document: Option<&'a Document>,
    /// The project of notes that name no scope; none, or an empty one, for global ones.
    pub project: Option<&'a str>,
}

impl Layer<'_> {
    /// The project of notes that name no scope.
    fn default_home(&self) -> Option<String> {
        self.project.filter(|project| !project.is_empty()).map(str::to_owned)
    }

    /// The project a note of it is for: pi's rule, by which one that names no project and
    /// stands in a file of none is global.
    fn home_of(&self, note: Note<'_>) -> Option<String> {
        match note.scope() {
            Some(Scope::Global) => None,
            Some(Scope::Project) => note.project().map(Cow::into_owned).or_else(|| self.default_home()),
            None => self.default_home(),
        }
    }
}

/// What became of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is as it was, whether or not a file mentions it.
    Unchanged,
    /// It says something else now, or is switched on again: the fields that differ, as
    /// [`Item::differences`] has them, never none.
    Updated(Vec<Field>),
    /// It was in no store.
    Created,
    /// It was active, and no file has it, of those that could.
    Pruned,
}

/// A note and what became of it.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The note as it is now; a pruned one as it was.
    pub item: Item,
    /// What became of it in the end: a note that two files change back and forth is unchanged.
    pub fate: Fate,
    /// The note of a file that it was created from or, of a stored one, that had the last
    /// word on it. It may say more than an [`Item`] can.
    pub note: Option<Note<'a>>,
}

impl Outcome<'_> {
    /// The kind that a file gives the note, if it has another. It keeps its own, as in pi,
    /// where moving a bullet to another section does nothing; so this is to be told.
    pub fn other_kind(&self) -> Option<Kind> {
        self.note.map(Note::kind).filter(|kind| *kind != self.item.kind)
    }
}

/// What an import did.
#[derive(Clone, Debug, Default)]
pub struct Imported<'a> {
    /// Notes read.
    pub imported: usize,
    /// Notes that were new.
    pub created: usize,
    /// Updates made on the way, as pi counts: a note that stands in two files may count
    /// twice, even if it is unchanged in the end.
    pub updated: usize,
    /// Notes taken out.
    pub pruned: usize,
    /// There was no file at all, and nothing was done.
    pub is_missing: bool,
    /// The notes of the store, in its order, then the new ones.
    pub outcomes: Vec<Outcome<'a>>,
    /// Notes of the files that were passed over, each with the index of its file: they
    /// cannot be read, stand in a conflict of git's, or have an id and nothing to say.
    /// Stored notes with their ids stay as they are.
    pub passed_over: Vec<(usize, Note<'a>)>,
}

impl Imported<'_> {
    /// All notes afterwards, new ones last.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        let staying = self.outcomes.iter().filter(|outcome| outcome.fate != Fate::Pruned);
        staying.map(|outcome| &outcome.item)
    }
}

/// A file is no text: a NUL stands in it, as in UTF-16 without a mark. What it says is not
/// known, so nothing may be pruned for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a NUL stands in line {line}: this is no UTF-8 text", line = location.line)]
pub struct NotText {
    /// The index of the file.
    pub layer: usize,
    /// Where the first NUL stands.
    pub location: Location,
}

/// Imports files into a store, in the order given: of two with one note the last wins.
///
/// `prune` takes out active notes that stand in no file, though only those of layers that
/// were read: the ones that a file stands for, and those that a note of the files is for.
/// An id that still stands in a text is not gone, readable or not. `fresh_id` gives an id
/// that nobody has. Nothing is done if one of the files is no text.
pub fn import<'a>(
    store: &[Item],
    layers: &[Layer<'a>],
    prune: bool,
    mut fresh_id: impl FnMut() -> String,
) -> Result<Imported<'a>, NotText> {
    let mut run = Run::new(store, layers);
    if let Some(fault) = run.documents().find_map(|(index, document)| not_text(index, document)) {
        return Err(fault);
    }
    run.done.is_missing = run.documents().next().is_none();
    if !run.done.is_missing {
        for (index, document) in run.documents() {
            run.homes.insert(layers[index].default_home());
            for note in document.notes() {
                run.take(index, document, note, &mut fresh_id);
            }
        }
        run.judge(prune);
    }
    Ok(run.done)
}

fn not_text(layer: usize, document: &Document) -> Option<NotText> {
    let offset = memchr::memchr(0, document.source().as_bytes())?;
    Some(NotText { layer, location: locate(document.source(), offset) })
}

/// An import under way.
struct Run<'s, 'a> {
    store: &'s [Item],
    layers: &'s [Layer<'a>],
    /// The notes by id; new ones by the id that stands in the file. Of equal ids the last counts.
    known: HashMap<String, usize>,
    /// The layers that the files are about, by project.
    homes: HashSet<Option<String>>,
    done: Imported<'a>,
}

impl<'s, 'a> Run<'s, 'a> {
    fn new(store: &'s [Item], layers: &'s [Layer<'a>]) -> Self {
        let as_is = |item: &Item| Outcome { item: item.clone(), fate: Fate::Unchanged, note: None };
        let done = Imported { outcomes: store.iter().map(as_is).collect(), ..Imported::default() };
        let known = store.iter().enumerate().map(|(at, item)| (item.id.clone(), at)).collect();
        Self { store, layers, known, homes: HashSet::new(), done }
    }

    fn documents(&self) -> impl Iterator<Item = (usize, &'a Document)> + use<'s, 'a> {
        let layers: &'s [Layer<'a>] = self.layers;
        layers.iter().enumerate().filter_map(|(index, layer)| Some((index, layer.document?)))
    }

    /// Whether an id stands in a file, if only in its text.
    fn stands(&self, id: &str) -> bool {
        self.documents().any(|(_, document)| !document.is_absent(id))
    }

    /// Takes a note of a file over.
    fn take(&mut self, layer: usize, document: &Document, note: Note<'a>, fresh_id: impl FnOnce() -> String) {
        if note.state() != State::Good || note.says_nothing() {
            self.done.passed_over.push((layer, note));
            return;
        }
        self.done.imported += 1;
        let read = Item::of(note, self.layers[layer].home_of(note));
        self.homes.insert(read.home().map(str::to_owned));
        let written = note.id();
        let own = written.filter(|id| id.starts_with(OWN_ID));
        let at = written.and_then(|id| self.known.get(id)).copied();
        // A note that gets a new id at each import would be there twice after the second.
        let at = if at.is_none() && own.is_none() { self.twin_of(&read) } else { at };
        let at = at.unwrap_or(self.done.outcomes.len());
        if let Some(known) = self.done.outcomes.get_mut(at) {
            let said = said_of(&known.item, read, document, note);
            if !known.item.differences(&said).is_empty() {
                self.done.updated += 1;
                known.item = said;
            }
            if at < self.store.len() {
                known.note = Some(note);
            }
        } else {
            let id = own.map_or_else(fresh_id, str::to_owned);
            self.done.created += 1;
            let item = Item { id, ..read };
            self.done.outcomes.push(Outcome { item, fate: Fate::Created, note: Some(note) });
        }
        if let Some(written) = written {
            self.known.insert(written.to_owned(), at);
        }
    }

    /// The stored note that says exactly what a note without an id of its own says, and that
    /// nothing else in the files is about.
    fn twin_of(&self, read: &Item) -> Option<usize> {
        self.store.iter().enumerate().position(|(at, stored)| {
            stored.kind == read.kind
                && stored.content == read.content
                && stored.differences(read).is_empty()
                && self.done.outcomes[at].note.is_none()
                && !self.stands(&stored.id)
        })
    }

    /// Says what became of the stored notes.
    fn judge(&mut self, prune: bool) {
        for (at, stored) in self.store.iter().enumerate() {
            let is_concerned = prune && stored.active && self.done.outcomes[at].note.is_none();
            let is_gone = is_concerned
                && self.homes.contains(&stored.home().map(str::to_owned))
                && !self.stands(&stored.id);
            let outcome = &mut self.done.outcomes[at];
            let changed = stored.differences(&outcome.item);
            outcome.fate = match (is_gone, changed.is_empty()) {
                (true, _) => Fate::Pruned,
                (false, true) => Fate::Unchanged,
                (false, false) => Fate::Updated(changed),
            };
            self.done.pruned += usize::from(is_gone);
        }
    }
}

/// What a known note says once a file has had its say. Where the file says what pi makes of
/// a stored value when it writes it, the value stays: an importance has two decimals there,
/// and of a text of several lines pi reads the first one back.
fn said_of(known: &Item, read: Item, document: &Document, note: Note<'_>) -> Item {
    let source = document.source();
    let end = document.note_at(note.index() + 1).map_or(source.len(), |next| next.span().start);
    let below = &source[note.span().start..end];
    let text = |known: &str, read: String| {
        let is_first_line = known.split_once('\n').is_some_and(|(first, _)| trim_blanks(first) == read);
        if is_first_line && below.replace("\r\n", "\n").contains(known) { known.to_owned() } else { read }
    };
    let is_rounded = two_decimals(known.importance).parse() == Ok(read.importance);
    Item {
        id: known.id.clone(),
        kind: known.kind,
        content: text(&known.content, read.content),
        evidence: text(&known.evidence, read.evidence),
        importance: if is_rounded { known.importance } else { read.importance },
        ..read
    }
}
