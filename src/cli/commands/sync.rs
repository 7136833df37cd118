//! `layers sync`: one pass over the layers in reach.

use clap::Args;
use serde::Serialize;

use super::super::context::{Context, exit_of};
use super::super::diff;
use super::super::failure::{Exit, Failure};
use super::super::output::{ERROR, HELP, WARNING, one_line};
use super::super::stored;
use super::conflicts::REMOVAL;
use crate::merge::{Loss, Lost};
use crate::note::LayerKind;
use crate::reconcile::{Held, Reason};
use crate::sync::{Happened, LayerReport, PassOptions, Waits};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers sync               take in what editors, git and refiners did to the files
  layers sync --dry-run     show what would be done, as a diff
  layers sync --check       exit with 1 if there is anything to do
  layers sync --accept      take files that are held, because much of them is gone, as they are

Offline edits win; what loses is kept (`layers conflicts`), and so is every note that is gone
(`layers archive`). docs/merge.md tells what becomes of an edit in each case.";

// The arguments of `sync`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Write nothing; show what would be written
    #[arg(long)]
    dry_run: bool,
    /// Write nothing; exit with 1 if there is anything to do
    #[arg(long)]
    check: bool,
    /// Take files as they are that were held because so much of them is gone
    #[arg(long)]
    accept: bool,
}

