//! Changing layers on disk: under the root's lock, after a pass over the layer, from what
//! its file holds then, and only if it still holds that. What cannot be written now waits in
//! the store and counts all the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::document::{Change, Document, EditError, Field, Note, Refusal};
use crate::effective::id_of;
use crate::files::{ChangedTo, Expected, Found, WriteError, Wrote};
use crate::reconcile::{Step, View, lacks_ids, renew_revision, steps};
use crate::review::seen_online;
use crate::secret::Values;
use crate::store::{Hash, LayerId, StoreError, Tx, WhyGone};
use crate::workspace::{LayerKind, LayerRef, WorkspaceError};

use super::journal::{Batch, add_version, keep_waiting, record_steps};
use super::line::StoredLine;
use super::look::{Looked, place_of, stamp_of};
use super::{PassOptions, Session, SyncError, TRIES, Waits, opened, spelled, view_of, waiting_of};

/// Why a layer was not changed. Its file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Neither root nor store can be used.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The layer cannot be read or written.
    #[error(transparent)]
    Layer(#[from] WorkspaceError),
    /// The document refuses the change.
    #[error("{error}")]
    Edit {
        /// The layer's file.
        path: PathBuf,
        /// What it holds.
        source_text: String,
        /// The refusal.
        error: Box<EditError>,
    },
    /// The layer was changed, and that could not be written down.
    #[error("{path} was changed, but that could not be written down: {error}", path = path.display())]
    Unrecorded {
        /// The layer's file.
        path: PathBuf,
        /// What keeps the store from it.
        error: SyncError,
    },
    /// The note is not there (any more).
    #[error("there is no note {id} in {path}", path = path.display())]
    NoSuchNote {
        /// The layer's file.
        path: PathBuf,
        /// The id asked for.
        id: String,
    },
    /// The note says something else than when it was shown to be changed.
    #[error("somebody changed {id} in {path} meanwhile; nothing was written", path = path.display())]
    Moved {
        /// The layer's file.
        path: PathBuf,
        /// The note.
        id: String,
    },
    /// The id names several notes of the layer, so it is not known which is meant.
    #[error("{count} notes of this layer have the id {id}")]
    Ambiguous {
        /// The layer's file.
        path: PathBuf,
        /// What it holds.
        source_text: String,
        /// The id asked for.
        id: String,
        /// How many there are.
        count: usize,
        /// Where the second one starts, as an offset.
        second: usize,
    },
    /// The change brings a credential into the layer. What it is, never which.
    #[error(
        "{} holds a credential ({kind}); nothing was written", 
        place_of_secret(note.as_ref())
    )]
    Secret {
        /// What it is: `GitHub token`.
        kind: &'static str,
        /// The note and the field that hold it; none if it stands between notes.
        note: Option<(String, String)>,
        /// Whether anything can be done about it.
        remedy: Remedy,
    },
    /// Git's conflict markers stand in the layer.
    #[error("git's conflict markers stand in this layer; it is not written until they are gone")]
    Conflict {
        /// The layer's file.
        path: PathBuf,
        /// What it holds.
        source_text: String,
        /// Where the first marker stands, as an offset.
        offset: usize,
    },
}

impl ChangeError {
    /// The file, its text and an offset, where the error is about a place in a layer.
    pub fn place(&self) -> Option<(&Path, &str, usize)> {
        match self {
            // A value that will not do is wrong on the command line, not in the file.
            Self::Edit { error, .. } if matches!(error.refusal, Refusal::BadValue { .. }) => None,
            Self::Edit { path, source_text, error } => {
                let location = error.location?;
                let line_start = source_text
                    .split_inclusive('\n')
                    .take(location.line.saturating_sub(1))
                    .map(str::len)
                    .sum();
                Some((path, source_text, line_start))
            }
            Self::Ambiguous { path, source_text, second: offset, .. }
            | Self::Conflict { path, source_text, offset } => Some((path, source_text, *offset)),
            Self::Sync(_)
            | Self::Layer(_)
            | Self::Unrecorded { .. }
            | Self::NoSuchNote { .. }
            | Self::Moved { .. }
            | Self::Secret { .. } => None,
        }
    }
}

/// What can be done about a credential that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the layer is shared.
    None,
    /// The author may be allowed to ([`Author::may_add_secrets`]).
    Allow,
    /// To wait: the file cannot be written now, and what waits is kept without credentials.
    Later,
}

fn place_of_secret(note: Option<&(String, String)>) -> String {
    note.map_or_else(|| "the text between the notes".to_owned(), |(id, field)| format!("the {field} of {id}"))
}

