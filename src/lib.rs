//! Notes that coding agents learn, in git-friendly markdown layers.

#![deny(missing_docs)]

pub mod document;
pub mod note;
pub mod text;
