//! `layers watch`: passes over the layers, as they change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::args::format_parser;
use super::super::context::{self, Context, Here};
use super::super::failure::{Exit, Failure};
use super::render::block_of;
use super::sync::{self, json, lines};
use crate::config::Config;
use crate::files::{self, Expected, Found, NewFile, Wrote};
use crate::identity::Purpose;
use crate::reach::Reach;
use crate::reconcile::Reason;
use crate::render::Format;
use crate::store::Store;
use crate::sync::{LayerReport, PassOptions, SyncError};
use crate::trust::Trusts;
use crate::watch::{Batch, Editors, News, Passed, Passes, WatchOptions};
use crate::workspace::{Env, LayerRef, WorkTree, Workspace, all_projects};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers watch                               the layers of all projects, and this repository's
  layers watch ~/src/shop ~/src/site         and those of other repositories
  layers watch --json                        an object a line for each change
  layers watch --render .block.md --model anthropic/claude-opus-4-5
                                             keep the block of this project in a file
  layers watch --once                        wait for quiet, sync, end

A file is synced once it has been quiet for `layers.settleMs` (200 ms). While vim or Emacs has
it open it is read but not written, for `layers.holdSeconds` at most. Ctrl-C ends it.";

/// How often a command of `--exec` may be running: once.
const EXEC_SHELL: &str = "sh";

/// Where repositories have their layers.
const REPO_FOLDER: &str = ".harness";

// The arguments of `watch`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Folders in further repositories whose layers are looked after too
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// Keep the block of this project in a file; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    render: Vec<PathBuf>,
    /// The form of the block
    #[arg(long, value_parser = format_parser(), default_value = "markdown")]
    format: Format,
    /// Run a command after a change, with $LAYERS_CHANGED (ids) and $LAYERS_PATHS set, words apart by spaces and lines
    #[arg(long, value_name = "CMD")]
    exec: Option<String>,
    /// Look at the files every second instead of waiting for the system's events
    #[arg(long)]
    poll: bool,
    /// Wait until all is quiet, sync once, and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(args: &WatchArgs, cx: &mut Context) -> Result<Exit, Failure> {
    cx.purpose = Purpose::Write;
    let here = cx.here()?;
    for folder in &args.folders {
        let there = cx.find_at(Some(folder))?;
        for notice in there.workspace.notices.iter().filter(|notice| notice.is_loud()) {
            cx.out.warn(notice);
        }
    }
    let settle = Duration::from_millis(here.config.layers.settle_ms);
    let mut watcher = Watcher {
        hold: Duration::from_secs(here.config.layers.hold_seconds),
        groups: Vec::new(),
        taken: BTreeSet::new(),
        store: None,
        told: BTreeMap::new(),
        opened: BTreeMap::new(),
        here,
        args,
        cx,
    };
    watcher.render_all()?;
    let options = WatchOptions { settle, poll: args.poll, once: args.once };
    crate::watch::watch(&mut watcher, &options)?;
    // What went wrong with a layer on the way was told then.
    let exit = if args.once { watcher.cx.exit } else { Exit::Done };
    watcher.cx.exit = Exit::Done;
    Ok(exit)
}

/// One line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Changed {
        #[serde(flatten)]
        layer: Box<sync::LayerJson>,
    },
    Conflict {
        path: String,
        lost: Vec<sync::LostJson>,
    },
    Held {
        path: String,
        why: String,
    },
    Diagnostic {
        path: String,
        id: &'a str,
        because: Reason,
    },
    Rendered {
        path: String,
    },
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        message: String,
    },
    Watching {
        layers: usize,
        folders: usize,
    },
    Polling {
        #[serde(skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        why: String,
    },
    Rescan {
        why: String,
    },
}

struct Watcher<'a> {
    args: &'a WatchArgs,
    cx: &'a mut Context,
    here: Here,
    hold: Duration,
    /// Layers by work tree: only within a group are moves looked for.
    groups: Vec<Vec<LayerRef>>,
    /// The layers that were taken in.
    taken: BTreeSet<PathBuf>,
    /// The store, between passes.
    store: Option<Store>,
    /// What was told to be wrong with a file, or with all: once is enough.
    told: BTreeMap<Option<PathBuf>, String>,
    /// Since when an editor has a file open.
    opened: BTreeMap<PathBuf, std::time::Instant>,
}

