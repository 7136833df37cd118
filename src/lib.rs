//! Notes that coding agents learn, in git-friendly markdown layers.

#![deny(missing_docs)]

pub mod config;
pub mod note;
pub mod slug;
