//! Finding notes by id: a sorted list of hashes, which takes less room than a map and is
//! built faster. The hash is seeded anew for each list, so that nobody can write a layer
//! whose ids collide; no result depends on the seed.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::note::Note;

/// The notes of a layer by their ids.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    state: RandomState,
    /// Hash of the id and index of the note, in order; notes without an id are left out.
    sorted: Vec<(u64, u32)>,
}

impl Ids {
    /// Of no note.
    pub(super) fn none() -> Self {
        Self { state: RandomState::default(), sorted: Vec::new() }
    }

    pub(super) fn of<'a>(notes: impl ExactSizeIterator<Item = Note<'a>>) -> Self {
        let mut ids = Self::none();
        ids.sorted.reserve_exact(notes.len());
        for note in notes {
            if let (Some(id), Ok(index)) = (note.id(), u32::try_from(note.index())) {
                ids.sorted.push((ids.state.hash_one(id), index));
            }
        }
        ids.sorted.sort_unstable();
        ids
    }

    /// The indexes of the notes that may have this id, in the order of the file: all that
    /// have it, and seldom another.
    pub(super) fn candidates(&self, id: &str) -> impl Iterator<Item = usize> {
        let hash = self.state.hash_one(id);
        let first = self.sorted.partition_point(|(other, _)| *other < hash);
        self.sorted[first..]
            .iter()
            .take_while(move |(other, _)| *other == hash)
            .map(|(_, index)| *index as usize)
    }

    /// Whether that many notes have an id each and none has that of another.
    pub(super) fn are_distinct(&self, notes: usize) -> bool {
        self.sorted.len() == notes && self.sorted.windows(2).all(|pair| pair[0].0 != pair[1].0)
    }

    /// The indexes that share a hash with an earlier note, each with all earlier ones.
    pub(super) fn repeated(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = usize>)> {
        let sorted = &self.sorted;
        (1..sorted.len()).filter(move |at| sorted[*at].0 == sorted[at - 1].0).map(move |at| {
            let run = sorted[..at].partition_point(|(hash, _)| *hash < sorted[at].0);
            (sorted[at].1 as usize, sorted[run..at].iter().map(|(_, index)| *index as usize))
        })
    }
}
