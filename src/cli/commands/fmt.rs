//! `layers fmt`: layers in canonical shape or in the other form, on request.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::args::FormArg;
use super::super::context::{Context, Here};
use super::super::diff;
use super::super::failure::{Exit, Failure};
use super::sync::tell_waits;
use crate::document::{Document, EditError, Left};
use crate::files::{Found, Wrote};
use crate::mint::fresh_id;
use crate::sync::{Changed, edit_error, rewrite_layer};
use crate::workspace::{LayerRef, LayerState};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers fmt                          write ids, order keys, tidy blank lines, in all layers in reach
  layers fmt --check .harness/app.md  say whether it would change anything, write nothing
  layers fmt --to bullets --diff      show what a conversion would do

Contents and prose stay as they are. A layer in conflict is refused.";

// The arguments of `fmt`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Files to format [default: all layers in reach]
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    paths: Vec<PathBuf>,
    /// Write every note in this form
    #[arg(long, value_enum)]
    to: Option<FormArg>,
    /// Write nothing; exit with 1 if something would change
    #[arg(long)]
    check: bool,
    /// Write nothing; print what would change
    #[arg(long)]
    diff: bool,
}

#[derive(Serialize)]
struct Formatted {
    path: String,
    changed: bool,
    left: Vec<Left>,
}

pub(crate) fn run(args: &FmtArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let here = cx.here()?;
    let layers: Vec<LayerRef> = if args.paths.is_empty() {
        here.workspace.layers.iter().filter(|layer| layer.trust.is_trusted()).cloned().collect()
    } else {
        args.paths.iter().map(|path| layer_at(&here, path)).collect()
    };
    fresh_id()?;
    let is_dry = args.check || args.diff;
    let session = if is_dry { None } else { Some(here.session(cx)?) };
    let mut done = Vec::new();
    for layer in &layers {
        let mut left = Vec::new();
        let before = match layer.read_text() {
            Ok(Found::Content(text)) => Document::parse(text),
            Ok(Found::Absent) if args.paths.is_empty() => continue,
            Ok(Found::Absent) => {
                let missing = format!("there is no file {}", layer.path.display());
                cx.out.fail(&Failure::new(Exit::Broken, missing));
                cx.raise(Exit::Broken);
                continue;
            }
            Err(error) => {
                cx.unavailable(layer, &error);
                continue;
            }
        };
        let shaped = match &session {
            Some(session) => rewrite_layer(session, layer, "", |document| {
                left.clear();
                shape(args, document, &mut left).map_err(|error| edit_error(layer, document, error))
            })
            .map_err(Failure::from),
            None => shape(args, &before, &mut left)
                .map_err(|error| Failure::from(edit_error(layer, &before, error)))
                .map(|after| Changed { wrote: Wrote::Nothing, before, after, waits: None }),
        };
        match shaped {
            Ok(changed) => done.push((layer, changed, left)),
            // The other layers are formatted all the same.
            Err(failure) => {
                cx.raise(failure.exit);
                cx.out.fail(&failure);
            }
        }
    }
    drop(session);
    report(args, cx, &done, is_dry)
}

fn report(
    args: &FmtArgs,
    cx: &mut Context,
    done: &[(&LayerRef, Changed, Vec<Left>)],
    is_dry: bool,
) -> Result<Exit, Failure> {
    let differs = |changed: &Changed| changed.before.source() != changed.after.source();
    let count = done.iter().filter(|(_, changed, _)| differs(changed)).count();
    let exit = if args.check && count > 0 { Exit::Findings } else { Exit::Done };
    if cx.globals.json {
        let all = done.iter().map(|(layer, changed, left)| Formatted {
            path: layer.path.display().to_string(),
            changed: differs(changed),
            left: left.clone(),
        });
        cx.out.json(&all.collect::<Vec<_>>())?;
        return Ok(exit);
    }
    for (layer, changed, left) in done {
        let path = cx.out.path(&layer.path).to_string();
        if differs(changed) {
            if args.diff {
                let text = diff::unified(&path, changed.before.source(), changed.after.source());
                cx.out.data(&text)?;
            } else {
                cx.out.say(format_args!("{} {path}", if is_dry { "would format" } else { "formatted" }));
            }
            tell_waits(cx, changed.waits.as_ref());
        }
        for one in left {
            let name = one.id.as_deref().unwrap_or("a note without an id");
            cx.out.warn(format_args!("{path}: {name}: {}", one.what));
        }
    }
    if count == 0 && cx.exit == Exit::Done {
        cx.out.say("nothing to format");
    }
    Ok(exit)
}

/// The layer at a path: the one in reach, with its guards, else the file as it is.
fn layer_at(here: &Here, path: &std::path::Path) -> LayerRef {
    here.workspace.layer_at(path).cloned().unwrap_or_else(|| LayerRef {
        path: path.to_owned(),
        kind: crate::note::LayerKind::Repo,
        project: None,
        precedence: 0,
        state: LayerState::Present,
        trust: super::super::repository::trust_at(path),
        work_tree: None,
    })
}

fn shape(args: &FmtArgs, document: &Document, left: &mut Vec<Left>) -> Result<Document, EditError> {
    // Randomness was asked for before, so this does not fail; if it does, ids are taken from
    // the clock alone, and two equal ones are refused when the layer is read back.
    let mut mint = || fresh_id().unwrap_or_else(|_| crate::note::mint_id(0, 0));
    match args.to {
        None => document.format(&mut mint),
        Some(form) => {
            let conversion = document.convert(form.form(), &mut mint)?;
            *left = conversion.left;
            Ok(conversion.document)
        }
    }
}
