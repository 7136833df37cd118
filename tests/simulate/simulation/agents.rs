//! Who changes notes through the library.

use harness_layers::document::{Change, Document, Field, NewNote, Note, Place};
use harness_layers::note::Kind;
use harness_layers::sync::change_layer;

use super::oracle::MODELS;
use super::world::World;

impl World {
    pub(super) fn agent_adds(&mut self, layer: usize, private: bool) {
        let layer = self.layer(layer);
        let word = self.word();
        let id = format!("a{}", self.number());
        let mut note = NewNote::new(id.clone(), Kind::Memory, word.clone());
        if private {
            note = note.with(Field::Model, MODELS[0]);
            self.oracle.private_ids.insert(id.clone());
        }
        self.oracle.written_to(layer, &word);
        let (form, target) = (self.form, self.layers[layer].clone());
        let session = self.session(Some(MODELS[0]));
        let done = change_layer(session, &target, "", |_| {
            Ok(vec![Change::Insert { note: note.clone(), form: Some(form), place: Place::End }])
        });
        // A refusal is an answer too; then nothing was accepted.
        if done.is_ok() {
            self.accept_online(layer, word, &id, true);
        }
    }

    pub(super) fn agent_rewords(&mut self, layer: usize, note: usize) {
        let layer = self.layer(layer);
        let word = self.word();
        let text = word.clone();
        self.oracle.written_to(layer, &word);
        let reword = |note| Change::Set { note, field: Field::Content, text: text.clone() };
        if let Some(id) = self.agent(layer, note, reword) {
            self.accept_online(layer, word, &id, false);
        }
    }

    pub(super) fn agent_weighs(&mut self, layer: usize, note: usize) {
        let layer = self.layer(layer);
        self.agent(layer, note, |note| Change::Set {
            note,
            field: Field::Importance,
            text: "0.75".to_owned(),
        });
    }

    pub(super) fn agent_archives(&mut self, layer: usize, note: usize) {
        let layer = self.layer(layer);
        self.agent(layer, note, |note| Change::Remove { note, with_section: false });
    }

    /// Changes the n-th note that is there for an agent; which, if it was taken.
    fn agent(&mut self, layer: usize, note: usize, change: impl Fn(usize) -> Change) -> Option<String> {
        let target = self.layers[layer].clone();
        let session = self.session(Some(MODELS[0]));
        let mut did = None;
        let done = change_layer(session, &target, "", |document| {
            let chosen = nth_with_id(document, note);
            did = chosen.and_then(Note::id).map(str::to_owned);
            Ok(chosen.map(|chosen| change(chosen.index())).into_iter().collect())
        });
        did.filter(|_| done.is_ok())
    }

    pub(super) fn accept_online(&mut self, layer: usize, word: String, id: &str, is_new: bool) {
        if self.oracle.private_ids.contains(id) {
            self.oracle.private.insert(word.clone());
        }
        if let Some(buffer) = self.buffers.get_mut(&layer) {
            buffer.since.insert(word.clone(), (!is_new).then(|| id.to_owned()));
        }
        self.oracle.accepted.insert(word);
    }
}

/// The n-th of the notes that an id names for sure.
fn nth_with_id(document: &Document, note: usize) -> Option<Note<'_>> {
    let is_first = |note: &Note<'_>| {
        note.id().and_then(|id| document.note(id)).is_some_and(|first| first.index() == note.index())
    };
    let all: Vec<Note<'_>> = document.notes().filter(is_first).collect();
    (!all.is_empty()).then(|| all[note % all.len()])
}
