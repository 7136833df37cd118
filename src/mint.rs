//! Fresh ids: the clock and the system's randomness at the edge of the pure
//! [`crate::note::mint_id`].

use std::time::{SystemTime, UNIX_EPOCH};

use crate::note::mint_id;

/// The system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random numbers, so no id can be made: {0}")]
pub struct MintError(getrandom::Error);

/// An id that nobody has, `h_<time>_<random>`.
pub fn fresh_id() -> Result<String, MintError> {
    // A clock before 1970 is broken; the random part still keeps ids apart.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let random = getrandom::u64().map_err(MintError)?;
    Ok(mint_id(millis, random))
}
