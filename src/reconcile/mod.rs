//! What a layer's file and what is known of it make of each other. Pure: file, line of
//! versions, circumstances in; the text that the file is to hold, what counts until then,
//! and what happened out. [`crate::sync`] reads, writes and records.
//!
//! The file has the last word. Onto it are carried: what came online after the version that
//! its author had seen ([`crate::merge`]), what the form of an exporter cannot say, notes
//! that are protected, ids for notes without one, and online changes that were waiting.

mod export;
mod ids;
mod view;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::document::{Change, Document, Field, NewNote, Note, Place, State};
use crate::merge::{Base, ChangeSet, Loss, Lost, NoteChange, Origin, VersionLine};

pub use view::{Held, Reason, StandIn, View, said_in_full};

/// A guard does not bother with fewer notes than this (02 "Guards" of the design: "more
/// than half of its notes (and at least 5)").
const MANY: usize = 5;

/// What the file holds.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A text.
    Text(&'a Document),
    /// Nothing is there, and that is sure.
    Absent,
}

/// What is known of a layer.
#[derive(Clone, Debug)]
pub struct Known<'a, L> {
    /// The versions of its file.
    pub line: &'a L,
    /// What counts instead of what the file says.
    pub view: &'a View,
    /// Online changes that the file does not have yet: from one text to another.
    pub waiting: Option<&'a (Document, Document)>,
}

/// Whether a file may be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// No: what it lacks waits.
    Waits,
    /// Yes, but notes without an id keep what they are called.
    WithoutIds,
    /// Yes.
    Free,
}

/// The circumstances.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Git put the file there, or away.
    pub by_git: bool,
    /// Whether the file may be written now.
    pub writing: Writing,
    /// A person said that what looks like a mistake is meant.
    pub accept: bool,
    /// Whether an id stands in another layer that is looked at in the same pass.
    pub is_elsewhere: &'a dyn Fn(&str) -> bool,
}

/// What happened to one note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The note.
    pub id: String,
    /// What it said, as a layer of its own; none if it is new.
    pub before: Option<String>,
    /// What it says; none if it is gone.
    pub after: Option<String>,
}

/// What a pass does with a layer.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Where the file, as it was found, came from; none if it is not taken (it is held, or
    /// stands in conflict) and is no version of the layer.
    pub origin: Option<Origin>,
    /// What the file is to hold. As it was found if nothing is to be written.
    pub document: Document,
    /// As what [`Self::document`] is recorded if it is not what was found.
    pub merged: Origin,
    /// Online changes that the file still does not have.
    pub waiting: Option<(Document, Document)>,
    /// What counts instead of what the file will say.
    pub view: View,
    /// What the file's author did to the notes.
    pub steps: Vec<Step>,
    /// What lost.
    pub losses: Vec<Loss>,
    /// The base that was chosen.
    pub base: Option<Base>,
    /// Notes that a stale save or an exporter lacked, put back or changed again.
    pub carried: Vec<String>,
    /// Protected notes that were put back.
    pub put_back: Vec<String>,
    /// Notes that got an id: what they were called, and the id.
    pub named: Vec<(String, String)>,
    /// The notes that are gone by `steps`, with what the header of the layer gave them.
    pub left: Vec<(String, String)>,
    /// Notes that came from another layer; see [`Self::arrive`].
    pub arrived: BTreeSet<String>,
    /// Git's conflict markers stand in the file.
    pub is_conflicted: bool,
    /// Whether the file may be written now; else what it lacks waits.
    pub may_write: bool,
}

