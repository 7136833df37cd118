//! `layers review`: what changed in a trusted repository since the user looked at it.

use clap::Args;
use serde::Serialize;

use super::super::context::{Context, Here, state};
use super::super::diff;
use super::super::failure::{Exit, Failure};
use super::super::lookup::nearest;
use super::super::output::{Output, STRONG, WARNING, one_line};
use super::super::repository::all_layers;
use super::trust::repository;
use crate::document::{Document, Note};
use crate::files::Found;
use crate::mint::now_millis;
use crate::review::{row, waiting};
use crate::store::{ReviewedRow, Store, StoreError};
use crate::workspace::{Grant, LayerRef, WorkTree};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers review                          walk through what waits; in a pipe, list it
  layers review --list                   only list it, with what changed
  layers review --accept h_lz3k9p2_a1b2c this version counts from now on
  layers review --reject h_lz3k9p2_a1b2c this one never will
  layers review --all                    accept all that waits

In a repository that was trusted with `layers trust --pin` a note that was changed counts as it
was, and one that is new does not, until you accept it. In one that is trusted as a whole all
of it counts already; here it is what you have not seen yet.";

// The arguments of `review`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// Accept what these notes say now; may be given several times
    #[arg(long, value_name = "ID")]
    accept: Vec<String>,
    /// Keep what these notes say now out; may be given several times
    #[arg(long, value_name = "ID")]
    reject: Vec<String>,
    /// Accept all that waits
    #[arg(long, conflicts_with = "accept")]
    all: bool,
    /// Only list what waits
    #[arg(long, conflicts_with_all = ["accept", "reject", "all"])]
    list: bool,
}

/// A note that waits, as data.
#[derive(Serialize)]
struct WaitingJson {
    id: String,
    /// `new` or `changed`.
    what: &'static str,
    /// Whether it counts meanwhile, as it does where all of a repository is trusted.
    counts: bool,
    rejected: bool,
    path: String,
    line: usize,
    diff: String,
}

/// A layer with what waits in it.
struct Waits {
    layer: LayerRef,
    path: std::path::PathBuf,
    document: Document,
    reviewed: Vec<ReviewedRow>,
}

pub(crate) fn run(args: &ReviewArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (here, tree) = repository(None, cx)?;
    let Some(grant) = here.workspace.trust.grant() else {
        here.workspace
            .notices
            .iter()
            .filter(|notice| notice.is_loud())
            .for_each(|notice| cx.out.warn(notice));
        return Err(Failure::refused(format_args!("{} is not trusted", tree.root.display()))
            .help("`layers trust` shows what its notes say and allows them"));
    };
    let place = state().ok_or(StoreError::NoPlace)?;
    let Some(store) = Store::open_existing(&place)? else { return Err(StoreError::NoPlace.into()) };
    let layers = gather(&here, &tree, grant, &store, cx)?;
    let is_asked = !args.accept.is_empty() || !args.reject.is_empty() || args.all;
    if !is_asked && !args.list && !cx.globals.json && Output::is_interactive() {
        return walk(&layers, grant, &store, cx);
    }
    if !is_asked {
        return list(&layers, grant, cx);
    }
    if !args.reject.is_empty() && !grant.is_pinned {
        return Err(Failure::refused("all of this repository is trusted, so nothing of it can be kept out here")
            .help("`layers trust --pin` allows only what you have seen; `layers archive ID` takes a note out of the file"));
    }
    let mut words = Vec::new();
    for (ids, is_accepted) in [(&args.accept, true), (&args.reject, false)] {
        for id in ids {
            words.push((find(&layers, id)?, is_accepted));
        }
    }
    if args.all {
        let open = layers.iter().flat_map(|waits| waits.notes(false).map(move |note| (waits, note)));
        words.extend(open.map(|found| (found, true)));
    }
    let mut done = Vec::new();
    store.write(|tx| {
        for ((waits, note), is_accepted) in words {
            let row = row(note, is_accepted);
            tx.put_reviewed(grant.id, &waits.path, &row, now_millis())?;
            done.push((row.note, is_accepted));
        }
        Ok::<_, StoreError>(())
    })?;
    if cx.globals.json {
        let all: Vec<_> = done
            .iter()
            .map(|(id, is_accepted)| serde_json::json!({ "id": id, "accepted": is_accepted }))
            .collect();
        cx.out.json(&all)?;
    }
    for (id, is_accepted) in &done {
        let word = if *is_accepted { "accepted" } else { "kept out" };
        cx.out.say(format_args!("{}: {word}", one_line(id)));
    }
    if done.is_empty() {
        cx.out.say("nothing waits");
    }
    Ok(Exit::Done)
}

