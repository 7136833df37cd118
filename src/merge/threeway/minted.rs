//! One note that got an id on each side: written without one, it is given one wherever
//! `layers` first writes it.

use crate::document::{Document, Field, Note};

/// Both sides with one id for each note that the base has without any. The lesser of the two
/// ids is taken, so that whoever merges takes the same. `None` if there is no such note.
pub(super) fn with_one_id(
    base: &Document,
    ours: &Document,
    theirs: &Document,
) -> Option<(Document, Document)> {
    let mut sides: Option<(Document, Document)> = None;
    for note in base.notes().filter(|note| note.id().is_none()) {
        let named = |side: &Document| {
            let is_it = |heir: &Note<'_>| {
                let is_new = heir.id().is_some_and(|id| base.is_absent(id));
                is_new && heir.kind() == note.kind() && heir.content() == note.content()
            };
            let heir = side.notes().find(is_it)?;
            Some((heir.index(), heir.id()?.to_owned()))
        };
        let (one, other) = sides.as_ref().map_or((ours, theirs), |(one, other)| (one, other));
        let (Some((our_index, our_id)), Some((their_index, their_id))) = (named(one), named(other)) else {
            continue;
        };
        if our_id == their_id {
            continue;
        }
        let id = our_id.min(their_id);
        let renamed = |side: &Document, index| side.set(index, Field::Id, id.clone()).ok();
        if let (Some(one), Some(other)) = (renamed(one, our_index), renamed(other, their_index)) {
            sides = Some((one, other));
        }
    }
    sides
}
