//! `layers diff`: two versions of a layer, line by line.

use clap::Args;

use super::super::context::Context;
use super::super::diff::{styled, unified};
use super::super::failure::{Exit, Failure};
use super::super::stored;
use crate::store::VersionId;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers diff            what the files hold that is not known yet
  layers diff 17..23     between two versions (`layers history --versions`)
  layers diff 17         from a version to the file as it is now";

// The arguments of `diff`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Two versions, or one
    #[arg(value_name = "A..B")]
    versions: Option<String>,
}

pub(crate) fn run(args: &DiffArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (here, session) = stored::look(cx)?;
    let known = stored::known_layers(&here, &session)?;
    let store = session.store().read();
    let mut pairs = Vec::new();
    match args.versions.as_deref().map(parse).transpose()? {
        None => {
            for (layer, row) in &known {
                let Some(newest) = store.newest_version(row.id)? else { continue };
                let now = layer.read_text()?.content().unwrap_or_default();
                pairs.push((layer.path.clone(), store.text(newest.hash)?, now));
            }
        }
        Some((from, to)) => {
            let find = |id: i64| {
                store.version(VersionId(id))?.ok_or_else(|| {
                    Failure::new(Exit::Findings, format_args!("there is no version {id}"))
                        .help("`layers history --versions` lists them")
                })
            };
            let (of, from) = find(from)?;
            let layer = stored::layer_in_reach(&session, &known, of)?;
            let new = match to {
                Some(to) => store.text(find(to)?.1.hash)?,
                None => layer.read_text()?.content().unwrap_or_default(),
            };
            pairs.push((layer.path.clone(), store.text(from.hash)?, new));
        }
    }
    let texts: Vec<String> =
        pairs.iter().map(|(path, old, new)| unified(&cx.out.path(path).to_string(), old, new)).collect();
    if cx.globals.json {
        let all: Vec<_> = pairs
            .iter()
            .zip(&texts)
            .filter(|(_, text)| !text.is_empty())
            .map(|((path, ..), text)| serde_json::json!({ "path": path.display().to_string(), "diff": text }))
            .collect();
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    for line in texts.iter().flat_map(|text| text.lines()) {
        cx.out.line(styled(line))?;
    }
    Ok(Exit::Done)
}

/// `A..B` or `A`.
fn parse(text: &str) -> Result<(i64, Option<i64>), Failure> {
    let number = |word: &str| word.trim().parse::<i64>().ok();
    let parsed = match text.split_once("..") {
        Some((from, to)) => number(from).zip(number(to)).map(|(from, to)| (from, Some(to))),
        None => number(text).map(|from| (from, None)),
    };
    parsed.ok_or_else(|| {
        Failure::usage(format_args!("`{text}` names no versions"))
            .help("write two numbers as `17..23`; `layers history --versions` lists them")
    })
}
