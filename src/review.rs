//! What the user has seen of the notes of other people: which versions were accepted, which
//! wait, and what counts meanwhile. Decides only; what was seen is given.

use std::borrow::Cow;

use crate::document::{Document, Field, Note, State};
use crate::effective::{id_of, provisional_id};
use crate::note::{Approval, two_decimals};
use crate::reconcile::{Reason, StandIn, View, said_in_full};
use crate::store::{Hash, ReviewedRow};

/// A hash of what a note says to a model, and to whom: another spelling of the same is no
/// other version, and neither is an id that it gets.
pub fn says(note: Note<'_>) -> Hash {
    let field = |field: Field| note.get(&field).unwrap_or_default();
    let parts: [Cow<'_, str>; 11] = [
        note.kind().as_str().into(),
        note.content(),
        note.title().unwrap_or_default(),
        note.model().unwrap_or_default(),
        two_decimals(note.importance()).into(),
        if note.active() { "active" } else { "" }.into(),
        note.approval().map_or("", Approval::as_str).into(),
        field(Field::Scope),
        field(Field::Project),
        note.evidence(),
        field(Field::Tags),
    ];
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend(part.len().to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    Hash::of(bytes)
}

/// A note as it is written down when the user has said something of it.
pub fn row(note: Note<'_>, is_accepted: bool) -> ReviewedRow {
    ReviewedRow { note: id_of(note).into_owned(), says: says(note), text: said_in_full(note), is_accepted }
}

/// The rows of every note that can be read.
pub fn rows(document: &Document) -> Vec<ReviewedRow> {
    readable(document).map(|note| row(note, true)).collect()
}

fn readable(document: &Document) -> impl Iterator<Item = Note<'_>> {
    document.notes().filter(|note| note.state() == State::Good)
}

/// A note of which the user has not accepted what it says now.
#[derive(Clone, Debug)]
pub struct Waiting<'a> {
    /// The note.
    pub note: Note<'a>,
    /// Its id or provisional id.
    pub id: Cow<'a, str>,
    /// What was accepted last; none if the note is new.
    pub before: Option<&'a str>,
    /// Whether the user has said no to what it says now.
    pub is_rejected: bool,
}

/// The notes of a layer that wait, in its order. `reviewed` has the last word last.
pub fn waiting<'a>(document: &'a Document, reviewed: &'a [ReviewedRow]) -> Vec<Waiting<'a>> {
    let wait = |note: Note<'a>| {
        let known = Known::of(note, reviewed);
        (!known.is_accepted).then(|| Waiting {
            note,
            id: id_of(note),
            before: known.accepted,
            is_rejected: known.is_rejected,
        })
    };
    readable(document).filter_map(wait).collect()
}

/// What is known of one note.
struct Known<'a> {
    is_accepted: bool,
    is_rejected: bool,
    /// What was accepted last.
    accepted: Option<&'a str>,
}

impl<'a> Known<'a> {
    fn of(note: Note<'_>, reviewed: &'a [ReviewedRow]) -> Self {
        let (id, says) = (id_of(note), says(note));
        // Under the name that it had until it got an id, if it did.
        let provisional = provisional_id(note);
        let of_note = || reviewed.iter().filter(|row| row.note == id || row.note == provisional);
        let this = of_note().rfind(|row| row.says == says);
        Self {
            is_accepted: this.is_some_and(|row| row.is_accepted),
            is_rejected: this.is_some_and(|row| !row.is_accepted),
            accepted: of_note().rfind(|row| row.is_accepted).map(|row| row.text.as_str()),
        }
    }
}

/// Leaves of a layer only what the user has accepted: a note that was changed since counts as
/// it was, one that is new does not. Gives the ids of those.
pub fn pin(document: &Document, view: &mut View, reviewed: &[ReviewedRow]) -> Vec<String> {
    let mut unreviewed = Vec::new();
    let mut stand_ins = Vec::new();
    for stand_in in std::mem::take(&mut view.stand_ins) {
        let own = Document::parse(stand_in.text.as_str());
        let Some(note) = own.notes().next() else { continue };
        let known = Known::of(note, reviewed);
        if known.is_accepted {
            stand_ins.push(stand_in);
        } else if let Some(text) = known.accepted {
            stand_ins.push(StandIn { reason: Reason::Review, text: text.to_owned(), ..stand_in });
        } else {
            unreviewed.push(stand_in.id);
        }
    }
    for one in waiting(document, reviewed) {
        let is_settled = stand_ins.iter().any(|stand_in: &StandIn| stand_in.id == *one.id)
            || view.gone.iter().any(|gone| *gone == *one.id);
        if is_settled {
            continue;
        }
        match one.before.filter(|_| one.note.id().is_some()) {
            Some(text) => stand_ins.push(StandIn {
                id: one.id.into_owned(),
                reason: Reason::Review,
                text: text.to_owned(),
            }),
            None => unreviewed.push(one.id.into_owned()),
        }
    }
    view.stand_ins = stand_ins;
    unreviewed
}