/// Who changes notes online, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// `user`, `agent:<model>` or `refiner:<command>`.
    pub who: String,
    /// What for, if somebody says so.
    pub reason: Option<String>,
    /// Notes that are on their way from one layer to another, as they were: neither gone nor new.
    pub moving: BTreeMap<String, String>,
    /// Whether credentials may be written into layers that nobody else reads.
    pub may_add_secrets: bool,
}

impl Author {
    /// An agent by its model, or a person where no model is known.
    pub fn of(model: Option<&str>) -> Self {
        let who = model.map_or_else(|| "user".to_owned(), |model| format!("agent:{model}"));
        Self { who, reason: None, moving: BTreeMap::new(), may_add_secrets: false }
    }
}

/// A change that was made, or that was none.
#[derive(Debug)]
pub struct Changed {
    /// What became of the file.
    pub wrote: Wrote,
    /// What the layer said.
    pub before: Document,
    /// What it says now.
    pub after: Document,
    /// Why the file does not say so yet; the change counts and waits for it.
    pub waits: Option<Waits>,
}

/// Changes a layer. `plan` sees what the layer says under the lock and answers with the
/// changes; all are made or none. A file that does not exist yet starts as `seed`. `plan`
/// is asked again if somebody saves the file in between.
pub fn change_layer(
    session: &Session,
    layer: &LayerRef,
    seed: &str,
    mut plan: impl FnMut(&Document) -> Result<Vec<Change>, ChangeError>,
) -> Result<Changed, ChangeError> {
    rewrite_layer(session, layer, seed, |document| {
        let changes = plan(document)?;
        document.apply(&changes).map_err(|error| edit_error(layer, document, error))
    })
}

/// As [`change_layer`], with the whole new document as the answer (`layers fmt`).
pub fn rewrite_layer(
    session: &Session,
    layer: &LayerRef,
    seed: &str,
    mut rewrite: impl FnMut(&Document) -> Result<Document, ChangeError>,
) -> Result<Changed, ChangeError> {
    // Here and nowhere else, since every command that writes notes comes this way.
    let mut rewrite = |document: &Document| {
        let after = rewrite(document)?;
        admit(&session.author, layer, document, &after)?;
        Ok(after)
    };
    let mut tries = 0;
    loop {
        tries += 1;
        match session.try_change(layer, seed, &mut rewrite) {
            Err(ChangeError::Layer(WorkspaceError::Write(WriteError::Changed { .. }))) if tries < TRIES => {}
            done => return done,
        }
    }
}

impl Session {
    fn try_change(
        &self,
        layer: &LayerRef,
        seed: &str,
        rewrite: &mut impl FnMut(&Document) -> Result<Document, ChangeError>,
    ) -> Result<Changed, ChangeError> {
        layer.trusted()?;
        // Notes keep what they are called, for whoever asked for one by that.
        let options = PassOptions { names: false, ..PassOptions::default() };
        let report = self.pass(std::slice::from_ref(layer), &options)?.pop();
        let mut report = report.unwrap_or_else(|| super::LayerReport::new(layer));
        if let Some(error) = report.error.take() {
            return Err(error.into());
        }
        let waits = report.waits.clone();
        let left = self.left_by_pass(layer, report.after.as_ref())?;
        self.heard.hear(report);
        let looked = Looked::at(layer)?;
        if looked.hash().unwrap_or_else(nothing) != left {
            // Somebody saved it since: nobody has seen yet what that did to notes.
            return Err(WorkspaceError::from(WriteError::Changed {
                path: layer.path.clone(),
                to: ChangedTo::OtherBytes,
            })
            .into());
        }
        let (text, is_there) = match &looked.found {
            Found::Content(text) => (text.as_str(), true),
            Found::Absent => (seed, false),
        };
        let file = Document::parse(text);
        let waits = waits.or_else(|| {
            let tree = crate::workspace::WorkTree::around(&layer.path)?;
            tree.under_way().map(Waits::Git)
        });
        if let Some(waits) = waits.filter(|waits| *waits != Waits::Unreadable) {
            return self.let_wait(layer, &file, waits, rewrite);
        }
        let after = renew_revision(&file, rewrite(&file)?);
        // What is already so is not written, not even to see whether it could be.
        if is_there && after.source() == text {
            return Ok(Changed { wrote: Wrote::Nothing, before: file, after, waits: None });
        }
        let expected = if is_there { Expected::Bytes(text.as_bytes()) } else { Expected::Absent };
        let wrote = layer.replace(expected, after.source().as_bytes())?;
        self.record_change(layer, &file, &after, is_there)
            .map_err(|error| ChangeError::Unrecorded { path: layer.path.clone(), error })?;
        Ok(Changed { wrote, before: file, after, waits: None })
    }

