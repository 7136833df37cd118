//! What counts of a layer now, without writing anything: for `render`, `list` and all that
//! only reads. What a pass would make of the file is what counts.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::files::Found;
use crate::reconcile::{Facts, Known, Seen, Settled, View, Writing, reconcile};
use crate::review::pin;
use crate::store::{Hash, LayerRow, ReviewedRow, StatePlace, Store, StoreError};
use crate::workspace::{Grant, LayerRef, WorkspaceError};

use super::checkout;
use super::line::StoredLine;
use super::look::{Looked, place_of};
use super::marks::Marks;
use super::{isolate_returned, view_of, waiting_of};

/// A layer as it counts.
#[derive(Debug)]
pub struct Peeked {
    /// Whether there is a file.
    pub exists: bool,
    /// What the file says; with what an unseen stale save lacks put back.
    pub document: Document,
    /// What counts instead of it.
    pub view: View,
    /// Why the file could not be read; then the last good notes count.
    pub error: Option<WorkspaceError>,
    /// Notes that a pass would find gone, with what the layer's header gave them.
    pub left: Vec<(String, String)>,
    /// Notes that a pass would find new; none if all are, as the layer was never seen.
    pub came: Option<Vec<String>>,
    /// Notes that wait for a person's review, by id or provisional id.
    pub unreviewed: Vec<String>,
}

impl Peeked {
    /// A layer of which the file says all there is to say, or the view does.
    const fn new(exists: bool, document: Document, view: View) -> Self {
        Self {
            exists,
            document,
            view,
            error: None,
            left: Vec::new(),
            came: Some(Vec::new()),
            unreviewed: Vec::new(),
        }
    }

    /// Notes that came from other layers since the last pass are still whose they were.
    pub fn arrive<'a>(&mut self, left: impl Iterator<Item = &'a (String, String)>) {
        for (id, text) in left {
            if self.came.as_ref().is_none_or(|came| came.contains(id)) {
                self.view.arrive(id, text, &self.document);
            }
        }
    }
}

/// Reads layers below one root as they count.
#[derive(Debug)]
pub struct Peeker {
    root: PathBuf,
    place: Option<StatePlace>,
    marks: Option<Marks>,
    store: OnceCell<Result<Option<Store>, String>>,
}

impl Peeker {
    /// For the layers of a root; without a place for the store, files are all there is.
    pub fn new(root: &Path, place: Option<StatePlace>) -> Self {
        let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let marks = place.as_ref().map(|place| Marks::in_folder(place.folder()));
        Self { root, place, marks, store: OnceCell::new() }
    }

    /// The store, if there is one.
    fn store(&self) -> Result<Option<&Store>, WorkspaceError> {
        let opened = self.store.get_or_init(|| match &self.place {
            Some(place) => Store::open_existing(place).map_err(|error| error.to_string()),
            None => Ok(None),
        });
        match opened {
            Ok(store) => Ok(store.as_ref()),
            Err(problem) => Err(WorkspaceError::Store { problem: problem.clone() }),
        }
    }

    /// Whether a layer was ever seen at a path, as far as can be told without the store.
    pub fn knows(&self, path: &Path) -> bool {
        self.marks.as_ref().is_some_and(|marks| marks.has(&self.root, path))
    }

    /// Reads a layer as it counts.
    pub fn layer(&self, layer: &LayerRef) -> Result<Peeked, WorkspaceError> {
        let mut peeked = self.unpinned(layer)?;
        if let Some(grant) = layer.trust.grant().filter(|grant| grant.is_pinned) {
            let reviewed = self.reviewed(layer, grant)?;
            peeked.unreviewed = pin(&peeked.document, &mut peeked.view, &reviewed);
        }
        Ok(peeked)
    }

    /// What the user has said of the notes of a trusted repository's layer.
    pub fn reviewed(&self, layer: &LayerRef, grant: Grant) -> Result<Vec<ReviewedRow>, WorkspaceError> {
        let (Some(store), Some(path)) = (self.store()?, layer.inner_path()) else { return Ok(Vec::new()) };
        let reviewed = store.read().reviewed(grant.id, path);
        reviewed.map_err(|error| WorkspaceError::Store { problem: error.to_string() })
    }

