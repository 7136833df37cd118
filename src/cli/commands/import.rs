//! `layers import`: notes out of other files, by pi-continual-harness's rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::args::LayerArg;
use super::super::context::{Context, Here, seed};
use super::super::diff;
use super::super::failure::{Exit, Failure, Snippet};
use super::super::stored;
use super::add::{form_of, place_in};
use super::relocate::{adjustments, scope_adjustments};
use super::sync::tell_waits;
use crate::document::{Change, Document, EditError, Field, Form, NewNote, Note, Refusal, State};
use crate::files::{self, Found};
use crate::import::{Fate, Imported, Item, Layer, Outcome, import};
use crate::mint::fresh_id;
use crate::note::{LayerKind, Scope, two_decimals};
use crate::slug::is_key;
use crate::sync::{ChangeError, Session, edit_error, find_note, rewrite_layer};
use crate::workspace::LayerRef;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers import ~/.pi/agent/harness-state.md              notes that pi wrote
  layers import notes.md --layer repo                     all of them into this repository
  layers import old/harness-state.md old/harness-state/*.md --prune
                                                          and put away active notes that are in none
  layers import notes.md --dry-run                        only show what would change

A note whose id is known is updated and the file wins, also where it says nothing: no owner is
none. Its kind stays. Ids that do not start with `h_` are replaced. What is in no file stays,
without --prune.";

// The arguments of `import`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The files; of two with the same note the last wins
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Put every note there, whatever scope it names
    #[arg(long, value_enum)]
    layer: Option<LayerArg>,
    /// Archive active notes that are in none of the files, of the layers that the files are about
    #[arg(long)]
    prune: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct ImportJson {
    imported: usize,
    created: usize,
    updated: usize,
    pruned: usize,
    missing_file: bool,
    notes: Vec<NoteJson>,
}

#[derive(Serialize)]
struct NoteJson {
    id: String,
    what: &'static str,
    path: String,
}

/// A file to import.
struct File<'a> {
    path: &'a Path,
    document: Option<Document>,
    /// The project of its notes that name no scope.
    project: Option<String>,
}

/// A note of a layer.
#[derive(Clone, Copy)]
struct Stored<'a> {
    layer: &'a LayerRef,
    note: Note<'a>,
}

/// The layers that an import is about.
struct Targets<'a> {
    here: &'a Here,
    only: Option<LayerRef>,
}

impl Targets<'_> {
    /// The layer that a note belongs to.
    fn of(&self, item: &Item) -> Result<LayerRef, Failure> {
        if let Some(only) = &self.only {
            return Ok(only.clone());
        }
        let workspace = &self.here.workspace;
        match item.home() {
            None => self.here.target(LayerArg::Global),
            Some(project) if workspace.project.is_named(project) => self.here.target(LayerArg::Home),
            Some(project) if is_key(project) => {
                Ok(LayerRef::home(workspace.root.home_path(project), project))
            }
            Some(project) => Err(Failure::refused(format_args!(
                "`{project}` is no project key, so its notes have no layer"
            ))
            .help("--layer says where all notes of the files go")),
        }
    }

    /// The layers of these notes, and those in which their ids may stand as well, lowest
    /// precedence first. A repository's is meant only if it is named.
    fn of_all<'i>(&self, items: impl Iterator<Item = &'i Item>) -> Result<Vec<LayerRef>, Failure> {
        let mut layers = items.map(|item| self.of(item)).collect::<Result<Vec<_>, _>>()?;
        if self.only.is_none() {
            let own = self.here.workspace.layers.iter().filter(|layer| layer.kind != LayerKind::Repo);
            layers.extend(own.cloned());
        }
        layers.extend(self.only.clone());
        layers.sort_by(|one, other| (one.kind, &one.path).cmp(&(other.kind, &other.path)));
        layers.dedup_by(|one, other| one.path == other.path);
        Ok(layers)
    }
}

pub(crate) fn run(args: &ImportArgs, cx: &mut Context) -> Result<Exit, Failure> {
    if !args.dry_run {
        cx.will_write(args.layer.map_or(LayerKind::Home, LayerArg::kind));
    }
    let (here, mut session) = if args.dry_run { stored::look(cx)? } else { stored::open(cx)? };
    session.author.reason = Some("import".to_owned());
    let target = |place: LayerArg, cx: &mut Context| {
        if args.dry_run { here.target(place) } else { here.target_to_write(place, cx) }
    };
    let only = args.layer.map(|place| target(place, cx)).transpose()?;
    let targets = Targets { here: &here, only };
    let forced = targets.only.as_ref().map(|layer| layer.project.clone());
    let files: Vec<File<'_>> =
        args.files.iter().map(|path| read(cx, path, forced.as_ref())).collect::<Result<_, _>>()?;
    // Which layers are concerned is known once the notes are read.
    let probe = imported(&[], &files, false)?;
    let layers = targets.of_all(probe.items())?;
    if !args.dry_run {
        session.catch_up(&layers)?;
    }
    let mut documents = Vec::new();
    for layer in &layers {
        documents.push((layer, Document::parse(layer.read_text()?.content().unwrap_or_default())));
    }
    let stored: Vec<Stored<'_>> = documents
        .iter()
        .flat_map(|(layer, document)| {
            let usable = document.notes().filter(|note| is_usable(document, *note));
            usable.map(|note| Stored { layer, note })
        })
        .collect();
    // A project may have several names. What the files call it, it is called here.
    let mut homes = probe.items().filter_map(Item::home);
    let name = homes.find(|home| here.workspace.project.is_named(home));
    let items: Vec<Item> = stored.iter().map(|one| one.item(&here, name)).collect();
    let done = imported(&items, &files, args.prune)?;
    let plan = Plan::of(&done, &stored, &targets)?;
    tell(cx, &files, &done);
    if args.dry_run {
        plan.show(cx, &here)?;
    } else {
        session.author.moving = plan.moving.clone();
        // A note that moves has come before it goes.
        plan.carry_out(cx, &here, &session, |edit| !matches!(edit, Edit::Remove(_)))?;
        plan.carry_out(cx, &here, &session, |edit| matches!(edit, Edit::Remove(_)))?;
    }
    report(args, cx, &done, plan.notes)
}

/// Reads a file; `forced` is the project of all its notes.
fn read<'a>(cx: &mut Context, path: &'a Path, forced: Option<&Option<String>>) -> Result<File<'a>, Failure> {
    let document = match files::read_text(path)? {
        Found::Content(text) => Some(Document::parse(text)),
        Found::Absent => {
            cx.out.warn(format_args!("there is no file {}", path.display()));
            None
        }
    };
    if let Some((document, conflict)) =
        document.as_ref().and_then(|document| Some((document, document.conflicts().first()?)))
    {
        let mut failure = Failure::refused("git's conflict markers stand in this file; resolve them first");
        let snippet = Snippet::of(path, document.source(), conflict.start, conflict.end);
        failure.place = Some(Box::new(snippet));
        return Err(failure);
    }
    let project = forced.map_or_else(|| project_of(path), Clone::clone);
    Ok(File { path, document, project })
}

/// The project that a file's place names: one in a folder `harness-state` is that project's.
fn project_of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_projects = path.parent().and_then(Path::file_name).is_some_and(|name| name == "harness-state");
    path.file_stem().filter(|_| is_projects).map(|stem| stem.to_string_lossy().into_owned())
}

fn is_usable(document: &Document, note: Note<'_>) -> bool {
    note.state() == State::Good && note.id().is_some() && !document.is_equal_copy(note)
}

impl Stored<'_> {
    /// As pi would know it: where it lives says for whom it is. `name` is what the project
    /// here is called.
    fn item(&self, here: &Here, name: Option<&str>) -> Item {
        let claimed = self.note.project().map(Into::into);
        let home = match self.layer.kind {
            LayerKind::Global => claimed.filter(|_| self.note.scope() == Some(Scope::Project)),
            LayerKind::Home | LayerKind::Repo => claimed.or_else(|| self.layer.project.clone()),
        };
        let is_here = |home: &String| here.workspace.project.is_named(home);
        let home = home.map(|home| name.filter(|_| is_here(&home)).map_or(home.clone(), str::to_owned));
        Item::of(self.note, home)
    }
}

fn imported<'a>(store: &[Item], files: &'a [File<'_>], prune: bool) -> Result<Imported<'a>, Failure> {
    let layers: Vec<Layer<'_>> = files
        .iter()
        .map(|file| Layer { document: file.document.as_ref(), project: file.project.as_deref() })
        .collect();
    let mut minted = Ok(());
    let done = import(store, &layers, prune, || {
        fresh_id().unwrap_or_else(|error| {
            minted = Err(error);
            String::new()
        })
    });
    minted?;
    done.map_err(|error| {
        let path = files[error.layer].path.display();
        Failure::new(Exit::Broken, format_args!("{path}: {error}")).help("nothing was imported")
    })
}

/// What is to be done to one note of a layer.
enum Edit<'a> {
    /// Puts a note of elsewhere in, as it is to be known here.
    Insert(Note<'a>, &'a Item),
    /// Changes these fields.
    Change(&'a Item, &'a [Field]),
    /// Takes it out.
    Remove(Note<'a>),
}

/// The edits of all layers, and what is said about them.
#[derive(Default)]
struct Plan<'a> {
    layers: BTreeMap<PathBuf, (LayerRef, Vec<Edit<'a>>)>,
    notes: Vec<NoteJson>,
    /// Notes that go from one layer to another, as they are.
    moving: BTreeMap<String, String>,
}

impl<'a> Plan<'a> {
    fn of(done: &'a Imported<'a>, stored: &[Stored<'a>], targets: &Targets<'_>) -> Result<Self, Failure> {
        let mut plan = Self::default();
        let mut stored = stored.iter();
        for Outcome { item, fate, note } in &done.outcomes {
            // The notes of the store come first, in its order.
            let home = stored.next();
            match (fate, home, note) {
                (Fate::Created, _, Some(note)) => {
                    let target = targets.of(item)?;
                    plan.tell(item, "created", &target);
                    plan.edit(&target, Edit::Insert(*note, item));
                }
                (Fate::Updated(fields), Some(home), _) => {
                    let target = targets.of(item)?;
                    plan.tell(item, "updated", &target);
                    if target.path == home.layer.path {
                        plan.edit(&target, Edit::Change(item, fields));
                    } else {
                        plan.moving.insert(item.id.clone(), home.note.snippet());
                        plan.edit(&target, Edit::Insert(home.note, item));
                        plan.edit(home.layer, Edit::Remove(home.note));
                    }
                }
                (Fate::Pruned, Some(home), _) => {
                    plan.tell(item, "pruned", home.layer);
                    plan.edit(home.layer, Edit::Remove(home.note));
                }
                _ => {}
            }
        }
        Ok(plan)
    }

    fn edit(&mut self, layer: &LayerRef, edit: Edit<'a>) {
        self.layers.entry(layer.path.clone()).or_insert_with(|| (layer.clone(), Vec::new())).1.push(edit);
    }

    fn tell(&mut self, item: &Item, what: &'static str, layer: &LayerRef) {
        self.notes.push(NoteJson { id: item.id.clone(), what, path: layer.path.display().to_string() });
    }

    /// Shows what would change.
    fn show(&self, cx: &mut Context, here: &Here) -> Result<(), Failure> {
        for (layer, edits) in self.layers.values() {
            let text = layer.read_text()?.content();
            let text = text.unwrap_or_else(|| seed(&here.workspace, layer).to_owned());
            let before = Document::parse(text);
            let after = edited(here, layer, &before, edits.iter())?;
            let path = cx.out.path(&layer.path).to_string();
            for line in diff::unified(&path, before.source(), after.source()).lines() {
                cx.out.line(diff::styled(line))?;
            }
        }
        Ok(())
    }

    /// Makes those of the edits that are `chosen`.
    fn carry_out(
        &self,
        cx: &mut Context,
        here: &Here,
        session: &Session,
        chosen: impl Fn(&Edit<'_>) -> bool,
    ) -> Result<(), Failure> {
        for (layer, edits) in self.layers.values().filter(|(_, edits)| edits.iter().any(&chosen)) {
            let edits = || edits.iter().filter(|edit| chosen(edit));
            let seed = seed(&here.workspace, layer);
            let changed =
                rewrite_layer(session, layer, seed, |document| edited(here, layer, document, edits()))?;
            tell_waits(cx, changed.waits.as_ref());
        }
        Ok(())
    }
}

/// A layer with edits made.
fn edited<'e>(
    here: &Here,
    layer: &LayerRef,
    document: &Document,
    edits: impl Iterator<Item = &'e Edit<'e>>,
) -> Result<Document, ChangeError> {
    let mut document = document.clone();
    for edit in edits {
        document = match edit {
            Edit::Insert(note, item) => inserted(here, layer, &document, *note, item),
            Edit::Change(item, fields) => {
                let note = find_note(layer, &document, &item.id)?;
                let mut changes = changes(note, fields, item);
                if fields.iter().any(|field| matches!(field, Field::Scope | Field::Project)) {
                    changes.extend(scope_adjustments(here, note, layer, note.form()));
                }
                document.apply(&changes)
            }
            Edit::Remove(old) => {
                let id = old.id().unwrap_or_default();
                let note = find_note(layer, &document, id)?;
                if note.own_bytes() != old.own_bytes() {
                    return Err(ChangeError::Moved { path: layer.path.clone(), id: id.to_owned() });
                }
                document.apply(&[Change::Remove { note: note.index(), with_section: false }])
            }
        }
        .map_err(|error| edit_error(layer, &document, error))?;
    }
    Ok(document)
}

/// A layer with a note of elsewhere put in: all that it says goes along, and the place
/// decides its scope.
fn inserted(
    here: &Here,
    layer: &LayerRef,
    document: &Document,
    note: Note<'_>,
    item: &Item,
) -> Result<Document, EditError> {
    // What is wrong with it alone has no place in the layer.
    let placeless = |error: EditError| EditError { location: None, ..error };
    let in_form = |form: Form| {
        let mut alone = Document::parse(note.snippet());
        if let Some(note) = alone.note_at(0) {
            let fields = Item::of(note, None).differences(item);
            alone = alone.apply(&changes(note, &fields, item)).map_err(placeless)?;
        }
        if let Some(note) = alone.note_at(0) {
            let changes = adjustments(here, note, &item.id, layer, document, form);
            alone = alone.apply(&changes).map_err(placeless)?;
        }
        let inserts = alone.note_at(0).map(|note| Change::Insert {
            note: NewNote::of(note),
            form: Some(form),
            place: place_in(layer),
        });
        document.apply(&inserts.into_iter().collect::<Vec<_>>())
    };
    let form = form_of(&here.workspace, layer, document, None);
    match in_form(form) {
        // A bullet cannot say everything that a block can; pi would not read the rest.
        Err(error) if matches!(error.refusal, Refusal::Unwritable(..)) && form != note.form() => {
            in_form(note.form())
        }
        other => other,
    }
}

/// What makes a note say these fields as an item does, its scope aside.
fn changes(note: Note<'_>, fields: &[Field], item: &Item) -> Vec<Change> {
    let change = |field: &Field| {
        let text = match field {
            Field::Content => item.content.clone(),
            Field::Evidence => item.evidence.clone(),
            Field::Importance => two_decimals(item.importance),
            Field::Active => item.active.to_string(),
            Field::Model => item.owner.clone(),
            _ => return None,
        };
        let note = note.index();
        let is_default = text.is_empty() || *field == Field::Active && item.active;
        Some(if is_default && *field != Field::Content {
            Change::Unset { note, field: field.clone() }
        } else {
            Change::Set { note, field: field.clone(), text }
        })
    };
    fields.iter().filter_map(change).collect()
}

/// Says what a file says and is not done.
fn tell(cx: &mut Context, files: &[File<'_>], done: &Imported<'_>) {
    for (file, note) in &done.passed_over {
        let why = if note.state() == State::Good { "it says nothing" } else { "it cannot be read" };
        let path = cx.out.path(files[*file].path).to_string();
        cx.out.warn(format_args!("{path}:{}: a note is passed over: {why}", note.location().line));
    }
    for outcome in &done.outcomes {
        if let Some(kind) = outcome.other_kind() {
            let Item { id, kind: own, .. } = &outcome.item;
            cx.out.warn(format_args!("{id} stays a {own} note, though a file has it as {kind}"));
            cx.out.hint(format_args!("`layers edit {id} --kind {kind}` makes it one"));
        }
    }
}

fn report(
    args: &ImportArgs,
    cx: &mut Context,
    done: &Imported<'_>,
    notes: Vec<NoteJson>,
) -> Result<Exit, Failure> {
    if cx.globals.json {
        cx.out.json(&ImportJson {
            imported: done.imported,
            created: done.created,
            updated: done.updated,
            pruned: done.pruned,
            missing_file: done.is_missing,
            notes,
        })?;
    } else if !done.is_missing {
        let would = if args.dry_run { "would have " } else { "" };
        cx.out.say(format_args!(
            "{} read: {would}created {}, updated {}, pruned {}",
            done.imported, done.created, done.updated, done.pruned
        ));
        if done.pruned > 0 && !args.dry_run {
            cx.out.hint("pruned notes are in the archive; `layers restore ID` brings one back");
        }
    }
    Ok(if done.is_missing { Exit::Broken } else { Exit::Done })
}