    /// The hash of the file as a pass left it: by its report, or as the store knows it.
    fn left_by_pass(&self, layer: &LayerRef, after: Option<&Document>) -> Result<Hash, SyncError> {
        if let Some(after) = after {
            return Ok(Hash::of(after.source()));
        }
        let row = self.store.read().layer(&self.root, &place_of(&layer.path))?;
        Ok(row.and_then(|row| row.seen).unwrap_or_else(nothing))
    }

    /// The file is not to be written now: the change is made to what the layer said last,
    /// and waits.
    fn let_wait(
        &self,
        layer: &LayerRef,
        file: &Document,
        waits: Waits,
        rewrite: &mut impl FnMut(&Document) -> Result<Document, ChangeError>,
    ) -> Result<Changed, ChangeError> {
        let place = place_of(&layer.path);
        let row = self.store.read().layer(&self.root, &place).map_err(SyncError::from)?;
        let line = StoredLine::of(&self.store, row.as_ref().map(|row| row.id), file.source())
            .map_err(SyncError::from)?;
        let head = line.head().map_err(SyncError::from)?;
        let waiting = waiting_of(&self.store, row.as_ref(), file.source()).map_err(SyncError::from)?;
        let head = match &head {
            Some(head) => Document::clone(head),
            // Nothing good is known of it yet, so there is nothing to change.
            None => file.clone(),
        };
        if let Some(conflict) = head.conflicts().first() {
            return Err(ChangeError::Conflict {
                path: layer.path.clone(),
                source_text: head.source().to_owned(),
                offset: conflict.start,
            });
        }
        let (from, before) = waiting.unwrap_or_else(|| (head.clone(), head.clone()));
        let after = rewrite(&before)?;
        if after.source() == before.source() {
            return Ok(Changed { wrote: Wrote::Nothing, before, after, waits: None });
        }
        if let Some(error) = brought(&after, file.source(), Remedy::Later) {
            return Err(error);
        }
        let batch = self.batch.at_once();
        self.marks.take(&self.root, &place);
        let changed = steps(&before, &after, &view_of(row.as_ref()).on_waiting());
        self.store
            .write(|tx| {
                let mut row = tx.layer_or_new(&self.root, &place)?;
                self.record_online(tx, row.id, &changed, &batch)?;
                accept(tx, layer, &before, &after, batch.at)?;
                let pair = (from.clone(), after.clone());
                let mut view = opened(view_of(Some(&row)), file.source());
                view.wait(file, &head, &pair);
                row.view = spelled(&view);
                row.waiting = keep_waiting(tx, Some(&pair), &head)?;
                tx.put_layer(&row)
            })
            .map_err(SyncError::Store)?;
        self.marks.put_known(&self.root, &place);
        Ok(Changed { wrote: Wrote::Nothing, before, after, waits: Some(waits) })
    }

    /// Writes down what this session's author did.
    fn record_online(
        &self,
        tx: &Tx<'_>,
        layer: LayerId,
        steps: &[Step],
        batch: &Batch,
    ) -> Result<(), StoreError> {
        let author = &self.author;
        let reason = author.reason.as_deref();
        let moving = |id: &str| author.moving.get(id);
        let steps = steps.iter().filter(|step| step.after.is_some() || moving(&step.id).is_none());
        let steps: Vec<Step> = steps
            .map(|step| {
                let before = step.before.clone().or_else(|| moving(&step.id).cloned());
                Step { before, ..step.clone() }
            })
            .collect();
        let is_arrival = |id: &str| moving(id).is_some();
        record_steps(tx, layer, &steps, &author.who, WhyGone::Archived, reason, batch, is_arrival)?;
        Ok(())
    }

