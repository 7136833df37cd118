//! Text files: the only module that reads or writes them.
//!
//! Three promises, each in its own file:
//!
//! - [`read_text`]: a file is there, or absent, or nobody can tell. What cannot
//!   be read is never taken for deleted.
//! - [`replace()`]: a file is replaced whole or not at all, and only if it still
//!   holds what was read.
//! - [`Lock`]: writers of one root take turns.
//!
//! Nothing here knows notes or projects.

mod error;
mod fault;
mod folder;
mod lock;
mod read;
mod replace;
mod sweep;
mod target;

pub use error::{Action, ChangedTo, LockError, ReadError, WriteError};
pub(crate) use fault::fault;
pub use folder::{NewFile, create_folder, list_names, probe_folder};
pub use lock::{LOCK_FILE, Lock};
pub use read::{Found, read_bytes, read_text};
pub use replace::{Expected, TEMP_PREFIX, TEMP_SUFFIX, Wrote, replace};
pub use sweep::sweep_temporaries;
pub use target::final_target;
