//! The layers in reach of a command, read and parsed: what [`crate::workspace`] finds, as
//! documents. Reads; writes nothing.

use crate::document::Document;
use crate::effective::{Audience, InReach, Judged, judge};
use crate::files::Found;
use crate::workspace::{LayerRef, Workspace, WorkspaceError};

/// A layer that was read.
#[derive(Debug)]
pub struct ReadLayer {
    /// Where it is.
    pub layer: LayerRef,
    /// Whether there is a file.
    pub exists: bool,
    /// What it says; empty if there is no file.
    pub document: Document,
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
    /// Reads all layers in reach of a workspace.
    pub fn read(workspace: Workspace) -> Self {
        let mut layers = Vec::with_capacity(workspace.layers.len());
        let mut unavailable = Vec::new();
        for layer in &workspace.layers {
            match ReadLayer::read(layer.clone()) {
                Ok(read) => layers.push(read),
                Err(error) => unavailable.push((layer.clone(), error)),
            }
        }
        Self { workspace, layers, unavailable }
    }

    /// Judges every note of the layers for an audience whose project is the workspace's.
    pub fn judge(&self, model: Option<&str>, orphans: crate::config::Orphans) -> Vec<Judged<'_>> {
        let layers: Vec<InReach<'_>> = self
            .layers
            .iter()
            .map(|read| InReach { kind: read.layer.kind, document: &read.document })
            .collect();
        let is_current = |project: &str| self.workspace.project.is_named(project);
        judge(&layers, &Audience { is_current: &is_current, model, orphans })
    }
}

impl ReadLayer {
    /// Reads one layer.
    pub fn read(layer: LayerRef) -> Result<Self, WorkspaceError> {
        Ok(match layer.read_text()? {
            Found::Content(text) => Self { layer, exists: true, document: Document::parse(text) },
            Found::Absent => Self { layer, exists: false, document: Document::parse("") },
        })
    }
}
