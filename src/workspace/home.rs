//! Home layers: private files below the root.

use std::fs;
use std::path::PathBuf;

use super::error::Notice;
use super::key::Project;
use super::layer::{LayerRef, LayerState};
use super::root::{PROJECTS_FOLDER, Root};
use super::trust::Trust;
use crate::files::{Found, ReadError, list_names};
use crate::note::LayerKind;
use crate::slug::is_key;

/// One project's home layer, as a listing of the root shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLayer {
    /// The file's stem: a key or one of pi's slugs.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// All home layers of projects below a root, by name. The only function whose cost grows
/// with the number of projects.
pub fn all_projects(root: &Root) -> Result<Vec<ProjectLayer>, ReadError> {
    let folder = root.path.join(PROJECTS_FOLDER);
    let names = match list_names(&folder)? {
        Found::Content(names) => names,
        Found::Absent => Vec::new(),
    };
    let stems = names.iter().filter_map(|name| layer_stem(name)).map(str::to_owned);
    Ok(stems.map(|name| ProjectLayer { path: root.home_path(&name), name }).collect())
}

/// The stem of a file that may be a layer. Of the hidden ones only those that a key can
/// name (a project in a folder `.dotfiles`); the rest is other programs' business: editors'
/// lock files `.#x.md`, macOS's `._x.md`.
pub(crate) fn layer_stem(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".md")?;
    let is_hidden = stem.is_empty() || stem.starts_with('.');
    (!is_hidden || (is_key(stem) && !stem.starts_with("._"))).then_some(stem)
}

pub(crate) fn global(root: &Root) -> LayerRef {
    let path = root.global_path();
    let state = LayerState::of(&path);
    LayerRef {
        path,
        kind: LayerKind::Global,
        project: None,
        precedence: 0,
        state,
        trust: Trust::Own,
        work_tree: None,
    }
}

/// Those of pi's files that exist.
pub(crate) fn present(root: &Root, names: &[String]) -> Vec<PathBuf> {
    let paths = names.iter().map(|name| root.home_path(name));
    paths.filter(|path| fs::symlink_metadata(path).is_ok()).collect()
}

/// The project's home layer under all its names, the one that is written last.
pub(crate) fn layers_of(
    root: &Root,
    project: &Project,
    layers: &mut Vec<LayerRef>,
    notices: &mut Vec<Notice>,
) {
    let own = root.home_path(&project.key);
    let pi = present(root, &project.pi_names);
    let former = present(root, &project.former_names);
    let written = if root.is_pi {
        // The file of the working directory if there is one, since pi reads no other;
        // else the name that every directory of the project looks at.
        let shared = || project.pi_names.last().map(|name| root.home_path(name));
        pi.first().cloned().or_else(shared).unwrap_or_else(|| own.clone())
    } else {
        own.clone()
    };

    let mut paths: Vec<PathBuf> = Vec::new();
    let also_own = fs::symlink_metadata(&own).is_ok().then_some(own);
    let read = former.into_iter().chain(also_own).chain(pi.into_iter().rev());
    for path in read.filter(|path| *path != written) {
        // One file under two names through a link is read once.
        let real = fs::canonicalize(&path).ok();
        let same =
            |known: &PathBuf| *known == path || (real.is_some() && fs::canonicalize(known).ok() == real);
        if !same(&written) && !paths.iter().any(same) {
            paths.push(path);
        }
    }
    let is_written_there = LayerState::of(&written) == LayerState::Present;
    paths.push(written);
    if paths.len() > 2 || (paths.len() == 2 && is_written_there) {
        let there = paths.len() - usize::from(!is_written_there);
        notices.push(Notice::SeveralHomeLayers { paths: paths[..there].to_vec() });
    }
    layers.extend(paths.into_iter().map(|path| layer(path, project)));
}

fn layer(path: PathBuf, project: &Project) -> LayerRef {
    LayerRef {
        state: project.doubt.clone().map_or_else(|| LayerState::of(&path), LayerState::Unknown),
        path,
        kind: LayerKind::Home,
        project: Some(project.key.clone()),
        precedence: 0,
        trust: Trust::Own,
        work_tree: None,
    }
}

/// The files that the project's home layer would be read from, too, if they were there.
pub(crate) fn absent_layers(root: &Root, project: &Project, layers: &[LayerRef]) -> Vec<LayerRef> {
    let names = [&project.former_names[..], std::slice::from_ref(&project.key), &project.pi_names[..]];
    let paths = names.into_iter().flatten().map(|name| root.home_path(name));
    let mut absent: Vec<PathBuf> = Vec::new();
    for path in paths.filter(|path| fs::symlink_metadata(path).is_err()) {
        if !absent.contains(&path) && layers.iter().all(|layer| layer.path != path) {
            absent.push(path);
        }
    }
    absent.into_iter().map(|path| layer(path, project)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_no_layers() {
        assert_eq!(layer_stem("app.md"), Some("app"));
        for name in [".#app.md", "._app.md", ".md", "app.md~", "app.md.orig", ".hl-a1.tmp"] {
            assert_eq!(layer_stem(name), None, "{name}");
        }
    }
}
