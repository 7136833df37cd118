//! `layers claim`: whose the names of private layers are.

use clap::Args;
use serde::Serialize;

use super::super::context::{Context, Here, state};
use super::super::failure::{Exit, Failure};
use super::super::table::Table;
use crate::identity::evidence::Claim;
use crate::identity::{Claims, Purpose};
use crate::workspace::Project;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers claim          this place and the one that has its name are one project
  layers claim shop     the same, of the name `shop`
  layers claim --list   which names are claimed, and from where

Two repositories or folders of one name are two projects: the first that has private notes
claims the name, and those of the other go by another one. Clones of one remote, worktrees
and a repository that was moved are one project without being told.";

// The arguments of `claim`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// The name that is this project's too [default: those it would have by itself]
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Show the names that are claimed below the root
    #[arg(long, conflicts_with = "key")]
    list: bool,
}

#[derive(Serialize)]
struct ClaimJson {
    name: String,
    instead_of: Option<String>,
    places: Vec<PlaceJson>,
}

#[derive(Serialize)]
struct PlaceJson {
    folder: String,
    remote: Option<String>,
    roots: Vec<String>,
}

#[derive(Serialize)]
struct JoinedJson {
    name: String,
    holder: Option<String>,
    changed: bool,
}

pub(crate) fn run(args: &ClaimArgs, cx: &mut Context) -> Result<Exit, Failure> {
    cx.purpose = Purpose::Write;
    let Here { workspace, .. } = cx.find()?;
    let claims = Claims::new(state(), cx.purpose);
    if args.list {
        let all = claims.all(&workspace.root)?;
        return list(cx, all);
    }
    let mut joined = Vec::new();
    for name in names(args, &workspace.project)? {
        let done = claims.join(&workspace.root, &workspace.project.site, &name)?;
        let holder = done.holder.map(|holder| holder.display().to_string());
        cx.out.say(match (&holder, done.is_new) {
            (_, false) => format!("{name} is this project's already"),
            (None, true) => format!("{name} is this project's now"),
            (Some(holder), true) => format!("{name} is one project now, here and at {holder}"),
        });
        joined.push(JoinedJson { name, holder, changed: done.is_new });
    }
    if cx.globals.json {
        cx.out.json(&joined)?;
    }
    Ok(Exit::Done)
}

/// The names to claim. One that this place would not go by is of no use to it.
fn names(args: &ClaimArgs, project: &Project) -> Result<Vec<String>, Failure> {
    let Some(key) = &args.key else {
        let own = || vec![project.label.clone()];
        return Ok(if project.foreign_names.is_empty() { own() } else { project.foreign_names.clone() });
    };
    if *key != project.label && !project.foreign_names.contains(key) && !project.pi_names.contains(key) {
        return Err(Failure::usage(format_args!("this project is called {}, not {key}", project.label))
            .help("`projects` in harness.json gives it another key, and then they share it"));
    }
    Ok(vec![key.clone()])
}

fn list(cx: &mut Context, all: Vec<Claim>) -> Result<Exit, Failure> {
    if cx.globals.json {
        let all: Vec<ClaimJson> = all.into_iter().map(json).collect();
        cx.out.json(&all)?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        cx.out.say("no name is claimed yet");
    }
    let mut table = Table::new(&["name", "instead of", "project"]);
    for claim in all {
        let instead_of = claim.instead_of.unwrap_or_else(|| "-".to_owned());
        let places: Vec<String> =
            claim.places.iter().map(|place| place.folder.path.display().to_string()).collect();
        table.row(vec![claim.name, instead_of, places.join(", ")]);
    }
    table.print(&mut cx.out, "")?;
    Ok(Exit::Done)
}

fn json(claim: Claim) -> ClaimJson {
    let places = claim.places.into_iter().map(|place| PlaceJson {
        folder: place.folder.path.display().to_string(),
        remote: place.remote,
        roots: place.roots,
    });
    ClaimJson { name: claim.name, instead_of: claim.instead_of, places: places.collect() }
}
