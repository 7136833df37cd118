//! The `layers` binary, from outside: exact output, exit codes, bytes on disk.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and what is printed is shown with it"
)]

mod by_the_way;
mod cases;
mod check;
mod checkouts;
mod completions;
mod conflict_markers;
mod copies;
mod damaged_store;
mod doctor;
mod editing;
mod editors;
mod export;
mod fmt;
mod guards;
mod help;
mod hostile;
mod identity;
mod importing;
mod init;
mod isolation_keys;
mod json_docs;
mod listing;
mod machines;
mod many_writers;
mod moving;
mod nobody_to_ask;
mod older_stores;
mod pi;
mod pi_saves;
mod pipes;
mod render;
mod scene;
mod stage;
mod stale_saves;
mod travel;
mod trouble;
mod trust;
mod unavailable;
mod worktrees;
