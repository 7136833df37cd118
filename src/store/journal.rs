//! What happened to notes: changes, what lost in a merge, what is gone from the files.

use crate::secret::seal;

use super::{LayerId, StoreError, Tx, VersionId};

/// What was done to a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// It is new.
    Create,
    /// It says something else.
    Update,
    /// It left its file and is in the archive.
    Delete,
    /// It came from another layer.
    Move,
    /// It came back from the archive.
    Restore,
}

impl Op {
    const ALL: [Self; 5] = [Self::Create, Self::Update, Self::Delete, Self::Move, Self::Restore];

    /// The word in the journal and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Restore => "restore",
        }
    }
}

/// Why a note is in no file any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WhyGone {
    /// Somebody took it out of the file.
    Deleted,
    /// It was put away by `layers archive`.
    Archived,
    /// A checkout brought a file without it; it may stand on another branch.
    Git,
}

impl WhyGone {
    const ALL: [Self; 3] = [Self::Deleted, Self::Archived, Self::Git];

    /// The word in the store and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Archived => "archived",
            Self::Git => "git",
        }
    }
}

/// A change to be written down.
#[derive(Clone, Debug)]
pub struct NewChange<'a> {
    /// The batch that it belongs to: all changes of one sync or command.
    pub batch: &'a str,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// `offline`, `agent:<model>`, `refiner:<command>`, `git`, `user`.
    pub who: &'a str,
    /// The layer.
    pub layer: LayerId,
    /// The note.
    pub note: &'a str,
    /// What was done.
    pub op: Op,
    /// The note before, as a layer of its own.
    pub before: Option<&'a str>,
    /// The note after, as a layer of its own.
    pub after: Option<&'a str>,
    /// Why, if somebody said so.
    pub reason: Option<&'a str>,
}

/// A change of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// Itself; later ones are greater.
    pub id: i64,
    /// Its batch.
    pub batch: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Who.
    pub who: String,
    /// The layer.
    pub layer: LayerId,
    /// The note.
    pub note: String,
    /// What was done.
    pub op: Op,
    /// The note before, as a layer of its own.
    pub before: Option<String>,
    /// The note after, as a layer of its own.
    pub after: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// Something that lost in a merge, to be written down.
#[derive(Clone, Debug)]
pub struct NewConflict<'a> {
    /// The batch that it came with.
    pub batch: &'a str,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The layer.
    pub layer: LayerId,
    /// The note; none for prose.
    pub note: Option<&'a str>,
    /// The field; none for prose or a whole note.
    pub field: Option<&'a str>,
    /// What stands in the file.
    pub kept: Option<&'a str>,
    /// What lost.
    pub lost: Option<&'a str>,
    /// Between which versions: the base,
    pub from: Option<VersionId>,
    /// and the one that the losing change leads to.
    pub to: Option<VersionId>,
}

/// Something that lost in a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictRow {
    /// Itself.
    pub id: i64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The layer.
    pub layer: LayerId,
    /// The note; none for prose.
    pub note: Option<String>,
    /// The field; none for prose or a whole note.
    pub field: Option<String>,
    /// What stood in the file.
    pub kept: Option<String>,
    /// What lost.
    pub lost: Option<String>,
    /// When it was brought back or dismissed.
    pub settled: Option<u64>,
}

/// A note that left its file, to be kept.
#[derive(Clone, Debug)]
pub struct NewArchived<'a> {
    /// The batch that it went with.
    pub batch: &'a str,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The layer that it was in.
    pub layer: LayerId,
    /// The note.
    pub note: &'a str,
    /// Its bytes, as a layer of its own.
    pub text: &'a str,
    /// Why it went.
    pub why: WhyGone,
}

/// A note in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// Itself.
    pub id: i64,
    /// When it went, in milliseconds since 1970.
    pub at: u64,
    /// The layer that it was in.
    pub layer: LayerId,
    /// The note.
    pub note: String,
    /// Its bytes, as a layer of its own.
    pub text: String,
    /// Why it went.
    pub why: WhyGone,
    /// When it stood in a file again.
    pub returned: Option<u64>,
}

