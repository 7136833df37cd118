//! The commands, one file each: examples, arguments, the function.

pub(crate) mod add;
pub(crate) mod archive;
pub(crate) mod check;
pub(crate) mod claim;
pub(crate) mod completions;
pub(crate) mod conflicts;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod export;
pub(crate) mod fmt;
pub(crate) mod git;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod keep;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod relocate;
pub(crate) mod render;
pub(crate) mod restore;
pub(crate) mod rollback;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod sync;
pub(crate) mod watch;