impl Waits {
    /// The notes that wait; with those that were rejected already, if they are asked for.
    fn notes(&self, with_rejected: bool) -> impl Iterator<Item = Note<'_>> {
        let all = waiting(&self.document, &self.reviewed);
        let open: Vec<Note<'_>> =
            all.into_iter().filter(|one| with_rejected || !one.is_rejected).map(|one| one.note).collect();
        open.into_iter()
    }
}

fn gather(
    here: &Here,
    tree: &WorkTree,
    grant: Grant,
    store: &Store,
    cx: &mut Context,
) -> Result<Vec<Waits>, Failure> {
    let mut all = Vec::new();
    for layer in all_layers(&here.workspace, tree) {
        let document = match layer.read_text() {
            Ok(Found::Content(text)) => Document::parse(text),
            Ok(Found::Absent) => continue,
            Err(error) => {
                cx.unavailable(&layer, &error);
                continue;
            }
        };
        let Some(path) = layer.inner_path().map(std::path::Path::to_owned) else { continue };
        let reviewed = store.read().reviewed(grant.id, &path)?;
        all.push(Waits { layer, path, document, reviewed });
    }
    Ok(all)
}

/// A note that waits, by id.
fn find<'a>(layers: &'a [Waits], id: &str) -> Result<(&'a Waits, Note<'a>), Failure> {
    let all = || layers.iter().flat_map(|waits| waits.notes(true).map(move |note| (waits, note)));
    let name = |note: Note<'_>| crate::effective::id_of(note).into_owned();
    all().find(|(_, note)| name(*note) == id).ok_or_else(|| {
        let failure = Failure::new(Exit::Findings, format_args!("no note `{id}` waits here"));
        let ids: Vec<String> = all().map(|(_, note)| name(note)).collect();
        match nearest(ids.iter().map(String::as_str), id).as_slice() {
            [] => failure.help("`layers review --list` shows what waits"),
            near => failure.help(format_args!("did you mean {}?", near.join(" or "))),
        }
    })
}

fn json(waits: &Waits, grant: Grant) -> Vec<WaitingJson> {
    let of = |one: crate::review::Waiting<'_>| WaitingJson {
        what: if one.before.is_some() { "changed" } else { "new" },
        counts: !grant.is_pinned,
        rejected: one.is_rejected,
        path: waits.layer.path.display().to_string(),
        line: one.note.location().line,
        diff: diff::unified(&one.id, one.before.unwrap_or_default(), &row(one.note, true).text),
        id: one.id.into_owned(),
    };
    waiting(&waits.document, &waits.reviewed).into_iter().map(of).collect()
}

fn list(layers: &[Waits], grant: Grant, cx: &mut Context) -> Result<Exit, Failure> {
    let all: Vec<WaitingJson> = layers.iter().flat_map(|waits| json(waits, grant)).collect();
    if cx.globals.json {
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    let open: Vec<&WaitingJson> = all.iter().filter(|one| !one.rejected).collect();
    for one in &open {
        show(one, cx)?;
    }
    if open.is_empty() {
        cx.out.say("nothing waits");
    } else {
        cx.out.hint("`layers review --accept ID` or `--all` accepts, `--reject ID` keeps out");
    }
    Ok(Exit::Done)
}

fn show(one: &WaitingJson, cx: &mut Context) -> Result<(), Failure> {
    let place = one_line(&cx.out.path(one.path.as_ref()).to_string());
    let id = one_line(&one.id);
    cx.out.line(format_args!(
        "{STRONG}{id}{STRONG:#}, {place}:{}: {WARNING}{}{WARNING:#}",
        one.line, one.what
    ))?;
    for line in one.diff.lines().skip(2) {
        cx.out.line(diff::styled(line))?;
    }
    Ok(())
}

/// Asks a person about each note.
fn walk(layers: &[Waits], grant: Grant, store: &Store, cx: &mut Context) -> Result<Exit, Failure> {
    let mut count = 0;
    for waits in layers {
        for (one, note) in json(waits, grant).iter().zip(waits.notes(true)) {
            if one.rejected {
                continue;
            }
            count += 1;
            show(one, cx)?;
            let question = if grant.is_pinned {
                "Accept it? [y]es, [n]o, keep it out, [s]kip, [q]uit "
            } else {
                "It counts. Seen? [y]es, [s]kip, [q]uit "
            };
            let is_accepted = match cx.out.ask(question)?.as_str() {
                "y" | "yes" => true,
                "n" | "no" if grant.is_pinned => false,
                "q" | "quit" => return Ok(Exit::Done),
                _ => continue,
            };
            let row = row(note, is_accepted);
            store.write(|tx| tx.put_reviewed(grant.id, &waits.path, &row, now_millis()))?;
        }
    }
    if count == 0 {
        cx.out.say("nothing waits");
    }
    Ok(Exit::Done)
}
