//! `layers watch`, from outside: real processes, real saves, real events. Nothing is judged
//! by the clock, but that an idle watch uses none of it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "in a test a panic is the report")]

mod git;
mod limits;
mod open;
mod output;
mod own_writes;
mod places;
mod saves;
#[allow(dead_code, reason = "shared with the tests of the other commands")]
#[path = "../cli/scene.rs"]
mod scene;
mod store;
mod world;
