//! `layers status`: which root, project and layers are in use, and what is wrong with them.

use clap::Args;
use serde::Serialize;

use super::super::context::{Context, MODEL_VARIABLE, state};
use super::super::failure::{Exit, Failure};
use super::super::json;
use super::super::output::{WARNING, one_line};
use super::super::stored::rfc3339;
use super::super::table::Table;
use super::list::why;
use super::sync::{GONE, differs, held_line};
use crate::document::Severity;
use crate::effective::Judged;
use crate::git;
use crate::mint::now_millis;
use crate::note::LayerKind;
use crate::reach::Reach;
use crate::reconcile::{Held, Reason, View};
use crate::review::waiting;
use crate::select::Standing;
use crate::store::{Op, Store, WhyGone};
use crate::sync::{Peeker, place_of};
use crate::workspace::{RootOrigin, Trust, Workspace};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers status                                     where notes are read and written here
  layers status --model anthropic/claude-opus-4-5   and how many that model would see
  layers status --json                              the same as data";

// The arguments of `status`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

/// How many of the notes that went are named.
const LAST: usize = 5;
/// Over how many days it is told whether the notes grow fewer: long enough for a refiner that
/// drops a few each night, short enough to remember what was done.
const DAYS: u64 = 7;
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

#[derive(Serialize)]
struct Status {
    root: RootJson,
    project: ProjectJson,
    model: Option<String>,
    layers: Vec<LayerJson>,
    others: Vec<String>,
    notices: Vec<NoticeJson>,
    /// What is wrong with git's merge driver in this clone.
    merge_driver: Vec<String>,
    /// What in harness.json does not hold as it is written.
    config_warnings: Vec<String>,
    /// What is in no file any more and can be brought back; none without a store.
    archive: Option<ArchiveJson>,
    /// What the user has not seen of a trusted repository's notes; none where there is none.
    unseen: Option<UnseenJson>,
    /// How many notes stand how.
    standings: std::collections::BTreeMap<Standing, usize>,
}

#[derive(Serialize)]
struct RootJson {
    path: String,
    origin: &'static str,
    is_pi: bool,
    exists: bool,
}

#[derive(Serialize)]
struct ProjectJson {
    key: String,
    label: String,
    origin: String,
    pi_names: Vec<String>,
    work_tree: Option<String>,
}

#[derive(Serialize)]
struct LayerJson {
    layer: LayerKind,
    path: String,
    state: &'static str,
    notes: usize,
    errors: usize,
    warnings: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<Held>,
    /// Notes that count otherwise than the file says.
    differing: Vec<DifferingJson>,
}

#[derive(Serialize)]
struct DifferingJson {
    id: String,
    because: Reason,
    /// It is still in the file, and its removal waits.
    gone: bool,
}

#[derive(Serialize)]
struct ArchiveJson {
    count: usize,
    /// The last ones that went, the newest first.
    last: Vec<GoneJson>,
    /// Small losses pass every guard; their sum is told: how many notes there are less than
    /// at their most in the last days.
    fewer: i64,
    /// How many days.
    days: u64,
}

#[derive(Serialize)]
struct UnseenJson {
    new: usize,
    changed: usize,
    /// Whether they wait, so that they do not count before they are accepted.
    waiting: bool,
}

#[derive(Serialize)]
struct GoneJson {
    id: String,
    at: String,
    path: String,
}

#[derive(Serialize)]
struct NoticeJson {
    message: String,
    clash: bool,
}

pub(crate) fn run(_args: &StatusArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = cx.reach()?;
    let model = cx.model();
    let judged = reach.judge(model.as_deref(), config.layers.orphans);
    let warnings = std::mem::take(&mut cx.config_warnings);
    let status = gather(&reach, model, &judged, warnings);
    if cx.globals.json {
        cx.out.json(&status)?;
    } else {
        print(cx, &reach, &status, &judged)?;
    }
    let has_clash = status.notices.iter().any(|notice| notice.clash);
    Ok(if has_clash { Exit::Findings } else { Exit::Done })
}

