//! `layers history`: what happened.

use clap::Args;
use serde::Serialize;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::output::one_line;
use super::super::stored::{self, rfc3339, time};
use super::super::table::Table;
use crate::document::Document;
use crate::store::ChangeRow;
use crate::sync::PassOptions;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers history h_lz3k9p2_a1b2c     the life of a note, what lost against it included
  layers history                     the last changes in the layers in reach
  layers history --versions          the versions of their files, for `layers diff A..B`";

// The arguments of `history`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The note
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// The versions of the files instead of changes of notes
    #[arg(long, conflicts_with = "id")]
    versions: bool,
    /// How many at most, the newest
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
}

#[derive(Serialize)]
struct EventJson {
    /// The change, for `layers rollback`; none for a conflict.
    change: Option<i64>,
    /// The conflict, for `layers restore --conflict`; none for a change.
    conflict: Option<i64>,
    batch: Option<String>,
    at: String,
    who: Option<String>,
    op: String,
    id: Option<String>,
    path: String,
    before: Option<String>,
    after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct VersionJson {
    version: i64,
    at: String,
    origin: String,
    revision: String,
    batch: String,
    path: String,
}

pub(crate) fn run(args: &HistoryArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (here, session) = stored::open(cx)?;
    session.pass(&here.workspace.layers, &PassOptions::default())?;
    let known = stored::known_layers_and_lost(&here, &session)?;
    let store = session.store().read();
    if args.versions {
        let mut all = Vec::new();
        for (layer, row) in &known {
            for version in store.versions(row.id)? {
                all.push((
                    version.id.0,
                    version.at,
                    VersionJson {
                        version: version.id.0,
                        at: rfc3339(version.at),
                        origin: version.origin,
                        revision: version.revision,
                        batch: version.batch,
                        path: layer.path.display().to_string(),
                    },
                ));
            }
        }
        all.sort_by_key(|(id, ..)| std::cmp::Reverse(*id));
        all.truncate(args.limit);
        return print_versions(cx, &all);
    }
    let in_reach =
        |row: &ChangeRow| stored::layer_of(&known, row.layer).map(|layer| layer.path.display().to_string());
    let mut events: Vec<(u64, EventJson)> = Vec::new();
    let rows = match &args.id {
        Some(id) => store.changes_of_note(id)?,
        None => {
            let mut rows = Vec::new();
            for (_, row) in &known {
                rows.extend(store.changes_of_layer(row.id, args.limit)?);
            }
            rows
        }
    };
    for row in rows {
        let Some(path) = in_reach(&row) else { continue };
        events.push((
            row.at,
            EventJson {
                change: Some(row.id),
                conflict: None,
                batch: Some(row.batch),
                at: rfc3339(row.at),
                who: Some(row.who),
                op: row.op.as_str().to_owned(),
                id: Some(row.note),
                path,
                before: row.before,
                after: row.after,
                field: None,
                reason: row.reason,
            },
        ));
    }
    if let Some(id) = &args.id {
        for row in store.conflicts_of_note(id)? {
            let Some(layer) = stored::layer_of(&known, row.layer) else { continue };
            events.push((
                row.at,
                EventJson {
                    change: None,
                    conflict: Some(row.id),
                    batch: None,
                    at: rfc3339(row.at),
                    who: None,
                    op: "lost".to_owned(),
                    id: row.note,
                    path: layer.path.display().to_string(),
                    before: row.lost,
                    after: row.kept,
                    field: row.field,
                    reason: None,
                },
            ));
        }
    }
    events.sort_by_key(|(at, event)| (*at, event.change.unwrap_or(i64::MAX)));
    let skipped = events.len().saturating_sub(args.limit);
    events.drain(..skipped);
    if cx.globals.json {
        let events: Vec<EventJson> = events.into_iter().map(|(_, event)| event).collect();
        cx.out.json(&events)?;
        return Ok(Exit::Done);
    }
    if events.is_empty() {
        return Ok(nothing(cx, args.id.as_deref()));
    }
    let mut table = Table::new(&["change", "when", "who", "what", "note", "says"]);
    for (at, event) in &events {
        let number = match (event.change, event.conflict) {
            (Some(change), _) => change.to_string(),
            (None, Some(conflict)) => format!("c{conflict}"),
            (None, None) => String::new(),
        };
        let says = match event.change {
            Some(_) => content(event.after.as_deref().or(event.before.as_deref())),
            None => format!(
                "{}: {} (stands: {})",
                event.field.as_deref().unwrap_or("text"),
                event.before.as_deref().unwrap_or("-").replace('\n', " ⏎ "),
                event.after.as_deref().unwrap_or("-").replace('\n', " ⏎ ")
            ),
        };
        table.row(vec![
            number,
            time(*at),
            event.who.clone().unwrap_or_else(|| "-".to_owned()),
            event.op.clone(),
            one_line(event.id.as_deref().unwrap_or("-")),
            one_line(&says),
        ]);
    }
    table.print(&mut cx.out, "")?;
    if skipped > 0 {
        cx.out.say(format_args!("{skipped} more; --limit NUMBER shows them"));
    }
    Ok(Exit::Done)
}

fn nothing(cx: &mut Context, id: Option<&str>) -> Exit {
    match id {
        Some(id) => {
            cx.out.say(format_args!("nothing has happened to `{id}` since its layer is known"));
            Exit::Findings
        }
        None => {
            cx.out.say("nothing has happened yet");
            Exit::Done
        }
    }
}

fn print_versions(cx: &mut Context, all: &[(i64, u64, VersionJson)]) -> Result<Exit, Failure> {
    if cx.globals.json {
        let all: Vec<&VersionJson> = all.iter().map(|(.., json)| json).collect();
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["version", "when", "from", "revision", "path"]);
    for (id, at, version) in all {
        let path = cx.out.path(version.path.as_ref()).to_string();
        table.row(vec![id.to_string(), time(*at), version.origin.clone(), version.revision.clone(), path]);
    }
    table.print(&mut cx.out, "")?;
    Ok(Exit::Done)
}

/// The first line of what a kept note says.
fn content(text: Option<&str>) -> String {
    let document = Document::parse(text.unwrap_or(""));
    let content = document.notes().next().map(|note| note.content().into_owned()).unwrap_or_default();
    content.lines().next().unwrap_or("").to_owned()
}
