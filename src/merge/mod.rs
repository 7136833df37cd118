//! The change algebra: what changed between two versions of a layer, applied to a third.
//!
//! Everything that moves notes is this one operation (sync, merge driver, rollback, import, refiners). The layer it
//! is applied to, the *target*, has the last word: its bytes are never rebuilt, only the
//! changes are carried onto it, and whatever loses against it is told in full. Pure: no
//! clock, no disk, no randomness.

mod apply;
mod base;
mod changes;
mod lines;
mod prose;
mod threeway;

pub use apply::{Applied, Loss, Lost, Waiting};
pub use base::{Base, Origin, Version, VersionLine, Why, revision_of};
pub use changes::{ChangeSet, FieldChange, NoteChange};
pub use threeway::{Disagreement, Marked, Marks, Merged, Versions, merge};
