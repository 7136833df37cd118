//! `layers trust` and `layers untrust`: whether a repository's notes count.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::context::{Context, Here, state};
use super::super::failure::{Exit, Failure};
use super::super::output::{Output, WARNING, one_line};
use super::super::repository::all_layers;
use super::super::stored::rfc3339;
use super::super::table::{Table, head_of};
use crate::check::{Finding, Place, examine};
use crate::config::{Config, Injection};
use crate::document::Document;
use crate::effective::id_of;
use crate::note::{Kind, LayerKind, two_decimals};
use crate::reach::Reach;
use crate::render::Shown;
use crate::review;
use crate::select::cost;
use crate::store::{StoreError, Tx};
use crate::text::locate;
use crate::trust::Trusts;
use crate::workspace::{LayerRef, WorkTree};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers trust               show what this repository's notes say, and allow them
  layers trust --dry-run     only show it
  layers trust --pin         allow what they say now; what changes later waits in `layers review`
  layers trust --list        which repositories are trusted
  layers untrust             take it back

A repository's layers come from other people. Until you trust it they are in no block, and
nothing is written into its work tree. Trust is for the repository with all its work trees, not
for its copies; it is kept in the store, never in the repository. On a terminal `trust` asks;
elsewhere the command itself is the answer. docs/trust.md tells all.";

pub(crate) const UNTRUST_EXAMPLES: &str = "\
Examples:
  layers untrust              this repository's notes count no more
  layers untrust ~/src/shop   the same for another one; it need not be there any more";

// The arguments of `trust`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches, each of its own")]
pub(crate) struct TrustArgs {
    /// A folder in the repository [default: the working directory]
    #[arg(value_name = "PATH", value_hint = ValueHint::DirPath)]
    path: Option<PathBuf>,
    /// Allow only what each note says now
    #[arg(long)]
    pin: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be allowed
    #[arg(long)]
    dry_run: bool,
    /// Show which repositories are trusted
    #[arg(long, conflicts_with_all = ["path", "pin", "yes", "dry_run"])]
    list: bool,
}

// The arguments of `untrust`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct UntrustArgs {
    /// A folder in the repository [default: the working directory]
    #[arg(value_name = "PATH", value_hint = ValueHint::DirPath)]
    path: Option<PathBuf>,
}

#[derive(Serialize)]
struct TrustJson {
    tree: String,
    trusted: bool,
    pinned: bool,
    layers: Vec<LayerJson>,
    /// What a block could spend on all of them, in tokens.
    cost: f64,
    /// What it will at most, as long as there are notes of the user's own; null without a limit.
    limit: Option<f64>,
}

#[derive(Serialize)]
struct LayerJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    notes: Vec<NoteJson>,
    findings: Vec<FindingJson>,
}

#[derive(Serialize)]
struct NoteJson {
    id: String,
    kind: Kind,
    importance: f64,
    model: Option<String>,
    content: String,
    cost: f64,
    /// The user's own layers that hold its id.
    clashes: Vec<String>,
}

#[derive(Serialize)]
struct FindingJson {
    line: usize,
    code: &'static str,
    message: String,
}

#[derive(Serialize)]
struct TrustedJson {
    tree: String,
    pinned: bool,
    at: String,
}

pub(crate) fn run(args: &TrustArgs, cx: &mut Context) -> Result<Exit, Failure> {
    if args.list {
        return list(cx);
    }
    let (here, tree) = repository(args.path.as_deref(), cx)?;
    let layers = read(all_layers(&here.workspace, &tree));
    let Here { workspace, config } = here;
    let key = workspace.project.key.clone();
    let own = Reach::read(workspace, state());
    let mut shown = show(&tree, &layers, &own, &key, &config);
    if !cx.globals.json {
        print(cx, &shown)?;
    }
    if !args.dry_run && (args.yes || agrees(cx)?) {
        let seen: Vec<_> = layers
            .iter()
            .filter_map(|(layer, document)| Some((layer.inner_path()?, document.as_ref().ok()?)))
            .map(|(path, document)| (path.to_owned(), review::rows(document)))
            .collect();
        let set_aside = Trusts::new(state()).grant(&tree, args.pin, |tx, id| write(tx, id, &seen))?;
        cx.tell_set_aside(set_aside.as_deref());
        (shown.trusted, shown.pinned) = (true, args.pin);
        cx.out.say(format_args!(
            "{} is trusted{}",
            tree.root.display(),
            if args.pin { ", as it is now" } else { "" }
        ));
    } else {
        cx.out.say("nothing was allowed");
    }
    if cx.globals.json {
        cx.out.json(&shown)?;
    }
    Ok(Exit::Done)
}

