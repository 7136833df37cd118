//! What commands about history have in common: the store with the layers in reach.

use std::path::Path;

use crate::identity::Purpose;
use crate::note::LayerKind;
use crate::store::{LayerId, LayerRow};
use crate::sync::{Session, place_of};
use crate::workspace::{LayerRef, Workspace, all_projects};

use super::context::{Context, Here};
use super::failure::{Exit, Failure};

/// A layer in reach, and what the store knows of it.
pub(crate) type KnownLayer = (LayerRef, LayerRow);

/// The layers in reach that the store knows.
pub(crate) fn known_layers(here: &Here, session: &Session) -> Result<Vec<KnownLayer>, Failure> {
    let mut known = Vec::new();
    for layer in &here.workspace.layers {
        if let Some(row) = session.store().read().layer(session.root(), &place_of(&layer.path))? {
            known.push((layer.clone(), row));
        }
    }
    Ok(known)
}

/// As [`known_layers`], and those that stood in folders that are gone, as when a work tree
/// was removed: what they held is this work tree's to have, as the project is the same.
pub(crate) fn known_layers_and_lost(here: &Here, session: &Session) -> Result<Vec<KnownLayer>, Failure> {
    let mut known = known_layers(here, session)?;
    let Some(ours) = here.workspace.repo_layer() else { return Ok(known) };
    // Where the name is another project's, what was lost under it is that one's.
    if here.workspace.project.key != here.workspace.project.label {
        return Ok(known);
    }
    for (path, row) in session.store().read().layers(session.root())? {
        let is_of_project = path.file_name() == ours.path.file_name()
            && path.parent().and_then(Path::file_name) == ours.path.parent().and_then(Path::file_name);
        let is_lost = path.ancestors().nth(2).is_some_and(|folder| {
            std::fs::symlink_metadata(folder).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        });
        if is_of_project && is_lost && known.iter().all(|(_, there)| there.id != row.id) {
            known.push((ours.clone(), row));
        }
    }
    Ok(known)
}

/// Where we are, with the store open and the layers in reach looked at.
pub(crate) fn open(cx: &mut Context) -> Result<(Here, Session), Failure> {
    cx.purpose = cx.purpose.max(Purpose::Write);
    let mut here = cx.here()?;
    let session = here.session(cx)?;
    here.workspace.take_in(|path| session.knows(path));
    Ok((here, session))
}

/// As [`open`], for those who only look: nothing is made, and nothing is to be written.
pub(crate) fn look(cx: &mut Context) -> Result<(Here, Session), Failure> {
    let mut here = cx.here()?;
    let session = here.look(cx)?;
    here.workspace.take_in(|path| session.knows(path));
    Ok((here, session))
}

/// All layers below the root: those in reach, and those of all other projects.
pub(crate) fn home_layers(workspace: &Workspace) -> Result<Vec<LayerRef>, Failure> {
    let in_reach = workspace.layers.iter().filter(|layer| layer.kind != LayerKind::Repo);
    let mut layers: Vec<LayerRef> = in_reach.cloned().collect();
    for project in all_projects(&workspace.root)? {
        if layers.iter().all(|layer| layer.path != project.path) {
            layers.push(LayerRef::home(project.path, &project.name));
        }
    }
    Ok(layers)
}

/// The layer in reach that a row is of.
pub(crate) fn layer_of(known: &[KnownLayer], id: LayerId) -> Option<&LayerRef> {
    known.iter().find(|(_, row)| row.id == id).map(|(layer, _)| layer)
}

/// As [`layer_of`], where it must be in reach.
pub(crate) fn layer_in_reach<'a>(
    session: &Session,
    known: &'a [KnownLayer],
    id: LayerId,
) -> Result<&'a LayerRef, Failure> {
    if let Some(layer) = layer_of(known, id) {
        return Ok(layer);
    }
    let path = session.store().read().path_of(id)?;
    let message = format!("that was in {}, which is not in reach here", path.display());
    Err(Failure::new(Exit::Findings, message).help("change into that project, or give --project"))
}

/// A time as people read it, in UTC.
pub(crate) fn time(millis: u64) -> String {
    let stamp = i64::try_from(millis).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    stamp.map_or_else(|| "?".to_owned(), |stamp| stamp.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// A time as programs read it (RFC 3339, UTC).
pub(crate) fn rfc3339(millis: u64) -> String {
    let stamp = i64::try_from(millis).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    stamp.map_or_else(String::new, |stamp| stamp.to_string())
}
