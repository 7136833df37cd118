//! What counts of a layer where that is not what its file says: the last good version of a
//! note that cannot be read, isolation keys that an edit left out, online changes that wait.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::document::{Change, Document, Field, Note, State};
use crate::effective::id_of;
use crate::merge::{ChangeSet, NoteChange};

use super::{Step, isolation};

/// The keys whose absence is no change.
const ISOLATION: [Field; 3] = [Field::Model, Field::Scope, Field::Project];

/// Why something else counts than what the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The file does not say any more for whom the note is; an omission does not widen that.
    Isolation,
    /// The note cannot be read; its last good version counts.
    Unreadable,
    /// Git's conflict markers stand in the file.
    Conflicted,
    /// The file lost so much at once that it is rather a mistake.
    Held,
    /// The file cannot be read.
    Unavailable,
    /// An online change that the file does not have yet.
    Waiting,
    /// It was changed since the user accepted it, and only that counts.
    Review,
}

/// A note that counts instead of what the file says about its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIn {
    /// The note.
    pub id: String,
    /// Why.
    pub reason: Reason,
    /// The note as a layer of its own.
    pub text: String,
}

impl StandIn {
    /// Whether it is of a note without an id: it is there for as long as the newest version
    /// is the last that was taken, and nothing else can tell it by what it is called.
    pub(super) fn is_unnamed(&self) -> bool {
        Document::parse(self.text.as_str()).notes().all(|note| note.id().is_none())
    }
}

/// Why a file is not taken for what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// How many notes are gone,
    pub gone: usize,
    /// of how many.
    pub of: usize,
    /// The whole file is.
    pub is_absent: bool,
}

/// What counts of a layer instead of what its file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Notes that count instead of those with the same id in the file.
    #[serde(default)]
    pub stand_ins: Vec<StandIn>,
    /// Notes that stand in the file and do not count, as their removal waits.
    #[serde(default)]
    pub gone: Vec<String>,
    /// Stand-ins of notes that an online change waits for, too: what counts again without it.
    #[serde(default)]
    pub covered: Vec<StandIn>,
    /// The file is not taken for what it says.
    #[serde(default)]
    pub held: Option<Held>,
}

impl View {
    /// Whether the file says all that counts.
    pub fn is_plain(&self) -> bool {
        self.stand_ins.is_empty() && self.gone.is_empty() && self.covered.is_empty() && self.held.is_none()
    }

    /// The stand-in of a note.
    pub fn stand_in(&self, id: &str) -> Option<&StandIn> {
        self.stand_ins.iter().find(|stand_in| stand_in.id == id)
    }

    /// What counted without the online changes that wait.
    pub fn without_waiting(&self) -> impl Iterator<Item = &StandIn> {
        let others = self.stand_ins.iter().filter(|stand_in| stand_in.reason != Reason::Waiting);
        others.chain(&self.covered)
    }

    /// As it counts for what is done next, where online changes that wait are as good as any.
    #[must_use]
    pub fn on_waiting(&self) -> Self {
        let mut view = Self { covered: Vec::new(), ..self.clone() };
        for stand_in in view.stand_ins.iter_mut().filter(|it| it.reason == Reason::Waiting) {
            stand_in.reason = Reason::Isolation;
        }
        view
    }

    /// What counts beside `document`, which the file will hold. `own` is what its author
    /// wants it to say, `head` what it said before, `waiting` what it still lacks.
    pub fn of(
        document: &Document,
        own: &Document,
        head: &Document,
        old: &Self,
        waiting: Option<&(Document, Document)>,
    ) -> Self {
        Self::with_explicit(document, own, head, old, waiting, &|_, _| false)
    }

    /// As [`Self::of`], where `is_explicit` says of which notes an isolation key was taken
    /// away on purpose.
    pub fn with_explicit(
        document: &Document,
        own: &Document,
        head: &Document,
        old: &Self,
        waiting: Option<&(Document, Document)>,
        is_explicit: &dyn Fn(&str, &Field) -> bool,
    ) -> Self {
        let parsed = Parsed::of(old);
        let mut stand_ins = BTreeMap::new();
        for note in own.notes().filter(|note| !own.is_equal_copy(*note)) {
            let Some(id) = note.id() else { continue };
            let Some(known) = parsed.known(id, head) else { continue };
            if note.state() == State::Good {
                if let Some(text) = isolated(note, known, is_explicit) {
                    stand_ins.entry(id.to_owned()).or_insert((Reason::Isolation, text));
                }
            } else {
                stand_ins.entry(id.to_owned()).or_insert_with(|| (Reason::Unreadable, said_in_full(known)));
            }
        }
        for id in known_ids(head, old) {
            if own.note(id).is_none()
                && !own.is_absent(id)
                && let Some(known) = parsed.known(id, head)
            {
                stand_ins.insert(id.to_owned(), (Reason::Unreadable, said_in_full(known)));
            }
        }
        let mut view = Self { stand_ins: listed(stand_ins, head), ..Self::default() };
        view.add_waiting(document, waiting);
        view
    }

