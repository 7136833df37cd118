//! Who changes files: a person with an editor, a refiner, pi.

use std::collections::BTreeMap;
use std::fs;

use harness_layers::document::{Change, Document, Field, Form, NewNote, Note, Place};
use harness_layers::export::{Exported, single};

use super::dice::Dice;
use super::world::World;

/// What a person opened.
#[derive(Clone, Default)]
pub(super) struct Buffer {
    text: String,
    /// As it was when it was opened.
    original: String,
    /// Words that agents wrote since, each with the note that it changed; none if the note
    /// was new.
    pub(super) since: BTreeMap<String, Option<String>>,
    /// It was saved already without some of them: what that save lacked and still lacks was
    /// put back once, and is not a second time.
    has_missed: bool,
}

impl World {
    pub(super) fn opens(&mut self, layer: usize) {
        let layer = self.layer(layer);
        let text = self.read(layer);
        self.buffers.insert(layer, Buffer { original: text.clone(), text, ..Buffer::default() });
    }

    pub(super) fn edits(&mut self, layer: usize, edit: usize, way: usize) {
        let layer = self.layer(layer);
        let text = self.edited(&self.read(layer), edit).0;
        self.save(layer, &text, way);
    }

    /// Saves a buffer with one more edit, however old it is.
    pub(super) fn saves(&mut self, layer: usize, edit: usize, way: usize) {
        let layer = self.layer(layer);
        let Some(mut buffer) = self.buffers.get(&layer).cloned() else { return };
        let (text, word) = self.edited(&buffer.text, edit);
        // Where the save is news, what its author cannot have seen has to stay, the first
        // time that it is missing.
        let is_news = text.contains(&word) && !self.oracle.had.contains(&text);
        let had_missed = buffer.has_missed;
        for (word, changed) in buffer.since.iter().filter(|(word, _)| !text.contains(*word)) {
            // A note that came into the file since, and not online, goes with the save.
            let is_owed = match changed {
                None => true,
                Some(id) => !had_missed && buffer.original.contains(id.as_str()),
            };
            let is_first = self.oracle.missed.insert(word.clone()) && is_owed;
            buffer.has_missed = true;
            if is_first && is_news && self.oracle.counting.contains(word) {
                self.oracle.owed.insert(word.clone());
            }
        }
        self.save(layer, &text, way);
        buffer.text = text;
        self.buffers.insert(layer, buffer);
    }

    pub(super) fn deletes(&mut self, layer: usize) {
        let _ = fs::remove_file(&self.layers[self.layer(layer)].path);
    }

