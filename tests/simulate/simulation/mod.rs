//! A small world in which agents, people, a refiner, pi and git change the same layers, and
//! an oracle that knows every text that was ever accepted. Everything follows from a seed,
//! but for what threads and processes do at the same time.
//!
//! | module | its one job |
//! |---|---|
//! | `dice` | chance that can be repeated |
//! | `schedule` | what happens, and the shortest of it that still fails |
//! | `world` | the files, the store, and the turn of a step |
//! | `agents` | who changes notes through the library |
//! | `people` | who changes files: editors, a refiner, pi |
//! | `git` | a repository with two work trees |
//! | `processes` | `layers` killed, and several writers at once |
//! | `oracle` | the laws |

#![allow(clippy::unwrap_used, reason = "a failed law is a panic")]

mod agents;
mod dice;
mod git;
mod oracle;
mod people;
mod processes;
mod schedule;
mod world;

pub(crate) use schedule::{Means, Schedule};