impl Passes for Watcher<'_> {
    type Error = Failure;

    fn layers(&mut self) -> Result<Vec<PathBuf>, Failure> {
        let mut groups = groups(&self.here.workspace, &self.here.config, self.cx, &self.args.folders)?;
        // A layer that was taken in and is in no folder any more is one whose file is gone.
        for (group, before) in groups.iter_mut().zip(&self.groups) {
            let is_gone = |layer: &&LayerRef| {
                self.taken.contains(&layer.path) && group.iter().all(|now| now.path != layer.path)
            };
            let gone: Vec<LayerRef> = before.iter().filter(is_gone).cloned().collect();
            group.extend(gone);
        }
        self.groups = groups;
        Ok(self.groups.iter().flatten().map(|layer| layer.path.clone()).collect())
    }

    fn nurseries(&self) -> Vec<PathBuf> {
        let root = &self.here.workspace.root;
        let layers = self.groups.iter().flatten().filter_map(|layer| layer.path.parent());
        let mut folders: Vec<PathBuf> = layers.map(Path::to_owned).collect();
        folders.extend(root.home_path("x").parent().map(Path::to_owned));
        // Those of repositories, which need not exist yet.
        let cwd = std::env::current_dir().unwrap_or_default();
        for folder in [Path::new("")].into_iter().chain(self.args.folders.iter().map(PathBuf::as_path)) {
            let Ok(folder) = fs::canonicalize(cwd.join(folder)) else { continue };
            let Some(tree) = WorkTree::around(&folder.join("x")) else { continue };
            let places = folder.ancestors().take_while(|place| place.starts_with(&tree.root));
            folders.extend(places.map(|place| place.join(REPO_FOLDER)));
        }
        folders.retain(|folder| *folder != root.path);
        folders.sort();
        folders.dedup();
        folders
    }

    fn pass(&mut self, batch: &Batch, patient: &dyn Fn(&Path) -> bool) -> Result<Passed, Failure> {
        let mut passed = Passed::default();
        let mut news = Vec::new();
        let due: Vec<Vec<LayerRef>> = self
            .groups
            .iter()
            .map(|group| group.iter().filter(|layer| batch.has(&layer.path)).cloned().collect())
            .filter(|due: &Vec<LayerRef>| !due.is_empty())
            .collect();
        for due in due {
            match self.pass_group(&due, batch, patient, &mut passed) {
                Ok(reports) => {
                    self.told.remove(&None);
                    news.extend(reports);
                }
                Err(SyncError::Lock(_)) => passed.retry.extend(due.into_iter().map(|layer| layer.path)),
                Err(error) => {
                    self.fail_once(None, &Failure::from(error))?;
                    passed.later.extend(due.into_iter().map(|layer| layer.path));
                }
            }
        }
        for report in &news {
            self.report(report)?;
        }
        if news.iter().any(|report| report.is_news || report.wrote) {
            self.render_all()?;
            self.exec(&news)?;
        }
        self.cx.out.flush()?;
        Ok(passed)
    }

    fn rest(&mut self) {
        self.store = self.store.take().and_then(Store::rest);
    }

    fn tell(&mut self, news: News) -> Result<(), Failure> {
        if self.cx.globals.json {
            return self.event(&match news {
                News::Watching { layers, folders } => Event::Watching { layers, folders },
                News::Polling { folder, why } => {
                    Event::Polling { folder: folder.map(|folder| folder.display().to_string()), why }
                }
                News::Rescan { why } => Event::Rescan { why },
            });
        }
        match news {
            News::Watching { layers, folders } => {
                let word =
                    |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
                self.cx.out.say(format_args!(
                    "watching {} in {}",
                    word(layers, "layer"),
                    word(folders, "folder")
                ));
            }
            News::Polling { folder, why } => {
                let place =
                    folder.map_or_else(|| "all layers".to_owned(), |folder| folder.display().to_string());
                self.cx.out.warn(format_args!(
                    "looking at {place} every second instead of waiting for events: {why}"
                ));
            }
            News::Rescan { why } => {
                self.cx.out.say(format_args!("looking at all layers again: {why}"));
            }
        }
        self.cx.out.flush()
    }
}

