//! Saves of a program that rewrites the whole file from its own memory, as pi does: bullets
//! in its own spelling and nothing else. Such a save counts as a change only in what that
//! form can say; the rest of the file stays as it was.

use std::collections::BTreeSet;

use crate::document::{Change, Document, Form, Note, State};
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
    let ids: BTreeSet<&str> = file.notes().filter_map(Note::id).collect();
    // What the program would have written had it read the layer as it is now.
    let now = exported(head, |note| note.id().is_some_and(|id| ids.contains(id)), Some(file));
    // What it changed is what differs from its last save; from the first one on it can only
    // be known which notes it had.
    let last = line.versions().iter().rposition(|version| version.origin == Origin::Export);
    let changed = match last {
        Some(index) => {
            let last = line.document(index)?;
            let all = exported(head, |note| note.id().is_some_and(|id| last.note(id).is_some()), Some(file));
            let merged = ChangeSet::between(&last, file).apply(&all);
            carry(head, &all, merged)
        }
        None => {
            carry(head, &now, Applied { document: file.clone(), losses: Vec::new(), waiting: Vec::new() })
        }
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

/// The layer as pi would write it, of the notes chosen. A text of several lines is, as pi
/// has it, its first line, where `file` has it so.
fn exported(head: &Document, choose: impl Fn(Note<'_>) -> bool, file: Option<&Document>) -> Document {
    let text = exported_text(head.notes().filter(|note| note.state() == State::Good && choose(*note)));
    let mut document = Document::parse(text.unwrap_or_default());
    let Some(file) = file else { return document };
    let mut changes = Vec::new();
    for note in document.notes() {
        let Some(theirs) = note.id().and_then(|id| file.note(id)) else { continue };
        for field in [crate::document::Field::Content, crate::document::Field::Evidence] {
            let (full, short) =
                (note.get(&field).unwrap_or_default(), theirs.get(&field).unwrap_or_default());
            let first = full.lines().next().unwrap_or("").trim();
            if full != short && first == short {
                changes.push(Change::Set { note: note.index(), field, text: short.into_owned() });
            }
        }
    }
    if let Ok(shortened) = document.apply(&changes) {
        document = shortened;
    }
    document
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
