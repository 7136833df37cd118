//! The behaviour of pi-continual-harness as vectors: `cargo test --test golden`, or
//! `GOLDEN_DIR=DIR cargo test --test golden -- --nocapture` for another set of them.

mod config;
mod documented;
mod harness;
mod import_merge;
mod inject;
mod item;
mod parse;
mod render_file;
mod slug;
