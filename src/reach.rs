//! The layers in reach of a command, as they count: what [`crate::workspace`] finds, read
//! with what the store knows better. Writes nothing.

use crate::document::{Document, Note};
use crate::effective::{Audience, InReach, Judged, judge};
use crate::reconcile::View;
use crate::store::StatePlace;
use crate::sync::{Peeked, Peeker};
use crate::workspace::{LayerKind, LayerRef, LayerState, Workspace, WorkspaceError};

/// A layer that was read.
#[derive(Debug)]
pub struct ReadLayer {
    /// Where it is.
    pub layer: LayerRef,
    /// Whether there is a file.
    pub exists: bool,
    /// What it says; empty if there is no file.
    pub document: Document,
    /// What counts instead of it.
    pub view: View,
    /// Notes that wait for a person's review, by id or provisional id.
    pub unreviewed: Vec<String>,
    /// The notes of the view, a document each.
    stand_ins: Vec<Document>,
}

/// The layers in reach, lowest precedence first, and those that could not be read.
#[derive(Debug)]
pub struct Reach {
    /// Which root, project and layers.
    pub workspace: Workspace,
    /// The layers that were read.
    pub layers: Vec<ReadLayer>,
    /// The layers that are there but unavailable, with the reason. Never taken for empty.
    pub unavailable: Vec<(LayerRef, WorkspaceError)>,
}

impl Reach {
    /// Reads all layers in reach of a workspace; `state` is where the store is, if there may
    /// be one. A layer that cannot be read is unavailable, and its last good notes count.
    pub fn read(workspace: Workspace, state: Option<StatePlace>) -> Self {
        Self::read_some(workspace, state, |_| true)
    }

    /// As [`Self::read`], with only those layers that count: what strangers put into a
    /// repository costs no time, however much it is.
    pub fn read_trusted(workspace: Workspace, state: Option<StatePlace>) -> Self {
        // What is refused is told of.
        let is_refused = |layer: &LayerRef| matches!(layer.state, LayerState::Refused(_));
        Self::read_some(workspace, state, |layer| layer.trust.is_trusted() || is_refused(layer))
    }

    fn read_some(
        mut workspace: Workspace,
        state: Option<StatePlace>,
        is_wanted: impl Fn(&LayerRef) -> bool,
    ) -> Self {
        let peeker = Peeker::new(&workspace.root.path, state);
        workspace.take_in(|path| peeker.knows(path));
        let mut layers = Vec::with_capacity(workspace.layers.len());
        let mut unavailable = Vec::new();
        let mut all = Vec::with_capacity(workspace.layers.len());
        for layer in workspace.layers.iter().filter(|layer| is_wanted(layer)) {
            match peeker.layer(layer) {
                Ok(mut peeked) => {
                    unavailable.extend(peeked.error.take().map(|error| (layer.clone(), error)));
                    all.push((layer.clone(), peeked));
                }
                Err(error) => unavailable.push((layer.clone(), error)),
            }
        }
        let left: Vec<_> = all.iter_mut().map(|(_, peeked)| std::mem::take(&mut peeked.left)).collect();
        for (at, (layer, mut peeked)) in all.into_iter().enumerate() {
            let of_others = left.iter().enumerate().filter(|(other, _)| *other != at);
            peeked.arrive(of_others.flat_map(|(_, left)| left));
            layers.push(ReadLayer::of(layer, peeked));
        }
        Self { workspace, layers, unavailable }
    }

    /// Whether a note of all projects' layer is for this project alone, by its name.
    pub fn is_named_globally(&self) -> bool {
        let global = self.layers.iter().filter(|read| read.layer.kind == LayerKind::Global);
        let mut named = global.flat_map(|read| read.document.notes()).filter_map(Note::project);
        named.any(|project| self.workspace.project.is_named(&project))
    }

    /// Judges every note of the layers for an audience whose project is the workspace's.
    pub fn judge(&self, model: Option<&str>, orphans: crate::config::Orphans) -> Vec<Judged<'_>> {
        let layers: Vec<InReach<'_>> = self.layers.iter().map(ReadLayer::in_reach).collect();
        let is_current = |project: &str| self.workspace.project.is_named(project);
        judge(&layers, &Audience { is_current: &is_current, model, orphans })
    }
}

impl ReadLayer {
    /// Reads one layer. With an error beside it, what it said last is all there is.
    pub fn read(peeker: &Peeker, layer: LayerRef) -> Result<(Self, Option<WorkspaceError>), WorkspaceError> {
        let mut peeked = peeker.layer(&layer)?;
        let error = peeked.error.take();
        Ok((Self::of(layer, peeked), error))
    }

    fn of(layer: LayerRef, peeked: Peeked) -> Self {
        let stand_ins =
            peeked.view.stand_ins.iter().map(|stand_in| Document::parse(stand_in.text.as_str())).collect();
        let Peeked { exists, document, view, unreviewed, .. } = peeked;
        Self { layer, exists, document, view, unreviewed, stand_ins }
    }

    /// What counts of it, for judging.
    pub fn in_reach(&self) -> InReach<'_> {
        InReach {
            kind: self.layer.kind,
            label: self.layer.project.as_deref(),
            document: &self.document,
            stand_ins: &self.stand_ins,
            gone: &self.view.gone,
            is_trusted: self.layer.trust.is_trusted(),
            unreviewed: &self.unreviewed,
        }
    }
}
