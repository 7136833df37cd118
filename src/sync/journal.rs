//! Writing down what a pass did.

use std::collections::BTreeSet;

use crate::document::Document;
use crate::files::Found;
use crate::merge::{Lost, revision_of};
use crate::mint::now_millis;
use crate::reconcile::{Settled, Step, lacks_ids};
use crate::store::{
    Archived, Hash, LayerId, NewArchived, NewChange, NewConflict, Op, StoreError, Tx, VersionId, WhyGone,
};

use super::look::{reliable, stamp_of};
use super::{Happened, Session, SyncError, Waits, Work};

/// What happened to each note, for the report.
pub(super) fn happened(settled: &Settled, returned: &BTreeSet<String>) -> Vec<(String, Happened)> {
    let happened = |step: &Step| {
        let what = match (&step.before, &step.after) {
            (None, _) if returned.contains(&step.id) => Happened::Returned,
            (None, _) => Happened::Created,
            (Some(_), Some(_)) if settled.arrived.contains(&step.id) => Happened::Moved,
            (Some(_), Some(_)) => Happened::Updated,
            (Some(_), None) => Happened::Gone,
        };
        (step.id.clone(), what)
    };
    settled.steps.iter().map(happened).collect()
}

/// A batch of changes that belong together: when, and its name.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) name: String,
    pub(super) at: u64,
}

impl Batch {
    pub(super) fn new() -> Result<Self, SyncError> {
        let name = crate::mint::fresh_id()?;
        Ok(Self { name: name.trim_start_matches("h_").to_owned(), at: now_millis() })
    }

    /// More changes of the same batch, now.
    pub(super) fn at_once(&self) -> Self {
        Self { name: self.name.clone(), at: now_millis() }
    }
}

impl Session {
    /// Writes a pass down, all or nothing. The notes that are back from the archive, by layer.
    pub(super) fn record(&self, works: &[Work]) -> Result<Vec<BTreeSet<String>>, SyncError> {
        let batch = Batch::new()?;
        for work in works.iter().filter(|work| work.settled.is_some()) {
            self.marks.take(&self.root, &work.place);
        }
        let returned = self.store.write(|tx| {
            let returned = works.iter().map(|work| self.record_one(tx, work, &batch));
            returned.collect::<Result<Vec<_>, StoreError>>()
        })?;
        for work in works {
            let (is_plain, text) = if let Some(settled) = &work.settled {
                (settled.view.is_plain() && settled.waiting.is_none(), settled.document.source())
            } else {
                let row = work.row.as_ref();
                let is_written = row.is_some_and(|row| row.waiting.is_none());
                (super::view_of(row).is_plain() && is_written, work.file.source())
            };
            if is_plain && work.error.is_none() && work.waits.is_none() {
                let is_there = work.wrote || work.looked.found != Found::Absent;
                let hash = is_there.then(|| if work.wrote { Hash::of(text) } else { work.hash() });
                let stamp = if work.wrote { stamp_of(&work.layer.path) } else { work.looked.stamp };
                self.marks.put(&self.root, &work.place, hash, stamp, batch.at);
            } else if work.settled.is_some() {
                self.marks.put_known(&self.root, &work.place);
            }
        }
        Ok(returned)
    }

    fn record_one(&self, tx: &Tx<'_>, work: &Work, batch: &Batch) -> Result<BTreeSet<String>, StoreError> {
        let mut row = tx.layer_or_new(&self.root, &work.place)?;
        let known = row.clone();
        let Some(settled) = &work.settled else {
            // What was seen already, with a stat that tells from now on.
            let stamp = reliable(work.looked.stamp, batch.at);
            if stamp != row.stamp && work.error.is_none() {
                row.stamp = stamp;
                tx.put_layer(&row)?;
            }
            return Ok(BTreeSet::new());
        };
        let newest = tx.newest_version(row.id)?;
        let base = settled.base.and_then(|base| work.versions.get(base.index)).copied();
        if let Some(origin) = settled.origin
            && newest.as_ref().is_none_or(|newest| newest.hash != work.hash())
        {
            add_version(tx, row.id, &work.file, origin.as_str(), batch)?;
        }
        if work.wrote {
            add_version(tx, row.id, &settled.document, settled.merged.as_str(), batch)?;
        }
        let who = if work.by_git { "git" } else { "offline" };
        let why = if work.by_git { WhyGone::Git } else { WhyGone::Deleted };
        let returned = record_steps(tx, row.id, &settled.steps, who, why, None, batch, |id| {
            settled.arrived.contains(id)
        })?;
        record_losses(tx, row.id, settled, base, newest.map(|newest| newest.id), batch)?;
        row.view =
            (!settled.view.is_plain()).then(|| serde_json::to_string(&settled.view).unwrap_or_default());
        row.waiting = keep_waiting(tx, settled.waiting.as_ref(), &settled.document)?;
        // Looked at again once it can be written: notes may still lack their ids.
        let is_blocked =
            matches!(work.waits, Some(Waits::Conflict | Waits::Git(_) | Waits::Editor | Waits::Unwritable));
        let is_blocked = is_blocked || !work.by_git && lacks_ids(&settled.document);
        let is_there = work.wrote || work.looked.found != Found::Absent;
        row.seen = (!is_blocked && is_there)
            .then(|| if work.wrote { Hash::of(settled.document.source()) } else { work.hash() });
        // What was just written is too young for its stat to tell.
        row.stamp = if work.wrote || is_blocked { None } else { reliable(work.looked.stamp, batch.at) };
        if row != known {
            tx.put_layer(&row)?;
        }
        Ok(returned)
    }
}