/// What a pass did with a layer, as data.
#[derive(Debug, Serialize)]
pub(crate) struct LayerJson {
    layer: LayerKind,
    path: String,
    /// Whether anything is known now that was not.
    news: bool,
    wrote: bool,
    notes: Vec<NoteJson>,
    stale: bool,
    carried: Vec<String>,
    put_back: Vec<String>,
    named: Vec<NamedJson>,
    lost: Vec<LostJson>,
    differing: Vec<DifferingJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<Held>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

#[derive(Debug, Serialize)]
struct NoteJson {
    id: String,
    what: Happened,
}

#[derive(Debug, Serialize)]
struct NamedJson {
    was: String,
    id: String,
}

/// Something that lost, as data.
#[derive(Debug, Serialize)]
pub(crate) struct LostJson {
    id: Option<String>,
    field: Option<String>,
    kept: Option<String>,
    lost: Option<String>,
}

#[derive(Debug, Serialize)]
struct DifferingJson {
    id: String,
    because: Reason,
}

pub(crate) fn run(args: &SyncArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let is_dry = args.dry_run || args.check;
    let (here, session) = if is_dry { stored::look(cx)? } else { stored::open(cx)? };
    let options = PassOptions { dry_run: is_dry, accept: args.accept, ..PassOptions::default() };
    let reports = session.pass(&here.workspace.layers, &options)?;
    if !is_dry {
        session.sweep(&here.workspace.layers);
    }
    drop(session);
    let has_work = reports.iter().any(|report| is_dry && has_work(report));
    if cx.globals.json {
        let all: Vec<LayerJson> = reports.iter().map(|report| json(report, is_dry)).collect();
        cx.out.json(&serde_json::json!({ "layers": all }))?;
        for report in &reports {
            cx.raise(exit(report));
        }
    } else {
        for report in &reports {
            tell(cx, report)?;
            if args.dry_run {
                show_diff(cx, report)?;
            }
        }
        if reports.iter().all(|report| lines(report).is_empty() && report.error.is_none()) {
            cx.out.say("files and store are in step");
        }
    }
    drop(here);
    Ok(if args.check && has_work { Exit::Findings } else { Exit::Done })
}

/// Whether a pass that writes would do anything with a layer.
fn has_work(report: &LayerReport) -> bool {
    report.is_news
}

/// How a command ends because of what became of a layer.
pub(crate) fn exit(report: &LayerReport) -> Exit {
    match (&report.error, &report.waits) {
        (Some(error), _) => exit_of(error),
        (None, Some(Waits::Held(_))) => Exit::Refused,
        (None, Some(Waits::Conflict)) => Exit::Findings,
        (None, _) => Exit::Done,
    }
}

fn show_diff(cx: &mut Context, report: &LayerReport) -> Result<(), Failure> {
    for line in diff_of(report).lines() {
        cx.out.line(diff::styled(line))?;
    }
    Ok(())
}

fn diff_of(report: &LayerReport) -> String {
    match (&report.before, &report.after) {
        (Some(before), Some(after)) if report.wrote => {
            diff::unified(&report.layer.path.display().to_string(), before.source(), after.source())
        }
        _ => String::new(),
    }
}

/// What a pass did with a layer, as data.
pub(crate) fn json(report: &LayerReport, with_diff: bool) -> LayerJson {
    let happened = report.happened.iter().map(|(id, what)| NoteJson { id: id.clone(), what: *what });
    let named = report.named.iter().map(|(was, id)| NamedJson { was: was.clone(), id: id.clone() });
    let differing = report
        .view
        .stand_ins
        .iter()
        .map(|stand_in| DifferingJson { id: stand_in.id.clone(), because: stand_in.reason });
    LayerJson {
        layer: report.layer.kind,
        path: report.layer.path.display().to_string(),
        news: report.is_news,
        wrote: report.wrote,
        notes: happened.collect(),
        stale: report.is_stale,
        carried: report.carried.clone(),
        put_back: report.put_back.clone(),
        named: named.collect(),
        lost: lost_of(report),
        differing: differing.collect(),
        waits: report.waits.as_ref().map(waits_for),
        held: report.view.held,
        error: report.error.as_ref().map(ToString::to_string),
        diff: with_diff.then(|| diff_of(report)).filter(|diff| !diff.is_empty()),
    }
}

fn lost(loss: &Loss) -> Option<LostJson> {
    let (field, kept, lost) = match &loss.lost {
        Lost::Value { field, kept, lost } => {
            (field.as_ref().map(|field| field.key().to_owned()), kept.clone(), lost.clone())
        }
        Lost::Removal => (Some(REMOVAL.to_owned()), None, None),
        // It is in the archive.
        Lost::Note(_) => return None,
    };
    Some(LostJson { id: loss.id.clone(), field, kept, lost })
}

/// Why a file does not get what it lacks, in words.
fn waits_for(waits: &Waits) -> String {
    match waits {
        Waits::Conflict => "git's conflict markers stand in it".to_owned(),
        Waits::Held(Held { is_absent: true, of, .. }) => format!("the file with its {of} notes is gone"),
        Waits::Held(Held { gone, of, .. }) => format!("{gone} of its {of} notes are gone at once"),
        Waits::Git(what) => format!("git is in the middle of {what}"),
        Waits::Editor => "an editor has it open".to_owned(),
        Waits::Unwritable => "it could not be written".to_owned(),
        Waits::Unreadable => "a note that it changes cannot be read".to_owned(),
    }
}

/// Why a file is not taken for what it says, in words.
pub(crate) fn trouble(report: &LayerReport) -> Option<String> {
    report.waits.as_ref().filter(|waits| matches!(waits, Waits::Held(_) | Waits::Conflict)).map(waits_for)
}

/// What lost, as data.
pub(crate) fn lost_of(report: &LayerReport) -> Vec<LostJson> {
    report.losses.iter().filter_map(lost).collect()
}

/// Says what a pass did with a layer, and raises the exit code for it.
pub(crate) fn tell(cx: &mut Context, report: &LayerReport) -> Result<(), Failure> {
    let path = cx.out.path(&report.layer.path).to_string();
    for line in lines(report) {
        cx.out.line(format_args!("{path}: {line}"))?;
    }
    if let Some(error) = &report.error {
        cx.out.fail(&Failure::new(exit_of(error), error));
    }
    cx.raise(exit(report));
    Ok(())
}

/// Says what passes found that were made by the way: whatever did not go as the author of a
/// file may think.
pub(crate) fn tell_heard(cx: &mut Context) {
    for report in cx.heard.take() {
        let path = cx.out.path(&report.layer.path).to_string();
        for line in warnings(&report) {
            cx.out.warn(format_args!("{path}: {line}"));
        }
        if let Some(error) = &report.error {
            cx.unavailable(&report.layer, error);
        }
    }
}

/// The ids of the notes to which something happened.
fn ids_of(report: &LayerReport, what: Happened) -> Option<String> {
    let ids: Vec<&str> =
        report.happened.iter().filter(|(_, it)| *it == what).map(|(id, _)| id.as_str()).collect();
    (!ids.is_empty()).then(|| one_line(&ids.join(", ")))
}

/// What a pass did with a layer, a line each.
pub(crate) fn lines(report: &LayerReport) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, word) in [
        (Happened::Created, "new"),
        (Happened::Updated, "changed"),
        (Happened::Moved, "moved here"),
        (Happened::Returned, "back"),
    ] {
        lines.extend(ids_of(report, what).map(|ids| format!("{word}: {ids}")));
    }
    lines.extend(warnings(report));
    lines
}

