//! `layers rollback`: a change undone.

use clap::Args;
use serde::Serialize;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::output::one_line;
use super::super::stored;
use super::add::place_in;
use super::sync::tell_waits;
use crate::document::{Change, Document, NewNote, Note};
use crate::merge::{ChangeSet, Loss, Lost};
use crate::store::{ChangeRow, Op};
use crate::sync::{ChangeError, rewrite_layer};
use crate::workspace::LayerRef;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers rollback 41              undo one change (`layers history` numbers them)
  layers rollback lz3k9p2_a1b2c   undo all changes of a batch
  layers rollback 41 --force      undo it although the note changed since: field by field

Without --force it is exact: the note is again as it was, or nothing is written.";

// The arguments of `rollback`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    /// The change or the batch
    #[arg(value_name = "CHANGE|BATCH")]
    what: String,
    /// Undo what can be undone of a change that later ones stand on
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct RolledBack {
    change: i64,
    id: String,
    path: String,
}

pub(crate) fn run(args: &RollbackArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (here, mut session) = stored::open(cx)?;
    session.author.reason = Some(format!("rollback of {}", args.what));
    session.catch_up(&here.workspace.layers)?;
    let known = stored::known_layers(&here, &session)?;
    let mut changes = {
        let store = session.store().read();
        match args.what.parse::<i64>() {
            Ok(number) => store.change(number)?.into_iter().collect(),
            Err(_) => store.changes_of_batch(&args.what)?,
        }
    };
    if changes.is_empty() {
        return Err(Failure::new(
            Exit::Findings,
            format_args!("there is no change or batch `{}`", args.what),
        )
        .help("`layers history` lists changes and batches"));
    }
    changes.reverse();
    let mut by_layer: Vec<(&LayerRef, Vec<&ChangeRow>)> = Vec::new();
    for change in &changes {
        if change.op == Op::Move {
            return Err(Failure::refused(format_args!("change {} moved {} here", change.id, change.note))
                .help("`layers move` puts a note back into the layer that it came from"));
        }
        let layer = stored::layer_in_reach(&session, &known, change.layer)?;
        match by_layer.iter_mut().find(|(it, _)| it.path == layer.path) {
            Some((_, changes)) => changes.push(change),
            None => by_layer.push((layer, vec![change])),
        }
    }
    // All are tried before one is written.
    for (layer, changes) in &by_layer {
        let text = layer.read_text()?.content().unwrap_or_default();
        undone(Document::parse(text), changes, args.force, place_in(layer), &mut Vec::new())
            .map_err(Stop::failure)?;
    }
    let mut done = Vec::new();
    for (layer, changes) in &by_layer {
        let (mut stop, mut losses) = (None, Vec::new());
        let changed = rewrite_layer(&session, layer, "", |document| {
            losses.clear();
            undone(document.clone(), changes, args.force, place_in(layer), &mut losses).map_err(|why| {
                let id = why.id().to_owned();
                stop = Some(why);
                ChangeError::Moved { path: layer.path.clone(), id }
            })
        });
        let changed = match (changed, stop) {
            (Err(_), Some(stop)) => return Err(stop.failure()),
            (changed, _) => changed?,
        };
        tell_waits(cx, changed.waits.as_ref());
        tell_left(cx, &losses);
        let path = layer.path.display().to_string();
        done.extend(changes.iter().map(|change| RolledBack {
            change: change.id,
            id: change.note.clone(),
            path: path.clone(),
        }));
    }
    if cx.globals.json {
        cx.out.json(&done)?;
        return Ok(Exit::Done);
    }
    for one in &done {
        let path = cx.out.path(one.path.as_ref()).to_string();
        cx.out.say(format_args!("undid change {} of {}, {path}", one.change, one.id));
    }
    Ok(Exit::Done)
}

/// Says what later changes keep from being undone.
fn tell_left(cx: &mut Context, losses: &[Loss]) {
    for loss in losses {
        let id = one_line(loss.id.as_deref().unwrap_or_default());
        let what = match &loss.lost {
            Lost::Value { field: Some(field), .. } => field.key(),
            Lost::Value { field: None, .. } | Lost::Removal | Lost::Note(_) => "the note",
        };
        cx.out.warn(format_args!("{id}, {what}: not undone, as later changes stand on it"));
    }
}

/// Why a change cannot be undone.
enum Stop {
    /// Later changes took the place of all that it did.
    Nothing { change: i64, id: String },
    /// The note is not as the change left it.
    Later { change: i64, id: String },
    /// The result would not read as meant.
    Edit { id: String, why: String },
}

impl Stop {
    fn id(&self) -> &str {
        match self {
            Self::Nothing { id, .. } | Self::Later { id, .. } | Self::Edit { id, .. } => id,
        }
    }

    fn failure(self) -> Failure {
        match self {
            Self::Nothing { change, id } => Failure::refused(format_args!(
                "nothing of change {change} of {id} can be undone any more; nothing was written"
            ))
            .help(format_args!("`layers history {id}` shows what took its place")),
            Self::Later { change, id } => Failure::refused(format_args!(
                "{id} has changed since change {change}; nothing was written"
            ))
            .help(
                "undo the later changes first (`layers history`), or give --force to undo what still can be",
            ),
            Self::Edit { id, why } => Failure::refused(format_args!("{id}: {why}; nothing was written")),
        }
    }
}

/// The layer without these changes, the last one first.
fn undone(
    mut document: Document,
    changes: &[&ChangeRow],
    is_forced: bool,
    place: crate::document::Place,
    losses: &mut Vec<Loss>,
) -> Result<Document, Stop> {
    for change in changes {
        let id = &change.note;
        let parse = |text: &Option<String>| Document::parse(text.clone().unwrap_or_default());
        let (before, after) = (parse(&change.before), parse(&change.after));
        let now = document.note(id);
        let as_left = match (now, after.notes().next()) {
            (None, None) => document.is_absent(id),
            (Some(now), Some(_)) => is_same(now, &after),
            _ => false,
        };
        let edit = |result: Result<Document, crate::document::EditError>| {
            result.map_err(|error| Stop::Edit { id: id.clone(), why: error.to_string() })
        };
        let next = if as_left {
            let change = match (now, change.before.as_deref().and_then(NewNote::from_snippet)) {
                (Some(now), Some(before)) => Change::Respell { note: now.index(), with: before },
                (Some(now), None) => Change::Remove { note: now.index(), with_section: false },
                (None, Some(before)) => Change::Insert { form: before.form(), note: before, place },
                (None, None) => continue,
            };
            edit(document.apply(&[change]))?
        } else if is_forced {
            let applied = ChangeSet::between(&after, &before).apply(&document);
            if applied.document.source() == document.source() {
                return Err(Stop::Nothing { change: change.id, id: id.clone() });
            }
            losses.extend(applied.losses);
            applied.document
        } else {
            return Err(Stop::Later { change: change.id, id: id.clone() });
        };
        document = next;
    }
    Ok(document)
}

/// Whether a note says what another version of it says.
fn is_same(now: Note<'_>, then: &Document) -> bool {
    let now = Document::parse(now.snippet());
    ChangeSet::between(then, &now).notes().is_empty() || now.source() == then.source()
}
