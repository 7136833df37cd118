//! Saves of a program that rewrites the whole file from its own memory, as pi does: bullets
//! in its own spelling and nothing else. Such a save counts as a change only in what that
//! form can say; the rest of the file stays as it was.

use std::collections::BTreeSet;

use crate::document::{Change, Document, Field, Form, NewNote, Note, State};
use crate::export::{Exported, single};
use crate::merge::{Applied, ChangeSet, NoteChange, Origin, VersionLine};

use super::ids::adopt_from;

/// What the layer is to say after such a save; `None` if `file` is none, or if the layer
/// had nothing that the form cannot say.
pub(super) fn restore<L: VersionLine>(
    file: &Document,
    head: &Document,
    line: &L,
) -> Result<Option<Applied>, L::Error> {
    if !is_export(file) || is_export(head) {
        return Ok(None);
    }
    // A note without an id in the layer that pi has given one is the same note.
    let head = &adopt_from(file, head);
    // What it changed is what differs from its last save; from the first one on it can only
    // be known which notes it had.
    let last = line.versions().iter().rposition(|version| version.origin == Origin::Export);
    let changed = if let Some(index) = last {
        let last = line.document(index)?;
        let now = exported(head, |id| last.note(id).is_some());
        let (before, after) = (lengthened(&last, head, &last), lengthened(file, head, &last));
        carry(head, &now, ChangeSet::between(&before, &now).apply(&after))
    } else {
        let now = exported(head, |id| file.note(id).is_some());
        carry(head, &now, Applied::unchanged(&without_stale(file, head, &now, line)?))
    };
    Ok(Some(changed))
}

/// Whether a text is exactly what pi writes for the notes in it.
fn is_export(document: &Document) -> bool {
    let is_bullet =
        |note: Note<'_>| note.form() == Form::Bullet && note.state() == State::Good && note.id().is_some();
    document.diagnostics().is_empty()
        && document.notes().all(is_bullet)
        && exported_text(document.notes()).is_some_and(|text| text == document.source())
}

fn exported_text<'a>(notes: impl Iterator<Item = Note<'a>>) -> Option<String> {
    let parts: Vec<_> =
        notes.map(|note| (note, note.content(), note.evidence(), note.model(), note.project())).collect();
    let all: Vec<Exported<'_>> = parts
        .iter()
        .map(|(note, content, evidence, model, project)| Exported {
            id: note.id().unwrap_or(""),
            kind: note.kind(),
            content,
            evidence,
            importance: note.importance(),
            // pi's form cannot say that a note is switched off.
            active: true,
            model: model.as_deref(),
            scope: note.scope(),
            project: project.as_deref(),
        })
        .collect();
    single(&all).ok()
}

/// The layer as the program would write it had it read it as it is, of the notes chosen.
fn exported(head: &Document, choose: impl Fn(&str) -> bool) -> Document {
    let is_chosen = |note: &Note<'_>| note.state() == State::Good && note.id().is_some_and(&choose);
    Document::parse(exported_text(head.notes().filter(is_chosen)).unwrap_or_default())
}

/// A save with the lines of its texts that the program never knew: it has read only the first
/// line of each, as `known` shows. What it makes of that line is what it changed.
fn lengthened(save: &Document, head: &Document, known: &Document) -> Document {
    let mut changes = Vec::new();
    for note in save.notes() {
        let Some((full, known)) = note.id().and_then(|id| head.note(id).zip(known.note(id))) else {
            continue;
        };
        for field in [Field::Content, Field::Evidence] {
            let said = |note: Note<'_>| note.get(&field).unwrap_or_default().into_owned();
            let (full, known, own) = (said(full), said(known), said(note));
            if let Some((first, rest)) = full.split_once('\n')
                && first.trim() == known
            {
                changes.push(Change::Set { note: note.index(), field, text: format!("{own}\n{rest}") });
            }
        }
    }
    save.apply(&changes).unwrap_or_else(|_| save.clone())
}

/// A first save as the program would have made it had it read the layer as it is: a note that
/// it writes as an earlier version had it is not one that it changed.
fn without_stale<L: VersionLine>(
    file: &Document,
    head: &Document,
    now: &Document,
    line: &L,
) -> Result<Document, L::Error> {
    let save = lengthened(file, head, file);
    let mut changed = changed_ids(now, &save);
    let mut stale = Vec::new();
    for index in (0..line.versions().len().saturating_sub(1)).rev() {
        if changed.is_empty() {
            break;
        }
        let version = line.document(index)?;
        let then = exported(&version, |id| changed.contains(id));
        let differing = changed_ids(&then, &lengthened(file, &version, file));
        let is_same = |id: &String| then.note(id).is_some() && !differing.contains(id);
        let (same, other) = changed.into_iter().partition(is_same);
        stale.extend::<BTreeSet<String>>(same);
        changed = other;
    }
    let as_now = stale.iter().filter_map(|id| save.note(id).zip(now.note(id)));
    let changes: Vec<Change> =
        as_now.map(|(stale, now)| Change::Respell { note: stale.index(), with: NewNote::of(now) }).collect();
    Ok(save.apply(&changes).unwrap_or(save))
}

/// The notes that both have and that say something else.
fn changed_ids(from: &Document, to: &Document) -> BTreeSet<String> {
    let changes = ChangeSet::between(from, to);
    let changed = changes.notes().iter().filter(|(_, change)| matches!(change, NoteChange::Changed(_)));
    changed.map(|(id, _)| id.clone()).collect()
}

/// Makes the changes from `before` to `after.document`, both in pi's form, in the layer.
fn carry(head: &Document, before: &Document, after: Applied) -> Applied {
    let changes = ChangeSet::between(before, &after.document);
    let mut applied = changes.apply(head);
    // The layer says more about a note than pi knows; gone is gone all the same.
    let gone = changes.notes().iter().filter(|(_, change)| matches!(change, NoteChange::Removed(_)));
    let removals: Vec<Change> = gone
        .filter_map(|(id, _)| applied.document.note(id))
        .map(|note| Change::Remove { note: note.index(), with_section: false })
        .collect();
    if let Ok(document) = applied.document.apply(&removals) {
        let is_gone = |id: &Option<String>| id.as_deref().is_some_and(|id| document.note(id).is_none());
        applied.losses.retain(|loss| !is_gone(&loss.id));
        applied.document = document;
    }
    applied.losses.extend(after.losses);
    applied.waiting.extend(after.waiting);
    applied
}
