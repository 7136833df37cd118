//! Real git with the merge driver: merges, rebases, clones; what the driver does by itself;
//! and what `layers git install` changes.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and what is printed is shown with it"
)]

mod driver;
mod install;
mod laws;
mod operations;
#[path = "../cli/scene.rs"]
#[allow(dead_code, reason = "shared with the tests of the command line")]
mod scene;
mod team;
mod threeway;
