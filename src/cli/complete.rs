//! What a shell is offered after TAB, from the layers in reach. Silent: whatever cannot be
//! read offers nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate;

use super::context::{model_of_environment, state};
use super::table::head_of;
use crate::config;
use crate::effective::id_of;
use crate::files;
use crate::identity::{Claims, Purpose};
use crate::reach::Reach;
use crate::trust::Trusts;
use crate::workspace::{Env, Root, Workspace, all_projects};

/// A shell that asks for completions sets this.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// Ids of the notes in reach, each with its first line.
pub(crate) fn ids(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(reach), Some(current)) = (reach(), current.to_str()) else { return Vec::new() };
    let notes = reach.layers.iter().flat_map(|read| read.document.notes());
    let candidates = notes.filter_map(|note| {
        let id = id_of(note);
        let help = head_of(&note.content(), 50);
        id.starts_with(current).then(|| CompletionCandidate::new(id.into_owned()).help(Some(help.into())))
    });
    candidates.collect()
}

/// Models that the notes in reach name.
pub(crate) fn models(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(reach) = reach() else { return Vec::new() };
    let notes = reach.layers.iter().flat_map(|read| read.document.notes());
    let mut models: BTreeSet<String> = notes.filter_map(|note| note.model().map(Into::into)).collect();
    models.extend(model_of_environment());
    offer(models, current)
}

/// Projects that have a private layer below the root, and this one.
pub(crate) fn projects(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(workspace) = workspace() else { return Vec::new() };
    let mut keys: BTreeSet<String> =
        all_projects(&workspace.root).unwrap_or_default().into_iter().map(|project| project.name).collect();
    keys.insert(workspace.project.key);
    offer(keys, current)
}

fn offer(words: BTreeSet<String>, current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    let fitting = words.into_iter().filter(|word| !word.is_empty() && word.starts_with(current));
    fitting.map(CompletionCandidate::new).collect()
}

fn workspace() -> Option<Workspace> {
    let env = Env::from_process().ok()?;
    let root = Root::discover(&env).ok()?;
    let bytes = files::read_bytes(&root.config_path()).ok()?.content();
    let (config, _) = config::parse(bytes.as_deref());
    let claims = Claims::new(state(), Purpose::Read);
    let trusts = Trusts::new(state());
    Workspace::discover_in(root, &env, &config.layers.projects, &claims, &trusts).ok()
}

fn reach() -> Option<Reach> {
    workspace().map(|workspace| Reach::read(workspace, super::context::state()))
}