pub(super) fn keep_waiting(
    tx: &Tx<'_>,
    waiting: Option<&(Document, Document)>,
    near: &Document,
) -> Result<Option<(Hash, Hash)>, StoreError> {
    let Some((from, to)) = waiting else { return Ok(None) };
    let from = tx.keep(from.source(), Some(Hash::of(near.source())))?;
    Ok(Some((from, tx.keep(to.source(), Some(from))?)))
}

pub(super) fn add_version(
    tx: &Tx<'_>,
    layer: LayerId,
    document: &Document,
    origin: &str,
    batch: &Batch,
) -> Result<VersionId, StoreError> {
    tx.add_version(layer, document.source(), origin, &revision_of(document), batch.at, &batch.name)
}

#[expect(clippy::too_many_arguments, reason = "one row's worth of facts, in one place")]
pub(super) fn record_steps(
    tx: &Tx<'_>,
    layer: LayerId,
    steps: &[Step],
    who: &str,
    why: WhyGone,
    reason: Option<&str>,
    batch: &Batch,
    is_arrival: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, StoreError> {
    let mut returned = BTreeSet::new();
    for step in steps {
        let is_back = step.after.is_some() && tx.mark_returned(layer, &step.id, batch.at)?;
        if is_back {
            returned.insert(step.id.clone());
        }
        let op = match (&step.before, &step.after) {
            (None, _) if is_back => Op::Restore,
            (None, _) => Op::Create,
            (Some(_), None) => Op::Delete,
            (Some(_), Some(_)) if is_arrival(&step.id) => Op::Move,
            (Some(_), Some(_)) => Op::Update,
        };
        tx.add_change(&NewChange {
            batch: &batch.name,
            at: batch.at,
            who,
            layer,
            note: &step.id,
            op,
            before: step.before.as_deref(),
            after: step.after.as_deref(),
            reason,
        })?;
        if let (Some(text), None) = (&step.before, &step.after) {
            tx.add_archived(&NewArchived {
                batch: &batch.name,
                at: batch.at,
                layer,
                note: &step.id,
                text,
                why,
            })?;
        }
    }
    Ok(returned)
}

fn record_losses(
    tx: &Tx<'_>,
    layer: LayerId,
    settled: &Settled,
    from: Option<VersionId>,
    to: Option<VersionId>,
    batch: &Batch,
) -> Result<(), StoreError> {
    for loss in &settled.losses {
        let (field, kept, lost) = match &loss.lost {
            Lost::Value { field, kept, lost } => {
                (field.as_ref().map(|field| field.key().to_owned()), kept.clone(), lost.clone())
            }
            Lost::Removal => (Some("removal".to_owned()), None, None),
            // The note itself is gone, and kept in the archive.
            Lost::Note(_) => continue,
        };
        let conflict = NewConflict {
            batch: &batch.name,
            at: batch.at,
            layer,
            note: loss.id.as_deref(),
            field: field.as_deref(),
            kept: kept.as_deref(),
            lost: lost.as_deref(),
            from,
            to,
        };
        tx.add_conflict(&conflict)?;
    }
    Ok(())
}

/// A note that is in no file, from the archive or else from the versions of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The layer that it was in.
    pub layer: LayerId,
    /// The note as a layer of its own.
    pub text: String,
}

/// The newest text of a note that left one of these layers.
pub fn recall(tx: &Tx<'_>, layers: &[LayerId], note: &str) -> Result<Option<Recalled>, StoreError> {
    let archived = tx.archived_note(note)?;
    let of_ours = |one: &&Archived| layers.contains(&one.layer);
    if let Some(one) = archived.iter().find(of_ours) {
        return Ok(Some(Recalled { layer: one.layer, text: one.text.clone() }));
    }
    // A checkout may have taken the whole file away, which is no loss of notes.
    for layer in layers {
        for version in tx.versions(*layer)?.iter().rev() {
            let document = Document::parse(tx.text(version.hash)?);
            if let Some(found) = document.note(note) {
                return Ok(Some(Recalled { layer: *layer, text: found.snippet() }));
            }
        }
    }
    Ok(None)
}
