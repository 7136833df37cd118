//! `layers git sync`: the layers of a root that is a git work tree, to and from a remote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::super::super::context::{Context, Here};
use super::super::super::failure::{Exit, Failure};
use super::super::super::stored;
use super::super::sync;
use crate::files::{final_target, read_text};
use crate::git::{self, Program};
use crate::secret::find as find_secrets;
use crate::sync::{LayerReport, PassOptions};
use crate::text::locate;
use crate::travel::{Clash, Fetched, Merged, Places, Pushed, Taken, TravelError, Trip};
use crate::workspace::{LayerRef, WorkTree};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers git sync               commit the layers, take in what others did, push
  layers git sync --dry-run     say which layers would be committed
  layers git sync --join        the first time, if both machines already have notes

Set up once:   cd ~/.harness && git init && git remote add origin URL && layers git sync
Then on each other machine:   git clone URL ~/.harness

Only layers are committed. Nothing is forced, and where both sides changed one field of one
note differently nothing is touched and it is said how to settle it.";

// The arguments of `git sync`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct GitSyncArgs {
    /// Change nothing; say which layers would be committed
    #[arg(long)]
    dry_run: bool,
    /// Take two histories that began apart for one
    #[arg(long)]
    join: bool,
    /// Commit layers that hold a credential, too
    #[arg(long)]
    allow_secret: bool,
}

/// How often it is tried again when somebody else pushed first, or wrote a layer meanwhile.
const TRIES: usize = 5;

/// What came of it, as data.
#[derive(Debug, Default, Serialize)]
struct Told {
    work_tree: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote: Option<String>,
    committed: Vec<PathBuf>,
    left_out: Vec<LeftOut>,
    /// `done`, `nothing`, `clash`, `offline` or `no-remote`.
    merged: &'static str,
    clashes: Vec<ClashJson>,
    /// `done`, `nothing`, `offline` or `no-remote`.
    pushed: &'static str,
    layers: Vec<sync::LayerJson>,
}

#[derive(Debug, PartialEq, Serialize)]
struct LeftOut {
    path: PathBuf,
    because: String,
}

#[derive(Debug, Serialize)]
struct ClashJson {
    path: PathBuf,
    notes: Vec<String>,
}

pub(crate) fn run(args: &GitSyncArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let here = cx.here()?;
    let (tree, places) = find(&here)?;
    let trip = Trip::of(&tree, places.clone())?;
    let mut told = Told { work_tree: tree.root.clone(), remote: trip.destination(), ..Told::default() };
    let mut journey = Journey {
        trip,
        tree,
        places,
        told: &mut told,
        is_dry: args.dry_run,
        may_share_secrets: args.allow_secret,
    };
    journey.commit(cx)?;
    let exit = if args.dry_run {
        Exit::Done
    } else {
        {
            let program = Program::of_this_process(std::env::var_os("PATH").as_deref());
            let program = program.map_err(|error| {
                Failure::new(Exit::Broken, format_args!("nobody knows where this program is: {error}"))
            })?;
            journey.exchange(&git::command(&program), args.join, cx)?
        }
    };
    if cx.globals.json {
        cx.out.json(&serde_json::to_value(&told).unwrap_or_default())?;
    }
    Ok(exit)
}

/// The work tree that is meant, and which of its files are layers.
fn find(here: &Here) -> Result<(WorkTree, Places), Failure> {
    let root = &here.workspace.root;
    let real_root = fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone());
    let named = here.config.layers.git_folder.as_deref().map(|folder| root.path.join(expanded(folder)));
    let folder = named.clone().unwrap_or_else(|| real_root.clone());
    let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
    let tree = WorkTree::around(&real.join("x")).filter(|tree| named.is_some() || tree.root == real_root);
    let Some(tree) = tree else {
        let message = format!("{} is no git work tree", folder.display());
        let init = format!("`git -C {} init` and `git remote add origin URL` make it one", folder.display());
        let name = "to use another one that holds the layers, name it as `layers.gitFolder` in harness.json";
        return Err(Failure::refused(message).help(init).help(name));
    };
    let inner = |path: &Path| path.strip_prefix(&tree.root).map(Path::to_owned).ok();
    let is_inside = real_root.starts_with(&tree.root);
    let below_root = |path: PathBuf| {
        let rest = path.strip_prefix(&root.path).ok()?;
        is_inside.then(|| inner(&real_root.join(rest))).flatten()
    };
    let mut places = Places {
        global: below_root(root.global_path()),
        projects: root.home_path("x").parent().and_then(|folder| below_root(folder.to_owned())),
        others: Vec::new(),
    };
    let all = crate::workspace::all_projects(root)?.into_iter().map(|project| project.path);
    for layer in all.chain([root.global_path()]) {
        let file = final_target(&layer).ok().and_then(|target| inner(&target));
        places.others.extend(file.filter(|file| !places.has(file)));
    }
    if places == Places::default() {
        let message = format!("no layer lies in {}", tree.root.display());
        return Err(Failure::refused(message).help("`layers status` shows where they are"));
    }
    Ok((tree, places))
}

