//! `layers archive`: notes that are in no file any more.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::super::context::{Context, Here};
use super::super::failure::{Exit, Failure};
use super::super::output::one_line;
use super::super::stored::{self, rfc3339, time};
use super::super::table::Table;
use super::super::{complete, lookup};
use super::sync::tell_waits;
use crate::document::{Change, Document};
use crate::store::{Archived, WhyGone};
use crate::sync::{change_layer, find_note};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers archive                      what went, when and why
  layers archive h_lz3k9p2_a1b2c      take a note out of its file and keep it
  layers restore h_lz3k9p2_a1b2c      bring it back

An archived note is in no file and no block, and never comes back by itself.";

// The arguments of `archive`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The notes to put away; without any, the archive is listed
    #[arg(value_name = "ID", add = ArgValueCompleter::new(complete::ids))]
    ids: Vec<String>,
    /// Also those that stand in a file again, and those that a checkout took away
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

#[derive(Serialize)]
struct ArchivedJson {
    id: String,
    at: String,
    path: String,
    why: WhyGone,
    returned: bool,
    content: String,
    raw: String,
}

pub(crate) fn run(args: &ArchiveArgs, cx: &mut Context) -> Result<Exit, Failure> {
    if args.ids.is_empty() { list(args, cx) } else { put_away(&args.ids, cx) }
}

fn put_away(ids: &[String], cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = cx.reach()?;
    let mut found = Vec::new();
    {
        let judged = reach.judge(cx.model().as_deref(), config.layers.orphans);
        for id in ids {
            let one = lookup::find(&judged, id)?;
            if one.note.note.id().is_none() {
                return Err(Failure::refused(format_args!("{id} has no id of its own yet"))
                    .help("`layers sync` gives it one"));
            }
            if one.note.note.protected() {
                return Err(Failure::refused(format_args!("{id} is protected"))
                    .help(format_args!("`layers edit {id} --set protected=` takes the mark away first")));
            }
            found.push((id.clone(), reach.layers[one.note.layer].layer.clone()));
        }
    }
    let here = Here { workspace: reach.workspace, config };
    let session = here.session(cx)?;
    for (id, layer) in &found {
        let changed = change_layer(&session, layer, "", |document| {
            let note = find_note(layer, document, id)?;
            Ok(vec![Change::Remove { note: note.index(), with_section: false }])
        })?;
        cx.out.say(format_args!("{id} is in the archive; `layers restore {id}` brings it back"));
        tell_waits(cx, changed.waits.as_ref());
    }
    if cx.globals.json {
        cx.out.json(&ids)?;
    }
    Ok(Exit::Done)
}

fn list(args: &ArchiveArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (here, session) = stored::look(cx)?;
    let known = stored::known_layers(&here, &session)?;
    let mut found: Vec<(String, Archived)> = Vec::new();
    for (layer, row) in &known {
        let rows = session.store().read().archived(row.id, args.all)?;
        let path = layer.path.display().to_string();
        found.extend(rows.into_iter().map(|row| (path.clone(), row)));
    }
    found.retain(|(_, row)| args.all || row.why != WhyGone::Git);
    found.sort_by_key(|(_, row)| std::cmp::Reverse(row.id));
    if cx.globals.json {
        let all: Vec<ArchivedJson> = found
            .into_iter()
            .map(|(path, row)| ArchivedJson {
                at: rfc3339(row.at),
                path,
                why: row.why,
                returned: row.returned.is_some(),
                content: content(&row),
                id: row.note,
                raw: row.text,
            })
            .collect();
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        cx.out.say("the archive is empty");
        return Ok(Exit::Done);
    }
    let mut table = Table::ending_in_text(&["when", "why", "note", "says"]);
    for (_, row) in &found {
        let says = one_line(content(row).lines().next().unwrap_or(""));
        table.row(vec![time(row.at), row.why.as_str().to_owned(), one_line(&row.note), says]);
    }
    table.print(&mut cx.out, "")?;
    cx.out.hint("`layers restore ID` brings a note back");
    Ok(Exit::Done)
}

fn content(row: &Archived) -> String {
    let document = Document::parse(row.text.as_str());
    document.notes().next().map(|note| note.content().into_owned()).unwrap_or_default()
}
