//! The layers of a whole repository, which are trusted together.

use std::path::PathBuf;

use super::context::{Context, Here, state};
use super::failure::Failure;
use crate::note::LayerKind;
use crate::sync::layer_paths;
use crate::trust::Trusts;
use crate::workspace::{LayerRef, LayerState, Trust, Trusting as _, WorkTree, Workspace, layers_of_tree};

/// All repo layers of the work tree, in reach or not, by path.
pub(super) fn all_layers(workspace: &Workspace, tree: &WorkTree) -> Vec<LayerRef> {
    let in_reach = workspace.layers.iter().filter(|layer| layer.kind == LayerKind::Repo);
    let mut layers: Vec<LayerRef> =
        in_reach.filter(|layer| layer.state != LayerState::Absent).cloned().collect();
    let known: Vec<PathBuf> = layers.iter().map(|layer| layer.path.clone()).collect();
    // Those that git ignores are other people's no less, but none of another folder is in reach.
    let others = layers_of_tree(tree, &workspace.trust, &layer_paths(tree));
    let is_there = |layer: &LayerRef| layer.state != LayerState::Absent && !known.contains(&layer.path);
    layers.extend(others.into_iter().filter(is_there));
    layers.sort_by(|one, other| one.path.cmp(&other.path));
    layers
}

/// The layer with the trust that the user gives by making the first one of a repository: there
/// is nothing in it that others wrote.
pub(super) fn founded(here: &Here, layer: LayerRef, cx: &mut Context) -> Result<LayerRef, Failure> {
    let Some(tree) = &here.workspace.project.work_tree else { return Ok(layer) };
    let is_first = layer.kind == LayerKind::Repo
        && !layer.trust.is_trusted()
        && layer.state == LayerState::Absent
        && all_layers(&here.workspace, tree).is_empty();
    if !is_first {
        return Ok(layer);
    }
    let trusts = Trusts::new(state());
    let set_aside = trusts.grant(tree, false, |_, _| Ok(()))?;
    cx.tell_set_aside(set_aside.as_deref());
    cx.out.say(
        "this repository has no layers yet, so it is trusted from now on (`layers untrust` takes it back)",
    );
    Ok(LayerRef { trust: trusts.trust(tree), ..layer })
}

/// Whether what stands at a path may be written: a layer of a repository only if that is trusted.
pub(super) fn trust_at(path: &std::path::Path) -> Trust {
    match WorkTree::around(path) {
        Some(tree) => Trusts::new(state()).trust(&tree),
        None => Trust::Own,
    }
}