/// `~/` is the home folder.
fn expanded(folder: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    match folder.strip_prefix("~/").zip(home()) {
        Some((rest, home)) => home.join(rest),
        None => PathBuf::from(folder),
    }
}

struct Journey<'a> {
    trip: Trip,
    tree: WorkTree,
    places: Places,
    told: &'a mut Told,
    is_dry: bool,
    may_share_secrets: bool,
}

impl Journey<'_> {
    /// Takes in what the files say and commits those that are fit for it.
    fn commit(&mut self, cx: &mut Context) -> Result<(), Failure> {
        let reports = self.pass(cx)?;
        self.commit_but(&unfit(&reports), cx)
    }

    /// One pass over all layers below the root.
    fn pass(&self, cx: &mut Context) -> Result<Vec<LayerReport>, Failure> {
        let (here, session) = stored::open(cx)?;
        let mut layers: Vec<LayerRef> = stored::home_layers(&here.workspace)?;
        // Those whose file is gone are known by their place in the history.
        for file in self.trip.changed()? {
            let path = self.tree.root.join(&file);
            if layers.iter().all(|layer| final_target(&layer.path).ok().as_ref() != Some(&path))
                && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
                && self.places.projects.as_deref() == file.parent()
            {
                layers.push(LayerRef::home(here.workspace.root.home_path(stem), stem));
            }
        }
        let options = PassOptions { dry_run: self.is_dry, ..PassOptions::default() };
        Ok(session.pass(&layers, &options)?)
    }

    fn commit_but(&mut self, unfit: &BTreeMap<PathBuf, String>, cx: &mut Context) -> Result<(), Failure> {
        let mut files = Vec::new();
        for file in self.trip.changed()? {
            let path = self.tree.root.join(&file);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.file_type().is_symlink());
            let because = if is_link { Some("it is a link".to_owned()) } else { unfit.get(&path).cloned() };
            let because = because.or_else(|| if self.may_share_secrets { None } else { credential(&path) });
            match because {
                None => files.push(file),
                Some(because) => self.leave_out(file, because, cx),
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        if !self.is_dry {
            self.trip.commit(&files, &message(&files))?;
        }
        if !cx.globals.json {
            let word = if self.is_dry { "would commit" } else { "committed" };
            cx.out.line(format_args!("{word} {}", names.join(", ")))?;
        }
        for file in files {
            if !self.told.committed.contains(&file) {
                self.told.committed.push(file);
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, path: PathBuf, because: String, cx: &mut Context) {
        let left_out = LeftOut { path, because };
        if self.told.left_out.contains(&left_out) {
            return;
        }
        cx.out.warn(format_args!("{} is not committed: {}", left_out.path.display(), left_out.because));
        cx.raise(Exit::Findings);
        self.told.left_out.push(left_out);
    }

    /// Fetches, merges, takes and pushes, again and again as long as others are faster.
    fn exchange(&mut self, driver: &str, join: bool, cx: &mut Context) -> Result<Exit, Failure> {
        (self.told.merged, self.told.pushed) = ("nothing", "nothing");
        let mut in_the_way = None;
        for _ in 0..TRIES {
            match self.trip.fetch()? {
                Fetched::Done => {}
                Fetched::NoRemote => {
                    (self.told.merged, self.told.pushed) = ("no-remote", "no-remote");
                    cx.out.say("there is no remote: `git remote add origin URL` names one");
                    return Ok(Exit::Done);
                }
                Fetched::Offline(why) => return Ok(self.offline(&why, cx)),
            }
            match self.trip.merge(driver, join)? {
                Merged::Nothing => {}
                Merged::Clash(clashes) => return Ok(self.clash(clashes, cx)),
                Merged::Ready(commit) => match self.take(&commit, cx)? {
                    Taken::Done => self.told.merged = "done",
                    Taken::InTheWay(files) => {
                        in_the_way = Some(files);
                        self.commit(cx)?;
                        continue;
                    }
                },
            }
            match self.trip.push()? {
                Pushed::Overtaken => in_the_way = None,
                Pushed::Offline(why) => return Ok(self.offline(&why, cx)),
                done => {
                    let (word, said) = match done {
                        Pushed::Done => ("done", "pushed to"),
                        _ => ("nothing", "in step with"),
                    };
                    self.told.pushed = word;
                    cx.out.say(format_args!("{said} {}", self.told.remote.as_deref().unwrap_or_default()));
                    return Ok(Exit::Done);
                }
            }
        }
        Err(Failure::from(match in_the_way {
            Some(files) => TravelError::InTheWay { top: self.tree.root.clone(), files },
            None => {
                TravelError::Overtaken { remote: self.told.remote.clone().unwrap_or_default(), tries: TRIES }
            }
        }))
    }

    /// Puts a merge into the work tree, and into the store, under one lock.
    fn take(&mut self, commit: &str, cx: &mut Context) -> Result<Taken, Failure> {
        let (here, session) = stored::open(cx)?;
        let taken = self.trip.take(commit)?;
        if taken == Taken::Done {
            let layers = stored::home_layers(&here.workspace)?;
            for report in session.pass(&layers, &PassOptions::default())? {
                if cx.globals.json {
                    if report.is_news || report.error.is_some() {
                        self.told.layers.push(sync::json(&report, false));
                    }
                    cx.raise(sync::exit(&report));
                } else {
                    sync::tell(cx, &report)?;
                    // Of a layer that is seen for the first time it is not said what is new.
                    if let (true, true, Some(file)) =
                        (report.is_news, report.happened.is_empty(), &report.before)
                    {
                        let path = cx.out.path(&report.layer.path).to_string();
                        cx.out.line(format_args!("{path}: {} notes", file.notes().len()))?;
                    }
                }
            }
        }
        Ok(taken)
    }

    fn offline(&mut self, why: &str, cx: &mut Context) -> Exit {
        for word in [&mut self.told.merged, &mut self.told.pushed] {
            if *word == "nothing" {
                *word = "offline";
            }
        }
        let why = why.lines().last().unwrap_or_default();
        cx.out.say(format_args!("the remote cannot be reached; next time then ({why})"));
        Exit::Done
    }

    fn clash(&mut self, clashes: Vec<Clash>, cx: &mut Context) -> Exit {
        self.told.merged = "clash";
        let remote = self.told.remote.clone().unwrap_or_default();
        for clash in clashes {
            let what =
                if clash.notes.is_empty() { String::new() } else { format!(": {}", clash.notes.join(", ")) };
            cx.out
                .warn(format_args!("{} was changed differently here and there{what}", clash.file.display()));
            self.told.clashes.push(ClashJson { path: clash.file, notes: clash.notes });
        }
        cx.out.hint(format_args!(
            "nothing was touched; in {} run `layers git install` once, then `git merge {remote}`, settle what is between the markers, commit, and run this again",
            self.tree.root.display()
        ));
        Exit::Findings
    }
}

/// The files that are not to be committed as they are, and why.
fn unfit(reports: &[LayerReport]) -> BTreeMap<PathBuf, String> {
    let troubled = reports.iter().filter_map(|report| {
        let because = report.error.as_ref().map(ToString::to_string).or_else(|| sync::trouble(report))?;
        Some((final_target(&report.layer.path).unwrap_or_else(|_| report.layer.path.clone()), because))
    });
    troubled.collect()
}

/// Why a file is not to go to others, if it holds a credential; by its kind, never its value.
fn credential(path: &Path) -> Option<String> {
    let text = read_text(path).ok()?.content()?;
    let secret = find_secrets(&text).into_iter().next()?;
    let line = locate(&text, secret.span.start).line;
    Some(format!("line {line} looks like a credential ({}); take it out, or --allow-secret", secret.kind))
}

/// What a commit of these files is called.
fn message(files: &[PathBuf]) -> String {
    let stems = files.iter().filter_map(|file| file.file_stem()).map(|stem| stem.to_string_lossy());
    let names: Vec<_> = stems.collect();
    match &names[..] {
        [one, two, three, more @ ..] if !more.is_empty() => {
            format!("Notes: {one}, {two}, {three} and {} more", more.len())
        }
        names => format!("Notes: {}", names.join(", ")),
    }
}
