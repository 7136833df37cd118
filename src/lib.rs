//! Notes that coding agents learn, in git-friendly markdown layers.
//!
//! A layer is a markdown file that people, git and agents edit; a note in it is what an
//! agent has learned. This crate reads layers without losing a byte, changes single
//! fields of single notes, and renders the notes that a project and a model are to see.
//!
//! ```
//! use harness_layers::document::{Document, Field};
//!
//! let layer = Document::parse("## Memory facts\n\n- **[h_1]** (importance 0.50) Use port 8080.\n");
//! let note = layer.note("h_1").unwrap();
//! let edited = layer.set(note.index(), Field::Importance, "0.80")?;
//! assert_eq!(edited.source(), "## Memory facts\n\n- **[h_1]** (importance 0.80) Use port 8080.\n");
//! # Ok::<(), harness_layers::document::EditError>(())
//! ```
//!
//! # Architecture
//!
//! Bottom first: each module uses only modules above it in this list, as the table in
//! `tests/layout.rs` says. The first nine only compute: no disk, no environment, no
//! clock, no chance, no output.
//!
//! * [`text`]: bytes and places; knows no markdown
//! * [`note`]: the words of the domain, as plain types
//! * [`slug`]: names that are safe as keys and file names
//! * [`document`]: a layer, read without loss and edited by splices
//! * [`config`]: `harness.json` as types
//! * [`render`]: notes to a block, in four forms
//! * [`select`]: which notes go into a block, and why
//! * [`export`]: notes to pi-continual-harness's files
//! * [`effective`]: which notes of several layers count
//! * [`files`]: reading, replacing and locking files; the only writer
//! * [`workspace`]: which root, which project, which layers
//! * [`reach`]: the layers in reach, read
//!
//! # Limitations
//!
//! A layer is UTF-8 and read whole. YAML is read by a library and written by splices: a
//! value whose place is not known (anchors, `? key`) is read and not edited.

#![deny(missing_docs)]

pub mod config;
pub mod document;
pub mod effective;
pub mod export;
pub mod files;
pub mod note;
pub mod reach;
pub mod render;
pub mod select;
pub mod slug;
pub mod text;
pub mod workspace;
