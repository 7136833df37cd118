//! Layers and their lines of versions: one for every path below every root, so that two
//! work trees of one repository have two.

use std::path::{Path, PathBuf};

use super::{Hash, StoreError, Tx, bytes};

/// How many versions of a layer are kept whatever their age.
const KEPT_VERSIONS: i64 = 200;
/// How long every version is kept, in milliseconds: 30 days.
const KEPT_FOR: u64 = 30 * 24 * 60 * 60 * 1000;

/// A layer in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerId(pub(super) i64);

/// A version in the store; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionId(pub i64);

/// What `stat` says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: i64,
    /// Modification time in nanoseconds since 1970.
    pub modified: i64,
    /// Inode.
    pub inode: i64,
}

/// What is known of a layer's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerRow {
    /// Itself.
    pub id: LayerId,
    /// The stat that it was last looked at with, if that may be relied on.
    pub stamp: Option<Stamp>,
    /// The SHA-256 of what it held then; none if it did not exist.
    pub seen: Option<Hash>,
    /// What counts instead of what the file says, as the caller spells it.
    pub view: Option<String>,
    /// Online changes that the file does not have yet.
    pub waiting: Option<(Hash, Hash)>,
}

/// A version of a layer's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRow {
    /// Itself.
    pub id: VersionId,
    /// Its text.
    pub hash: Hash,
    /// Who made it, as the caller spells it.
    pub origin: String,
    /// The 12 hex digits of `revision:` that name it.
    pub revision: String,
    /// When it was seen, in milliseconds since 1970.
    pub at: u64,
    /// The batch that it came with.
    pub batch: String,
}

const COLUMNS: &str = "id, size, modified, inode, seen, view, waiting_from, waiting_to";

fn row(row: &rusqlite::Row<'_>) -> Result<LayerRow, rusqlite::Error> {
    let stamp = (row.get::<_, Option<i64>>(1)?, row.get(2)?, row.get(3)?);
    let (from, to): (Option<Hash>, Option<Hash>) = (row.get(6)?, row.get(7)?);
    Ok(LayerRow {
        id: LayerId(row.get(0)?),
        stamp: match stamp {
            (Some(size), Some(modified), Some(inode)) => Some(Stamp { size, modified, inode }),
            _ => None,
        },
        seen: row.get(4)?,
        view: row.get(5)?,
        waiting: from.zip(to),
    })
}

