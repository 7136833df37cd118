//! `layers history`: what happened.

use clap::Args;
use serde::Serialize;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::output::one_line;
use super::super::stored::{self, KnownLayer, rfc3339, time};
use super::super::table::Table;
use super::conflicts::REMOVAL;
use crate::document::Document;
use crate::store::ChangeRow;
use crate::sync::Session;

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
    session.catch_up(&here.workspace.layers)?;
    let known = stored::known_layers_and_lost(&here, &session)?;
    if args.versions {
        let versions = versions(&session, &known)?;
        return print_versions(cx, &versions[..versions.len().min(args.limit)]);
    }
    let mut events = match &args.id {
        Some(id) => events_of_note(&session, &known, id)?,
        None => last_events(&session, &known, args.limit)?,
    };
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
    print_events(cx, &events)?;
    if skipped > 0 {
        cx.out.say(format_args!("{skipped} more; --limit NUMBER shows them"));
    }
    Ok(Exit::Done)
}

/// An event with its time, in milliseconds since 1970.
type Event = (u64, EventJson);

fn events_of_note(session: &Session, known: &[KnownLayer], id: &str) -> Result<Vec<Event>, Failure> {
    let store = session.store().read();
    let mut events: Vec<Event> =
        store.changes_of_note(id)?.into_iter().filter_map(|row| change_event(known, row)).collect();
    for row in store.conflicts_of_note(id)? {
        let Some(layer) = stored::layer_of(known, row.layer) else { continue };
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
    Ok(events)
}

fn last_events(session: &Session, known: &[KnownLayer], limit: usize) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    for (_, row) in known {
        let rows = session.store().read().changes_of_layer(row.id, limit)?;
        events.extend(rows.into_iter().filter_map(|row| change_event(known, row)));
    }
    Ok(events)
}

/// None if it is of a layer that is not in reach.
fn change_event(known: &[KnownLayer], row: ChangeRow) -> Option<Event> {
    let path = stored::layer_of(known, row.layer)?.path.display().to_string();
    let event = EventJson {
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
    };
    Some((row.at, event))
}

fn print_events(cx: &mut Context, events: &[Event]) -> Result<(), Failure> {
    let mut table = Table::ending_in_text(&["change", "batch", "when", "who", "what", "note", "says"]);
    let flat = |text: &Option<String>| text.as_deref().unwrap_or("-").replace('\n', " ⏎ ");
    for (at, event) in events {
        let number = match (event.change, event.conflict) {
            (Some(change), _) => change.to_string(),
            (None, Some(conflict)) => format!("c{conflict}"),
            (None, None) => String::new(),
        };
        let says = if event.change.is_some() {
            content(event.after.as_deref().or(event.before.as_deref()))
        } else {
            match event.field.as_deref() {
                Some(REMOVAL) => "its removal (the note stands)".to_owned(),
                field => {
                    let field = field.unwrap_or("text");
                    format!("{field}: {} (stands: {})", flat(&event.before), flat(&event.after))
                }
            }
        };
        table.row(vec![
            number,
            event.batch.clone().unwrap_or_else(|| "-".to_owned()),
            time(*at),
            event.who.clone().unwrap_or_else(|| "-".to_owned()),
            event.op.clone(),
            one_line(event.id.as_deref().unwrap_or("-")),
            one_line(&says),
        ]);
    }
    table.print(&mut cx.out, "")
}

fn nothing(cx: &mut Context, id: Option<&str>) -> Exit {
    let Some(id) = id else {
        cx.out.say("nothing has happened yet");
        return Exit::Done;
    };
    cx.out.say(format_args!("nothing has happened to `{id}` since its layer is known"));
    Exit::Findings
}

/// The versions of all layers in reach, newest first.
fn versions(session: &Session, known: &[KnownLayer]) -> Result<Vec<(u64, VersionJson)>, Failure> {
    let mut all = Vec::new();
    for (layer, row) in known {
        for version in session.store().read().versions(row.id)? {
            let json = VersionJson {
                version: version.id.0,
                at: rfc3339(version.at),
                origin: version.origin,
                revision: version.revision,
                batch: version.batch,
                path: layer.path.display().to_string(),
            };
            all.push((version.at, json));
        }
    }
    all.sort_by_key(|(_, json)| std::cmp::Reverse(json.version));
    Ok(all)
}

fn print_versions(cx: &mut Context, all: &[(u64, VersionJson)]) -> Result<Exit, Failure> {
    if cx.globals.json {
        let all: Vec<&VersionJson> = all.iter().map(|(_, json)| json).collect();
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["version", "when", "from", "revision", "path"]);
    for (at, version) in all {
        let path = cx.out.path(version.path.as_ref()).to_string();
        table.row(vec![
            version.version.to_string(),
            time(*at),
            version.origin.clone(),
            version.revision.clone(),
            path,
        ]);
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
