//! Which repositories the user has trusted. Their layers come from other people, so they
//! count nowhere and nothing is written there until then.
//!
//! Trust is a row of the store with evidence of which repository was meant. So that
//! `render` opens no store, a mirror in the state folder has the same; it holds only as
//! long as that store stands.

mod mirror;
mod verdict;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::identity::evidence::Landmark;
use crate::identity::{forget, landmark};
use crate::mint::now_millis;
use crate::store::{StatePlace, Store, StoreError, Tx};
use crate::workspace::{Distrust, Trust, Trusting, WorkTree};

use mirror::Mirror;
pub use verdict::judge;

/// Which work tree was trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its top folder.
    pub tree: Landmark,
    /// The folder that all work trees of the repository share.
    pub repository: Landmark,
}

/// A repository that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// Its number in the store.
    pub id: i64,
    /// Which one it is.
    pub evidence: Evidence,
    /// Whether only what was seen of each note counts.
    pub is_pinned: bool,
    /// Since when, in milliseconds since 1970.
    pub at: u64,
}

/// A work tree as it is now.
#[derive(Clone, Debug)]
pub struct Here {
    /// What it is recognised by.
    pub evidence: Evidence,
    /// Whether the repository knows the work tree as its own.
    pub is_acknowledged: bool,
}

impl Here {
    /// Looks at a work tree.
    pub fn of(tree: &WorkTree) -> Self {
        let evidence = Evidence { tree: landmark(&tree.root), repository: landmark(&tree.common_dir) };
        Self { evidence, is_acknowledged: tree.is_acknowledged() }
    }
}

/// Answers from the store.
#[derive(Debug)]
pub struct Trusts {
    state: Option<StatePlace>,
}

impl Trusting for Trusts {
    fn trust(&self, tree: &WorkTree) -> Trust {
        let Some(state) = &self.state else {
            return Trust::Untrusted(Distrust::Unknown(StoreError::NoPlace.to_string()));
        };
        let here = Here::of(tree);
        let before = match mirror::read(state) {
            Mirror::Holds(trusted) => return judge(&trusted, &here),
            Mirror::Stale(trusted) => trusted,
        };
        match Store::open_existing(state) {
            Ok(Some(store)) => match refreshed(&store, state) {
                Ok(trusted) => known(judge(&trusted, &here), &before, &here),
                Err(error) => Trust::Untrusted(Distrust::Unknown(error.to_string())),
            },
            Ok(None) => known(Trust::Untrusted(Distrust::Never), &before, &here),
            Err(error) => Trust::Untrusted(Distrust::Unknown(error.to_string())),
        }
    }
}

/// What the mirror of a store that is gone still tells: that there was trust, not that there is.
fn known(now: Trust, before: &[Trusted], here: &Here) -> Trust {
    match now {
        Trust::Untrusted(Distrust::Never) if judge(before, here).is_trusted() => {
            Trust::Untrusted(Distrust::Lost)
        }
        other => other,
    }
}

impl Trusts {
    /// With the store at a place; without one nothing is trusted.
    pub const fn new(state: Option<StatePlace>) -> Self {
        Self { state }
    }

    fn open(&self) -> Result<(Store, &StatePlace), StoreError> {
        let state = self.state.as_ref().ok_or(StoreError::NoPlace)?;
        Ok((Store::open(state, now_millis())?, state))
    }

    /// All repositories that are trusted.
    pub fn all(&self) -> Result<Vec<Trusted>, StoreError> {
        let state = self.state.as_ref().ok_or(StoreError::NoPlace)?;
        match Store::open_existing(state)? {
            Some(store) => rows(&store.read()),
            None => Ok(Vec::new()),
        }
    }

    /// Trusts a work tree; what `also` writes is in the same transaction. Where a damaged
    /// store was put, if one was found.
    pub fn grant(
        &self,
        tree: &WorkTree,
        is_pinned: bool,
        also: impl FnOnce(&Tx<'_>, i64) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let (store, state) = self.open()?;
        let evidence = Here::of(tree).evidence;
        let text = serde_json::to_string(&evidence).unwrap_or_default();
        store.write(|tx| {
            mirror::remove(state);
            // Where all work trees of a repository had one trust, they have this one now.
            for old in same(&rows(tx)?, tree) {
                tx.drop_trust(old.id)?;
            }
            let id = tx.put_trust(&evidence.tree.path, &text, is_pinned, now_millis())?;
            also(tx, id)
        })?;
        forget(state);
        refreshed(&store, state)?;
        Ok(store.set_aside().map(PathBuf::from))
    }

    /// Takes trust back from a work tree and all others of its repository; what was trusted.
    pub fn revoke(&self, tree: &WorkTree) -> Result<Vec<Trusted>, StoreError> {
        self.revoke_all(|trusted| same(trusted, tree))
    }

    /// As [`Self::revoke`], for one that is not there any more.
    pub fn revoke_at(&self, path: &Path) -> Result<Vec<Trusted>, StoreError> {
        let is_there = |one: &&Trusted| one.evidence.tree.path == path;
        self.revoke_all(|trusted| trusted.iter().filter(is_there).cloned().collect())
    }

    fn revoke_all(&self, which: impl FnOnce(&[Trusted]) -> Vec<Trusted>) -> Result<Vec<Trusted>, StoreError> {
        let (store, state) = self.open()?;
        let gone = store.write(|tx| {
            let gone = which(&rows(tx)?);
            // A crash right after the commit must not leave it.
            mirror::remove(state);
            for old in &gone {
                tx.drop_trust(old.id)?;
            }
            Ok::<_, StoreError>(gone)
        })?;
        forget(state);
        refreshed(&store, state)?;
        Ok(gone)
    }
}

/// What was trusted of the repository of a work tree, or stood at its path.
fn same(trusted: &[Trusted], tree: &WorkTree) -> Vec<Trusted> {
    let here = Here::of(tree);
    let is_same = |one: &&Trusted| {
        one.evidence.tree.path == here.evidence.tree.path
            || one.evidence.repository.path == here.evidence.repository.path
            || judge(std::slice::from_ref(one), &here).is_trusted()
    };
    trusted.iter().filter(is_same).cloned().collect()
}

fn rows(tx: &Tx<'_>) -> Result<Vec<Trusted>, StoreError> {
    let trusted = tx.trusts()?.into_iter().filter_map(|row| {
        // One that cannot be read is none: on doubt, untrusted.
        let evidence = serde_json::from_str(&row.evidence).ok()?;
        Some(Trusted { id: row.id, evidence, is_pinned: row.is_pinned, at: row.at })
    });
    Ok(trusted.collect())
}

/// What the store says, with the mirror brought up to date under the store's lock: of two that
/// write it the later one has read the later rows.
fn refreshed(store: &Store, state: &StatePlace) -> Result<Vec<Trusted>, StoreError> {
    let done = store.write(|tx| {
        let trusted = rows(tx)?;
        mirror::write(state, &trusted);
        Ok::<_, StoreError>(trusted)
    });
    // A store that cannot be written can still be read.
    done.or_else(|_| rows(&store.read()))
}
