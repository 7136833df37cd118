//! `layers show`: one note with all its fields.

use std::borrow::Cow;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::json::{self, NoteJson};
use super::super::output::{STRONG, one_line};
use super::super::table::Table;
use super::super::{complete, lookup};
use crate::note::{Scope, two_decimals};
use crate::reach::ReadLayer;
use crate::secret::mask_value;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers show h_lz3k9p2_a1b2c          its fields, its place, its text
  layers show h_lz3k9p2_a1b2c --raw    its bytes as they stand in the file
  layers show h_lz3k9p2_a1b2c --json   all of it as data

A credential has its name in its place; --reveal shows it.";

// The arguments of `show`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The note
    #[arg(value_name = "ID", add = ArgValueCompleter::new(complete::ids))]
    id: String,
    /// Print the note as it stands in its file
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// Show credentials too, which all else that is printed has masked
    #[arg(long)]
    reveal: bool,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    note: NoteJson,
    raw: String,
    /// The other notes with this id.
    others: Vec<NoteJson>,
}

pub(crate) fn run(args: &ShowArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = cx.reach()?;
    let found = lookup::find_in(&reach, &config, cx.model().as_deref(), &args.id)?;
    let layers: Vec<&ReadLayer> = reach.layers.iter().collect();
    if args.reveal {
        cx.out.reveal();
    }
    if args.raw {
        let bytes = found.note.note.own_bytes();
        let shown = cx.out.shown(&bytes).into_owned();
        cx.out.data(&shown)?;
        if !found.note.note.own_bytes().ends_with('\n') {
            cx.out.data("\n")?;
        }
        return Ok(Exit::Done);
    }
    let mut lines = json::LineCounter::default();
    let note = json::note(&found.note, &layers, &mut lines);
    let others: Vec<NoteJson> = found.others.iter().map(|one| json::note(one, &layers, &mut lines)).collect();
    if cx.globals.json {
        let raw = found.note.note.own_bytes().into_owned();
        cx.out.json(&Whole { note, raw, others })?;
        return Ok(Exit::Done);
    }
    print(cx, &note, &others)?;
    Ok(Exit::Done)
}

fn print(cx: &mut Context, note: &NoteJson, others: &[NoteJson]) -> Result<(), Failure> {
    cx.out.line(format_args!("{STRONG}{}{STRONG:#}", one_line(&note.id)))?;
    let mut table = Table::new(&["", ""]);
    let reveals = cx.out.reveals();
    let mut row = |key: &str, text: String| {
        let text = if reveals { Cow::Borrowed(&*text) } else { mask_value(key, &text) };
        for (at, line) in text.split('\n').enumerate() {
            table.row(vec![if at == 0 { key.to_owned() } else { String::new() }, one_line(line)]);
        }
    };
    if note.provisional {
        row("", "(no id in the file yet; this name holds until it gets one)".to_owned());
    }
    row("kind", note.kind.to_string());
    if let Some(title) = &note.title {
        row("title", title.clone());
    }
    row(
        "importance",
        match note.written_importance {
            Some(_) => two_decimals(note.importance),
            None => format!("{} (default)", two_decimals(note.importance)),
        },
    );
    row(
        "model",
        match note.model.as_deref() {
            None | Some("") => "none".to_owned(),
            Some("*") => "* (every model)".to_owned(),
            Some(model) => model.to_owned(),
        },
    );
    row(
        "scope",
        match (note.scope, &note.project) {
            (Scope::Global, _) => "global".to_owned(),
            (Scope::Project, Some(project)) => format!("project ({project})"),
            (Scope::Project, None) => "project (not named: it counts nowhere)".to_owned(),
        },
    );
    row("active", if note.active { "yes" } else { "no" }.to_owned());
    row("approval", note.approval.to_string());
    if !note.evidence.is_empty() {
        row("evidence", note.evidence.clone());
    }
    if !note.tags.is_empty() {
        row("tags", note.tags.join(", "));
    }
    if note.protected {
        row("protected", "yes".to_owned());
    }
    for (key, value) in &note.metadata {
        row(key, value.as_str().unwrap_or_default().to_owned());
    }
    row("state", note.standing.reason().unwrap_or("ok").to_owned());
    row("layer", format!("{}, {}:{}", note.layer.as_str(), cx.out.path(note.path.as_ref()), note.line));
    if let Some(path) = &note.shadowed_by {
        row("shadowed by", cx.out.path(path.as_ref()).to_string());
    }
    for other in others {
        let how = if other.shadowed_by.is_some() { "shadows" } else { "also" };
        let place = format!("{}, {}:{}", other.layer.as_str(), cx.out.path(other.path.as_ref()), other.line);
        row(how, place);
    }
    table.print(&mut cx.out, "  ")?;
    // As a whole: a line of a key is not known for one.
    let content = cx.out.shown(&note.content).into_owned();
    let content: Vec<String> = content.split('\n').map(one_line).collect();
    cx.out.line(format_args!("\n{}", content.join("\n")))
}
