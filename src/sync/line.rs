//! A layer's line of versions, read from the store as far as a merge asks for it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::document::Document;
use crate::merge::{Origin, Version, VersionLine};
use crate::secret::{Values, has_sealed};
use crate::store::{Hash, LayerId, Store, StoreError, VersionRow};

/// The versions of one layer.
pub(super) struct StoredLine<'a> {
    store: &'a Store,
    file: &'a str,
    /// The credentials of the file, which are kept nowhere else.
    values: OnceCell<Values>,
    pub(super) rows: Vec<VersionRow>,
    versions: Vec<Version>,
    read: RefCell<HashMap<usize, Rc<Document>>>,
}

impl<'a> StoredLine<'a> {
    /// The line of a layer, for what its file holds.
    pub(super) fn of(store: &'a Store, layer: Option<LayerId>, file: &'a str) -> Result<Self, StoreError> {
        let hash = Hash::of(file);
        let rows = match layer {
            Some(layer) => store.read().versions(layer)?,
            None => Vec::new(),
        };
        let version = |row: &VersionRow| Version {
            origin: Origin::from_word(&row.origin).unwrap_or(Origin::Offline),
            revision: row.revision.clone(),
            is_file: row.hash == hash,
        };
        let versions = rows.iter().map(version).collect();
        Ok(Self { store, file, values: OnceCell::new(), rows, versions, read: RefCell::default() })
    }

    /// The newest version.
    pub(super) fn head(&self) -> Result<Option<Rc<Document>>, StoreError> {
        self.rows.len().checked_sub(1).map(|newest| self.document(newest)).transpose()
    }
}

impl VersionLine for StoredLine<'_> {
    type Error = StoreError;

    fn versions(&self) -> &[Version] {
        &self.versions
    }

    fn document(&self, index: usize) -> Result<Rc<Document>, StoreError> {
        if let Some(read) = self.read.borrow().get(&index) {
            return Ok(Rc::clone(read));
        }
        let mut text = self.store.read().text(self.rows[index].hash)?;
        if has_sealed(&text) {
            text = self.values.get_or_init(|| Values::of(self.file)).open(text);
        }
        let document = Rc::new(Document::parse(text));
        self.read.borrow_mut().insert(index, Rc::clone(&document));
        Ok(document)
    }
}