    pub(super) fn truncates(&mut self, layer: usize, at: usize) {
        let layer = self.layer(layer);
        let text = self.read(layer);
        let mut at = at % text.len().max(1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        self.save(layer, &text[..at.min(text.len())], 0);
    }

    /// Puts a note into another layer in reach of the same folder.
    pub(super) fn moves(&mut self, from: usize, by: usize, note: usize) {
        let from = self.layer(from);
        let reach = &self.sites[self.site_of(from)].layers;
        let others: Vec<usize> = reach.iter().copied().filter(|layer| *layer != from).collect();
        let to = others[by % others.len()];
        let (source, target) = (Document::parse(self.read(from)), Document::parse(self.read(to)));
        let notes: Vec<Note<'_>> = source.notes().filter(|note| note.id().is_some()).collect();
        if notes.is_empty() {
            return;
        }
        let moved = notes[note % notes.len()];
        if target.note(moved.id().unwrap_or("")).is_some() {
            return;
        }
        let insert = Change::Insert { note: NewNote::of(moved), form: Some(moved.form()), place: Place::End };
        let remove = Change::Remove { note: moved.index(), with_section: false };
        if let (Ok(source), Ok(target)) = (source.apply(&[remove]), target.apply(&[insert])) {
            self.oracle.may_go(from, to);
            self.save(from, source.source(), 0);
            self.save(to, target.source(), 0);
        }
    }

    /// Another order, some notes reworded, some dropped, and whom they were for with them.
    pub(super) fn refines(&mut self, layer: usize, seed: usize) {
        let layer = self.layer(layer);
        let mut dice = Dice::new(seed as u64);
        let document = Document::parse(self.read(layer));
        let mut notes: Vec<NewNote> =
            document.notes().filter(|note| note.id().is_some()).map(NewNote::of).collect();
        if notes.len() > 1 {
            let at = dice.below(notes.len());
            notes.rotate_left(at);
        }
        let mut text = Document::parse("Refined.\n");
        for note in notes {
            if dice.below(4) == 0 {
                continue;
            }
            let content = if dice.below(3) == 0 { self.word() } else { note.content.clone() };
            let plain = NewNote::new(note.id().unwrap_or("").to_owned(), note.kind, content);
            let insert = Change::Insert { note: plain, form: Some(self.form), place: Place::End };
            text = text.apply(&[insert]).unwrap_or(text);
        }
        self.save(layer, text.source(), 1);
    }

    /// pi knows bullets only.
    pub(super) fn exports(&mut self, layer: usize, reads: bool) {
        let layer = self.layer(layer);
        if self.form != Form::Bullet {
            return;
        }
        if reads || !self.pi.contains_key(&layer) {
            self.pi.insert(layer, Document::parse(self.read(layer)));
        }
        let notes: Vec<_> = self.pi[&layer]
            .notes()
            .filter(|note| note.id().is_some())
            .map(|note| (note, note.content(), note.evidence(), note.model()))
            .collect();
        let notes: Vec<Exported<'_>> = notes
            .iter()
            .map(|(note, content, evidence, model)| Exported {
                id: note.id().unwrap_or(""),
                kind: note.kind(),
                content,
                evidence,
                importance: note.importance(),
                active: note.active(),
                model: model.as_deref(),
                scope: note.scope(),
                project: None,
            })
            .collect();
        if let Ok(text) = single(&notes) {
            self.save(layer, &text, 0);
        }
    }

    /// A text with one edit, and the word that is new in it.
    pub(super) fn edited(&mut self, text: &str, edit: usize) -> (String, String) {
        let word = self.word();
        let document = Document::parse(text);
        let notes: Vec<Note<'_>> = document.notes().filter(|note| note.id().is_some()).collect();
        let note = (!notes.is_empty()).then(|| notes[(edit / 4) % notes.len()].index());
        let change = match (edit % 4, note) {
            (0, Some(note)) => Change::Set { note, field: Field::Content, text: word.clone() },
            (1, Some(note)) => Change::Remove { note, with_section: false },
            (2, _) => {
                // By hand, without an id.
                let by_hand = match self.form {
                    Form::FrontMatter => format!("{text}\n---\nkind: memory\n---\n\n{word}\n"),
                    Form::Bullet => format!("{text}\n## Memory facts\n\n- {word}\n"),
                };
                return (by_hand, word);
            }
            _ => return (format!("Prose {word}.\n\n{text}"), word),
        };
        let text = document
            .apply(&[change])
            .map_or_else(|_| text.to_owned(), |document| document.source().to_owned());
        (text, word)
    }

    pub(super) fn save(&mut self, layer: usize, text: &str, way: usize) {
        self.oracle.written_to(layer, text);
        let saved = save_as(&self.layers[layer].path, text, way);
        // With its last file git takes the folder away.
        if saved.is_err() {
            fs::create_dir_all(self.layers[layer].path.parent().unwrap()).unwrap();
            save_as(&self.layers[layer].path, text, way).unwrap();
        }
    }
}

/// In place, by renaming the new file over the old one, or by renaming the old one away.
pub(super) fn save_as(path: &std::path::Path, text: &str, way: usize) -> std::io::Result<()> {
    match way {
        0 => fs::write(path, text),
        1 => {
            let aside = path.with_extension("md.new");
            fs::write(&aside, text)?;
            fs::rename(aside, path)
        }
        _ => {
            if path.exists() {
                fs::rename(path, path.with_extension("md~"))?;
            }
            fs::write(path, text)
        }
    }
}