/// What is to become of a layer. `mint` gives an id that nobody has.
pub fn reconcile<L: VersionLine>(
    seen: Seen<'_>,
    known: &Known<'_, L>,
    facts: &Facts<'_>,
    mint: &mut dyn FnMut() -> String,
) -> Result<Settled, L::Error> {
    let empty = Document::parse("");
    let file = match seen {
        Seen::Text(file) => file,
        Seen::Absent => &empty,
    };
    let newest = known.line.versions().len().checked_sub(1);
    let head = match newest {
        Some(newest) => known.line.document(newest)?,
        None => Rc::new(empty.clone()),
    };
    if !file.conflicts().is_empty() {
        return Ok(set_aside(file, &head, known, Reason::Conflicted, None));
    }
    let mut settled = Settled {
        origin: Some(if facts.by_git { Origin::Git } else { Origin::Offline }),
        document: file.clone(),
        merged: Origin::Online,
        waiting: None,
        view: View::default(),
        steps: Vec::new(),
        losses: Vec::new(),
        base: None,
        carried: Vec::new(),
        put_back: Vec::new(),
        named: Vec::new(),
        left: Vec::new(),
        arrived: BTreeSet::new(),
        is_conflicted: false,
        may_write: facts.writing != Writing::Waits,
    };
    if newest.is_some() && !facts.by_git {
        // A file that is gone or empty was saved by nobody who had anything before his eyes.
        if file.source().trim().is_empty()
            && let Some(held) = loss(seen, file, &head, known.view, facts)
        {
            return Ok(set_aside(file, &head, known, Reason::Held, Some(held)));
        }
        if facts.writing != Writing::Waits {
            settled.document = ids::adopt(file, known.line)?;
        }
        let file = settled.document.clone();
        let file = &file;
        if let Some(applied) = export::restore(file, &head, known.line)? {
            settled.origin = Some(Origin::Export);
            settled.take_over(file, applied.document, applied.losses);
            // Nobody's stale save was mended, so nobody can insist.
            settled.merged = Origin::Online;
        } else {
            settled.base = Base::choose(file, known.line)?;
            let is_stale = settled.base.filter(|_| !facts.accept);
            if let Some(base) = is_stale
                && let Some(applied) = base.carry_over(file, known.line)?
            {
                settled.take_over(file, applied.document, applied.losses);
            }
        }
        if let Some(held) = loss(seen, &settled.document, &head, known.view, facts) {
            return Ok(set_aside(file, &head, known, Reason::Held, Some(held)));
        }
        settled.put_back_protected(&head, facts);
    }
    if !facts.by_git && facts.writing == Writing::Free {
        let (document, named) = ids::name(&settled.document, &head, mint);
        settled.document = document;
        settled.named = named;
    }
    if newest.is_some() {
        settled.steps = steps(&head, &settled.document, known.view);
        settled.left = view::left(&settled.steps, &head, known.view);
    }
    let own = settled.document.clone();
    settled.let_wait(file, known, facts);
    settled.archive_with_online_version(known);
    // A file that may not be written does not say yet what its author is to find in it.
    let says = if facts.writing == Writing::Waits { own } else { settled.document.clone() };
    settled.view = View::of(&settled.document, &says, &head, known.view, settled.waiting.as_ref());
    Ok(settled)
}

impl Settled {
    /// Takes a note, new here, for one that left another layer: what it said there is what
    /// it said before, and `whose` says that with what its layer gave it. `seen` is what its
    /// mover had before his eyes, if that was older than `before`; what came online since goes
    /// along.
    pub fn arrive(&mut self, id: &str, before: &str, whose: &str, seen: Option<&str>) {
        if let Some(seen) = seen.filter(|seen| *seen != before) {
            self.carry_along(id, &ChangeSet::between(&Document::parse(seen), &Document::parse(before)));
        }
        let after = self.document.note(id).map(Note::snippet);
        match self.steps.iter_mut().find(|step| step.id == id) {
            Some(step) => {
                step.before = Some(before.to_owned());
                step.after = after.or_else(|| step.after.take());
            }
            None => self.steps.push(Step { id: id.to_owned(), before: Some(before.to_owned()), after }),
        }
        self.arrived.insert(id.to_owned());
        self.view.arrive(id, whose, &self.document);
    }

    /// Online changes of a note that came from another layer.
    fn carry_along(&mut self, id: &str, changes: &ChangeSet) {
        let (from, target) = match self.waiting.take() {
            Some(waiting) if !self.may_write => waiting,
            waiting => {
                self.waiting = waiting;
                (self.document.clone(), self.document.clone())
            }
        };
        let applied = changes.apply(&target);
        self.losses.extend(applied.losses);
        self.carried.push(id.to_owned());
        if self.may_write {
            self.document = applied.document;
        } else {
            let is_lacking = applied.document.source() != from.source();
            self.waiting = is_lacking.then_some((from, applied.document));
            self.view.rewait(&self.document, self.waiting.as_ref());
        }
    }

    fn take_over(&mut self, file: &Document, document: Document, losses: Vec<Loss>) {
        if document.source() != file.source() {
            self.merged = Origin::CarriedOver;
            self.carried =
                ChangeSet::between(file, &document).notes().iter().map(|(id, _)| id.clone()).collect();
        }
        self.document = document;
        self.losses.extend(losses);
    }

