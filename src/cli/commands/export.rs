//! `layers export`: the notes as files of pi-continual-harness.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::json;
use crate::document::State;
use crate::effective::Judged;
use crate::export::{ExportError, Exported, layered, single};
use crate::files::{self, Expected, Found, NewFile, Wrote};
use crate::note::{Approval, Kind, LayerKind, Scope};
use crate::reach::{Reach, ReadLayer};
use crate::workspace::all_projects;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers export                       all notes that count here, as one file of pi's, on stdout
  layers export notes.md              into a file; --force replaces another text
  layers export --layered ~/backup    as pi's global file and a file a project

Notes of all models go along; inactive, pending and rejected ones do not.";

// The arguments of `export`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file [default: stdout]
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    path: Option<PathBuf>,
    /// Write one file a layer into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "path", value_hint = ValueHint::DirPath)]
    layered: Option<PathBuf>,
    /// Replace files that hold something else
    #[arg(long)]
    force: bool,
}

/// A note's texts, which an export borrows.
#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    kind: Kind,
    content: Cow<'a, str>,
    evidence: Cow<'a, str>,
    importance: f64,
    active: bool,
    model: Option<Cow<'a, str>>,
    scope: Scope,
    project: Option<String>,
}

pub(crate) fn run(args: &ExportArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = cx.reach()?;
    let judged = reach.judge(None, config.layers.orphans);
    let mut waiting = 0;
    let items: Vec<Item<'_>> =
        judged.iter().filter(|one| counts(one, &reach, &mut waiting)).map(|one| item(one, &reach)).collect();
    if waiting > 0 {
        cx.out
            .say(format_args!("{waiting} pending or rejected note(s) left out: pi's files know no approval"));
    }
    if cx.globals.json {
        cx.out.json(&items)?;
        return Ok(Exit::Done);
    }
    let exported: Vec<Exported<'_>> = items.iter().map(Item::exported).collect();
    match (&args.layered, &args.path) {
        (Some(folder), _) => into_folder(args, cx, &reach, &exported, folder)?,
        (None, Some(path)) => {
            let text = single(&exported).map_err(|error| refusal(&error))?;
            guard(&reach, path)?;
            let wrote = write(path, &text, args.force)?;
            told(cx, path, wrote);
        }
        (None, None) => {
            let text = single(&exported).map_err(|error| refusal(&error))?;
            cx.out.data(&text)?;
        }
    }
    Ok(Exit::Done)
}

/// Whether a note counts, whatever the model.
fn counts(one: &Judged<'_>, reach: &Reach, waiting: &mut usize) -> bool {
    let document = &reach.layers[one.layer].document;
    let is_here = one.note.state() == State::Good
        && one.shadowed_by.is_none()
        && !one.standing.is_apart()
        && one.note.active()
        && !one.note.content().is_empty()
        && !(one.is_in_file && document.is_equal_copy(one.note));
    let is_let_in = matches!(one.note.approval(), None | Some(Approval::Approved));
    *waiting += usize::from(is_here && !is_let_in);
    is_here && is_let_in
}

fn item<'a>(one: &'a Judged<'a>, reach: &'a Reach) -> Item<'a> {
    let read: &ReadLayer = &reach.layers[one.layer];
    let note = one.note;
    let (scope, project) = json::scope_of(note, read);
    // pi looks for a project's notes under its own name for the directory.
    let pi = || reach.workspace.project.pi_names.first().cloned();
    let project = match read.layer.kind {
        LayerKind::Global => project,
        LayerKind::Repo | LayerKind::Home => pi().or(project),
    };
    Item {
        id: &one.id,
        kind: note.kind(),
        content: note.content(),
        evidence: note.evidence(),
        importance: note.importance(),
        active: true,
        model: note.model(),
        scope,
        project,
    }
}

impl Item<'_> {
    fn exported(&self) -> Exported<'_> {
        Exported {
            id: self.id,
            kind: self.kind,
            content: &self.content,
            evidence: &self.evidence,
            importance: self.importance,
            active: self.active,
            model: self.model.as_deref(),
            scope: Some(self.scope),
            project: self.project.as_deref(),
        }
    }
}

fn refusal(error: &ExportError) -> Failure {
    Failure::refused(format_args!("{error}; nothing was written"))
}

fn into_folder(
    args: &ExportArgs,
    cx: &mut Context,
    reach: &Reach,
    notes: &[Exported<'_>],
    folder: &Path,
) -> Result<(), Failure> {
    let current = reach.workspace.project.pi_names.first().map_or(&*reach.workspace.project.key, |name| name);
    let plan = layered(notes, Some(current), &BTreeMap::new()).map_err(|error| refusal(&error))?;
    let mut existing = BTreeMap::new();
    let mut names: Vec<String> = plan.iter().map(|file| file.name.clone()).collect();
    names.push(format!("harness-state/{current}.md"));
    for name in names {
        if let Found::Content(text) = files::read_text(&folder.join(&name))? {
            existing.insert(name, text);
        }
    }
    let plan = layered(notes, Some(current), &existing).map_err(|error| refusal(&error))?;
    // All are looked at before one is written.
    for file in &plan {
        let path = folder.join(&file.name);
        guard(reach, &path)?;
        if file.replaces && !args.force {
            return Err(holds_other(&path));
        }
    }
    for file in &plan {
        let path = folder.join(&file.name);
        let wrote = write(&path, &file.text, args.force)?;
        told(cx, &path, wrote);
    }
    Ok(())
}

/// Layers in use are edited in place, never exported over.
fn guard(reach: &Reach, path: &Path) -> Result<(), Failure> {
    let target = files::final_target(path)?;
    let is_layer = |layer: &Path| layer == path || files::final_target(layer).is_ok_and(|it| it == target);
    let workspace = &reach.workspace;
    let mut layers =
        workspace.layers.iter().map(|layer| &*layer.path).chain(workspace.others.iter().map(|it| &**it));
    let is_home = || all_projects(&workspace.root).is_ok_and(|all| all.iter().any(|one| is_layer(&one.path)));
    if layers.any(is_layer) || is_home() {
        return Err(Failure::refused(format_args!(
            "{} is a layer in use; it is not exported over",
            path.display()
        ))
        .help("export into another file or folder; `layers edit` changes layers in place"));
    }
    Ok(())
}

fn write(path: &Path, text: &str, force: bool) -> Result<Wrote, Failure> {
    let held = files::read_bytes(path)?;
    let expected = match &held {
        Found::Absent => Expected::Absent,
        Found::Content(held) if force || held == text.as_bytes() => Expected::Bytes(held),
        Found::Content(_) => return Err(holds_other(path)),
    };
    Ok(files::replace(path, expected, text.as_bytes(), NewFile::Umask)?)
}

fn holds_other(path: &Path) -> Failure {
    Failure::refused(format_args!("{} holds something else; nothing was written", path.display()))
        .help("--force replaces it")
}

fn told(cx: &mut Context, path: &Path, wrote: Wrote) {
    let done = match wrote {
        Wrote::Nothing => "unchanged",
        Wrote::Created => "wrote",
        Wrote::Replaced => "replaced",
    };
    let path = cx.out.path(path).to_string();
    cx.out.say(format_args!("{done} {path}"));
}
