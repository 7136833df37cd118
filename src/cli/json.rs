//! The JSON that commands print (docs/json.md). Keys are only ever added.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::document::{Field, Form, Note, State};
use crate::effective::Judged;
use crate::note::{Approval, Kind, LayerKind, Scope};
use crate::reach::ReadLayer;
use crate::reconcile::Reason;
use crate::select::{ANY_MODEL, Fields, Standing, standing};

/// A note with all that is known about it.
#[derive(Debug, Serialize)]
pub(crate) struct NoteJson {
    pub(crate) id: String,
    /// The id is made up: the file has none.
    pub(crate) provisional: bool,
    pub(crate) kind: Kind,
    pub(crate) title: Option<String>,
    pub(crate) content: String,
    pub(crate) importance: f64,
    pub(crate) written_importance: Option<f64>,
    pub(crate) model: Option<String>,
    pub(crate) scope: Scope,
    pub(crate) project: Option<String>,
    pub(crate) active: bool,
    pub(crate) approval: Approval,
    pub(crate) evidence: String,
    pub(crate) tags: Vec<String>,
    pub(crate) protected: bool,
    pub(crate) form: Form,
    pub(crate) state: State,
    pub(crate) standing: Standing,
    /// Why this counts instead of what the file says; none if the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instead_because: Option<Reason>,
    /// The layer that holds the same id and counts.
    pub(crate) shadowed_by: Option<String>,
    pub(crate) layer: LayerKind,
    pub(crate) path: String,
    pub(crate) line: usize,
    /// Every other key that the file has for it, as text.
    pub(crate) metadata: Map<String, Value>,
}

/// A note of a layer as JSON; `layers` are those that it was judged with.
pub(crate) fn note(judged: &Judged<'_>, layers: &[&ReadLayer], lines: &mut LineCounter) -> NoteJson {
    let read = layers[judged.layer];
    let one = judged.note;
    let (scope, project) = scope_of(one, read);
    let other = |field: &Field| {
        matches!(
            field,
            Field::Trust | Field::Source | Field::Created | Field::Updated | Field::Version | Field::Other(_)
        )
    };
    let metadata = one.fields().into_iter().filter(other).map(|field| {
        let text = one.entry_text(&field).unwrap_or_default();
        (field.key().to_owned(), Value::from(text))
    });
    NoteJson {
        id: judged.id.clone().into_owned(),
        provisional: one.id().is_none(),
        kind: one.kind(),
        title: one.title().map(Into::into),
        content: one.content().into_owned(),
        importance: one.importance(),
        written_importance: one.written_importance(),
        model: one.model().map(Into::into),
        scope,
        project,
        active: one.active(),
        approval: one.approval().unwrap_or(Approval::Approved),
        evidence: one.evidence().into_owned(),
        tags: tags(one),
        protected: one.protected(),
        form: one.form(),
        state: one.state(),
        standing: shown_standing(judged),
        instead_because: read
            .view
            .stand_in(&judged.id)
            .filter(|_| !judged.is_in_file)
            .map(|stand_in| stand_in.reason),
        shadowed_by: judged.shadowed_by.map(|at| layers[at].layer.path.display().to_string()),
        layer: read.layer.kind,
        path: read.layer.path.display().to_string(),
        line: lines.line(judged.layer, read.document.source(), place_of(judged, read)),
        metadata: metadata.collect(),
    }
}

/// Where a note stands in its file; one that counts instead of what stands there, where
/// that is, or at the start.
pub(crate) fn place_of(judged: &Judged<'_>, read: &ReadLayer) -> usize {
    if judged.is_in_file {
        return judged.note.span().start;
    }
    read.document.note(&judged.id).map_or(0, |note| note.span().start)
}

/// For whom a note is by its place: what it claims counts only in the global layer.
pub(crate) fn scope_of(note: Note<'_>, read: &ReadLayer) -> (Scope, Option<String>) {
    match read.layer.kind {
        LayerKind::Global if note.scope() == Some(Scope::Project) => {
            (Scope::Project, note.project().map(Into::into))
        }
        LayerKind::Global => (Scope::Global, None),
        LayerKind::Repo | LayerKind::Home => {
            let claimed = note.project().filter(|_| note.scope() == Some(Scope::Project));
            (Scope::Project, claimed.map(Into::into).or_else(|| read.layer.project.clone()))
        }
    }
}

/// The standing; without a model asked for, what it is apart from models.
pub(crate) fn shown_standing(judged: &Judged<'_>) -> Standing {
    if judged.standing != Standing::NoModel {
        return judged.standing;
    }
    let note = judged.note;
    let fields = Fields { model: Some(ANY_MODEL), active: note.active(), approval: note.approval() };
    standing(&fields, Some(ANY_MODEL), crate::config::Orphans::Any)
        .or_else(|| if note.content().is_empty() { Standing::Empty } else { Standing::Eligible })
}

fn tags(note: Note<'_>) -> Vec<String> {
    let text = note.get(&Field::Tags).unwrap_or_default();
    // A list is a line each; people also write `a, b`.
    let words = text.split(['\n', ',']).map(str::trim).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Line numbers of places that mostly come in order: the text in between is counted once.
#[derive(Debug, Default)]
pub(crate) struct LineCounter {
    layer: usize,
    offset: usize,
    newlines: usize,
}

impl LineCounter {
    pub(crate) fn line(&mut self, layer: usize, source: &str, offset: usize) -> usize {
        if layer != self.layer || offset < self.offset {
            *self = Self { layer, ..Self::default() };
        }
        self.newlines += memchr::memchr_iter(b'\n', &source.as_bytes()[self.offset..offset]).count();
        self.offset = offset;
        self.newlines + 1
    }
}