    /// Protected notes do not go with an edit of the file.
    fn put_back_protected(&mut self, head: &Document, facts: &Facts<'_>) {
        for note in head.notes().filter(|note| note.protected() && note.state() == State::Good) {
            let Some(id) = note.id() else { continue };
            if !self.document.is_absent(id) || (facts.is_elsewhere)(id) {
                continue;
            }
            let place = before(head, note, &self.document);
            let insert = Change::Insert { note: NewNote::of(note), form: Some(note.form()), place };
            if let Ok(document) = self.document.apply(&[insert]) {
                self.document = document;
                self.put_back.push(id.to_owned());
            }
        }
    }

    /// Puts what was waiting into the file, or, if the file may not be written, makes all
    /// that it lacks wait.
    fn let_wait<L>(&mut self, file: &Document, known: &Known<'_, L>, facts: &Facts<'_>) {
        let mut target = self.document.clone();
        let mut still = None;
        if let Some((from, to)) = known.waiting {
            let applied = ChangeSet::between(from, to).apply(&target);
            let unreadable: BTreeSet<&str> = applied.waiting.iter().map(|waiting| &*waiting.id).collect();
            still = (!unreadable.is_empty()).then(|| only(from, to, &unreadable)).flatten();
            target = applied.document;
            // What a note that is gone would have said goes into the archive with it.
            self.losses.extend(applied.losses.into_iter().filter(|loss| !matches!(loss.lost, Lost::Note(_))));
        }
        if facts.writing == Writing::Waits {
            self.waiting = (target.source() != file.source()).then(|| (file.clone(), target));
            self.document = file.clone();
        } else {
            self.document = renew_revision(file, target);
            self.waiting = still;
        }
    }

    /// A note that was taken out of the file while online changes of it waited is kept with
    /// these.
    fn archive_with_online_version<L>(&mut self, known: &Known<'_, L>) {
        let Some((from, to)) = known.waiting else { return };
        let changes = ChangeSet::between(from, to);
        for step in self.steps.iter_mut().filter(|step| step.after.is_none()) {
            let is_changed = changes.notes().iter().any(|(id, _)| *id == step.id);
            if let Some(note) = to.note(&step.id).filter(|_| is_changed) {
                step.before = Some(note.snippet());
            }
        }
    }
}

/// A file that is not taken: what was known goes on to count beside what it says.
fn set_aside<L>(
    file: &Document,
    head: &Document,
    known: &Known<'_, L>,
    reason: Reason,
    held: Option<Held>,
) -> Settled {
    let waiting = known.waiting.cloned();
    Settled {
        origin: None,
        document: file.clone(),
        merged: Origin::Online,
        view: View::beside(file, head, known.view, reason, held, waiting.as_ref()),
        waiting,
        steps: Vec::new(),
        losses: Vec::new(),
        base: None,
        carried: Vec::new(),
        put_back: Vec::new(),
        named: Vec::new(),
        left: Vec::new(),
        arrived: BTreeSet::new(),
        is_conflicted: reason == Reason::Conflicted,
        may_write: false,
    }
}

/// Whether so much is gone at once that it is rather a mistake.
fn loss(seen: Seen<'_>, after: &Document, head: &Document, view: &View, facts: &Facts<'_>) -> Option<Held> {
    if facts.accept {
        return None;
    }
    let known: BTreeSet<&str> = view::known_ids(head, view).collect();
    let gone = known.iter().filter(|id| after.is_absent(id) && !(facts.is_elsewhere)(id)).count();
    let is_blank = after.source().trim().is_empty();
    let is_much = gone >= MANY && gone * 2 > known.len();
    let is_absent = matches!(seen, Seen::Absent);
    // Which layers a pass looks at beside it must not make it another mistake each time.
    if let Some(held) = view.held.filter(|held| held.is_absent && is_absent && gone > 0) {
        return Some(held);
    }
    (gone > 0 && (is_blank || is_much)).then_some(Held { gone, of: known.len(), is_absent })
}

