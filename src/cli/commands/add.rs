//! `layers add`: a new note.

use clap::Args;
use serde::Serialize;

use super::super::args::{FieldArgs, FormArg, LayerArg};
use super::super::context::{self, Context, Here, model_of_environment};
use super::super::failure::Exit;
use super::super::failure::Failure;
use super::super::text;
use super::sync::tell_waits;
use crate::config::Orphans;
use crate::document::{Change, Document, Field, Form, NewNote, Note, Place};
use crate::mint::fresh_id;
use crate::note::{DEFAULT_IMPORTANCE, Kind, LayerKind, is_well_formed_id, two_decimals};
use crate::select::{ANY_MODEL, Fields, Standing, standing};
use crate::sync::change_layer;
use crate::workspace::{LayerRef, Workspace};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers add 'Run the tests with -j1: they share a port'
  layers add --global --kind prompt --importance 0.9 'Answer in German'
  git log -1 --format=%B | layers add --layer repo --title 'Why we pin' -

Prints the id of the new note. A text that begins with a dash goes behind `--`, as in
`layers add -- '- first, the tests'`, or comes on standard input.";

// The arguments of `add`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What the note says; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    /// Where the note goes [default: home]
    #[arg(long, value_enum)]
    layer: Option<LayerArg>,
    /// Short for --layer global
    #[arg(long, conflicts_with = "layer")]
    global: bool,
    /// The id of the note [default: a fresh one]
    #[arg(long, value_name = "ID", value_parser = id)]
    id: Option<String>,
    /// How the note is written [default: as most notes of the file]
    #[arg(long, value_enum)]
    form: Option<FormArg>,
}

fn id(text: &str) -> Result<String, String> {
    if is_well_formed_id(text) {
        return Ok(text.to_owned());
    }
    Err("an id is made of letters, digits and `._:-`, 128 at most".to_owned())
}

#[derive(Serialize)]
struct Added<'a> {
    id: &'a str,
    layer: LayerKind,
    path: String,
    line: usize,
    standing: Standing,
}

pub(crate) fn run(args: &AddArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let Some(content) = text::content(args.text.as_deref(), args.fields.file.as_deref())? else {
        return Err(Failure::usage("there is no text for the note")
            .help("give it as an argument, as `-` on standard input, or with --file PATH"));
    };
    let place = if args.global { LayerArg::Global } else { args.layer.unwrap_or(LayerArg::Home) };
    cx.will_write(place.kind());
    let here = cx.here()?;
    let layer = here.target_to_write(place, cx)?;
    let id = match &args.id {
        Some(id) => id.clone(),
        None => fresh_id()?,
    };
    let seed = context::seed(&here.workspace, &layer);
    let session = here.session(cx)?;
    let changed = change_layer(&session, &layer, seed, |document| {
        let form = form_of(&here.workspace, &layer, document, args.form);
        let note = new_note(args, cx, &here.workspace, &layer, document, form, &id, &content);
        Ok(vec![Change::Insert { note, form: Some(form), place: place_in(&layer) }])
    })?;
    drop(session);

    let Some(note) = changed.after.note(&id) else {
        return Err(Failure::refused("the new note does not read back; nothing was written"));
    };
    let line = note.location().line;
    let standing = standing_now(cx, &here, note);
    if cx.globals.json {
        let path = layer.path.display().to_string();
        cx.out.json(&Added { id: &id, layer: layer.kind, path, line, standing })?;
    } else {
        cx.out.line(&id)?;
    }
    // What waits has no line yet.
    let place = cx.out.path(&layer.path).to_string();
    let place = if changed.waits.is_none() { format!("{place}:{line}") } else { place };
    cx.out.say(format_args!("added to the {} layer, {place}", layer.kind.as_str()));
    tell_waits(cx, changed.waits.as_ref());
    tell_if_hidden(cx, note, standing);
    Ok(Exit::Done)
}

/// Where new notes of a layer stand: in a shared one so that two branches rarely add at
/// one place.
pub(crate) const fn place_in(layer: &LayerRef) -> Place {
    match layer.kind {
        LayerKind::Repo => Place::ByHash,
        LayerKind::Global | LayerKind::Home => Place::End,
    }
}