fn write(tx: &Tx<'_>, id: i64, seen: &[(PathBuf, Vec<crate::store::ReviewedRow>)]) -> Result<(), StoreError> {
    let now = crate::mint::now_millis();
    for (path, rows) in seen {
        for row in rows {
            tx.put_reviewed(id, path, row, now)?;
        }
    }
    Ok(())
}

/// On a terminal a person is asked; elsewhere whoever runs the command has decided.
fn agrees(cx: &mut Context) -> Result<bool, Failure> {
    if !Output::is_interactive() {
        return Ok(true);
    }
    cx.out.flush()?;
    Ok(matches!(cx.out.ask("Allow these notes in your prompts? [y/N] ")?.as_str(), "y" | "yes"))
}

/// Where a path is, and the work tree that it is in.
pub(super) fn repository(path: Option<&Path>, cx: &mut Context) -> Result<(Here, WorkTree), Failure> {
    let here = cx.find_at(path)?;
    let Some(tree) = here.workspace.project.work_tree.clone() else {
        return Err(Failure::new(Exit::Findings, "there is no git work tree here")
            .help("trust is for repositories; your own layers need none"));
    };
    Ok((here, tree))
}

type ReadLayer = (LayerRef, Result<Document, String>);

fn read(layers: Vec<LayerRef>) -> Vec<ReadLayer> {
    let read = |layer: LayerRef| {
        let text = layer.read_text().map(|found| Document::parse(found.content().unwrap_or_default()));
        (layer, text.map_err(|error| error.to_string()))
    };
    layers.into_iter().map(read).collect()
}

fn show(tree: &WorkTree, layers: &[ReadLayer], own: &Reach, key: &str, config: &Config) -> TrustJson {
    let layers: Vec<LayerJson> = layers
        .iter()
        .map(|(layer, document)| {
            let path = layer.path.display().to_string();
            match document {
                Ok(document) => LayerJson {
                    path,
                    problem: None,
                    notes: notes(document, own, &config.injection),
                    findings: findings(layer, document, key),
                },
                Err(problem) => LayerJson {
                    path,
                    problem: Some(problem.clone()),
                    notes: Vec::new(),
                    findings: Vec::new(),
                },
            }
        })
        .collect();
    let cost = layers.iter().flat_map(|layer| &layer.notes).map(|note| note.cost).sum();
    let limit = config.injection.enabled.then_some(config.layers.repo_share * config.injection.max_tokens);
    TrustJson { tree: tree.root.display().to_string(), trusted: false, pinned: false, layers, cost, limit }
}

fn notes(document: &Document, own: &Reach, injection: &Injection) -> Vec<NoteJson> {
    document
        .notes()
        .map(|note| {
            let (id, content, title) = (id_of(note), note.content(), note.title());
            let importance = note.importance();
            let shown =
                Shown { id: &id, kind: note.kind(), title: title.as_deref(), content: &content, importance };
            let clashes = own.layers.iter().filter(|read| read.layer.kind != LayerKind::Repo);
            let clashes = clashes.filter(|read| read.document.note(&id).is_some());
            NoteJson {
                cost: cost(&shown, injection),
                kind: note.kind(),
                importance,
                model: note.model().filter(|model| !model.is_empty()).map(Into::into),
                clashes: clashes.map(|read| read.layer.path.display().to_string()).collect(),
                content: content.into_owned(),
                id: id.into_owned(),
            }
        })
        .collect()
}