fn gather(
    reach: &Reach,
    model: Option<String>,
    judged: &[Judged<'_>],
    config_warnings: Vec<String>,
) -> Status {
    let workspace = &reach.workspace;
    let layer = |at: &crate::workspace::LayerRef| {
        let path = at.path.display().to_string();
        let mut json = LayerJson {
            layer: at.kind,
            path,
            state: "absent",
            notes: 0,
            errors: 0,
            warnings: 0,
            problem: None,
            held: None,
            differing: Vec::new(),
        };
        if let Some(read) = reach.layers.iter().find(|read| read.layer == *at) {
            json.held = read.view.held;
            json.differing = differing(&read.view);
        }
        if let Some((_, error)) = reach.unavailable.iter().find(|(layer, _)| layer == at) {
            json.state = if error.is_refusal() { "refused" } else { "unavailable" };
            json.problem = Some(error.to_string());
        } else if let Some(read) = reach.layers.iter().find(|read| read.layer == *at && read.exists) {
            let count = |severity| {
                read.document.diagnostics().iter().filter(|one| one.severity() == severity).count()
            };
            json.state = match (json.held, read.document.conflicts().is_empty()) {
                _ if !at.trust.is_trusted() => "untrusted",
                (_, false) => "in conflict",
                (Some(_), true) => "held",
                (None, true) => "ok",
            };
            if let Trust::Untrusted(why) = &at.trust {
                json.problem = Some(why.to_string());
            }
            json.notes = read.document.notes().len();
            json.errors = count(Severity::Error);
            json.warnings = count(Severity::Warning);
        } else if json.held.is_some() {
            json.state = "held";
        }
        json
    };
    let mut standings = std::collections::BTreeMap::new();
    for one in judged {
        *standings.entry(json::shown_standing(one)).or_default() += 1;
    }
    Status {
        root: RootJson {
            path: workspace.root.path.display().to_string(),
            origin: origin(workspace.root.origin),
            is_pi: workspace.root.is_pi,
            exists: workspace.root.path.is_dir(),
        },
        project: ProjectJson {
            key: workspace.project.key.clone(),
            label: workspace.project.label.clone(),
            origin: workspace.project.origin.to_string(),
            pi_names: workspace.project.pi_names.clone(),
            work_tree: workspace.project.work_tree.as_ref().map(|tree| tree.root.display().to_string()),
        },
        model,
        layers: workspace.layers.iter().map(layer).collect(),
        others: workspace.others.iter().map(|path| path.display().to_string()).collect(),
        notices: workspace
            .notices
            .iter()
            .map(|notice| NoticeJson { message: notice.to_string(), clash: notice.is_clash() })
            .collect(),
        merge_driver: merge_driver(workspace),
        config_warnings,
        archive: archive(reach),
        unseen: unseen(reach),
        standings,
    }
}

/// What is wrong with the merge driver here. Without git there is nothing to merge.
fn merge_driver(workspace: &Workspace) -> Vec<String> {
    let Some(tree) = &workspace.project.work_tree else { return Vec::new() };
    let found = git::findings(tree, std::env::var_os("PATH").as_deref()).unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

fn differing(view: &View) -> Vec<DifferingJson> {
    let stand_ins = view.stand_ins.iter().map(|stand_in| DifferingJson {
        id: stand_in.id.clone(),
        because: stand_in.reason,
        gone: false,
    });
    let gone =
        view.gone.iter().map(|id| DifferingJson { id: id.clone(), because: Reason::Waiting, gone: true });
    stand_ins.chain(gone).collect()
}

/// What came or changed in the repo layers in reach since the user looked at them.
fn unseen(reach: &Reach) -> Option<UnseenJson> {
    let grant = reach.workspace.trust.grant()?;
    let peeker = Peeker::new(&reach.workspace.root.path, state());
    let mut unseen = UnseenJson { new: 0, changed: 0, waiting: grant.is_pinned };
    for read in reach.layers.iter().filter(|read| read.layer.kind == LayerKind::Repo) {
        let reviewed = peeker.reviewed(&read.layer, grant).ok()?;
        for one in waiting(&read.document, &reviewed).iter().filter(|one| !one.is_rejected) {
            *if one.before.is_some() { &mut unseen.changed } else { &mut unseen.new } += 1;
        }
    }
    Some(unseen)
}

/// What went from the layers in reach. A store that cannot be read is told of elsewhere.
fn archive(reach: &Reach) -> Option<ArchiveJson> {
    let store = Store::open_existing(&state()?).ok()??;
    let root = &reach.workspace.root.path;
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.clone());
    let mut gone = Vec::new();
    let since = now_millis().saturating_sub(DAYS * DAY_MILLIS);
    let mut done = Vec::new();
    for layer in &reach.workspace.layers {
        let Some(row) = store.read().layer(&root, &place_of(&layer.path)).ok()? else { continue };
        let archived = store.read().archived(row.id, false).ok()?;
        done.extend(store.read().operations_since(row.id, since).ok()?);
        let path = layer.path.display().to_string();
        let lost = archived.into_iter().filter(|one| one.why != WhyGone::Git);
        gone.extend(lost.map(|one| (path.clone(), one)));
    }
    gone.sort_by_key(|(_, one)| std::cmp::Reverse(one.id));
    let count = gone.len();
    gone.truncate(LAST);
    let last = gone.into_iter().map(|(path, one)| GoneJson { id: one.note, at: rfc3339(one.at), path });
    Some(ArchiveJson { count, last: last.collect(), fewer: fewer(done), days: DAYS })
}

/// How far the number of notes is below its highest after all that was done to them. A note
/// that moves from one layer in reach to another is no loss.
fn fewer(mut done: Vec<(i64, Op)>) -> i64 {
    done.sort_unstable_by_key(|(id, _)| *id);
    let (most, now) = done.iter().fold((0_i64, 0_i64), |(most, now), (_, op)| {
        let now = match op {
            Op::Create | Op::Restore => now + 1,
            Op::Delete => now - 1,
            Op::Update | Op::Move => now,
        };
        (most.max(now), now)
    });
    most - now
}

const fn origin(origin: RootOrigin) -> &'static str {
    match origin {
        RootOrigin::Flag => "--root",
        RootOrigin::Variable => "$LAYERS_ROOT",
        RootOrigin::Pi => "pi's folder",
        RootOrigin::Default => "the default",
    }
}