    /// Writes down a change that was made. The file has it: what goes wrong here loses
    /// history and is told, and the next pass takes the file as it is.
    fn record_change(
        &self,
        layer: &LayerRef,
        before: &Document,
        after: &Document,
        was_there: bool,
    ) -> Result<(), SyncError> {
        let place = place_of(&layer.path);
        let batch = self.batch.at_once();
        self.marks.take(&self.root, &place);
        let mut is_plain = false;
        self.store.write(|tx| {
            let mut row = tx.layer_or_new(&self.root, &place)?;
            if !was_there {
                // The empty file is a version, so that a stale save cannot take the note away.
                add_version(tx, row.id, before, "offline", &batch)?;
            }
            let old = opened(view_of(Some(&row)), before.source());
            let changed = steps(before, after, &old);
            add_version(tx, row.id, after, "online", &batch)?;
            self.record_online(tx, row.id, &changed, &batch)?;
            accept(tx, layer, before, after, batch.at)?;
            let is_explicit = |id: &str, field: &Field| {
                let has =
                    |document: &Document| document.note(id).is_some_and(|note| note.get(field).is_some());
                has(before) && !has(after)
            };
            let view = View::with_explicit(after, after, before, &old, None, &is_explicit);
            is_plain = view.is_plain();
            row.view = spelled(&view);
            row.seen = (!lacks_ids(after)).then(|| Hash::of(after.source()));
            row.stamp = None;
            tx.put_layer(&row)?;
            is_plain &= row.waiting.is_none();
            Ok::<_, StoreError>(())
        })?;
        if is_plain {
            let hash = Some(Hash::of(after.source()));
            self.marks.put(&self.root, &place, hash, stamp_of(&layer.path), batch.at);
        } else {
            self.marks.put_known(&self.root, &place);
        }
        Ok(())
    }
}

/// What is changed through us in a trusted repository has been seen.
fn accept(
    tx: &Tx<'_>,
    layer: &LayerRef,
    before: &Document,
    after: &Document,
    now: u64,
) -> Result<(), StoreError> {
    let (Some(grant), Some(path)) = (layer.trust.grant(), layer.inner_path()) else { return Ok(()) };
    let reviewed = tx.reviewed(grant.id, path)?;
    for row in seen_online(before, after, &reviewed) {
        tx.put_reviewed(grant.id, path, &row, now)?;
    }
    Ok(())
}

/// The hash of a file that is not there.
fn nothing() -> Hash {
    Hash::of("")
}

/// Refuses what would bring a credential into a layer. One that a person typed there may
/// stay, and go along from one layer of theirs into another. [`rewrite_layer`] asks it; who
/// writes several layers asks before the first.
pub fn admit(
    author: &Author,
    layer: &LayerRef,
    before: &Document,
    after: &Document,
) -> Result<(), ChangeError> {
    let is_shared = layer.kind == LayerKind::Repo;
    if !is_shared && author.may_add_secrets || before.source() == after.source() {
        return Ok(());
    }
    let mut known = before.source().to_owned();
    for text in author.moving.values().filter(|_| !is_shared) {
        known.push('\n');
        known.push_str(text);
    }
    let remedy = if is_shared { Remedy::None } else { Remedy::Allow };
    brought(after, &known, remedy).map_or(Ok(()), Err)
}

/// The first credential of a layer that a text does not have.
fn brought(after: &Document, known: &str, remedy: Remedy) -> Option<ChangeError> {
    let values = Values::of(after.source());
    let new = values.new_beside(known).next()?;
    let field = |note: Note<'_>| {
        let fields = std::iter::once(Field::Content).chain(note.fields());
        let mut holding = fields.filter(|field| {
            note.get(field).is_some_and(|text| new.is_in(&text))
                || note.entry_text(field).is_some_and(|text| new.is_in(text))
        });
        holding.next().map(|field| (id_of(note).into_owned(), field.key().to_owned()))
    };
    Some(ChangeError::Secret { kind: new.kind, note: after.notes().find_map(field), remedy })
}

/// A refusal of the document with the layer that it is about.
pub fn edit_error(layer: &LayerRef, document: &Document, error: EditError) -> ChangeError {
    let source_text = document.source().to_owned();
    ChangeError::Edit { path: layer.path.clone(), source_text, error: Box::new(error) }
}

/// The one note of a layer with this id, provisional ids included
/// ([`crate::effective::provisional_id`]).
pub fn find_note<'a>(layer: &LayerRef, document: &'a Document, id: &str) -> Result<Note<'a>, ChangeError> {
    let mut found = document.notes().filter(|note| id_of(*note) == id);
    let first = found
        .next()
        .ok_or_else(|| ChangeError::NoSuchNote { path: layer.path.clone(), id: id.to_owned() })?;
    let Some(second) = found.next() else { return Ok(first) };
    Err(ChangeError::Ambiguous {
        path: layer.path.clone(),
        source_text: document.source().to_owned(),
        id: id.to_owned(),
        count: 2 + found.count(),
        second: second.span().start,
    })
}