impl Tx<'_> {
    /// Writes a change down.
    pub fn add_change(&self, change: &NewChange<'_>) -> Result<i64, StoreError> {
        self.count_note(change.layer, change.note, change.at)?;
        self.insert(
            "INSERT INTO change (batch, at, who, layer, note, op, before, after, reason)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                change.batch,
                change.at,
                change.who,
                change.layer.0,
                change.note,
                change.op.as_str(),
                change.before.map(seal),
                change.after.map(seal),
                change.reason.map(seal),
            ),
        )
    }

    /// The changes of a note in any layer, oldest first.
    pub fn changes_of_note(&self, note: &str) -> Result<Vec<ChangeRow>, StoreError> {
        self.changes("note = ? ORDER BY id", [note])
    }

    /// The changes of a batch, oldest first.
    pub fn changes_of_batch(&self, batch: &str) -> Result<Vec<ChangeRow>, StoreError> {
        self.changes("batch = ? ORDER BY id", [batch])
    }

    /// One change.
    pub fn change(&self, id: i64) -> Result<Option<ChangeRow>, StoreError> {
        Ok(self.changes("id = ?", [id])?.pop())
    }

    /// The changes of a layer, newest first, `limit` at most.
    pub fn changes_of_layer(&self, layer: LayerId, limit: usize) -> Result<Vec<ChangeRow>, StoreError> {
        self.changes("layer = ? ORDER BY id DESC LIMIT ?", (layer.0, limit))
    }

    /// What was done to the notes of a layer since then, in milliseconds since 1970, but by
    /// git: the changes' ids and operations, oldest first.
    pub fn operations_since(&self, layer: LayerId, at: u64) -> Result<Vec<(i64, Op)>, StoreError> {
        let which = "SELECT id, op FROM change WHERE layer = ? AND at >= ? AND who <> 'git' ORDER BY id";
        self.all(which, (layer.0, at), |row| Ok((row.get(0)?, op(&row.get::<_, String>(1)?))))
    }

    fn changes(&self, which: &str, params: impl rusqlite::Params) -> Result<Vec<ChangeRow>, StoreError> {
        let sql = format!(
            "SELECT id, batch, at, who, layer, note, op, before, after, reason FROM change WHERE {which}"
        );
        self.all(&sql, params, |row| {
            Ok(ChangeRow {
                id: row.get(0)?,
                batch: row.get(1)?,
                at: row.get(2)?,
                who: row.get(3)?,
                layer: LayerId(row.get(4)?),
                note: row.get(5)?,
                op: op(&row.get::<_, String>(6)?),
                before: row.get(7)?,
                after: row.get(8)?,
                reason: row.get(9)?,
            })
        })
    }

    /// Writes down what lost.
    pub fn add_conflict(&self, conflict: &NewConflict<'_>) -> Result<i64, StoreError> {
        self.insert(
            "INSERT INTO conflict (batch, at, layer, note, field, kept, lost, from_version, to_version)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                conflict.batch,
                conflict.at,
                conflict.layer.0,
                conflict.note,
                conflict.field,
                conflict.kept.map(seal),
                conflict.lost.map(seal),
                conflict.from.map(|id| id.0),
                conflict.to.map(|id| id.0),
            ),
        )
    }

    /// What lost in a layer, newest first; with `all` also what was settled since.
    pub fn conflicts(&self, layer: LayerId, all: bool) -> Result<Vec<ConflictRow>, StoreError> {
        self.all(
            "SELECT id, at, layer, note, field, kept, lost, settled FROM conflict
             WHERE layer = ? AND (? OR settled IS NULL) ORDER BY id DESC",
            (layer.0, all),
            conflict_row,
        )
    }

    /// One conflict.
    pub fn conflict(&self, id: i64) -> Result<Option<ConflictRow>, StoreError> {
        self.one(
            "SELECT id, at, layer, note, field, kept, lost, settled FROM conflict WHERE id = ?",
            [id],
            conflict_row,
        )
    }

    /// What lost of a note, oldest first.
    pub fn conflicts_of_note(&self, note: &str) -> Result<Vec<ConflictRow>, StoreError> {
        self.all(
            "SELECT id, at, layer, note, field, kept, lost, settled FROM conflict WHERE note = ? ORDER BY id",
            [note],
            conflict_row,
        )
    }

    /// Marks a conflict as brought back or dismissed.
    pub fn settle_conflict(&self, id: i64, at: u64) -> Result<(), StoreError> {
        self.run("UPDATE conflict SET settled = ? WHERE id = ?", (at, id))?;
        Ok(())
    }

    /// Keeps a note that left its file.
    pub fn add_archived(&self, archived: &NewArchived<'_>) -> Result<i64, StoreError> {
        self.insert(
            "INSERT INTO archive (batch, at, layer, note, text, why) VALUES (?, ?, ?, ?, ?, ?)",
            (
                archived.batch,
                archived.at,
                archived.layer.0,
                archived.note,
                seal(archived.text),
                archived.why.as_str(),
            ),
        )
    }

    /// The notes of a layer that are in the archive, newest first; with `all` also those
    /// that stand in a file again.
    pub fn archived(&self, layer: LayerId, all: bool) -> Result<Vec<Archived>, StoreError> {
        self.archive("layer = ? AND (? OR returned IS NULL) ORDER BY id DESC", (layer.0, all))
    }

    /// The archived versions of a note in any layer, newest first.
    pub fn archived_note(&self, note: &str) -> Result<Vec<Archived>, StoreError> {
        self.archive("note = ? ORDER BY id DESC", [note])
    }

    fn archive(&self, which: &str, params: impl rusqlite::Params) -> Result<Vec<Archived>, StoreError> {
        let sql = format!("SELECT id, at, layer, note, text, why, returned FROM archive WHERE {which}");
        self.all(&sql, params, |row| {
            let why: String = row.get(5)?;
            Ok(Archived {
                id: row.get(0)?,
                at: row.get(1)?,
                layer: LayerId(row.get(2)?),
                note: row.get(3)?,
                text: row.get(4)?,
                why: WhyGone::ALL.into_iter().find(|it| it.as_str() == why).unwrap_or(WhyGone::Deleted),
                returned: row.get(6)?,
            })
        })
    }

    /// A note stands in the file of a layer again. Whatever the archive has of it stays
    /// there and is no loss any more.
    pub fn mark_returned(&self, layer: LayerId, note: &str, at: u64) -> Result<bool, StoreError> {
        let marked = self.run(
            "UPDATE archive SET returned = ? WHERE layer = ? AND note = ? AND returned IS NULL",
            (at, layer.0, note),
        )?;
        Ok(marked > 0)
    }
}

fn op(word: &str) -> Op {
    Op::ALL.into_iter().find(|it| it.as_str() == word).unwrap_or(Op::Update)
}

fn conflict_row(row: &rusqlite::Row<'_>) -> Result<ConflictRow, rusqlite::Error> {
    Ok(ConflictRow {
        id: row.get(0)?,
        at: row.get(1)?,
        layer: LayerId(row.get(2)?),
        note: row.get(3)?,
        field: row.get(4)?,
        kept: row.get(5)?,
        lost: row.get(6)?,
        settled: row.get(7)?,
    })
}
