//! Notes that coding agents learn, in git-friendly markdown layers.

#![deny(missing_docs)]

pub mod audit;
pub mod check;
pub mod cli;
pub mod config;
pub mod document;
pub mod effective;
pub mod export;
pub mod files;
pub mod mint;
pub mod note;
pub mod reach;
pub mod render;
pub mod select;
pub mod slug;
pub mod text;
pub mod workspace;
pub mod write;
