//! `layers init`: the root and its layers.

use clap::Args;
use serde::Serialize;

use super::super::args::LayerArg;
use super::super::context::{self, Context};
use super::super::failure::{Exit, Failure};
use crate::document::Document;
use crate::files::Wrote;
use crate::merge::revision_of;
use crate::note::LayerKind;
use crate::sync::rewrite_layer;
use crate::workspace::{LayerRef, Workspace};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers init             the root, the global layer and this project's private one
  layers init --repo      a layer in this repository, to commit and share
  layers init --global    the root and the global layer alone

What exists stays as it is. `layers add` needs no `init`: it makes what it needs.";

// The arguments of `init`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Make the layer of this repository
    #[arg(long)]
    repo: bool,
    /// Make the global layer
    #[arg(long)]
    global: bool,
}

#[derive(Serialize)]
struct Made {
    layer: LayerKind,
    path: String,
    created: bool,
}

pub(crate) fn run(args: &InitArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let places: &[LayerArg] = match (args.global, args.repo) {
        (false, false) => &[LayerArg::Global, LayerArg::Home],
        (true, false) => &[LayerArg::Global],
        (false, true) => &[LayerArg::Repo],
        (true, true) => &[LayerArg::Global, LayerArg::Repo],
    };
    for place in places {
        cx.will_write(place.kind());
    }
    let here = cx.here()?;
    let layers: Vec<LayerRef> =
        places.iter().map(|&place| here.target_to_write(place, cx)).collect::<Result<_, _>>()?;
    // Makes the root too.
    let session = here.session(cx)?;
    let mut made = Vec::new();
    for layer in &layers {
        let header = header(&here.workspace, layer);
        // A layer that is there stays as it is, in conflict or not: it is not even parsed.
        let created = match layer.read_text()? {
            crate::files::Found::Content(_) => false,
            crate::files::Found::Absent => {
                rewrite_layer(&session, layer, &header, |seed| Ok(Document::clone(seed)))?.wrote
                    == Wrote::Created
            }
        };
        made.push(Made { layer: layer.kind, path: layer.path.display().to_string(), created });
    }
    drop(session);
    if cx.globals.json {
        cx.out.json(&made)?;
        return Ok(Exit::Done);
    }
    for (one, layer) in made.iter().zip(&layers) {
        let done = if one.created { "made" } else { "there already:" };
        let path = cx.out.path(&layer.path).to_string();
        cx.out.say(format_args!("{done} the {} layer {path}", one.layer.as_str()));
    }
    let next = if args.repo {
        "`layers add --layer repo TEXT` adds a shared note; commit the file with your code"
    } else {
        "`layers add TEXT` adds a note for this project, with --global for every project"
    };
    cx.out.hint(next);
    Ok(Exit::Done)
}

/// What a new layer starts with: who it belongs to, and, in a home layer, the revision that
/// names its version (a committed one has none by default, to keep git diffs quiet). In a root of pi's, pi's title, since
/// pi would print a header back as nothing.
fn header(workspace: &Workspace, layer: &LayerRef) -> String {
    let revision = if layer.kind == LayerKind::Repo { "" } else { "revision: none\n" };
    let text = match (context::seed(workspace, layer), &layer.project) {
        ("", None) => format!("---\nlayer: global\n{revision}---\n"),
        ("", Some(key)) => format!("---\nlayer: project\nproject: {key}\n{revision}---\n"),
        (seed, _) => return seed.to_owned(),
    };
    let document = Document::parse(text.as_str());
    document.with_revision(&revision_of(&document)).map_or(text, |named| named.source().to_owned())
}
