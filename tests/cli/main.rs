//! The `layers` binary, from outside: exact output, exit codes, bytes on disk.

mod check;
mod completions;
mod editing;
mod export;
mod fmt;
mod help;
mod init;
mod listing;
mod moving;
mod pipes;
mod render;
mod scene;
mod trouble;
