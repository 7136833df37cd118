//! `layers import`: notes out of other files, by pi-continual-harness's rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::args::LayerArg;
use super::super::context::{Context, Here, seed};
use super::super::diff;
use super::super::failure::{Exit, Failure};
use super::super::stored;
use super::add::{form_of, pi_project, place_in};
use super::sync::tell_waits;
use crate::document::{Change, Document, Field, NewNote, Note, State};
use crate::files::{self, Found};
use crate::import::{Fate, Imported, Item, Layer, import};
use crate::mint::fresh_id;
use crate::note::{LayerKind, Scope, two_decimals};
use crate::slug::is_key;
use crate::sync::{PassOptions, Session, rewrite_layer};
use crate::workspace::LayerRef;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers import ~/.pi/agent/harness-state.md              notes that pi wrote
  layers import notes.md --layer repo                     all of them into this repository
  layers import old/harness-state.md old/harness-state/*.md --prune
                                                          and put away active notes that are in none
  layers import notes.md --dry-run                        only show what would change

A note whose id is known is updated and the file wins, also where it says nothing: no owner is
none. Ids that do not start with `h_` are replaced. What is in no file stays, without --prune.";

// The arguments of `import`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The files; of two with the same note the last wins
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Put every note there, whatever scope it names
    #[arg(long, value_enum)]
    layer: Option<LayerArg>,
    /// Archive active notes of the layers concerned that are in none of the files
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

/// The layers that an import is about, each with what is to change in it.
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
        let project = item.project.as_deref().filter(|_| item.scope == Some(Scope::Project));
        match project {
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
}

pub(crate) fn run(args: &ImportArgs, cx: &mut Context) -> Result<Exit, Failure> {
    if !args.dry_run {
        cx.will_write(args.layer.map_or(LayerKind::Home, LayerArg::kind));
    }
    let (here, mut session) = stored::open(cx)?;
    session.author.reason = Some("import".to_owned());
    let mut documents = Vec::new();
    for path in &args.files {
        let document = match files::read_text(path)? {
            Found::Content(text) => Some(Document::parse(text)),
            Found::Absent => {
                cx.out.warn(format_args!("there is no file {}", path.display()));
                None
            }
        };
        documents.push((path, document));
    }
    let targets = Targets { here: &here, only: args.layer.map(|place| here.target(place)).transpose()? };
    let forced = targets.only.as_ref().map(|layer| layer.project.clone());
    let layers: Vec<(Option<&Document>, Option<String>)> = documents
        .iter()
        .map(|(path, document)| (document.as_ref(), forced.clone().unwrap_or_else(|| project_of(path))))
        .collect();
    // Which layers are concerned is known once the notes are read.
    let probe = imported(&[], &layers, false)?;
    let mut concerned: Vec<LayerRef> = Vec::new();
    for item in &probe.items {
        let layer = targets.of(item)?;
        if concerned.iter().all(|known| known.path != layer.path) {
            concerned.push(layer);
        }
    }
    let own: Vec<LayerRef> = match &targets.only {
        Some(only) => vec![only.clone()],
        None => here.workspace.layers.iter().filter(|layer| layer.kind != LayerKind::Repo).cloned().collect(),
    };
    for layer in own {
        if concerned.iter().all(|known| known.path != layer.path) {
            concerned.push(layer);
        }
    }
    if !args.dry_run {
        for report in session.pass(&concerned, &PassOptions::default())? {
            if let Some(error) = report.error {
                return Err(error.into());
            }
        }
    }
    let mut store = Vec::new();
    for layer in &concerned {
        let document = Document::parse(layer.read_text()?.content().unwrap_or_default());
        store.extend(
            document.notes().filter(|note| is_usable(*note)).map(|note| (layer.clone(), item(note, layer))),
        );
    }
    let items: Vec<Item> = store.iter().map(|(_, item)| item.clone()).collect();
    let done = imported(&items, &layers, args.prune)?;
    let mut edits: BTreeMap<PathBuf, (LayerRef, Vec<Edit>)> = BTreeMap::new();
    let mut notes = Vec::new();
    for (id, fate) in &done.fates {
        let before = store.iter().rfind(|(_, item)| item.id == *id);
        let after = done.items.iter().rfind(|item| item.id == *id);
        let mut edit = |layer: &LayerRef, edit| {
            edits.entry(layer.path.clone()).or_insert_with(|| (layer.clone(), Vec::new())).1.push(edit);
        };
        let (what, path) = match (fate, before, after) {
            (Fate::Pruned, Some((layer, _)), _) => {
                edit(layer, Edit::Remove(id.clone()));
                ("pruned", &layer.path)
            }
            (Fate::Updated, Some((layer, old)), Some(new)) => {
                let target = targets.of(new)?;
                if target.path == layer.path {
                    edit(layer, Edit::Update(old.clone(), new.clone()));
                } else {
                    edit(layer, Edit::Remove(id.clone()));
                    edit(&target, Edit::Create(new.clone()));
                }
                ("updated", &layer.path)
            }
            (_, _, Some(new)) => {
                let target = targets.of(new)?;
                edit(&target, Edit::Create(new.clone()));
                notes.push(NoteJson {
                    id: id.clone(),
                    what: "created",
                    path: target.path.display().to_string(),
                });
                continue;
            }
            (_, _, None) => continue,
        };
        notes.push(NoteJson { id: id.clone(), what, path: path.display().to_string() });
    }
    carry_out(args, cx, &here, &session, edits)?;
    report(args, cx, &done, notes)
}

/// What is to be done to one note of a layer.
enum Edit {
    Create(Item),
    Update(Item, Item),
    Remove(String),
}

fn carry_out(
    args: &ImportArgs,
    cx: &mut Context,
    here: &Here,
    session: &Session,
    edits: BTreeMap<PathBuf, (LayerRef, Vec<Edit>)>,
) -> Result<(), Failure> {
    for (layer, edits) in edits.into_values() {
        let edited = |document: &Document| {
            let mut document = document.clone();
            for edit in &edits {
                let change = changes(here, &layer, &document, edit);
                document = document
                    .apply(&change)
                    .map_err(|error| crate::sync::edit_error(&layer, &document, error))?;
            }
            Ok(document)
        };
        let seed = seed(&here.workspace, &layer);
        if args.dry_run {
            let text = layer.read_text()?.content().unwrap_or_else(|| seed.to_owned());
            let before = Document::parse(text);
            let after = edited(&before).map_err(Failure::from)?;
            let path = cx.out.path(&layer.path).to_string();
            for line in diff::unified(&path, before.source(), after.source()).lines() {
                cx.out.line(diff::styled(line))?;
            }
        } else {
            let changed = rewrite_layer(session, &layer, seed, edited)?;
            tell_waits(cx, changed.waits.as_ref());
        }
    }
    Ok(())
}

fn changes(here: &Here, layer: &LayerRef, document: &Document, edit: &Edit) -> Vec<Change> {
    match edit {
        Edit::Create(item) => {
            let form = form_of(&here.workspace, layer, document, None);
            let mut note = NewNote::new(item.id.as_str(), item.kind, item.content.as_str())
                .with(Field::Importance, two_decimals(item.importance));
            if !item.owner.is_empty() {
                note = note.with(Field::Model, item.owner.as_str());
            }
            if !item.evidence.is_empty() {
                note = note.with(Field::Evidence, item.evidence.as_str());
            }
            if let Some(project) = pi_project(&here.workspace, layer, form) {
                note = note.with(Field::Scope, "project").with(Field::Project, project);
            }
            vec![Change::Insert { note, form: Some(form), place: place_in(layer) }]
        }
        Edit::Update(old, new) => {
            let Some(note) = document.note(&old.id).map(Note::index) else { return Vec::new() };
            let mut changes = Vec::new();
            let mut set = |field: Field, before: &str, after: &str| {
                if before != after && after.is_empty() && field != Field::Content {
                    changes.push(Change::Unset { note, field });
                } else if before != after {
                    changes.push(Change::Set { note, field, text: after.to_owned() });
                }
            };
            set(Field::Content, &old.content, &new.content);
            set(Field::Evidence, &old.evidence, &new.evidence);
            set(Field::Model, &old.owner, &new.owner);
            set(Field::Importance, &two_decimals(old.importance), &two_decimals(new.importance));
            if old.active != new.active {
                changes.push(Change::Unset { note, field: Field::Active });
            }
            changes
        }
        Edit::Remove(id) => {
            let note = document.note(id).map(Note::index);
            note.map(|note| Change::Remove { note, with_section: false }).into_iter().collect()
        }
    }
}

fn report(
    args: &ImportArgs,
    cx: &mut Context,
    done: &Imported,
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

fn imported(
    store: &[Item],
    layers: &[(Option<&Document>, Option<String>)],
    prune: bool,
) -> Result<Imported, Failure> {
    let layers: Vec<Layer<'_>> = layers
        .iter()
        .map(|(document, project)| Layer { document: *document, project: project.as_deref() })
        .collect();
    let mut minted = Ok(());
    let done = import(store, &layers, prune, || {
        fresh_id().unwrap_or_else(|error| {
            minted = Err(error);
            String::new()
        })
    });
    minted?;
    Ok(done)
}

/// The project that a file's place names: one in a folder `harness-state` is that project's.
fn project_of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_projects = path.parent().and_then(Path::file_name).is_some_and(|name| name == "harness-state");
    path.file_stem().filter(|_| is_projects).map(|stem| stem.to_string_lossy().into_owned())
}

fn is_usable(note: Note<'_>) -> bool {
    note.state() == State::Good && note.id().is_some()
}

/// A note of a layer as pi would know it: where it lives says for whom it is.
fn item(note: Note<'_>, layer: &LayerRef) -> Item {
    let claimed = note.project().filter(|_| note.scope() == Some(Scope::Project));
    let (scope, project) = match layer.kind {
        LayerKind::Global => (note.scope().unwrap_or(Scope::Global), claimed.map(Into::into)),
        LayerKind::Home | LayerKind::Repo => {
            (Scope::Project, claimed.map(Into::into).or_else(|| layer.project.clone()))
        }
    };
    Item {
        id: note.id().unwrap_or_default().to_owned(),
        kind: note.kind(),
        content: note.content().into_owned(),
        evidence: note.evidence().into_owned(),
        importance: note.importance(),
        active: note.active(),
        owner: note.model().map(Into::into).unwrap_or_default(),
        scope: Some(scope),
        project,
    }
}