impl Watcher<'_> {
    /// A pass over layers of one group: what there is to tell, without the documents.
    fn pass_group(
        &mut self,
        due: &[LayerRef],
        batch: &Batch,
        patient: &dyn Fn(&Path) -> bool,
        passed: &mut Passed,
    ) -> Result<Vec<LayerReport>, SyncError> {
        // Trust is given and taken back meanwhile.
        let trusts = Trusts::new(context::state());
        let due: Vec<LayerRef> = due.iter().map(|layer| layer.looked_at(&trusts)).collect();
        let due = due.as_slice();
        let open = self.held_open(due);
        let kept = self.store.take();
        let session = context::resume(&self.here.workspace.root, &self.here.config, self.cx.author(), kept)?;
        self.cx.tell_set_aside(session.store().set_aside());
        let is_open = |layer: &LayerRef| open.contains(&layer.path);
        let spare = |layer: &LayerRef| patient(&layer.path);
        let options = PassOptions { is_open: &is_open, spare: &spare, ..PassOptions::default() };
        let mut reports = Vec::new();
        session.pass_each(due, &options, &mut |_, mut report| {
            let path = &report.layer.path;
            if report.is_spared {
                passed.worse.push(path.clone());
                return;
            }
            if report.error.is_none() {
                self.taken.insert(path.clone());
            }
            // Ids wait too, without a word of it.
            let is_under_way = || {
                report.after.is_some() && WorkTree::around(path).is_some_and(|it| it.under_way().is_some())
            };
            if self.opened.contains_key(path) || is_under_way() {
                passed.later.push(path.clone());
            }
            (report.before, report.after) = (None, None);
            reports.push(report);
        })?;
        if matches!(batch, Batch::AllBut(_)) {
            session.sweep(due);
        }
        self.store = session.end();
        Ok(reports)
    }

    /// The layers that an editor has open and that are not to be written for it.
    fn held_open(&mut self, due: &[LayerRef]) -> Vec<PathBuf> {
        let now = std::time::Instant::now();
        let (mut open, mut editors) = (Vec::new(), Editors::default());
        for LayerRef { path, .. } in due {
            if editors.open_in(path).is_none() {
                self.opened.remove(path);
                continue;
            }
            let since = *self.opened.entry(path.clone()).or_insert(now);
            if now.duration_since(since) < self.hold {
                open.push(path.clone());
            }
        }
        open
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Failure> {
        let line = serde_json::to_string(event)?;
        self.cx.out.line(line)?;
        self.cx.out.flush()
    }

    fn fail_once(&mut self, path: Option<&Path>, failure: &Failure) -> Result<(), Failure> {
        let before = self.told.insert(path.map(Path::to_owned), failure.message.clone());
        if before.as_ref() == Some(&failure.message) {
            return Ok(());
        }
        self.fail(path, failure)
    }

    fn fail(&mut self, path: Option<&Path>, failure: &Failure) -> Result<(), Failure> {
        self.cx.raise(failure.exit);
        if self.cx.globals.json {
            let path = path.map(|path| path.display().to_string());
            return self.event(&Event::Error { path, message: failure.message.clone() });
        }
        self.cx.out.fail(failure);
        Ok(())
    }

    fn report(&mut self, report: &LayerReport) -> Result<(), Failure> {
        if let Some(error) = &report.error {
            let failure = Failure::new(context::exit_of(error), error);
            return self.fail_once(Some(&report.layer.path), &failure);
        }
        self.told.remove(&Some(report.layer.path.clone()));
        if !report.is_news && !report.wrote {
            return Ok(());
        }
        self.cx.raise(sync::exit(report));
        let path = report.layer.path.display().to_string();
        if !self.cx.globals.json {
            let path = self.cx.out.path(&report.layer.path).to_string();
            for line in lines(report) {
                self.cx.out.line(format_args!("{path}: {line}"))?;
            }
            return Ok(());
        }
        if let Some(why) = sync::trouble(report) {
            self.event(&Event::Held { path: path.clone(), why })?;
        }
        let lost = sync::lost_of(report);
        if !lost.is_empty() {
            self.event(&Event::Conflict { path: path.clone(), lost })?;
        }
        for stand_in in &report.view.stand_ins {
            let event = Event::Diagnostic { path: path.clone(), id: &stand_in.id, because: stand_in.reason };
            self.event(&event)?;
        }
        self.event(&Event::Changed { layer: Box::new(json(report, false)) })
    }

    /// Brings the files of `--render` up to date. They are written only if they change.
    fn render_all(&mut self) -> Result<(), Failure> {
        if self.args.render.is_empty() {
            return Ok(());
        }
        let model = self.cx.model();
        // Layers come and go.
        let env = self.cx.env()?;
        let workspace = self.cx.discover(self.here.workspace.root.clone(), &env, &self.here.config)?;
        let reach = Reach::read_trusted(workspace, context::state());
        let block = block_of(&reach, &self.here.config, model.as_deref(), self.args.format);
        for path in &self.args.render {
            match write_block(path, &block) {
                Ok(Wrote::Nothing) => {}
                Ok(Wrote::Created | Wrote::Replaced) => {
                    if self.cx.globals.json {
                        self.event(&Event::Rendered { path: path.display().to_string() })?;
                    } else {
                        let path = self.cx.out.path(path).to_string();
                        self.cx.out.line(format_args!("{path}: rendered"))?;
                    }
                }
                Err(failure) => self.fail(Some(path), &failure)?,
            }
        }
        Ok(())
    }

    fn exec(&mut self, news: &[LayerReport]) -> Result<(), Failure> {
        let Some(command) = &self.args.exec else { return Ok(()) };
        let ids: Vec<&str> = news
            .iter()
            .flat_map(|report| {
                let happened = report.happened.iter().map(|(id, _)| id.as_str());
                happened.chain(report.carried.iter().map(String::as_str))
            })
            .collect();
        let paths: Vec<String> = news
            .iter()
            .filter(|report| report.is_news || report.wrote)
            .map(|report| report.layer.path.display().to_string())
            .collect();
        self.cx.out.flush()?;
        // Standard output is for objects, a line each, with `--json`.
        let output = if self.cx.globals.json { Stdio::from(std::io::stderr()) } else { Stdio::inherit() };
        let done = Command::new(EXEC_SHELL)
            .args(["-c", command])
            .stdout(output)
            .env("LAYERS_CHANGED", ids.join(" "))
            .env("LAYERS_PATHS", paths.join("\n"))
            .stdin(Stdio::null())
            .status();
        match done {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                self.fail(None, &Failure::new(Exit::Broken, format_args!("`{command}` ended with {status}")))
            }
            Err(error) => {
                self.fail(None, &Failure::new(Exit::Broken, format_args!("cannot run `{command}`: {error}")))
            }
        }
    }
}

