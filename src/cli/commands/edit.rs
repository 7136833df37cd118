//! `layers edit`: other fields or another text for one note.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use tempfile::TempPath;

use super::super::args::{FieldArgs, SecretArg};
use super::super::context::{self, Context};
use super::super::failure::{Exit, Failure};
use super::super::output::Output;
use super::super::{complete, lookup, text};
use super::add::{standing_now, tell_if_hidden};
use super::sync::tell_waits;
use crate::document::{Change, Field, Note};
use crate::files::Wrote;
use crate::mint::fresh_id;
use crate::note::{LayerKind, Scope, two_decimals};
use crate::secret::mask;
use crate::select::{ANY_MODEL, Standing};
use crate::sync::{ChangeError, change_layer, find_note};
use crate::workspace::{LayerRef, Workspace};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers edit h_lz3k9p2_a1b2c --importance 0.8
  layers edit h_lz3k9p2_a1b2c --set active=false          switch a note off
  layers edit h_lz3k9p2_a1b2c --content 'Use port 8081'   say something else

Without options it opens the text in $VISUAL or $EDITOR. Only the bytes of what changes are
replaced. A note without an id gets one. `kind` can be set; scope is decided by the layer, see
`layers move`.";

// The arguments of `edit`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The note
    #[arg(value_name = "ID", add = ArgValueCompleter::new(complete::ids))]
    id: String,
    /// What the note says from now on; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// Give a field a value; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Take a field out; may be given several times
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    secret: SecretArg,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE, for example importance=0.8".to_owned()),
    }
}

/// Field by field what is to change; none takes it out.
type Wanted = Vec<(Field, Option<String>)>;

#[derive(Serialize)]
struct Edited<'a> {
    id: &'a str,
    /// The note had no id, and was called this.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<&'a str>,
    changed: Vec<String>,
    layer: LayerKind,
    path: String,
    line: usize,
    standing: Standing,
}

pub(crate) fn run(args: &EditArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let mut wanted = wanted(args, cx)?;
    let (reach, config) = cx.reach()?;
    let found = lookup::find_in(&reach, &config, cx.model().as_deref(), &args.id)?;
    let layer = reach.layers[found.note.layer].layer.clone();
    // What the editor was given, and the file that a person wrote it in.
    let mut opened: Option<(String, TempPath)> = None;
    if wanted.is_empty() {
        let old = found.note.note.content().into_owned();
        let Some((new, file)) = from_editor(&old)? else {
            cx.out.say("the text is as it was; nothing was written");
            return Ok(Exit::Done);
        };
        wanted.push((Field::Content, Some(new)));
        opened = Some((old, file));
    }
    for other in found.others.iter().filter(|other| other.layer != found.note.layer) {
        let read = &reach.layers[other.layer];
        let place = format!("{}:{}", cx.out.path(&read.layer.path), other.note.location().line);
        cx.out.say(format_args!("another note with this id stays as it is, {place}"));
    }
    drop(found);
    let here = context::Here { workspace: reach.workspace, config };
    check_scope(&here.workspace, &layer, &wanted)?;
    let fresh = fresh_id()?;
    let mut id = args.id.clone();
    let mut changed_fields = Vec::new();
    let mut session = here.session(cx)?;
    session.author.may_add_secrets = args.secret.allow_secret;
    let changed = change_layer(&session, &layer, "", |document| {
        let note = find_note(&layer, document, &args.id)?;
        if opened.as_ref().is_some_and(|(old, _)| *old != note.content()) {
            return Err(ChangeError::Moved { path: layer.path.clone(), id: args.id.clone() });
        }
        changed_fields = differing(note, &wanted);
        let mut changes = changes(note, &wanted);
        if note.id().is_none() && !changed_fields.is_empty() {
            id.clone_from(&fresh);
            changes.insert(0, Change::Set { note: note.index(), field: Field::Id, text: fresh.clone() });
        } else if let Some((_, Some(new))) = wanted.iter().find(|(field, _)| *field == Field::Id) {
            id.clone_from(new);
        }
        Ok(changes)
    });
    // What a person wrote is not lost with a write that fails.
    let changed = changed.map_err(|error| {
        let has_secret = matches!(error, ChangeError::Secret { .. });
        match opened.and_then(|(_, file)| kept(file, has_secret)) {
            Some(kept) => Failure::from(error).help(format_args!("your text is in {}", kept.display())),
            None => Failure::from(error),
        }
    })?;
    drop(session);

    let Ok(note) = find_note(&layer, &changed.after, &id) else {
        return Err(Failure::refused(format_args!("{id} does not read back")));
    };
    let line = note.location().line;
    let standing = standing_now(cx, &here, note);
    let was = (id != args.id).then_some(&*args.id);
    if cx.globals.json {
        tell_waits(cx, changed.waits.as_ref());
        let path = layer.path.display().to_string();
        cx.out.json(&Edited {
            id: &id,
            was,
            changed: changed_fields,
            layer: layer.kind,
            path,
            line,
            standing,
        })?;
        return Ok(Exit::Done);
    }
    let place = format!("{}:{line}", cx.out.path(&layer.path));
    if changed.wrote == Wrote::Nothing && changed.waits.is_none() {
        cx.out.say(format_args!("{id} says so already; nothing was written"));
    } else {
        cx.out.say(format_args!("changed {id}, {place} ({})", changed_fields.join(", ")));
        if let Some(was) = was {
            cx.out.say(format_args!("{was} is {id} from now on"));
        }
        tell_waits(cx, changed.waits.as_ref());
        tell_if_hidden(cx, note, standing);
    }
    Ok(Exit::Done)
}