    /// What counts beside a file that is not taken.
    pub(super) fn beside(
        file: &Document,
        head: &Document,
        old: &Self,
        reason: Reason,
        held: Option<Held>,
        waiting: Option<&(Document, Document)>,
    ) -> Self {
        let parsed = Parsed::of(old);
        let mut stand_ins = BTreeMap::new();
        for id in known_ids(head, old) {
            let Some(known) = parsed.known(id, head) else { continue };
            match file.note(id).filter(|note| note.state() == State::Good) {
                Some(note) => {
                    if let Some(text) = isolated(note, known, &|_, _| false) {
                        stand_ins.insert(id.to_owned(), (Reason::Isolation, text));
                    }
                }
                None => {
                    stand_ins.insert(id.to_owned(), (reason, said_in_full(known)));
                }
            }
        }
        for (id, note) in unnamed(head) {
            if file.notes().all(|other| id_of(other) != id) {
                stand_ins.insert(id, (reason, said_in_full(note)));
            }
        }
        let mut view = Self { stand_ins: listed(stand_ins, head), held, ..Self::default() };
        view.add_waiting(file, waiting);
        view
    }

    /// What counts of a layer whose file cannot be read: what it said last.
    pub fn unavailable(head: &Document, old: &Self) -> Self {
        Self::beside(&Document::parse(""), head, old, Reason::Unavailable, old.held, None)
    }

    /// More online changes wait for a file.
    pub fn wait(&mut self, file: &Document, head: &Document, waiting: &(Document, Document)) {
        let old = std::mem::take(self);
        *self =
            Self { stand_ins: old.without_waiting().cloned().collect(), held: old.held, ..Self::default() };
        // Notes that waited and stand in no file count as they did before they changed.
        for note in head.notes().filter(|note| file.note(note.id().unwrap_or("")).is_none()) {
            let is_known = note.id().is_none_or(|id| self.stand_in(id).is_some() || file.is_absent(id));
            if let Some(id) = note.id().filter(|_| !is_known) {
                let text = said_in_full(note);
                self.stand_ins.push(StandIn { id: id.to_owned(), reason: Reason::Unreadable, text });
            }
        }
        self.add_waiting(file, Some(waiting));
    }

    /// A note that came from another layer is still whose it was, unless it says otherwise.
    pub fn arrive(&mut self, id: &str, before: &str, document: &Document) {
        let before = Document::parse(before);
        let Some(known) = before.notes().next() else { return };
        if self.without_waiting().any(|stand_in| stand_in.id == id) {
            return;
        }
        // The place decides about the scope.
        let as_known = |note| isolated(note, known, &|_, field| *field != Field::Model);
        let own = document.note(id).and_then(as_known);
        let own = own.map(|text| StandIn { id: id.to_owned(), reason: Reason::Isolation, text });
        let Some(waiting) = self.stand_ins.iter_mut().find(|stand_in| stand_in.id == id) else {
            self.stand_ins.extend(own);
            return;
        };
        if let Some(text) = Document::parse(waiting.text.as_str()).notes().next().and_then(as_known) {
            waiting.text = text;
        }
        self.covered.extend(own);
    }

    /// Other online changes wait than before.
    pub(super) fn rewait(&mut self, file: &Document, waiting: Option<&(Document, Document)>) {
        self.stand_ins = self.without_waiting().cloned().collect();
        self.covered.clear();
        self.gone.clear();
        self.add_waiting(file, waiting);
    }

    /// Online changes that wait count although the file does not have them.
    pub(super) fn add_waiting(&mut self, file: &Document, waiting: Option<&(Document, Document)>) {
        let Some((from, to)) = waiting else { return };
        for (id, change) in ChangeSet::between(from, to).notes() {
            match change {
                NoteChange::Removed(_) => {
                    self.cover(id);
                    if file.note(id).is_some() {
                        self.gone.push(id.clone());
                    }
                }
                NoteChange::Added(_) | NoteChange::Changed(_) => {
                    let Some(note) = to.note(id) else { continue };
                    self.cover(id);
                    let covered = self.covered.iter().find(|stand_in| stand_in.id == *id);
                    let present = file.note(id).filter(|note| note.state() == State::Good);
                    // What counts without it, the change of the file's author included: alone,
                    // as a file in conflict takes no edit anywhere.
                    let own = covered.map(|it| it.text.clone()).or_else(|| present.map(said_in_full));
                    let text = own.map_or_else(
                        || said_in_full(note),
                        |own| {
                            let applied = ChangeSet::between(from, to).apply(&Document::parse(own));
                            applied.document.note(id).map_or_else(|| note.snippet(), said_in_full)
                        },
                    );
                    self.stand_ins.push(StandIn { id: id.clone(), reason: Reason::Waiting, text });
                }
                NoteChange::Respelled => {}
            }
        }
    }

