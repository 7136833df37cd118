//! `layers restore`: what is gone, back.

use clap::Args;
use serde::Serialize;

use super::super::args::LayerArg;
use super::super::context::{Context, Here};
use super::super::failure::{Exit, Failure};
use super::super::stored;
use super::add::place_in;
use super::conflicts::REMOVAL;
use super::sync::tell_waits;
use crate::document::{Change, Document, Field, NewNote};
use crate::files::{Expected, Found};
use crate::mint::now_millis;
use crate::sync::{Changed, PassOptions, Session, change_layer, find_note, recall};
use crate::workspace::{LayerRef, WorkTree};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers restore h_lz3k9p2_a1b2c     a note that is in no file any more, with its own bytes
  layers restore --conflict 12       a value that lost (see `layers conflicts`)
  layers restore --layer home        the whole file as it was before it was emptied or removed";

// The arguments of `restore`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The notes
    #[arg(value_name = "ID", required_unless_present_any = ["conflict", "layer"])]
    ids: Vec<String>,
    /// A value that lost
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["ids", "layer"])]
    conflict: Option<i64>,
    /// A file that is held because so much of it is gone
    #[arg(long, value_enum, conflicts_with = "ids")]
    layer: Option<LayerArg>,
}

#[derive(Serialize)]
struct Restored {
    id: Option<String>,
    path: String,
}

pub(crate) fn run(args: &RestoreArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (here, session) = stored::open(cx)?;
    let restored = match (args.conflict, args.layer) {
        (Some(number), _) => vec![conflict(number, cx, &here, &session)?],
        (None, Some(place)) => vec![file(place, cx, &here, &session)?],
        (None, None) => notes(&args.ids, cx, &here, &session)?,
    };
    if cx.globals.json {
        cx.out.json(&restored)?;
    }
    Ok(Exit::Done)
}

fn notes(ids: &[String], cx: &mut Context, here: &Here, session: &Session) -> Result<Vec<Restored>, Failure> {
    session.catch_up(&here.workspace.layers)?;
    let known = stored::known_layers_and_lost(here, session)?;
    let layers: Vec<_> = known.iter().map(|(_, row)| row.id).collect();
    let mut found = Vec::new();
    // All are found before one is written.
    for id in ids {
        let Some(recalled) = recall(&session.store().read(), &layers, id)? else {
            let elsewhere = session.store().read().archived_note(id)?;
            if let Some(elsewhere) = elsewhere.first() {
                stored::layer_in_reach(session, &known, elsewhere.layer)?;
            }
            return Err(Failure::new(
                Exit::Findings,
                format_args!("no note `{id}` was ever in a layer in reach"),
            )
            .help("`layers archive --all` lists what can be brought back"));
        };
        let layer = stored::layer_in_reach(session, &known, recalled.layer)?;
        let note = NewNote::from_snippet(&recalled.text).ok_or_else(|| {
            Failure::new(Exit::Broken, format_args!("what was kept of {id} does not read as a note"))
        })?;
        found.push((id, layer, note));
    }
    let mut restored = Vec::new();
    for (id, layer, note) in found {
        let mut is_there = false;
        let changed = change_layer(session, layer, "", |document| {
            is_there = document.note(id).is_some();
            if is_there {
                return Ok(Vec::new());
            }
            Ok(vec![Change::Insert { note: note.clone(), form: note.form(), place: place_in(layer) }])
        })?;
        let path = cx.out.path(&layer.path).to_string();
        if is_there {
            cx.out.say(format_args!("{id} stands in {path}; nothing was written"));
        } else {
            tell(cx, id, &path, &changed);
        }
        restored.push(Restored { id: Some(id.clone()), path: layer.path.display().to_string() });
    }
    Ok(restored)
}

fn tell(cx: &mut Context, id: &str, path: &str, changed: &Changed) {
    let line = changed.after.note(id).map_or(0, |note| note.location().line);
    cx.out.say(format_args!("{id} is back, {path}:{line}"));
    tell_waits(cx, changed.waits.as_ref());
}

