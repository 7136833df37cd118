//! Repo layers: `.harness/<key>.md`, committed with the code, and not to be believed
//! about where they lead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Notice, Refusal};
use super::git::WorkTree;
use super::home::layer_stem;
use super::layer::{LayerRef, LayerState};
use super::root::Root;
use super::trust::Trust;
use crate::files::{Found, final_target, list_names};
use crate::note::LayerKind;
use crate::slug::{is_key, key_slug};

const FOLDER: &str = ".harness";

/// A `.harness` folder on the way from the work tree's root to the working directory.
pub(crate) struct LayerFolder {
    pub(crate) path: PathBuf,
    /// The keys that its files name, sorted.
    pub(crate) keys: Vec<String>,
    /// Why it was not even listed.
    refusal: Option<Refusal>,
}

impl LayerFolder {
    pub(crate) fn layer(&self, key: &str) -> PathBuf {
        self.path.join(format!("{key}.md"))
    }
}

/// The `.harness` folders that exist, outer first.
pub(crate) fn layer_folders(
    tree: &WorkTree,
    cwd: &Path,
    root: &Path,
    notices: &mut Vec<Notice>,
) -> Vec<LayerFolder> {
    let mut folders = Vec::new();
    for place in cwd.ancestors().take_while(|place| place.starts_with(&tree.root)) {
        let path = place.join(FOLDER);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // With a home folder as the work tree, its `.harness` is the root.
            _ if Root::is_at(root, &path) => continue,
            _ => {}
        }
        if let Some(refusal) = refusal_of(tree, &path) {
            folders.push(LayerFolder { path, keys: Vec::new(), refusal: Some(refusal) });
            continue;
        }
        let keys = match list_names(&path) {
            Ok(Found::Content(names)) => keys_in(&path, &names, notices),
            Ok(Found::Absent) => continue,
            Err(error) => {
                notices.push(Notice::Unlistable { folder: path.clone(), problem: error.to_string() });
                Vec::new()
            }
        };
        folders.push(LayerFolder { path, keys, refusal: None });
    }
    folders.reverse();
    folders
}

fn keys_in(folder: &Path, names: &[String], notices: &mut Vec<Notice>) -> Vec<String> {
    let mut keys = Vec::new();
    for name in names {
        let Some(stem) = layer_stem(name).filter(|stem| !stem.eq_ignore_ascii_case("readme")) else {
            continue;
        };
        if is_key(stem) {
            keys.push(stem.to_owned());
        } else {
            notices.push(Notice::Misnamed { path: folder.join(name), nearest: key_slug(stem) });
        }
    }
    keys
}

/// Sorts what the folders hold into the project's layers and those of others.
pub(crate) fn layers_in_reach(
    folders: &[LayerFolder],
    key: &str,
    place: (&WorkTree, &Trust),
    layers: &mut Vec<LayerRef>,
    others: &mut Vec<PathBuf>,
) {
    for folder in folders {
        let path = folder.layer(key);
        // Where the folder could not be listed, reading has to tell.
        let unlisted = folder.keys.is_empty()
            && !matches!(fs::symlink_metadata(&path), Err(error) if error.kind() == io::ErrorKind::NotFound);
        if folder.refusal.is_some() || unlisted || folder.keys.iter().any(|it| it == key) {
            layers.push(layer(path, key, place, folder.refusal.clone()));
        }
        others.extend(folder.keys.iter().filter(|it| *it != key).map(|it| folder.layer(it)));
    }
}

/// The repo layer that a project without one would get. None where the root itself takes
/// the place: what is put there would be private, and a layer of all projects.
pub(crate) fn new_layer(root: &Path, key: &str, place: (&WorkTree, &Trust)) -> Option<LayerRef> {
    let folder = place.0.root.join(FOLDER);
    let is_root = Root::is_at(root, &folder);
    (!is_root).then(|| layer(folder.join(format!("{key}.md")), key, place, None))
}