    /// What counts instead of a note does so only beneath an online change that waits.
    fn cover(&mut self, id: &str) {
        let (covered, others) = std::mem::take(&mut self.stand_ins).into_iter().partition(|it| it.id == id);
        self.stand_ins = others;
        let covered: Vec<StandIn> = covered;
        self.covered.extend(covered.into_iter().filter(|it| it.reason != Reason::Waiting));
    }
}

/// The notes that have no id yet, with what they are called until they have one.
fn unnamed(document: &Document) -> impl Iterator<Item = (String, Note<'_>)> {
    let is_unnamed = |note: &Note<'_>| note.id().is_none() && note.state() == State::Good;
    let counts = move |note: &Note<'_>| is_unnamed(note) && !note.content().is_empty();
    document.notes().filter(counts).map(|note| (id_of(note).into_owned(), note))
}

/// In the order of the newest version.
fn listed(stand_ins: BTreeMap<String, (Reason, String)>, head: &Document) -> Vec<StandIn> {
    let stand_in = |(id, (reason, text))| StandIn { id, reason, text };
    let mut listed: Vec<StandIn> = stand_ins.into_iter().map(stand_in).collect();
    listed.sort_by_key(|stand_in| head.note(&stand_in.id).map_or(usize::MAX, Note::index));
    listed
}

/// The ids that count, in the order of the newest version.
pub(super) fn known_ids<'a>(head: &'a Document, view: &'a View) -> impl Iterator<Item = &'a str> {
    let of_file = head.notes().filter(|note| note.state() == State::Good).filter_map(Note::id);
    of_file.chain(
        view.without_waiting()
            .filter(|stand_in| !stand_in.is_unnamed())
            .map(|stand_in| &*stand_in.id)
            .filter(|id| head.note(id).is_none_or(|note| note.state() != State::Good)),
    )
}

/// Stand-ins, read.
struct Parsed {
    documents: BTreeMap<String, Document>,
}

impl Parsed {
    fn of(view: &View) -> Self {
        // What waits is not known to the file.
        Self {
            documents: view
                .without_waiting()
                .map(|stand_in| (stand_in.id.clone(), Document::parse(stand_in.text.as_str())))
                .collect(),
        }
    }

    /// A note as it counts.
    fn known<'a>(&'a self, id: &str, head: &'a Document) -> Option<Note<'a>> {
        let stand_in = self.documents.get(id).and_then(|document| document.notes().next());
        stand_in.or_else(|| head.note(id).filter(|note| note.state() == State::Good))
    }
}

/// The notes that are gone, in full.
pub(super) fn left(steps: &[Step], head: &Document, view: &View) -> Vec<(String, String)> {
    let gone = steps.iter().filter(|step| step.after.is_none());
    gone.filter_map(|step| {
        let in_full = known(&step.id, head, view).map(said_in_full);
        Some((step.id.clone(), in_full.or_else(|| step.before.clone())?))
    })
    .collect()
}

/// A note as it counts, if only the newest version knows it.
pub(super) fn known<'a>(id: &str, head: &'a Document, view: &View) -> Option<Note<'a>> {
    if view.without_waiting().any(|stand_in| stand_in.id == id) {
        return None;
    }
    head.note(id).filter(|note| note.state() == State::Good)
}

/// The note with the isolation keys that it lost; none if it lost none.
fn isolated(note: Note<'_>, known: Note<'_>, is_explicit: &dyn Fn(&str, &Field) -> bool) -> Option<String> {
    let id = note.id()?;
    let mut changes = Vec::new();
    for field in ISOLATION {
        // A key without a value says nothing: a save may have been cut off there.
        let said = isolation(note, &field).is_some();
        // A scope that was said makes the project unsaid on purpose.
        let said = said || field == Field::Project && note.has(&Field::Scope);
        if said || is_explicit(id, &field) {
            continue;
        }
        if let Some(text) = isolation(known, &field) {
            changes.push((field, text));
        }
    }
    if changes.is_empty() {
        return None;
    }
    let snippet = Document::parse(said_in_full(note));
    let changes: Vec<Change> =
        changes.into_iter().map(|(field, text)| Change::Set { note: 0, field, text }).collect();
    // A note that cannot be spelled so is shown to nobody.
    let kept = snippet.apply(&changes).map(|document| document.source().to_owned());
    Some(kept.unwrap_or_else(|_| known.snippet()))
}

/// A note as a layer of its own, with what the header of its layer gives it.
pub fn said_in_full(note: Note<'_>) -> String {
    let mut changes = Vec::new();
    if !note.has(&Field::Model)
        && let Some(model) = note.model()
    {
        changes.push(Change::Set { note: 0, field: Field::Model, text: model.into() });
    }
    if note.written_importance().is_none()
        && (note.importance() - crate::note::DEFAULT_IMPORTANCE).abs() > 0.0
    {
        let text = crate::note::two_decimals(note.importance());
        changes.push(Change::Set { note: 0, field: Field::Importance, text });
    }
    let snippet = note.snippet();
    if changes.is_empty() {
        return snippet;
    }
    Document::parse(snippet.as_str()).apply(&changes).map_or(snippet, |document| document.source().to_owned())
}
