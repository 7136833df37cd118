//! `layers keep` and `layers drop`: pi-continual-harness's commands of these names. They
//! move the importance of notes up and down; nothing is removed.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::super::context::{self, Context};
use super::super::failure::{Exit, Failure};
use super::super::{complete, lookup};
use super::sync::tell_waits;
use crate::document::{Change, Field};
use crate::mint::fresh_id;
use crate::note::two_decimals;
use crate::sync::{ChangeError, change_layer, find_note};
use crate::workspace::LayerRef;

pub(crate) const KEEP_EXAMPLES: &str = "\
Examples:
  layers keep h_lz3k9p2_a1b2c        0.50 becomes 0.60
  layers keep h_a h_b --quiet        several at once, silently";

pub(crate) const DROP_EXAMPLES: &str = "\
Examples:
  layers drop h_lz3k9p2_a1b2c                      0.50 becomes 0.40
  layers edit h_lz3k9p2_a1b2c --set active=false   to switch a note off instead

`drop` is the opposite of `keep`, as in pi-continual-harness: the note stays in its file.";

/// The step of both commands (fixtures/golden/prune_decay.json).
const STEP: f64 = 0.1;

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bump {
    Keep,
    Drop,
}

// The arguments of `keep` and `drop`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// The notes
    #[arg(value_name = "ID", required = true, add = ArgValueCompleter::new(complete::ids))]
    ids: Vec<String>,
}

#[derive(Clone, Serialize)]
struct Bumped {
    id: String,
    old: f64,
    new: f64,
    path: String,
}

pub(crate) fn run(args: &KeepArgs, bump: Bump, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = cx.reach()?;
    // All are found before one is written.
    let mut by_layer: Vec<(LayerRef, Vec<String>)> = Vec::new();
    {
        let judged = reach.judge(cx.model().as_deref(), config.layers.orphans);
        for id in &args.ids {
            let found = lookup::find(&judged, id)?;
            let layer = &reach.layers[found.note.layer].layer;
            match by_layer.iter_mut().find(|(known, _)| known.path == layer.path) {
                Some((_, ids)) if ids.contains(id) => {}
                Some((_, ids)) => ids.push(id.clone()),
                None => by_layer.push((layer.clone(), vec![id.clone()])),
            }
        }
    }
    let here = context::Here { workspace: reach.workspace, config };
    let session = here.session(cx)?;
    let mut all: Vec<Bumped> = Vec::new();
    for (layer, ids) in &by_layer {
        let mut bumped = Vec::new();
        let mut minted = Vec::new();
        for _ in ids {
            minted.push(fresh_id()?);
        }
        let changed = change_layer(&session, layer, "", |document| {
            let mut changes = Vec::new();
            bumped.clear();
            for (id, fresh) in ids.iter().zip(&minted) {
                let note = find_note(layer, document, id)?;
                let old = note.importance();
                let step = if bump == Bump::Keep { STEP } else { -STEP };
                let text = two_decimals((old + step).clamp(0.0, 1.0));
                let new = text.parse().unwrap_or(old);
                let named = if note.id().is_none() {
                    changes.push(Change::Set { note: note.index(), field: Field::Id, text: fresh.clone() });
                    fresh
                } else {
                    id
                };
                changes.push(Change::Set { note: note.index(), field: Field::Importance, text });
                bumped.push(Bumped { id: named.clone(), old, new, path: layer.path.display().to_string() });
            }
            Ok::<_, ChangeError>(changes)
        })?;
        if !cx.globals.json {
            for one in &bumped {
                cx.out.say(format_args!(
                    "{}: {} -> {}",
                    one.id,
                    two_decimals(one.old),
                    two_decimals(one.new)
                ));
            }
        }
        tell_waits(cx, changed.waits.as_ref());
        all.append(&mut bumped);
    }
    if cx.globals.json {
        cx.out.json(&all)?;
    }
    Ok(Exit::Done)
}