/// What an online change makes known: the user or an agent of the user's wrote it, so it is
/// accepted, unless it only touched a version that was not.
pub fn seen_online(before: &Document, after: &Document, reviewed: &[ReviewedRow]) -> Vec<ReviewedRow> {
    let waiting = waiting(before, reviewed);
    // A note that gets its id looks like a new one.
    let has_nameless = waiting.iter().any(|one| one.note.id().is_none());
    let is_seen = |note: &Note<'_>| match note.id() {
        Some(id) if before.note(id).is_some() => waiting.iter().all(|one| one.id != id),
        Some(_) => !has_nameless,
        None => false,
    };
    let is_new = |note: &Note<'_>| {
        let old = note.id().and_then(|id| before.note(id));
        old.is_none_or(|old| says(old) != says(*note))
    };
    readable(after).filter(is_new).filter(is_seen).map(|note| row(note, true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(id: &str, rest: &str, content: &str) -> String {
        format!("---\nid: {id}\n{rest}---\n\n{content}\n")
    }

    fn pinned(seen: &str, now: &str) -> (Vec<String>, Vec<(String, String)>) {
        let (seen, now) = (Document::parse(seen), Document::parse(now));
        let mut view = View::default();
        let unreviewed = pin(&now, &mut view, &rows(&seen));
        let stand_ins = view.stand_ins.iter().map(|one| {
            let text = Document::parse(one.text.as_str());
            (one.id.clone(), text.notes().next().map(|note| note.content().into_owned()).unwrap_or_default())
        });
        (unreviewed, stand_ins.collect())
    }

    #[test]
    fn what_was_accepted_stays_and_what_is_new_waits() {
        let seen = note("n1", "", "one") + &note("n2", "", "two");
        assert_eq!(pinned(&seen, &seen), (vec![], vec![]));
        let now = note("n1", "", "one") + &note("n2", "", "TWO") + &note("n3", "", "three");
        assert_eq!(pinned(&seen, &now), (vec!["n3".into()], vec![("n2".into(), "two".into())]));
    }

    #[test]
    fn spelling_is_no_change_and_for_whom_it_is_is_one() {
        let seen = note("n1", "", "one");
        let respelled = "---\nkind: memory\nid: \"n1\"\nimportance: 0.50\n---\none\n";
        assert_eq!(pinned(&seen, respelled), (vec![], vec![]));
        for field in ["model: \"*\"\n", "importance: 1.0\n", "kind: prompt\n", "scope: global\n"] {
            let (_, stand_ins) = pinned(&seen, &note("n1", field, "one"));
            assert_eq!(stand_ins.len(), 1, "{field}");
        }
        let header = format!("---\nlayer: project\nmodel: \"*\"\n---\n\n{seen}");
        assert_eq!(pinned(&seen, &header).1.len(), 1, "by the header of the layer");
    }

    #[test]
    fn a_note_that_gets_its_id_is_the_same_note() {
        let seen = "---\nkind: memory\n---\n\none\n";
        assert_eq!(pinned(seen, &note("h_1", "", "one")), (vec![], vec![]));
        assert_eq!(pinned(seen, &note("h_1", "", "two")), (vec!["h_1".into()], vec![]));
    }

    #[test]
    fn a_last_good_version_that_nobody_accepted_does_not_stand_in() {
        let seen = Document::parse(note("n1", "", "one"));
        let now = Document::parse("---\nid: n1\n\nbroken\n");
        let stand_in = |text: &str| {
            vec![StandIn { id: "n1".into(), reason: Reason::Unreadable, text: note("n1", "", text) }]
        };
        let mut view = View { stand_ins: stand_in("evil"), ..View::default() };
        assert!(pin(&now, &mut view, &rows(&seen)).is_empty());
        assert!(view.stand_ins[0].text.contains("one"));
        let mut view = View { stand_ins: stand_in("evil"), ..View::default() };
        assert_eq!(pin(&now, &mut view, &[]), ["n1"]);
        assert!(view.stand_ins.is_empty());
    }

    #[test]
    fn an_online_change_of_what_waits_accepts_nothing() {
        let seen = Document::parse(note("n1", "", "one"));
        let reviewed = rows(&seen);
        let ids = |before: &str, after: &str| {
            let rows = seen_online(&Document::parse(before), &Document::parse(after), &reviewed);
            rows.into_iter().map(|row| row.note).collect::<Vec<_>>()
        };
        let own = note("n1", "", "one");
        assert_eq!(ids(&own, &note("n1", "importance: 0.9\n", "one")), ["n1"]);
        assert_eq!(ids(&own, &(own.clone() + &note("n2", "", "two"))), ["n2"]);
        let pulled = note("n1", "", "evil");
        assert!(ids(&pulled, &note("n1", "importance: 0.9\n", "evil")).is_empty());
        let nameless = "---\nkind: memory\n---\n\nevil\n";
        assert!(ids(nameless, &note("h_1", "", "evil")).is_empty());
    }
}