/// What a pass did otherwise than the author of the file may think, a line each.
fn warnings(report: &LayerReport) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(ids_of(report, Happened::Gone).map(|ids| {
        format!("{WARNING}gone{WARNING:#}: {ids} ({HELP}`layers restore ID` brings a note back{HELP:#})")
    }));
    if !report.carried.is_empty() {
        let ids = one_line(&report.carried.join(", "));
        let what = if report.is_stale { "stale save merged" } else { "kept what the save left out" };
        lines.push(format!("{WARNING}{what}{WARNING:#}: {ids} (saved without it once more, it is gone)"));
    }
    if !report.put_back.is_empty() {
        lines.push(format!("protected, put back: {}", one_line(&report.put_back.join(", "))));
    }
    for (was, id) in &report.named {
        lines.push(format!("{} is {id} from now on", one_line(was)));
    }
    for lost in lost_of(report) {
        let note = lost.id.unwrap_or_else(|| "text between the notes".to_owned());
        let field = lost.field.map_or_else(String::new, |field| format!(", {field}"));
        lines.push(format!(
            "{WARNING}conflict{WARNING:#}: {}{field}: the file's side stands",
            one_line(&note)
        ));
    }
    for stand_in in &report.view.stand_ins {
        // What is said of the whole layer is not said of each note.
        if !matches!(stand_in.reason, Reason::Conflicted | Reason::Held | Reason::Unavailable) {
            let (word, why) = differs(stand_in.reason);
            lines.push(format!("{WARNING}{word}{WARNING:#}: {}: {why}", one_line(&stand_in.id)));
        }
    }
    for id in &report.view.gone {
        lines.push(format!("{WARNING}waits{WARNING:#}: {}: {GONE}", one_line(id)));
    }
    match &report.waits {
        Some(Waits::Held(held)) => lines.push(held_line(*held, report.layer.kind)),
        Some(Waits::Conflict) => lines.push(format!(
            "{ERROR}in conflict{ERROR:#}: {}; it is not written until they are gone",
            waits_for(&Waits::Conflict)
        )),
        Some(Waits::Unwritable) | None => {}
        Some(waits) => lines.push(format!("{WARNING}waits{WARNING:#}: {}", waits_for(waits))),
    }
    lines
}

/// What is said of a file that is not taken for what it says.
pub(crate) fn held_line(held: Held, layer: LayerKind) -> String {
    format!(
        "{ERROR}held{ERROR:#}: {}; nothing is archived and its notes count as before ({HELP}`layers sync --accept` \
         takes it so, `layers restore --layer {}` undoes it{HELP:#})",
        waits_for(&Waits::Held(held)),
        layer.as_str()
    )
}

/// What is said of a note whose removal waits.
pub(crate) const GONE: &str = "archived online, still in the file";

/// Why a note counts otherwise than its file says: a word and a sentence.
pub(crate) const fn differs(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Isolation => ("differs", "the file does not say any more for whom it is; that still holds"),
        Reason::Unreadable => ("unreadable", "its last good version counts (`layers check` says where)"),
        Reason::Conflicted => ("in conflict", "its last good version counts"),
        Reason::Held => ("held", "the file does not have it any more; it counts as before"),
        Reason::Unavailable => ("unavailable", "the file cannot be read; it counts as before"),
        Reason::Waiting => ("waits", "changed online, not in the file yet"),
        Reason::Review => {
            ("to review", "changed since you accepted it; that version counts (`layers review`)")
        }
    }
}

/// Says why a change that was made is not in the file yet.
pub(crate) fn tell_waits(cx: &mut Context, waits: Option<&Waits>) {
    if let Some(waits) = waits {
        cx.out.warn(format_args!("it counts, but the file does not have it yet: {}", waits_for(waits)));
        cx.out.hint("`layers sync` or `layers watch` writes it as soon as that is over");
    }
}