/// Where the text that a person wrote is kept; a credential that was refused is not.
fn kept(file: TempPath, has_secret: bool) -> Option<PathBuf> {
    if has_secret {
        let text = std::fs::read_to_string(&file).ok()?;
        std::fs::write(&file, mask(&text).as_bytes()).ok()?;
    }
    file.keep().ok()
}

/// What the options ask for, each field once.
fn wanted(args: &EditArgs, cx: &Context) -> Result<Wanted, Failure> {
    let mut wanted: Wanted = Vec::new();
    let mut want = |field: Field, text: Option<String>| {
        if wanted.iter().any(|(known, _)| *known == field) {
            return Err(Failure::usage(format_args!("`{field}` is given twice")));
        }
        wanted.push((field, text));
        Ok(())
    };
    let fields = &args.fields;
    if let Some(content) = text::content(args.content.as_deref(), fields.file.as_deref())? {
        want(Field::Content, Some(content))?;
    }
    if let Some(kind) = fields.kind {
        want(Field::Kind, Some(kind.as_str().to_owned()))?;
    }
    if let Some(title) = &fields.title {
        want(Field::Title, some_text(title.trim()))?;
    }
    // Only as an option: a model in the environment is the one that reads.
    if let Some(model) = &cx.globals.model {
        want(Field::Model, Some(model.clone()).filter(|model| !model.is_empty()))?;
    }
    if fields.any_model {
        want(Field::Model, Some(ANY_MODEL.to_owned()))?;
    }
    if let Some(importance) = fields.importance {
        want(Field::Importance, Some(two_decimals(importance)))?;
    }
    if !fields.evidence.is_empty() {
        want(Field::Evidence, some_text(&fields.evidence.join("\n")))?;
    }
    if !fields.tag.is_empty() {
        want(Field::Tags, some_text(&fields.tag.join("\n")))?;
    }
    for (key, value) in &args.set {
        let field = field_of(key)?;
        let text = match field {
            Field::Title | Field::Evidence | Field::Tags => some_text(value),
            _ => Some(value.clone()),
        };
        want(field, text)?;
    }
    for key in &args.unset {
        want(field_of(key)?, None)?;
    }
    Ok(wanted)
}

