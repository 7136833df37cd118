//! Importing layers without a base, by pi-continual-harness's rules
//! (fixtures/golden/import_merge.json): what a file says wins, by id; what it does not
//! mention stays; absent owner and evidence are taken at their word. Pure: notes in, notes
//! and counts out; fresh ids are passed in.
//!
//! `layers import` calls it. Syncing does not: with a base there is more to go by.

use std::collections::{BTreeSet, HashMap};

use crate::document::{Document, Note, State};
use crate::note::{DEFAULT_IMPORTANCE, Kind, Scope};

/// What the ids that pi makes start with; other ids of a file are replaced.
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

/// A file to import.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// What it says; none if there is no file.
    pub document: Option<&'a Document>,
    /// The project of notes that name no scope; none for global ones. An empty one names none.
    pub project: Option<&'a str>,
}

/// What became of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was in no store.
    Created,
    /// It says something else now, or is switched on again.
    Updated,
    /// It was active and is in no file.
    Pruned,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Notes read.
    pub imported: usize,
    /// Notes that were new.
    pub created: usize,
    /// Updates made; a note that stands in two files may count twice.
    pub updated: usize,
    /// Notes taken out.
    pub pruned: usize,
    /// There was no file at all, and nothing was done.
    pub is_missing: bool,
    /// All notes afterwards, in their order, new ones last.
    pub items: Vec<Item>,
    /// What became of those that were created, updated or pruned, by id, in that order.
    pub fates: Vec<(String, Fate)>,
}

/// Imports files into a store. `mint` gives an id that nobody has.
pub fn import(
    store: &[Item],
    layers: &[Layer<'_>],
    prune: bool,
    mut mint: impl FnMut() -> String,
) -> Imported {
    let mut done = Imported { items: store.to_vec(), ..Imported::default() };
    if layers.iter().all(|layer| layer.document.is_none()) {
        done.is_missing = true;
        return done;
    }
    // Of equal ids the last counts.
    let mut known: HashMap<String, usize> =
        store.iter().enumerate().map(|(at, item)| (item.id.clone(), at)).collect();
    let was_active: Vec<bool> = store.iter().map(|item| item.active).collect();
    let mut touched = BTreeSet::new();
    for (read, written_id) in layers.iter().flat_map(items_of) {
        done.imported += 1;
        if let Some(at) = written_id.as_ref().and_then(|id| known.get(id)).copied() {
            let before = &done.items[at];
            if !is_same(before, &read) {
                done.updated += 1;
                touched.insert(at);
                // A kind never changes: pi's list of kinds is where its notes live.
                done.items[at] = Item { id: before.id.clone(), kind: before.kind, ..read };
            }
            continue;
        }
        let kept = written_id.clone().filter(|id| id.starts_with(OWN_ID));
        let id = kept.unwrap_or_else(&mut mint);
        done.created += 1;
        if let Some(written) = written_id {
            known.insert(written, done.items.len());
        }
        done.items.push(Item { id, ..read });
    }
    let is_new = |at: usize| at >= store.len();
    let mut keep = vec![true; done.items.len()];
    if prune {
        // An id that still stands in a file is not absent, readable or not.
        let stands = |id: &str| layers.iter().filter_map(|layer| layer.document).any(|it| !it.is_absent(id));
        for (at, was_active) in was_active.iter().enumerate() {
            keep[at] = !was_active || stands(&done.items[at].id);
        }
    }
    for (at, item) in done.items.iter().enumerate() {
        let fate = match (keep[at], is_new(at), touched.contains(&at)) {
            (false, ..) => Fate::Pruned,
            (true, true, _) => Fate::Created,
            (true, false, true) => Fate::Updated,
            (true, false, false) => continue,
        };
        done.fates.push((item.id.clone(), fate));
    }
    done.pruned = keep.iter().filter(|keep| !**keep).count();
    let mut keep = keep.into_iter();
    done.items.retain(|_| keep.next().unwrap_or(true));
    done
}

/// The notes of a file with the ids that are written there.
fn items_of(layer: &Layer<'_>) -> Vec<(Item, Option<String>)> {
    let project = layer.project.filter(|project| !project.is_empty());
    let notes = layer.document.into_iter().flat_map(Document::notes);
    let readable = notes.filter(|note| note.state() == State::Good && says_something(&note.content()));
    readable.map(|note| (item_of(note, project), note.id().map(str::to_owned))).collect()
}

/// Whether a content is one, and not what pi writes where there is none.
fn says_something(content: &str) -> bool {
    let bare = content.strip_prefix('(').unwrap_or(content);
    let bare = bare.strip_suffix(')').unwrap_or(bare);
    !content.is_empty() && !bare.eq_ignore_ascii_case("no active items")
}

fn item_of(note: Note<'_>, layer_project: Option<&str>) -> Item {
    let own = note.project().map(std::borrow::Cow::into_owned).filter(|project| !project.is_empty());
    let (scope, project) = match note.scope() {
        Some(Scope::Global) => (Scope::Global, own),
        Some(Scope::Project) => {
            let project = own.or_else(|| layer_project.map(str::to_owned));
            (if project.is_some() { Scope::Project } else { Scope::Global }, project)
        }
        None => match layer_project {
            Some(project) => (Scope::Project, Some(project.to_owned())),
            None => (Scope::Global, None),
        },
    };
    let importance = note.written_importance().unwrap_or(DEFAULT_IMPORTANCE).clamp(0.0, 1.0);
    Item {
        id: String::new(),
        kind: note.kind(),
        content: note.content().into_owned(),
        evidence: note.evidence().into_owned(),
        importance,
        active: true,
        owner: note.model().map(std::borrow::Cow::into_owned).unwrap_or_default(),
        scope: Some(scope),
        project,
    }
}

/// Whether a stored note says already what a file says.
#[expect(clippy::float_cmp, reason = "pi compares exactly, and so do the vectors")]
fn is_same(stored: &Item, read: &Item) -> bool {
    let scope = stored.scope.unwrap_or(Scope::Global);
    let project = stored.project.as_ref().filter(|_| scope == Scope::Project);
    stored.active
        && stored.content == read.content
        && stored.evidence == read.evidence
        && stored.importance == read.importance
        && stored.owner == read.owner
        && Some(scope) == read.scope
        && project == read.project.as_ref()
}
