//! `layers move`: a note into another layer.

use std::borrow::Cow;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::super::args::LayerArg;
use super::super::context::{self, Context, Here};
use super::super::failure::{Exit, Failure};
use super::super::{complete, lookup};
use super::add::{form_of, pi_project, place_in};
use super::sync::tell_waits;
use crate::document::{Change, Document, Field, Form, NewNote, Note, Refusal};
use crate::mint::fresh_id;
use crate::note::{DEFAULT_IMPORTANCE, two_decimals};
use crate::reconcile::Reason;
use crate::slug::{is_key, key_slug};
use crate::sync::{ChangeError, Changed, Session, change_layer, edit_error, find_note, rewrite_layer};
use crate::workspace::LayerRef;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers move h_lz3k9p2_a1b2c global             for every project from now on
  layers move h_lz3k9p2_a1b2c repo               share it with the team
  layers move h_lz3k9p2_a1b2c --to-project shop  into another project's private layer";

// The arguments of `move`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// The note
    #[arg(value_name = "ID", add = ArgValueCompleter::new(complete::ids))]
    id: String,
    /// Where it goes
    #[arg(value_enum, value_name = "LAYER", required_unless_present = "to_project")]
    to: Option<LayerArg>,
    /// Into the private layer of another project
    #[arg(long, value_name = "KEY", conflicts_with = "to", add = ArgValueCompleter::new(complete::projects))]
    to_project: Option<String>,
}

#[derive(Serialize)]
struct Moved<'a> {
    id: &'a str,
    from: String,
    to: String,
    line: usize,
}

pub(crate) fn run(args: &MoveArgs, cx: &mut Context) -> Result<Exit, Failure> {
    if let Some(place) = args.to {
        cx.will_write(place.kind());
    }
    let (reach, config) = cx.reach()?;
    let found = lookup::find_in(&reach, &config, cx.model().as_deref(), &args.id)?;
    let read = &reach.layers[found.note.layer];
    let source = read.layer.clone();
    let is_changed = read.view.stand_in(&args.id).is_some_and(|one| one.reason == Reason::Review);
    if is_changed || read.unreviewed.contains(&args.id) {
        return Err(Failure::refused(format_args!("{} is not what you have accepted of it", args.id))
            .help("`layers review` shows what changed; what you have not accepted goes nowhere"));
    }
    let line = found.note.note.location().line;
    let before = found.note.note.snippet();
    let owner = found.note.note.model().map(Cow::into_owned);
    drop(found);
    let here = Here { workspace: reach.workspace, config };
    let target = match (&args.to_project, args.to) {
        (Some(key), _) => project_layer(&here, key)?,
        (None, place) => here.target_to_write(place.unwrap_or(LayerArg::Home), cx)?,
    };
    // Known before a copy stands in one of them.
    source.trusted()?;
    target.trusted()?;
    if target.path == source.path {
        if cx.globals.json {
            let path = source.path.display().to_string();
            cx.out.json(&Moved { id: &args.id, from: path.clone(), to: path, line })?;
            return Ok(Exit::Done);
        }
        cx.out.say(format_args!("{} is there already, in {}", args.id, cx.out.path(&source.path)));
        return Ok(Exit::Done);
    }
    let mut session = here.session(cx)?;
    let id = fresh_id()?;
    // A note without an id goes by one name and comes by another.
    session.author.moving = [&args.id, &id].map(|id| (id.clone(), before.clone())).into();
    let (id, inserted) = put(&here, &session, &args.id, owner, id, &source, &target)?;
    let removed = change_layer(&session, &source, "", |document| {
        let note = find_note(&source, document, &args.id)?;
        Ok(vec![Change::Remove { note: note.index(), with_section: false }])
    });
    let removed = match removed {
        Ok(removed) => removed,
        Err(error) => {
            // Nothing is lost: the note still stands where it was, so the copy goes again.
            let undone = rewrite_layer(&session, &target, "", |_| Ok(inserted.before.clone()));
            let failure = Failure::from(error);
            return Err(match undone {
                Ok(_) => failure,
                Err(_) => failure.help(format_args!(
                    "a copy of the note stays in {}; remove one of the two",
                    target.path.display()
                )),
            });
        }
    };
    drop(session);
    let line = inserted.after.note(&id).map_or(0, |note| note.location().line);
    tell_waits(cx, inserted.waits.as_ref().or(removed.waits.as_ref()));
    if cx.globals.json {
        let (from, to) = (source.path.display().to_string(), target.path.display().to_string());
        cx.out.json(&Moved { id: &id, from, to, line })?;
        return Ok(Exit::Done);
    }
    let (from, to) = (cx.out.path(&source.path).to_string(), cx.out.path(&target.path).to_string());
    cx.out.say(format_args!("moved {id} from {from} to {to}:{line}"));
    Ok(Exit::Done)
}

