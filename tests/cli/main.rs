//! The `layers` binary, from outside: exact output, exit codes, bytes on disk.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod cases;
mod check;
mod completions;
mod editing;
mod export;
mod fmt;
mod help;
mod identity;
mod init;
mod listing;
mod moving;
mod pi;
mod pipes;
mod render;
mod scene;
mod trouble;
