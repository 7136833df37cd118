//! Texts by their SHA-256, each once. Versions of a layer differ little, so a text is kept
//! as what differs from another one, and that compressed.

use std::cell::RefCell;
use std::fmt;
use std::io::{Read as _, Write as _};
use std::rc::Rc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};

use super::{StoreError, Tx};
use crate::secret::{has_sealed, seal};

/// How many texts stand between a text and one that is stored whole.
const MAX_DEPTH: i64 = 24;

/// The SHA-256 of a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl ToSql for Hash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Hash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Self)
    }
}

/// The text that was read or kept last: what a version is read for is often to keep the next
/// one as what differs from it.
pub(super) type Recent = RefCell<Option<(Hash, Rc<str>)>>;

struct Kept {
    base: Option<Hash>,
    prefix: usize,
    suffix: usize,
    middle: Vec<u8>,
}

impl Tx<'_> {
    /// Keeps a text; `near` is one that is kept already and probably much like it.
    ///
    /// It goes by the hash of the text as it is, and is kept without its credentials: see
    /// [`Values::open`](crate::secret::Values::open).
    pub fn keep(&self, text: &str, near: Option<Hash>) -> Result<Hash, StoreError> {
        let hash = Hash::of(text);
        if self.depth(hash)?.is_some() {
            return Ok(hash);
        }
        let text = &*seal(text);
        let base = match near {
            Some(near) => match self.depth(near)?.filter(|depth| *depth < MAX_DEPTH) {
                Some(depth) => Some((near, depth, self.shared_text(near)?)),
                None => None,
            },
            None => None,
        };
        let old = base.as_ref().map_or("", |(_, _, old)| old.as_ref()).as_bytes();
        let new = text.as_bytes();
        let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old, new) = (&old[prefix..], &new[prefix..]);
        let suffix = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        // A base that shares little makes reading slower and nothing smaller.
        let (base, depth, prefix, suffix) = match base {
            Some((base, depth, _)) if (prefix + suffix) * 2 > text.len() => {
                (Some(base), depth + 1, prefix, suffix)
            }
            _ => (None, 0, 0, 0),
        };
        let middle = deflate(&text.as_bytes()[prefix..text.len() - suffix]);
        self.run(
            "INSERT INTO content (hash, size, base, prefix, suffix, depth, middle) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (hash, text.len(), base, prefix, suffix, depth, middle),
        )?;
        *self.recent.borrow_mut() = Some((hash, text.into()));
        Ok(hash)
    }

    /// A text that is kept, without its credentials.
    pub fn text(&self, hash: Hash) -> Result<String, StoreError> {
        Ok(self.shared_text(hash)?.as_ref().to_owned())
    }

    fn shared_text(&self, hash: Hash) -> Result<Rc<str>, StoreError> {
        let known = self.recent.borrow().as_ref().filter(|(known, _)| *known == hash).cloned();
        if let Some((_, text)) = known {
            return Ok(text);
        }
        let text: Rc<str> = self.read_text(hash)?.into();
        *self.recent.borrow_mut() = Some((hash, Rc::clone(&text)));
        Ok(text)
    }

    fn read_text(&self, hash: Hash) -> Result<String, StoreError> {
        // From the text that is whole up to the one asked for.
        let mut chain = Vec::new();
        let mut next = Some(hash);
        while let Some(hash) = next {
            let kept = self.kept(hash)?.ok_or_else(|| self.lacks(hash))?;
            next = kept.base;
            chain.push(kept);
        }
        let mut text: Vec<u8> = Vec::new();
        for kept in chain.iter().rev() {
            let middle = inflate(&kept.middle).ok_or_else(|| self.lacks(hash))?;
            let end = text.len().checked_sub(kept.suffix).filter(|end| kept.prefix <= *end);
            let end = end.ok_or_else(|| self.lacks(hash))?;
            text = [&text[..kept.prefix], &middle, &text[end..]].concat();
        }
        let text = String::from_utf8(text).map_err(|_| self.lacks(hash))?;
        // What was sealed is not what was hashed.
        if Hash::of(&text) == hash || has_sealed(&text) { Ok(text) } else { Err(self.lacks(hash)) }
    }

    fn kept(&self, hash: Hash) -> Result<Option<Kept>, StoreError> {
        self.one("SELECT base, prefix, suffix, middle FROM content WHERE hash = ?", [hash], |row| {
            Ok(Kept { base: row.get(0)?, prefix: row.get(1)?, suffix: row.get(2)?, middle: row.get(3)? })
        })
    }

    /// How many texts stand between a kept text and one that is stored whole.
    fn depth(&self, hash: Hash) -> Result<Option<i64>, StoreError> {
        self.one("SELECT depth FROM content WHERE hash = ?", [hash], |row| row.get(0))
    }

    fn lacks(&self, hash: Hash) -> StoreError {
        StoreError::Corrupt {
            path: self.path.to_owned(),
            problem: format!("the text {hash:?} cannot be read"),
        }
    }

    /// Forgets texts that no version, layer or other text needs.
    pub(super) fn sweep_contents(&self) -> Result<(), StoreError> {
        // A base may become free with the text that needed it.
        while self.run(
            "DELETE FROM content WHERE hash NOT IN (SELECT hash FROM version)
             AND hash NOT IN (SELECT base FROM content WHERE base IS NOT NULL)
             AND hash NOT IN (SELECT waiting_from FROM layer WHERE waiting_from IS NOT NULL)
             AND hash NOT IN (SELECT waiting_to FROM layer WHERE waiting_to IS NOT NULL)",
            [],
        )? > 0
        {}
        Ok(())
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing into memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    DeflateDecoder::new(bytes).read_to_end(&mut out).ok().map(|_| out)
}
