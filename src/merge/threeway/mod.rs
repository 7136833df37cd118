//! Three versions of a layer made one, with equal sides, as git's merge drivers do it.
//!
//! The changes from the base to one side are carried onto the other (the *target*); what
//! [`ChangeSet::apply`](super::ChangeSet::apply) would tell as lost is a conflict here: that
//! note, or those lines of prose, get git's markers, and all else is merged. What was drawn
//! is read back: every other note must stand there as merged. Layers that hold what cannot
//! be read, or one id twice, are merged line by line, as git itself would.

mod check;
mod draw;
mod envelope;
mod join;
mod minted;
mod text;

use crate::document::Document;
use crate::text::{Location, locate};

use envelope::Envelope;
use join::Joined;

/// Three versions of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Versions<'a> {
    /// What both sides started from; empty if they share nothing.
    pub base: &'a str,
    /// One side.
    pub ours: &'a str,
    /// The other one.
    pub theirs: &'a str,
}

/// How conflicts are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    /// How many characters a marker has; git's default is 7.
    pub size: usize,
    /// Behind the first marker.
    pub ours: String,
    /// Behind the marker of the base; `None` leaves the base out.
    pub base: Option<String>,
    /// Behind the last marker.
    pub theirs: String,
}

impl Default for Marks {
    fn default() -> Self {
        Self { size: 7, ours: "ours".to_owned(), base: None, theirs: "theirs".to_owned() }
    }
}

/// Something that both sides changed, differently.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disagreement {
    /// A note, by its id.
    Note(String),
    /// Lines that belong to no note.
    Prose,
    /// Lines of a layer that could only be merged as text.
    Text,
}

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The layer, with git's markers where the sides disagree.
    pub text: String,
    /// What is between the markers, in the order of the layer.
    pub disagreements: Vec<Disagreement>,
}

/// A side with conflict markers in it: what stands between them is nobody's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} holds git's conflict markers", if *.is_ours { "our side" } else { "their side" })]
pub struct Marked {
    /// Whose it is.
    pub is_ours: bool,
    /// The first marker.
    pub location: Location,
}

/// Merges the changes of two sides.
///
/// ```
/// use harness_layers::merge::{Marks, Versions, merge};
///
/// let base = "---\nid: n1\n---\n\nUse port 8080.\n";
/// let ours = "---\nid: n1\nimportance: 0.90\n---\n\nUse port 8080.\n";
/// let theirs = "---\nid: n1\n---\n\nUse port 9090.\n";
/// let merged = merge(Versions { base, ours, theirs }, &Marks::default()).unwrap();
/// assert_eq!(merged.text, "---\nid: n1\nimportance: 0.90\n---\n\nUse port 9090.\n");
/// assert!(merged.disagreements.is_empty());
/// ```
pub fn merge(versions: Versions<'_>, marks: &Marks) -> Result<Merged, Marked> {
    let Versions { base, ours, theirs } = versions;
    let clean = |text: &str| Ok(Merged { text: text.to_owned(), disagreements: Vec::new() });
    if ours == theirs || base == theirs {
        return clean(ours);
    }
    if base == ours {
        return clean(theirs);
    }
    let envelope = Envelope::of(versions);
    let [base, ours, theirs] = [base, ours, theirs].map(|text| Document::parse(envelope.open(text)));
    for (is_ours, side) in [(true, &ours), (false, &theirs)] {
        if let Some(marker) = side.conflicts().first() {
            return Err(Marked { is_ours, location: locate(side.source(), marker.start) });
        }
    }
    let [base, ours, theirs] = envelope::of_one_revision([base, ours, theirs]);
    let merged = match by_notes(&base, &ours, &theirs, marks) {
        Some(merged) => merged,
        None => text::merge(&base, &ours, &theirs, marks),
    };
    Ok(envelope.close(merged))
}

/// Whether a side has notes in another form than they had.
fn is_converted(base: &Document, side: &Document) -> bool {
    side.notes()
        .any(|note| note.id().and_then(|id| base.note(id)).is_some_and(|before| before.form() != note.form()))
}

/// Note by note; `None` if the layers do not allow it.
fn by_notes(base: &Document, ours: &Document, theirs: &Document, marks: &Marks) -> Option<Merged> {
    let base = join::without_conflicts(base);
    let sides = minted::with_one_id(&base, ours, theirs);
    let (ours, theirs) = sides.as_ref().map_or((ours, theirs), |(ours, theirs)| (ours, theirs));
    if !check::are_plain(&base, ours, theirs) {
        return None;
    }
    // Who put the notes into another form gives the form.
    let is_flipped = is_converted(&base, theirs) && !is_converted(&base, ours);
    let (target, newer) = if is_flipped { (theirs, ours) } else { (ours, theirs) };
    let joined = Joined::of(&base, target, newer)?;
    [draw::Grain::Lines, draw::Grain::Notes].into_iter().find_map(|grain| {
        let text = draw::draw(&joined, marks, grain, is_flipped)?;
        check::reads_as_meant(&joined, &text).then(|| Merged { text, disagreements: joined.disagreements() })
    })
}
