//! Fresh ids: the clock and the system's randomness at the edge of the pure
//! [`crate::note::mint_id`].

use std::time::{SystemTime, UNIX_EPOCH};

use crate::note::mint_id;

/// The system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random numbers, so no id can be made: {0}")]
pub struct MintError(getrandom::Error);

/// Milliseconds since 1970. For display, ids and batches only: no merge asks for it.
pub fn now_millis() -> u64 {
    // A clock before 1970 is broken.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// An id that nobody has, `h_<time>_<random>`.
pub fn fresh_id() -> Result<String, MintError> {
    let random = getrandom::u64().map_err(MintError)?;
    Ok(mint_id(now_millis(), random))
}
