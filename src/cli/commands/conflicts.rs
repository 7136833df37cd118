//! `layers conflicts`: what lost.

use clap::Args;
use serde::Serialize;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::output::one_line;
use super::super::stored::{self, rfc3339, time};
use super::super::table::Table;
use crate::store::ConflictRow;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers conflicts                      what lost and was neither brought back nor dismissed
  layers conflicts h_lz3k9p2_a1b2c      of one note
  layers restore --conflict 12          put the value that lost in its place
  layers conflicts --dismiss 12         leave it at that";

/// What stands for the field where the removal of the note lost.
pub(crate) const REMOVAL: &str = "removal";

// The arguments of `conflicts`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ConflictsArgs {
    /// Only of this note
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Also those that are settled
    #[arg(long)]
    all: bool,
    /// Leave a conflict as it is, and list it no more
    #[arg(long, value_name = "NUMBER")]
    dismiss: Vec<i64>,
}

#[derive(Serialize)]
struct ConflictJson {
    number: i64,
    at: String,
    path: String,
    id: Option<String>,
    field: Option<String>,
    kept: Option<String>,
    lost: Option<String>,
    settled: bool,
}

pub(crate) fn run(args: &ConflictsArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let is_look = args.dismiss.is_empty();
    let (here, session) = if is_look { stored::look(cx)? } else { stored::open(cx)? };
    let known = stored::known_layers(&here, &session)?;
    if !args.dismiss.is_empty() {
        let at = crate::mint::now_millis();
        for number in &args.dismiss {
            if session.store().read().conflict(*number)?.is_none() {
                return Err(Failure::new(Exit::Findings, format_args!("there is no conflict {number}")));
            }
        }
        session.store().write(|tx| {
            args.dismiss.iter().try_for_each(|number| tx.settle_conflict(*number, at))?;
            Ok::<_, Failure>(())
        })?;
    }
    let mut found: Vec<(String, ConflictRow)> = Vec::new();
    for (layer, row) in &known {
        let rows = session.store().read().conflicts(row.id, args.all)?;
        let path = layer.path.display().to_string();
        found.extend(rows.into_iter().map(|row| (path.clone(), row)));
    }
    found.retain(|(_, row)| args.id.is_none() || row.note == args.id);
    found.sort_by_key(|(_, row)| std::cmp::Reverse(row.id));
    if cx.globals.json {
        let all: Vec<ConflictJson> = found
            .into_iter()
            .map(|(path, row)| ConflictJson {
                number: row.id,
                at: rfc3339(row.at),
                path,
                id: row.note,
                field: row.field,
                kept: row.kept,
                lost: row.lost,
                settled: row.settled.is_some(),
            })
            .collect();
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        cx.out.say("nothing lost");
        return Ok(Exit::Done);
    }
    let mut table = Table::ending_in_text(&["number", "when", "note", "field", "stands", "lost"]);
    let cell = |text: Option<&str>| one_line(&text.unwrap_or("-").replace('\n', " ⏎ "));
    for (_, row) in &found {
        let is_removal = row.field.as_deref() == Some(REMOVAL);
        table.row(vec![
            row.id.to_string(),
            time(row.at),
            cell(row.note.as_deref()),
            cell(row.field.as_deref().filter(|_| !is_removal)),
            if is_removal { "the note".to_owned() } else { cell(row.kept.as_deref()) },
            if is_removal { "its removal".to_owned() } else { cell(row.lost.as_deref()) },
        ]);
    }
    table.print(&mut cx.out, "")?;
    cx.out.hint("`layers restore --conflict NUMBER` puts what lost in its place");
    Ok(Exit::Done)
}