fn findings(layer: &LayerRef, document: &Document, key: &str) -> Vec<FindingJson> {
    let names = [layer.project.as_deref().unwrap_or_default(), key];
    let found = examine(document, &Place { kind: Some(LayerKind::Repo), project: &names });
    let json = |finding: Finding| FindingJson {
        line: locate(document.source(), finding.span.start).line,
        code: finding.code,
        message: finding.message,
    };
    found.into_iter().map(json).collect()
}

fn print(cx: &mut Context, shown: &TrustJson) -> Result<(), Failure> {
    if shown.layers.is_empty() {
        cx.out.line(format_args!("{} has no layers yet; those that come will count", shown.tree))?;
        return Ok(());
    }
    for layer in &shown.layers {
        let path = one_line(&cx.out.path(layer.path.as_ref()).to_string());
        if let Some(problem) = &layer.problem {
            cx.out.line(format_args!("{path}: {WARNING}left out{WARNING:#}: {}", one_line(problem)))?;
            continue;
        }
        let count = layer.notes.len();
        cx.out.line(format_args!("{path}: {count} note{}", if count == 1 { "" } else { "s" }))?;
        let mut table = Table::new(&["id", "kind", "importance", "model", "tokens", "text"]);
        for note in &layer.notes {
            table.row(vec![
                one_line(&note.id),
                note.kind.to_string(),
                two_decimals(note.importance),
                note.model.as_deref().map_or_else(|| "-".to_owned(), one_line),
                note.cost.to_string(),
                head_of(&note.content, 60),
            ]);
        }
        table.print(&mut cx.out, "  ")?;
        for note in layer.notes.iter().filter(|note| !note.clashes.is_empty()) {
            let paths: Vec<String> =
                note.clashes.iter().map(|path| cx.out.path(path.as_ref()).to_string()).collect();
            let id = one_line(&note.id);
            cx.out.line(format_args!(
                "  {WARNING}clash{WARNING:#}: {id} is also the id of a note of your own in {}",
                paths.join(", ")
            ))?;
        }
        for found in &layer.findings {
            let message = one_line(&found.message);
            cx.out
                .line(format_args!("  {WARNING}{}{WARNING:#}: line {}: {message}", found.code, found.line))?;
        }
    }
    let limit = shown.limit.map_or_else(String::new, |limit| {
        format!("; a block gives them {limit} at most while your own notes want the rest (layers.repoShare)")
    });
    cx.out.line(format_args!("{} tokens in all{limit}", shown.cost))
}

fn list(cx: &mut Context) -> Result<Exit, Failure> {
    let all: Vec<TrustedJson> = Trusts::new(state())
        .all()?
        .into_iter()
        .map(|one| TrustedJson {
            tree: one.evidence.tree.path.display().to_string(),
            pinned: one.is_pinned,
            at: rfc3339(one.at),
        })
        .collect();
    if cx.globals.json {
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        cx.out.say("no repository is trusted yet");
    }
    let mut table = Table::new(&["repository", "", "since"]);
    for one in all {
        let pinned = if one.pinned { "pinned" } else { "" }.to_owned();
        table.row(vec![one_line(&one.tree), pinned, one.at.get(..10).unwrap_or_default().to_owned()]);
    }
    table.print(&mut cx.out, "")?;
    Ok(Exit::Done)
}

pub(crate) fn untrust(args: &UntrustArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let trusts = Trusts::new(state());
    let gone = match &args.path {
        Some(path) if !path.exists() => trusts.revoke_at(&std::path::absolute(path)?)?,
        path => trusts.revoke(&repository(path.as_deref(), cx)?.1)?,
    };
    let trees: Vec<String> = gone.iter().map(|one| one.evidence.tree.path.display().to_string()).collect();
    if cx.globals.json {
        cx.out.json(&trees)?;
    }
    for tree in &trees {
        cx.out.say(format_args!("{tree} is not trusted any more"));
    }
    if trees.is_empty() {
        cx.out.say("it was not trusted");
    }
    Ok(Exit::Done)
}
