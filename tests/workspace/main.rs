//! Root, project and layers over real folders and real git repositories.

#![allow(clippy::unwrap_used, reason = "a failed test is to panic")]

mod home;
mod keys;
mod repo;
mod root;
mod world;