impl Tx<'_> {
    /// The layer at a path, if it was ever seen.
    pub fn layer(&self, root: &Path, path: &Path) -> Result<Option<LayerRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM layer WHERE root = ? AND path = ?");
        self.one(&sql, (bytes(root), bytes(path)), row)
    }

    /// The layer at a path; made if it is new.
    pub fn layer_or_new(&self, root: &Path, path: &Path) -> Result<LayerRow, StoreError> {
        if let Some(known) = self.layer(root, path)? {
            return Ok(known);
        }
        let id = self.insert("INSERT INTO layer (root, path) VALUES (?, ?)", (bytes(root), bytes(path)))?;
        Ok(LayerRow { id: LayerId(id), stamp: None, seen: None, view: None, waiting: None })
    }

    /// All layers of a root, with their paths.
    pub fn layers(&self, root: &Path) -> Result<Vec<(PathBuf, LayerRow)>, StoreError> {
        use std::os::unix::ffi::OsStringExt as _;
        let sql = format!("SELECT {COLUMNS}, path FROM layer WHERE root = ? ORDER BY id");
        self.all(&sql, [bytes(root)], |found| {
            let path: Vec<u8> = found.get(8)?;
            Ok((std::ffi::OsString::from_vec(path).into(), row(found)?))
        })
    }

    /// The path of a layer.
    pub fn path_of(&self, layer: LayerId) -> Result<PathBuf, StoreError> {
        use std::os::unix::ffi::OsStringExt as _;
        let path: Option<Vec<u8>> =
            self.one("SELECT path FROM layer WHERE id = ?", [layer.0], |row| row.get(0))?;
        Ok(std::ffi::OsString::from_vec(path.unwrap_or_default()).into())
    }

    /// Writes down what is known of a layer from now on.
    pub fn put_layer(&self, layer: &LayerRow) -> Result<(), StoreError> {
        let stamp = layer.stamp;
        self.run(
            "UPDATE layer SET size = ?, modified = ?, inode = ?, seen = ?, view = ?, waiting_from = ?,
             waiting_to = ? WHERE id = ?",
            (
                stamp.map(|stamp| stamp.size),
                stamp.map(|stamp| stamp.modified),
                stamp.map(|stamp| stamp.inode),
                layer.seen,
                &layer.view,
                layer.waiting.map(|(from, _)| from),
                layer.waiting.map(|(_, to)| to),
                layer.id.0,
            ),
        )?;
        Ok(())
    }

    /// The versions of a layer, oldest first, without their texts.
    pub fn versions(&self, layer: LayerId) -> Result<Vec<VersionRow>, StoreError> {
        self.all(
            "SELECT id, hash, origin, revision, at, batch FROM version WHERE layer = ? ORDER BY id",
            [layer.0],
            version_row,
        )
    }

    /// The newest version of a layer.
    pub fn newest_version(&self, layer: LayerId) -> Result<Option<VersionRow>, StoreError> {
        self.one(
            "SELECT id, hash, origin, revision, at, batch FROM version WHERE layer = ? ORDER BY id DESC LIMIT 1",
            [layer.0],
            version_row,
        )
    }

    /// One version and the layer that it is of.
    pub fn version(&self, id: VersionId) -> Result<Option<(LayerId, VersionRow)>, StoreError> {
        self.one(
            "SELECT id, hash, origin, revision, at, batch, layer FROM version WHERE id = ?",
            [id.0],
            |row| Ok((LayerId(row.get(6)?), version_row(row)?)),
        )
    }

    /// Adds a version at the end of a layer's line.
    pub fn add_version(
        &self,
        layer: LayerId,
        text: &str,
        origin: &str,
        revision: &str,
        at: u64,
        batch: &str,
    ) -> Result<VersionId, StoreError> {
        let newest: Option<Hash> = self.one(
            "SELECT hash FROM version WHERE layer = ? ORDER BY id DESC LIMIT 1",
            [layer.0],
            |row| row.get(0),
        )?;
        let hash = self.keep(text, newest)?;
        let id = self.insert(
            "INSERT INTO version (layer, hash, origin, revision, at, batch) VALUES (?, ?, ?, ?, ?, ?)",
            (layer.0, hash, origin, revision, at, batch),
        )?;
        self.trim(layer, at)?;
        Ok(VersionId(id))
    }

    /// Forgets versions that are neither among the last 200 nor younger than 30 days. Texts
    /// are swept when enough versions went.
    fn trim(&self, layer: LayerId, now: u64) -> Result<(), StoreError> {
        /// Sweeping looks at all texts, so it is done seldom.
        const BATCH: i64 = 50;
        let old: i64 = self
            .one(
                "SELECT count(*) FROM (SELECT at FROM version WHERE layer = ? ORDER BY id DESC LIMIT -1 OFFSET ?)
                 WHERE at < ?",
                (layer.0, KEPT_VERSIONS, now.saturating_sub(KEPT_FOR)),
                |row| row.get(0),
            )?
            .unwrap_or(0);
        if old < BATCH {
            return Ok(());
        }
        self.run(
            "DELETE FROM version WHERE layer = ?1 AND at < ?2 AND id NOT IN
             (SELECT id FROM version WHERE layer = ?1 ORDER BY id DESC LIMIT ?3)",
            (layer.0, now.saturating_sub(KEPT_FOR), KEPT_VERSIONS),
        )?;
        self.sweep_contents()
    }

    /// Counts a new version of a note.
    pub fn count_note(&self, layer: LayerId, note: &str, at: u64) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO note (layer, id, versions, created, updated) VALUES (?1, ?2, 1, ?3, ?3)
             ON CONFLICT (layer, id) DO UPDATE SET versions = versions + 1, updated = ?3",
            (layer.0, note, at),
        )?;
        Ok(())
    }
}

fn version_row(row: &rusqlite::Row<'_>) -> Result<VersionRow, rusqlite::Error> {
    Ok(VersionRow {
        id: VersionId(row.get(0)?),
        hash: row.get(1)?,
        origin: row.get(2)?,
        revision: row.get(3)?,
        at: row.get(4)?,
        batch: row.get(5)?,
    })
}
