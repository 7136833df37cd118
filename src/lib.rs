//! Notes that coding agents learn, in git-friendly markdown layers.

#![deny(missing_docs)]

pub mod config;
pub mod continuation;
pub mod export;
pub mod note;
pub mod render;
pub mod select;
pub mod slug;
