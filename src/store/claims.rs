//! Whose a private layer is: names below a root, each with evidence of where its project is.

use std::path::Path;

use super::{StoreError, Tx, bytes};

/// A claim on a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    /// The name.
    pub name: String,
    /// The evidence, as the caller spells it.
    pub evidence: String,
    /// When it was last told, in milliseconds since 1970.
    pub at: u64,
}

impl Tx<'_> {
    /// The claims below a root on names that begin so, by name.
    pub fn claims(&self, root: &Path, prefix: &str) -> Result<Vec<ClaimRow>, StoreError> {
        // Names are ASCII without `~`, so this is a range of the key.
        self.all(
            "SELECT name, evidence, at FROM claim WHERE root = ? AND name >= ? AND name < ? ORDER BY name",
            (bytes(root), prefix, format!("{prefix}~")),
            |row| Ok(ClaimRow { name: row.get(0)?, evidence: row.get(1)?, at: row.get(2)? }),
        )
    }

    /// Makes a claim, or changes its evidence.
    pub fn put_claim(&self, root: &Path, claim: &ClaimRow) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO claim (root, name, evidence, at) VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET evidence = excluded.evidence, at = excluded.at",
            (bytes(root), &claim.name, &claim.evidence, claim.at),
        )?;
        Ok(())
    }
}