/// Where layers of the project would be and none is, outer first.
pub(crate) fn absent_layers(
    key: &str,
    tree: &WorkTree,
    cwd: &Path,
    root: &Path,
    present: &[LayerRef],
) -> Vec<PathBuf> {
    let on_the_way = cwd.ancestors().take_while(|place| place.starts_with(&tree.root));
    let folders = on_the_way.map(|place| place.join(FOLDER)).filter(|folder| !Root::is_at(root, folder));
    let paths = folders.map(|folder| folder.join(format!("{key}.md")));
    let mut absent: Vec<PathBuf> =
        paths.filter(|path| present.iter().all(|layer| layer.path != *path)).collect();
    absent.reverse();
    absent
}

/// The layers of a work tree at these paths inside of it, of whatever project.
pub fn layers_of_tree(tree: &WorkTree, trust: &Trust, paths: &[PathBuf]) -> Vec<LayerRef> {
    let layer_at = |inner: &PathBuf| {
        let is_in_folder = inner.parent().is_some_and(|folder| folder.ends_with(FOLDER));
        let stem = layer_stem(inner.file_name()?.to_str()?)?;
        let is_layer = is_in_folder && is_key(stem) && !stem.eq_ignore_ascii_case("readme");
        is_layer.then(|| layer(tree.root.join(inner), stem, (tree, trust), None))
    };
    paths.iter().filter_map(layer_at).collect()
}

/// What is said of layers that are left out because nobody has allowed them.
pub(crate) fn untrusted(tree: &WorkTree, trust: &Trust, layers: &[LayerRef]) -> Option<Notice> {
    let Trust::Untrusted(why) = trust else { return None };
    let is_there = |layer: &LayerRef| layer.kind == LayerKind::Repo && layer.state != LayerState::Absent;
    let paths: Vec<PathBuf> =
        layers.iter().filter(|layer| is_there(layer)).map(|layer| layer.path.clone()).collect();
    (!paths.is_empty()).then(|| Notice::Untrusted { tree: tree.root.clone(), paths, why: why.clone() })
}

pub(super) fn layer(
    path: PathBuf,
    key: &str,
    (tree, trust): (&WorkTree, &Trust),
    refusal: Option<Refusal>,
) -> LayerRef {
    let state = match refusal.or_else(|| refusal_of(tree, &path)) {
        Some(refusal) => LayerState::Refused(refusal),
        None => LayerState::of(&path),
    };
    LayerRef {
        path,
        kind: LayerKind::Repo,
        project: Some(key.to_owned()),
        precedence: 0,
        state,
        trust: trust.clone(),
        work_tree: Some(tree.clone()),
    }
}

/// Why a path of a repository may be neither read nor written. A repository that somebody
/// else made must not reach files that are not its own: by a link out of the work tree,
/// into git's settings and hooks, or into another repository.
pub(crate) fn refusal_of(tree: &WorkTree, path: &Path) -> Option<Refusal> {
    let target = match final_target(path) {
        Ok(target) => target,
        Err(error) => return Some(Refusal::Unresolved { problem: error.to_string() }),
    };
    let Ok(inner) = target.strip_prefix(&tree.root) else {
        return Some(Refusal::Outside { target });
    };
    let is_git = |name: &std::ffi::OsStr| name.eq_ignore_ascii_case(".git");
    // Work trees of a bare repository may lie in its folder; then all is inside.
    let in_common = target.starts_with(&tree.common_dir) && !tree.root.starts_with(&tree.common_dir);
    if inner.iter().any(is_git) || in_common {
        return Some(Refusal::GitFolder { target });
    }
    if target == path {
        return None;
    }
    let foreign = target
        .ancestors()
        .skip(1)
        .take_while(|folder| *folder != tree.root)
        .any(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
    foreign.then_some(Refusal::OtherWorkTree { target })
}