/// The form of a new note: as asked, as most notes of the layer, pi's where pi reads.
pub(crate) fn form_of(
    workspace: &Workspace,
    layer: &LayerRef,
    document: &Document,
    asked: Option<FormArg>,
) -> Form {
    let default = if context::is_pis(workspace, layer) { Form::Bullet } else { Form::FrontMatter };
    asked.map(FormArg::form).or_else(|| document.form()).unwrap_or(default)
}

/// The project that pi has to find in a bullet of this layer; elsewhere the file's place
/// alone decides.
pub(crate) fn pi_project(workspace: &Workspace, layer: &LayerRef, form: Form) -> Option<String> {
    let is_needed =
        context::is_pis(workspace, layer) && layer.kind == LayerKind::Home && form == Form::Bullet;
    let stem = layer.path.file_stem()?.to_str()?;
    is_needed.then(|| stem.to_owned())
}

#[expect(clippy::too_many_arguments, reason = "all of it is about one note, in one place")]
fn new_note(
    args: &AddArgs,
    cx: &Context,
    workspace: &Workspace,
    layer: &LayerRef,
    document: &Document,
    form: Form,
    id: &str,
    content: &str,
) -> NewNote {
    let fields = &args.fields;
    let mut note = NewNote::new(id, fields.kind.unwrap_or(Kind::Memory), content);
    if let Some(title) = &fields.title {
        note = note.with(Field::Title, title.trim());
    }
    let given = cx.globals.model.clone().or_else(model_of_environment);
    let model = if fields.any_model { Some(ANY_MODEL.to_owned()) } else { given };
    // An empty model is said only where silence would mean the header's.
    let has_default = document.header_field("model").is_some_and(|model| !model.is_empty());
    if let Some(model) = model.filter(|model| !model.is_empty() || has_default) {
        note = note.with(Field::Model, model);
    }
    let has_default = document.header_field("importance").is_some();
    let default = (form == Form::Bullet && !has_default).then_some(DEFAULT_IMPORTANCE);
    if let Some(importance) = fields.importance.or(default) {
        note = note.with(Field::Importance, two_decimals(importance));
    }
    if !fields.evidence.is_empty() {
        note = note.with(Field::Evidence, fields.evidence.join("\n"));
    }
    if !fields.tag.is_empty() {
        note = note.with(Field::Tags, fields.tag.join("\n"));
    }
    if let Some(project) = pi_project(workspace, layer, form) {
        note = note.with(Field::Scope, "project").with(Field::Project, project);
    }
    note
}

/// How a note stands for the model in use, by its own fields.
pub(crate) fn standing_now(cx: &Context, here: &Here, note: Note<'_>) -> Standing {
    let asked = model_of_environment().filter(|model| !model.is_empty()).or_else(|| cx.model());
    let model = note.model();
    let fields = Fields { model: model.as_deref(), active: note.active(), approval: note.approval() };
    // Without a model in use, a note stands as it does for its own.
    let asked = asked.as_deref().or(Some(ANY_MODEL));
    let model_or_any = if asked == Some(ANY_MODEL) && fields.model.is_some_and(|model| !model.is_empty()) {
        Fields { model: Some(ANY_MODEL), ..fields }
    } else {
        fields
    };
    standing(&model_or_any, asked, here.config.layers.orphans)
}

/// Says why a note that was just written will not be seen.
pub(crate) fn tell_if_hidden(cx: &mut Context, note: Note<'_>, standing: Standing) {
    match standing {
        Standing::Eligible => {}
        Standing::OtherModel => {
            let owner = note.model().unwrap_or_default().into_owned();
            cx.out.warn(format_args!("it belongs to {owner}, so it is not shown to the model in use"));
            cx.out.hint("--any-model makes a note for every model");
        }
        Standing::Orphan => {
            cx.out.warn(format_args!(
                "it belongs to no model, and the configuration shows such notes to nobody (layers.orphans: {})",
                Orphans::None.as_str()
            ));
            cx.out.hint("give --model PROVIDER/ID, or --any-model for every model");
        }
        other => {
            if let Some(reason) = other.reason() {
                cx.out.warn(format_args!("it is not shown: {reason}"));
            }
        }
    }
}
