//! Notes that coding agents learn, in git-friendly markdown layers: parse them without
//! losing a byte, edit them in place, see which count for a project and a model, and
//! render the bounded block that goes into a system prompt.
//!
//! ```
//! use harness_layers::config::{Injection, Orphans};
//! use harness_layers::document::{Change, Document, Field};
//! use harness_layers::effective::{Audience, InReach, judge};
//! use harness_layers::note::LayerKind;
//! use harness_layers::render::{Format, Shown, render};
//! use harness_layers::select::{Candidate, select};
//!
//! // A layer is text; its notes can be edited in place.
//! let layer = Document::parse("---\nid: n1\nmodel: \"*\" # everybody\n---\n\nUse port 8080.\n");
//! let raise = Change::Set { note: 0, field: Field::Importance, text: "0.90".into() };
//! let layer = layer.apply(&[raise]).unwrap();
//! assert!(layer.source().starts_with("---\nid: n1\nmodel: \"*\" # everybody\nimportance: 0.90\n---\n"));
//!
//! // Which notes count here, and the block that shows the best of them.
//! let audience = Audience { is_current: &|key| key == "shop", model: Some("a/m"), orphans: Orphans::Adopt };
//! let judged = judge(&[InReach::plain(LayerKind::Global, &layer)], &audience);
//! let contents: Vec<_> = judged.iter().map(|one| one.note.content()).collect();
//! let candidates: Vec<Candidate> = judged
//!     .iter()
//!     .zip(&contents)
//!     .map(|(one, content)| {
//!         let note = one.note;
//!         let shown = Shown { id: &one.id, kind: note.kind(), title: None, content, importance: note.importance() };
//!         let is_of_repo = false;
//!         Candidate { shown, standing: one.standing, is_of_repo }
//!     })
//!     .collect();
//! let selection = select(&candidates, &Injection::default(), 0.5);
//! let block = render(&[selection.section(&candidates, None)], Format::Markdown);
//! assert!(block.ends_with("### Remembered facts\n- [n1] Use port 8080."));
//! ```
//!
//! # Architecture
//!
//! Pure modules know no disk, clock, environment or randomness and print nothing; the
//! others keep IO thin. `tests/layout.rs` holds who may use whom.
//!
//! | module | its one job |
//! |---|---|
//! | [`text`] | bytes and places: spans, lines, splices |
//! | [`note`] | the words of the domain: kinds, scopes, layers, ids |
//! | [`document`] | a layer without loss: parse, diagnose, edit, format, convert |
//! | [`slug`] | names of projects |
//! | [`config`] | what `harness.json` says |
//! | [`effective`] | which notes of the layers in reach count |
//! | [`select`] | which of them fit into the block |
//! | [`render`] | the block |
//! | [`merge`] | what changed between two versions, applied to a third |
//! | [`reconcile`] | what a file and what is known of it make of each other |
//! | [`export`] | the files that pi-continual-harness writes |
//! | [`import`](mod@import) | files into notes by pi's rules, without a base |
//! | [`check`] | what is wrong in a layer beyond its own text |
//! | | *below: IO* |
//! | [`files`] | reading and atomically replacing text files, the lock |
//! | [`store`] | versions, journal, conflicts, archive in SQLite |
//! | [`review`] | what the user has seen of other people's notes |
//! | [`workspace`] | which root, which project, which layers |
//! | [`git`] | git as a program; the merge driver in its configuration, attributes, the hook |
//! | [`identity`] | whose a private layer is |
//! | [`trust`] | which repositories the user has trusted |
//! | [`mint`] | fresh ids |
//! | [`sync`] | files and store brought together; the one way to write a layer |
//! | [`travel`] | layers to and from other machines by git |
//! | [`watch`](mod@watch) | when a layer's file has to be looked at again |
//! | [`reach`] | the layers in reach, as they count |
//! | [`audit`] | the notes of all projects |
//! | [`doctor`] | what is wrong around the layers, with remedies |
//! | [`cli`] | the command line |
//!
//! # Limitations
//!
//! * A layer is UTF-8; other text is reported and never touched.
//! * A metadata block is edited in place only if each key has its own line; others are
//!   read, and an edit is refused.
//! * Hard-linked and read-only files are not written.

#![deny(missing_docs)]

pub mod audit;
pub mod check;
pub mod cli;
pub mod config;
pub mod doctor;
pub mod document;
pub mod effective;
pub mod export;
pub mod files;
pub mod git;
pub mod identity;
pub mod import;
pub mod merge;
pub mod mint;
pub mod note;
pub mod reach;
pub mod reconcile;
pub mod render;
pub mod review;
pub mod select;
pub mod slug;
pub mod store;
pub mod sync;
pub mod text;
pub mod travel;
pub mod trust;
pub mod watch;
pub mod workspace;
