//! Which repositories the user has trusted, and what was seen of their notes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Hash, StoreError, Tx, bytes};

/// A repository that the user has trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRow {
    /// Its number.
    pub id: i64,
    /// The work tree that was meant.
    pub tree: PathBuf,
    /// The evidence, as the caller spells it.
    pub evidence: String,
    /// Whether only what was seen of each note counts.
    pub is_pinned: bool,
    /// Since when, in milliseconds since 1970.
    pub at: u64,
}

/// What the user said of one version of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedRow {
    /// The note, or what it was called until it got an id.
    pub note: String,
    /// The hash of what it says.
    pub says: Hash,
    /// The note as a layer of its own.
    pub text: String,
    /// Whether it was accepted; else it was rejected.
    pub is_accepted: bool,
}

impl Tx<'_> {
    /// All repositories that are trusted, in the order of their numbers.
    pub fn trusts(&self) -> Result<Vec<TrustRow>, StoreError> {
        self.all("SELECT id, tree, evidence, pinned, at FROM trust ORDER BY id", (), |row| {
            Ok(TrustRow {
                id: row.get(0)?,
                tree: PathBuf::from(OsStr::from_bytes(row.get_ref(1)?.as_blob()?)),
                evidence: row.get(2)?,
                is_pinned: row.get(3)?,
                at: row.get(4)?,
            })
        })
    }

    /// Trusts a work tree, in place of any that was trusted at its path; its number.
    pub fn put_trust(
        &self,
        tree: &Path,
        evidence: &str,
        is_pinned: bool,
        now: u64,
    ) -> Result<i64, StoreError> {
        self.run("DELETE FROM trust WHERE tree = ?", (bytes(tree),))?;
        self.insert(
            "INSERT INTO trust (tree, evidence, pinned, at) VALUES (?, ?, ?, ?)",
            (bytes(tree), evidence, is_pinned, now),
        )
    }

    /// Takes trust back, with all that was reviewed under it.
    pub fn drop_trust(&self, id: i64) -> Result<(), StoreError> {
        self.run("DELETE FROM trust WHERE id = ?", (id,))?;
        Ok(())
    }

    /// What was said of the notes of a layer, the last word last. `path` is the layer's inside
    /// its work tree.
    pub fn reviewed(&self, trust: i64, path: &Path) -> Result<Vec<ReviewedRow>, StoreError> {
        self.all(
            "SELECT note, says, text, accepted FROM reviewed WHERE trust = ? AND path = ? ORDER BY id",
            (trust, bytes(path)),
            |row| {
                Ok(ReviewedRow {
                    note: row.get(0)?,
                    says: row.get(1)?,
                    text: row.get(2)?,
                    is_accepted: row.get(3)?,
                })
            },
        )
    }

    /// Writes down what was said of a version of a note; it is the last word.
    pub fn put_reviewed(
        &self,
        trust: i64,
        path: &Path,
        reviewed: &ReviewedRow,
        now: u64,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO reviewed (trust, path, note, says, text, accepted, at)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
            (trust, bytes(path), &reviewed.note, reviewed.says, &reviewed.text, reviewed.is_accepted, now),
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::schema::MIGRATIONS;
    use super::super::{ClaimRow, StatePlace, Store};
    use super::*;

    #[test]
    fn a_store_without_trust_gets_it_and_keeps_what_it_has() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let place = StatePlace::in_folder(folder.path());
        let old = Connection::open(place.file())?;
        old.execute_batch(MIGRATIONS[0])?;
        old.pragma_update(None, "user_version", 1)?;
        old.execute("INSERT INTO claim VALUES (x'2f72', 'app', '{}', 7)", ())?;
        drop(old);
        let store = Store::open(&place, 0)?;
        assert!(store.set_aside().is_none());
        let claims = store.read().claims(Path::new("/r"), "app")?;
        assert_eq!(claims, [ClaimRow { name: "app".into(), evidence: "{}".into(), at: 7 }]);
        assert!(store.read().trusts()?.is_empty());
        Ok(())
    }

    #[test]
    fn what_was_said_goes_with_the_trust_and_the_last_word_is_last() -> Result<(), Box<dyn std::error::Error>>
    {
        let folder = tempfile::tempdir()?;
        let store = Store::open(&StatePlace::in_folder(folder.path()), 0)?;
        let path = Path::new(".harness/app.md");
        let said = |text: &str, is_accepted| ReviewedRow {
            note: "n1".into(),
            says: Hash::of(text),
            text: text.into(),
            is_accepted,
        };
        store.write(|tx| {
            let id = tx.put_trust(Path::new("/w"), "{}", true, 1)?;
            for row in [said("a", true), said("b", true), said("a", false)] {
                tx.put_reviewed(id, path, &row, 2)?;
            }
            assert_eq!(tx.reviewed(id, path)?, [said("b", true), said("a", false)]);
            // Trusted anew, nothing is known of what was said before.
            let anew = tx.put_trust(Path::new("/w"), "{}", false, 3)?;
            assert!(tx.reviewed(id, path)?.is_empty() && tx.reviewed(anew, path)?.is_empty());
            assert_eq!(tx.trusts()?.len(), 1);
            Ok::<_, StoreError>(())
        })?;
        Ok(())
    }
}