/// What happened to the notes between two versions, from the point of view of what counts.
pub fn steps(head: &Document, after: &Document, view: &View) -> Vec<Step> {
    // As it counted: with the isolation that the file may have left out.
    let before = |id: &str| {
        let stand_in = view.without_waiting().find(|stand_in| stand_in.id == id);
        stand_in
            .map(|stand_in| stand_in.text.clone())
            .or_else(|| head.notes().find(|note| crate::effective::id_of(*note) == id).map(Note::snippet))
    };
    let changes = ChangeSet::between(head, after);
    let mut steps: Vec<Step> = Vec::new();
    for (id, change) in changes.notes() {
        let is_only_omitted = match change {
            NoteChange::Changed(fields) => {
                fields.iter().all(|(field, change)| field.is_isolation() && change.to.is_none())
            }
            NoteChange::Respelled => true,
            NoteChange::Added(_) | NoteChange::Removed(_) => false,
        };
        if is_only_omitted || is_naming(change, id, head, after) {
            continue;
        }
        let now = after.notes().find(|note| crate::effective::id_of(*note) == *id);
        let before = match change {
            NoteChange::Added(_) => None,
            _ => before(id),
        };
        let after = match change {
            NoteChange::Removed(_) => None,
            _ => now.map(Note::snippet),
        };
        steps.push(Step { id: id.clone(), before, after });
    }
    // Notes that counted without being readable in the newest version.
    let unreadable = |stand_in: &&StandIn| {
        stand_in.reason != Reason::Isolation
            && !stand_in.is_unnamed()
            && head.note(&stand_in.id).is_none_or(|note| note.state() != State::Good)
    };
    for stand_in in view.without_waiting().filter(unreadable) {
        let now = after.note(&stand_in.id).filter(|note| note.state() == State::Good).map(Note::snippet);
        let is_changed = match &now {
            Some(now) => {
                let (then, now) = (Document::parse(stand_in.text.as_str()), Document::parse(now.as_str()));
                !ChangeSet::between(&then, &now).is_empty()
            }
            None => after.is_absent(&stand_in.id),
        };
        if is_changed {
            steps.retain(|step| step.id != stand_in.id);
            steps.push(Step { id: stand_in.id.clone(), before: Some(stand_in.text.clone()), after: now });
        }
    }
    steps
}

/// Whether a change is about a note without an id that only has none yet, or just got one.
/// What it says is no news before it has an id; taken out without ever having had one, it is
/// gone like any other.
fn is_naming(change: &NoteChange, id: &str, head: &Document, after: &Document) -> bool {
    let unnamed = |document: &Document| document.note(id).is_none();
    match change {
        NoteChange::Added(new) => new.id().is_none(),
        NoteChange::Removed(old) if unnamed(head) => {
            after.notes().any(|note| note.kind() == old.kind && *note.content() == *old.content)
        }
        NoteChange::Removed(_) | NoteChange::Changed(_) | NoteChange::Respelled => false,
    }
}

/// Behind the nearest note above it that another version has, too.
fn before(head: &Document, note: Note<'_>, target: &Document) -> Place {
    let above = head.notes().take(note.index()).collect::<Vec<_>>();
    let fellow = above.into_iter().rev().find_map(|fellow| {
        target.note(fellow.id()?).filter(|there| there.form() == note.form() && there.kind() == note.kind())
    });
    fellow.map_or(Place::End, |fellow| Place::After(fellow.index()))
}

/// Of a change from one text to another only what concerns these notes.
fn only(from: &Document, to: &Document, ids: &BTreeSet<&str>) -> Option<(Document, Document)> {
    let changes = ids.iter().filter_map(|id| match (from.note(id), to.note(id)) {
        (Some(old), Some(new)) => Some(Change::Respell { note: old.index(), with: NewNote::of(new) }),
        (None, Some(new)) => {
            Some(Change::Insert { note: NewNote::of(new), form: Some(new.form()), place: Place::End })
        }
        (Some(old), None) => Some(Change::Remove { note: old.index(), with_section: false }),
        (None, None) => None,
    });
    let changes: Vec<Change> = changes.collect();
    let changed = from.apply(&changes).ok()?;
    (changed.source() != from.source()).then(|| (from.clone(), changed))
}

/// The revision of a text that is to be written, where its header has the key.
pub fn renew_revision(file: &Document, document: Document) -> Document {
    if document.source() == file.source() {
        return document;
    }
    let revision = crate::merge::revision_of(&document);
    document.with_revision(&revision).unwrap_or(document)
}

/// Whether there are notes in a layer that need an id of their own.
pub fn lacks_ids(document: &Document) -> bool {
    !ids::lacking(document, document).is_empty()
}

/// Whether a field is an isolation key of a note that has a value.
fn isolation(note: Note<'_>, field: &Field) -> Option<String> {
    match field {
        Field::Model => note.model().map(Into::into),
        Field::Scope => note.scope().map(|scope| scope.as_str().to_owned()),
        Field::Project => note.project().map(Into::into),
        _ => None,
    }
}