    fn unpinned(&self, layer: &LayerRef) -> Result<Peeked, WorkspaceError> {
        let looked = match Looked::at(layer) {
            Ok(looked) => looked,
            Err(error) => return self.unavailable(layer, error),
        };
        let exists = looked.found != Found::Absent;
        if !layer.trust.is_trusted() {
            let text = looked.found.content().unwrap_or_default();
            return Ok(Peeked::new(exists, Document::parse(text), View::default()));
        }
        let is_vouched =
            self.marks.as_ref().is_some_and(|marks| marks.vouch_for(&self.root, &layer.path, &looked));
        let row = if is_vouched { None } else { self.row(layer)? };
        let hash = if row.is_some() { looked.hash() } else { None };
        let document = match looked.found {
            Found::Content(text) => Document::parse(text),
            Found::Absent => Document::parse(""),
        };
        let Some((store, row)) = row else {
            let mut peeked = Peeked::new(exists, document, View::default());
            peeked.came = peeked.came.filter(|_| is_vouched);
            return Ok(peeked);
        };
        if hash.is_some() && row.seen == hash {
            return Ok(Peeked::new(exists, document, view_of(Some(&row))));
        }
        let broken = |error: StoreError| WorkspaceError::Store { problem: error.to_string() };
        let settled = dry_run(store, layer, &row, exists, &document).map_err(broken)?;
        let came = settled.steps.iter().filter(|step| step.before.is_none()).map(|step| step.id.clone());
        let came = Some(came.collect());
        let mut peeked = Peeked::new(exists, settled.document, settled.view);
        (peeked.left, peeked.came) = (settled.left, came);
        Ok(peeked)
    }

    fn row(&self, layer: &LayerRef) -> Result<Option<(&Store, LayerRow)>, WorkspaceError> {
        let Some(store) = self.store()? else { return Ok(None) };
        let row = store.read().layer(&self.root, &place_of(&layer.path));
        let row = row.map_err(|error| WorkspaceError::Store { problem: error.to_string() })?;
        Ok(row.map(|row| (store, row)))
    }

    /// A layer that cannot be read keeps its last good notes.
    fn unavailable(&self, layer: &LayerRef, error: WorkspaceError) -> Result<Peeked, WorkspaceError> {
        if error.is_refusal() || !layer.trust.is_trusted() || matches!(error, WorkspaceError::Store { .. }) {
            return Err(error);
        }
        let Some((store, row)) = self.row(layer).ok().flatten() else { return Err(error) };
        let line = StoredLine::of(store, Some(row.id), Hash::of(""));
        let Some(head) = line.ok().and_then(|line| line.head().ok().flatten()) else { return Err(error) };
        let view = View::unavailable(&head, &view_of(Some(&row)));
        let mut peeked = Peeked::new(true, Document::parse(""), view);
        peeked.error = Some(error);
        Ok(peeked)
    }
}

/// What a pass would make of a file that was not looked at yet.
fn dry_run(
    store: &Store,
    layer: &LayerRef,
    row: &LayerRow,
    exists: bool,
    document: &Document,
) -> Result<Settled, StoreError> {
    let line = StoredLine::of(store, Some(row.id), Hash::of(document.source()))?;
    let head = line.head()?;
    let is_new = head.as_ref().is_some_and(|head| head.source() != document.source());
    let found = if exists { Found::Content(String::new()) } else { Found::Absent };
    let by_git = is_new
        && head.as_ref().is_some_and(|head| checkout::is_put_by_git(&layer.path, &found, head.source()));
    let (view, waiting) = (view_of(Some(row)), waiting_of(store, Some(row))?);
    let known = Known { line: &line, view: &view, waiting: waiting.as_ref() };
    let facts = Facts { by_git, writing: Writing::Waits, accept: false, is_elsewhere: &|_| false };
    let seen = if exists { Seen::Text(document) } else { Seen::Absent };
    let mut settled = reconcile(seen, &known, &facts, &mut String::new)?;
    isolate_returned(&mut settled, store, row)?;
    Ok(settled)
}
