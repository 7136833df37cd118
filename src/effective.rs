//! Which notes of the layers in reach count, and why the others do not: precedence,
//! projects, models, states. Pure: the layers are given, lowest precedence first.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt as _};
use sha2::{Digest, Sha256};

use crate::config::Orphans;
use crate::document::{Document, Note, State};
use crate::note::{LayerKind, Scope};
use crate::select::{Fields, Standing, standing};

/// A layer in reach, read.
#[derive(Clone, Copy, Debug)]
pub struct InReach<'a> {
    /// Where it lives.
    pub kind: LayerKind,
    /// What the project is called in its own layers, if not only by its key.
    pub label: Option<&'a str>,
    /// What it says.
    pub document: &'a Document,
    /// Notes, a document each, that count instead of what it says about their ids.
    pub stand_ins: &'a [Document],
    /// Ids of notes that stand there and do not count.
    pub gone: &'a [String],
    /// Whether the user stands for what it says.
    pub is_trusted: bool,
    /// Notes, by id or provisional id, that the user has not looked at yet although only
    /// those count.
    pub unreviewed: &'a [String],
}

impl<'a> InReach<'a> {
    /// A layer that says all that counts.
    pub const fn plain(kind: LayerKind, document: &'a Document) -> Self {
        Self { kind, label: None, document, stand_ins: &[], gone: &[], is_trusted: true, unreviewed: &[] }
    }

    /// All its notes, and whether each is of the file. One that counts instead of another
    /// stands right behind it, the rest at the end: a block keeps its order.
    fn notes(&self) -> Vec<(Note<'a>, bool)> {
        let mut beside: Vec<Note<'a>> =
            self.stand_ins.iter().filter_map(|document| document.notes().next()).collect();
        let mut all = Vec::with_capacity(self.document.notes().len() + beside.len());
        for note in self.document.notes() {
            all.push((note, true));
            if let Some(at) = beside.iter().position(|other| other.id() == note.id()) {
                all.push((beside.remove(at), false));
            }
        }
        all.extend(beside.into_iter().map(|note| (note, false)));
        all
    }

    /// Whether another version of a note of the file counts, or none.
    fn is_replaced(&self, id: &str) -> bool {
        let is_stood_in = |document: &Document| document.notes().next().and_then(Note::id) == Some(id);
        self.gone.iter().any(|gone| gone == id) || self.stand_ins.iter().any(is_stood_in)
    }
}

/// For whom the notes are judged.
#[derive(Clone, Copy)]
pub struct Audience<'a> {
    /// Whether a project that a note names is the current one.
    pub is_current: &'a dyn Fn(&str) -> bool,
    /// The model asked for.
    pub model: Option<&'a str>,
    /// What becomes of notes without a model.
    pub orphans: Orphans,
}

/// A note of a layer in reach, judged.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The layer's index among those given.
    pub layer: usize,
    /// The note.
    pub note: Note<'a>,
    /// Its id; for a note without one, a name made from its text that holds until it gets
    /// an id of its own: `new-` and eight hex digits.
    pub id: Cow<'a, str>,
    /// Whether it may be shown, or the first reason why not.
    pub standing: Standing,
    /// Whether it stands in the layer's file; else it counts instead of what stands there.
    pub is_in_file: bool,
    /// The layer of higher precedence that holds the same id for this project, if any.
    pub shadowed_by: Option<usize>,
}

/// What a note without an id is called until it has one.
pub fn provisional_id(note: Note<'_>) -> String {
    let mut hash = Sha256::new();
    hash.update(note.kind().as_str());
    hash.update([0]);
    hash.update(note.content().as_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    digest[..4].iter().fold(String::from("new-"), |id, byte| id + &format!("{byte:02x}"))
}

/// The id of a note, or what it is called until it has one.
pub fn id_of(note: Note<'_>) -> Cow<'_, str> {
    note.id().map_or_else(|| Cow::Owned(provisional_id(note)), Cow::Borrowed)
}

/// Judges every note of the layers, in layer order.
///
/// Scope is decided by location (docs/format.md, "Which project"): what stands in a project's
/// layer is for that project whatever it claims, and a note that names another project is
/// for nobody here. A global note with `scope: project` counts only in the project it
/// names; if it names none, nowhere: on doubt, isolate. A note that is of another project
/// neither shadows nor is shadowed, nor is one that the user does not stand for.
pub fn judge<'a>(layers: &[InReach<'a>], audience: &Audience<'_>) -> Vec<Judged<'a>> {
    let total = layers.iter().map(|layer| layer.document.notes().len() + layer.stand_ins.len()).sum();
    let mut judged: Vec<Judged<'a>> = Vec::with_capacity(total);
    // The highest layer that holds an id for this project. The lowest layer shadows none.
    let lowest =
        layers.iter().position(|layer| layer.document.notes().len() + layer.stand_ins.len() > 0).unwrap_or(0);
    let mut highest: HashMap<&'a str, usize> = HashMap::new();
    for (index, layer) in layers.iter().enumerate() {
        let is_plain = layer.stand_ins.is_empty() && layer.gone.is_empty();
        for (note, is_in_file) in layer.notes() {
            let is_replaced = !is_plain && is_in_file && note.id().is_some_and(|id| layer.is_replaced(id));
            let is_here = is_in_project(layer, note, audience);
            let id = id_of(note);
            let is_seen = layer.is_trusted && !layer.unreviewed.iter().any(|it| *it == id);
            if is_here
                && is_seen
                && !is_replaced
                && index > lowest
                && let Some(id) = note.id()
            {
                highest.insert(id, index);
            }
            let standing = if is_replaced {
                Standing::Replaced
            } else if !layer.is_trusted {
                Standing::Untrusted
            } else if !is_seen {
                Standing::Unreviewed
            } else if is_here {
                standing_of(note, audience, is_in_file && layer.document.is_equal_copy(note))
            } else {
                Standing::OtherProject
            };
            judged.push(Judged { layer: index, note, id, standing, is_in_file, shadowed_by: None });
        }
    }
    if !highest.is_empty() {
        for one in &mut judged {
            let holder = one.note.id().and_then(|id| highest.get(id)).filter(|holder| **holder > one.layer);
            if let Some(holder) = holder.filter(|_| !one.standing.is_apart()) {
                one.standing = Standing::Shadowed;
                one.shadowed_by = Some(*holder);
            }
        }
    }
    judged
}

fn is_in_project(layer: &InReach<'_>, note: Note<'_>, audience: &Audience<'_>) -> bool {
    let scope = note.scope();
    match layer.kind {
        LayerKind::Global if scope == Some(Scope::Project) => {
            note.project().is_some_and(|project| (audience.is_current)(&project))
        }
        LayerKind::Global => true,
        LayerKind::Repo | LayerKind::Home => {
            scope != Some(Scope::Project)
                || note
                    .project()
                    .is_none_or(|project| layer.label == Some(&*project) || (audience.is_current)(&project))
        }
    }
}

fn standing_of(note: Note<'_>, audience: &Audience<'_>, is_copy: bool) -> Standing {
    match note.state() {
        State::Unparsed => return Standing::Unparsed,
        State::Conflicted => return Standing::Conflicted,
        State::Good => {}
    }
    let model = note.model();
    let fields = Fields { model: model.as_deref(), active: note.active(), approval: note.approval() };
    let standing = match standing(&fields, audience.model, audience.orphans) {
        // Whoever asks for no model is told of each note once as well.
        Standing::Eligible | Standing::NoModel if is_copy => Standing::Copy,
        other => other,
    };
    standing.or_else(|| if note.content().is_empty() { Standing::Empty } else { Standing::Eligible })
}
