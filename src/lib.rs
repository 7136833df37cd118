//! Notes that coding agents learn, in git-friendly markdown layers.

#![deny(missing_docs)]

pub mod document;
pub mod files;
pub mod note;
pub mod slug;
pub mod text;
pub mod workspace;