/// Puts a value that lost in the place of the one that stands.
fn conflict(number: i64, cx: &mut Context, here: &Here, session: &Session) -> Result<Restored, Failure> {
    let known = stored::known_layers(here, session)?;
    let Some(row) = session.store().read().conflict(number)? else {
        return Err(Failure::new(Exit::Findings, format_args!("there is no conflict {number}"))
            .help("`layers conflicts --all` lists them"));
    };
    let layer = stored::layer_in_reach(session, &known, row.layer)?;
    let (Some(id), Some(field)) = (&row.note, &row.field) else {
        return Err(Failure::refused(
            "this is about text between the notes, whose place is not known any more",
        )
        .help(format_args!("it said:\n{}", row.lost.unwrap_or_default())));
    };
    let changed = change_layer(session, layer, "", |document| {
        let note = find_note(layer, document, id)?;
        if field == REMOVAL {
            return Ok(vec![Change::Remove { note: note.index(), with_section: false }]);
        }
        let field = if field == Field::Content.key() { Field::Content } else { Field::from_key(field) };
        let Some(lost) = &row.lost else {
            return Ok(vec![Change::Unset { note: note.index(), field }]);
        };
        let now = note.get(&field).unwrap_or_default().into_owned();
        // Of a text only the lines that lost are known.
        let text = match &row.kept {
            Some(kept) if now != *kept && now.matches(kept.as_str()).count() == 1 && !kept.is_empty() => {
                now.replacen(kept.as_str(), lost, 1)
            }
            _ => lost.clone(),
        };
        Ok(vec![Change::Set { note: note.index(), field, text }])
    })?;
    session.store().write(|tx| {
        tx.settle_conflict(number, now_millis())?;
        Ok::<_, Failure>(())
    })?;
    let path = cx.out.path(&layer.path).to_string();
    if row.field.as_deref() == Some(REMOVAL) {
        cx.out.say(format_args!("{id} is in the archive; `layers restore {id}` brings it back"));
    } else {
        cx.out.say(format_args!("{id} has the value that lost, {path}"));
    }
    tell_waits(cx, changed.waits.as_ref());
    Ok(Restored { id: Some(id.clone()), path: layer.path.display().to_string() })
}

/// The layer of a place that is held; of several the first, of none the one that is written.
fn held(place: LayerArg, here: &Here, session: &Session) -> Result<LayerRef, Failure> {
    let written = here.target(place)?;
    let is_there = |layer: &&LayerRef| layer.kind == place.kind() && layer.path != written.path;
    let mut layers = vec![written.clone()];
    layers.extend(here.workspace.layers.iter().filter(is_there).cloned());
    let reports = session.pass(&layers, &PassOptions::default())?;
    let held = reports.into_iter().find(|report| report.view.held.is_some());
    Ok(held.map_or(written, |report| report.layer))
}

/// Puts the last good text of a held file back.
fn file(place: LayerArg, cx: &mut Context, here: &Here, session: &Session) -> Result<Restored, Failure> {
    let layer = held(place, here, session)?;
    let known = stored::known_layers(here, session)?;
    let newest = match known.iter().find(|(it, _)| it.path == layer.path) {
        Some((_, row)) => session.store().read().newest_version(row.id)?,
        None => None,
    };
    let Some(newest) = newest else {
        return Err(Failure::new(
            Exit::Findings,
            format_args!("nothing is known of {}", layer.path.display()),
        ));
    };
    let text = session.store().read().text(newest.hash)?;
    let found = layer.read_text()?;
    let path = cx.out.path(&layer.path).to_string();
    if let Some(what) = WorkTree::around(&layer.path).and_then(|tree| tree.under_way()) {
        return Err(Failure::refused(format_args!("git is in the middle of {what}; {path} is not written"))
            .help("finish it first, or undo it with git"));
    }
    if matches!(&found, Found::Content(now) if *now == text) {
        cx.out.say(format_args!("{path} says so already; nothing was written"));
    } else {
        let now = match &found {
            Found::Content(now) => Document::parse(now.as_str()),
            Found::Absent => Document::parse(""),
        };
        // What was written into it since is not to be lost for what was lost.
        if !now.source().trim().is_empty() && now.notes().len() > 0 {
            let ours = Document::parse(text.as_str());
            let is_new = now.notes().any(|note| {
                note.id().is_none_or(|id| ours.note(id).is_none_or(|old| old.own_bytes() != note.own_bytes()))
            });
            if is_new {
                return Err(Failure::refused(format_args!(
                    "{path} has notes that its last good version has not"
                ))
                .help("`layers sync --accept` takes the file, then `layers restore ID` brings notes back"));
            }
        }
        let expected = match &found {
            Found::Content(now) => Expected::Bytes(now.as_bytes()),
            Found::Absent => Expected::Absent,
        };
        layer.replace(expected, text.as_bytes())?;
        session.pass(std::slice::from_ref(&layer), &PassOptions::default())?;
        cx.out.say(format_args!("{path} is as it was"));
    }
    Ok(Restored { id: None, path: layer.path.display().to_string() })
}