/// Nothing said is the field taken out.
fn some_text(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// The field that a key names; the content goes by its name here.
fn field_of(key: &str) -> Result<Field, Failure> {
    if key == Field::Content.key() {
        return Ok(Field::Content);
    }
    let is_key = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !is_key || key.is_empty() {
        return Err(Failure::usage(format_args!("`{key}` is no key of a note"))
            .help("keys are words such as importance, title, evidence or x-ticket"));
    }
    Ok(Field::from_key(key))
}

/// Scope is decided by location: a project's layer can neither claim to be global nor
/// name another project.
fn check_scope(workspace: &Workspace, layer: &LayerRef, wanted: &Wanted) -> Result<(), Failure> {
    if layer.kind == LayerKind::Global {
        return Ok(());
    }
    let is_this =
        |project: &str| layer.project.as_deref() == Some(project) || workspace.project.is_named(project);
    for (field, text) in wanted {
        let is_out = match (field, text.as_deref()) {
            (Field::Scope, Some(scope)) => scope.parse::<Scope>() == Ok(Scope::Global),
            (Field::Project, Some(project)) => !project.is_empty() && !is_this(project),
            _ => false,
        };
        if is_out {
            return Err(Failure::refused(format_args!(
                "a note of the {} layer is for this project only; `{field}` cannot say otherwise",
                layer.kind.as_str()
            ))
            .help(
                "`layers move ID global` or `layers move ID --to-project KEY` puts the note where it counts",
            ));
        }
    }
    Ok(())
}

fn changes(note: Note<'_>, wanted: &Wanted) -> Vec<Change> {
    let change = |(field, text): &(Field, Option<String>)| match text {
        Some(text) => Change::Set { note: note.index(), field: field.clone(), text: text.clone() },
        None => Change::Unset { note: note.index(), field: field.clone() },
    };
    wanted.iter().map(change).collect()
}

/// The fields that do not say yet what is wanted.
fn differing(note: Note<'_>, wanted: &Wanted) -> Vec<String> {
    let differs = |field: &Field, text: &Option<String>| match text {
        None => note.has(field),
        Some(text) if text.is_empty() => !note.has(field) || note.get(field).is_some(),
        Some(text) => note.get(field).unwrap_or(Cow::Borrowed("")) != text.as_str(),
    };
    let named = wanted.iter().filter(|(field, text)| differs(field, text));
    named.map(|(field, _)| field.key().to_owned()).collect()
}

/// What a person makes of the text in an editor; none if it stays as it was.
fn from_editor(old: &str) -> Result<Option<(String, TempPath)>, Failure> {
    let editor =
        ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var_os(name).filter(|it| !it.is_empty()));
    let Some(editor) = editor.filter(|_| Output::is_interactive()) else {
        return Err(Failure::usage("there is nothing to change").help(
            "give --content TEXT, --set KEY=VALUE or another option; on a terminal, $EDITOR opens the text",
        ));
    };
    let broken =
        |error: std::io::Error| Failure::new(Exit::Broken, format_args!("cannot open the editor: {error}"));
    let file = tempfile::Builder::new().prefix("layers-note-").suffix(".md").tempfile().map_err(broken)?;
    std::fs::write(file.path(), format!("{old}\n")).map_err(broken)?;
    // Through a shell, since $EDITOR may hold arguments (`code --wait`), as git does.
    let mut script = editor;
    script.push(" \"$@\"");
    let status =
        Command::new("sh").arg("-c").arg(script).arg("layers").arg(file.path()).status().map_err(broken)?;
    if !status.success() {
        return Err(Failure::new(
            Exit::Broken,
            format_args!("the editor ended with {status}; nothing was written"),
        ));
    }
    let new = text::content(None, Some(file.path()))?.unwrap_or_default();
    Ok((new != old).then(|| (new, file.into_temp_path())))
}