/// The layers to look after: below the root all; of repositories those of the working
/// directory and of the folders named.
fn groups(
    workspace: &Workspace,
    config: &Config,
    cx: &mut Context,
    folders: &[PathBuf],
) -> Result<Vec<Vec<LayerRef>>, Failure> {
    let root = &workspace.root;
    let env = cx.env()?;
    let mut first = cx.discover(root.clone(), &env, config)?.layers;
    for project in all_projects(root)? {
        if first.iter().all(|layer| layer.path != project.path) {
            first.push(LayerRef::home(project.path, &project.name));
        }
    }
    let mut groups = vec![first];
    for folder in folders {
        let env = Env { project_option: None, cwd: env.cwd.join(folder), ..env.clone() };
        let mut layers = cx.discover(root.clone(), &env, config)?.layers;
        layers.retain(|layer| groups.iter().flatten().all(|known| known.path != layer.path));
        groups.push(layers);
    }
    Ok(groups)
}

fn write_block(path: &Path, block: &str) -> Result<Wrote, Failure> {
    let held = files::read_bytes(path)?;
    let expected = match &held {
        Found::Content(bytes) => Expected::Bytes(bytes),
        Found::Absent => Expected::Absent,
    };
    Ok(files::replace(path, expected, block.as_bytes(), NewFile::Umask)?)
}