fn print(cx: &mut Context, reach: &Reach, status: &Status, judged: &[Judged<'_>]) -> Result<(), Failure> {
    let missing = if status.root.exists { "" } else { "; not made yet" };
    let mut table = Table::new(&["", ""]);
    let mut row = |key: &str, text: String| table.row(vec![key.to_owned(), text]);
    row("root", format!("{} ({}{missing})", status.root.path, status.root.origin));
    row("project", format!("{} (from {})", status.project.key, status.project.origin));
    if let Some(tree) = &status.project.work_tree {
        row("work tree", tree.clone());
    }
    row(
        "model",
        status.model.clone().unwrap_or_else(|| {
            format!("none, so nothing is rendered; give --model PROVIDER/ID or set ${MODEL_VARIABLE}")
        }),
    );
    table.print(&mut cx.out, "")?;

    cx.out.line("\nlayers, the last one wins")?;
    let mut table = Table::new(&["layer", "state", "notes", "problems", "path"]);
    for layer in &status.layers {
        let some = |count: usize, word: &str| {
            (count > 0).then(|| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
        };
        let problems: Vec<String> =
            [some(layer.errors, "error"), some(layer.warnings, "warning")].into_iter().flatten().collect();
        let problems = if problems.is_empty() { "-".to_owned() } else { problems.join(", ") };
        let style = if matches!(layer.state, "ok" | "absent") { anstyle::Style::new() } else { WARNING };
        let path = cx.out.path(layer.path.as_ref()).to_string();
        let notes = if layer.state == "absent" { "-".to_owned() } else { layer.notes.to_string() };
        table.styled(
            style,
            vec![layer.layer.as_str().to_owned(), layer.state.to_owned(), notes, problems, path],
        );
    }
    table.print(&mut cx.out, "  ")?;
    if status.layers.iter().any(|layer| layer.errors + layer.warnings > 0) {
        cx.out.hint("`layers check` shows the problems with their lines");
    }

    print_differing(cx, status)?;

    let all: Vec<&Judged<'_>> = judged.iter().collect();
    if !all.is_empty() {
        let shown = judged.iter().filter(|one| one.standing == Standing::Eligible).count();
        let count = all.len();
        let word = if count == 1 { "note" } else { "notes" };
        let line = match &status.model {
            Some(model) => {
                format!(
                    "{shown} of {count} {word} compete for a place in the block of {model} ({})",
                    why(&all)
                )
            }
            None => format!("{count} {word} ({})", why(&all)),
        };
        cx.out.line(format_args!("\n{line}"))?;
    }
    if let Some(unseen) = status.unseen.as_ref().filter(|unseen| unseen.new + unseen.changed > 0) {
        let what = if unseen.waiting { "wait" } else { "not seen yet" };
        cx.out.line(format_args!(
            "\nin this repository's layers, {what}: {} new, {} changed",
            unseen.new, unseen.changed
        ))?;
        cx.out.hint("`layers review` shows them");
    }
    if let Some(archive) = status.archive.as_ref().filter(|archive| archive.count > 0) {
        let word = if archive.count == 1 { "note" } else { "notes" };
        cx.out.line(format_args!("\n{} {word} in the archive, the last to go:", archive.count))?;
        let mut table = Table::new(&["", ""]);
        for one in &archive.last {
            table.row(vec![one_line(&one.id), one.at.get(..10).unwrap_or_default().to_owned()]);
        }
        table.print(&mut cx.out, "  ")?;
        if let fewer @ 1.. = archive.fewer {
            cx.out
                .line(format_args!("  {fewer} fewer than at their most in the last {} days", archive.days))?;
        }
        cx.out.hint("`layers archive` lists them all, `layers restore ID` brings a note back");
    }
    for path in &status.others {
        let path = cx.out.path(path.as_ref()).to_string();
        cx.out.line(format_args!("not read, as it is another project's: {path}"))?;
    }
    for problem in &status.merge_driver {
        cx.out.warn(problem);
        cx.out.hint("`layers git install` sets the merge driver in this clone");
    }
    // Clashes have been warned of already.
    for notice in reach.workspace.notices.iter().filter(|notice| !notice.is_clash()) {
        cx.out.warn(notice);
    }
    Ok(())
}

/// What counts otherwise than the files say, and why.
fn print_differing(cx: &mut Context, status: &Status) -> Result<(), Failure> {
    let mut table = Table::new(&["note", "", ""]);
    let mut held = Vec::new();
    for layer in &status.layers {
        let path = cx.out.path(layer.path.as_ref()).to_string();
        held.extend(layer.held.map(|it| format!("{path}: {}", held_line(it, layer.layer))));
        for one in &layer.differing {
            let (word, why) = differs(one.because);
            let why = if one.gone { GONE } else { why };
            table.row(vec![one_line(&one.id), format!("{word}: {why}"), path.clone()]);
        }
    }
    for line in &held {
        cx.out.line(format_args!("\n{line}"))?;
    }
    if status.layers.iter().any(|layer| !layer.differing.is_empty()) {
        cx.out.line("\nwhat counts otherwise than the files say")?;
        table.print(&mut cx.out, "  ")?;
    }
    Ok(())
}