/// Puts a copy of the note into the target, as it must read there. `owner` is whose it is,
/// also where its file does not say so any more.
fn put(
    here: &Here,
    session: &Session,
    id: &str,
    owner: Option<String>,
    fresh: String,
    source: &LayerRef,
    target: &LayerRef,
) -> Result<(String, Changed), Failure> {
    let held = source.read_text()?.content().unwrap_or_default();
    let mut document = Document::parse(held);
    let note = find_note(source, &document, id)?;
    if let Some(owner) = owner.filter(|owner| note.model().as_deref() != Some(owner)) {
        let own = Change::Set { note: note.index(), field: Field::Model, text: owner };
        document = document.apply(&[own]).map_err(|error| edit_error(source, &document, error))?;
    }
    let note = find_note(source, &document, id)?;
    // Tried before anything is written: a layer in conflict gives nothing away.
    let remove = Change::Remove { note: note.index(), with_section: false };
    document.apply(&[remove]).map_err(|error| edit_error(source, &document, error))?;
    let id = note.id().map_or(fresh, str::to_owned);
    let seed = context::seed(&here.workspace, target);
    let changed = change_layer(session, target, seed, |there| {
        let form = form_of(&here.workspace, target, there, None);
        match insertion(here, &document, note, &id, source, target, there, form) {
            // A bullet cannot say everything that a block can; pi would not read the rest.
            Err(ChangeError::Edit { error, .. })
                if matches!(error.refusal, Refusal::Unwritable(..)) && form != note.form() =>
            {
                insertion(here, &document, note, &id, source, target, there, note.form())
            }
            other => other,
        }
    })?;
    Ok((id, changed))
}

#[expect(clippy::too_many_arguments, reason = "both layers and the note between them")]
fn insertion(
    here: &Here,
    document: &Document,
    note: Note<'_>,
    id: &str,
    source: &LayerRef,
    target: &LayerRef,
    there: &Document,
    form: Form,
) -> Result<Vec<Change>, ChangeError> {
    let prepared = document
        .apply(&adjustments(here, note, id, target, there, form))
        .map_err(|error| edit_error(source, document, error))?;
    let Some(note) = prepared.note(id) else {
        return Err(ChangeError::NoSuchNote { path: source.path.clone(), id: id.to_owned() });
    };
    let insert = Change::Insert { note: NewNote::of(note), form: Some(form), place: place_in(target) };
    // Tried here, so that another form can be taken if this one cannot say it.
    there.apply(std::slice::from_ref(&insert)).map_err(|error| edit_error(target, there, error))?;
    Ok(vec![insert])
}

/// What must change so that the note means the same in its new place: the place decides
/// its scope, and what the old layer's header gave it has to be said.
pub(super) fn adjustments(
    here: &Here,
    note: Note<'_>,
    id: &str,
    target: &LayerRef,
    there: &Document,
    form: Form,
) -> Vec<Change> {
    let index = note.index();
    let set = |field, text: String| Change::Set { note: index, field, text };
    let mut changes = scope_adjustments(here, note, target, form);
    if note.id() != Some(id) {
        changes.push(set(Field::Id, id.to_owned()));
    }
    let says =
        |document: &Document, key: &str| document.header_field(key).is_some_and(|text| !text.is_empty());
    if !note.has(&Field::Model) && (note.model().is_some() || says(there, "model")) {
        changes.push(set(Field::Model, note.model().unwrap_or_default().into_owned()));
    }
    let importance = note.importance();
    let is_other = (importance - DEFAULT_IMPORTANCE).abs() > f64::EPSILON;
    if note.written_importance().is_none() && (is_other || says(there, "importance")) {
        changes.push(set(Field::Importance, two_decimals(importance)));
    }
    changes
}

/// What must change so that the note names no other scope than its place.
pub(super) fn scope_adjustments(here: &Here, note: Note<'_>, target: &LayerRef, form: Form) -> Vec<Change> {
    let index = note.index();
    if let Some(project) = pi_project(&here.workspace, target, form) {
        let set = |field, text| Change::Set { note: index, field, text };
        return vec![set(Field::Scope, "project".to_owned()), set(Field::Project, project)];
    }
    let stale = [Field::Scope, Field::Project].into_iter().filter(|field| note.get(field).is_some());
    stale.map(|field| Change::Unset { note: index, field }).collect()
}

/// The private layer of another project below the same root.
fn project_layer(here: &Here, key: &str) -> Result<LayerRef, Failure> {
    if here.workspace.project.is_named(key) {
        return here.target(LayerArg::Home);
    }
    if !is_key(key) {
        return Err(Failure::usage(format_args!("`{key}` is no project key"))
            .help(format_args!("keys are lower case letters, digits, `.`, `_` and `-`: {}", key_slug(key))));
    }
    Ok(LayerRef::home(here.workspace.root.home_path(key), key))
}
