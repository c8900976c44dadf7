//! Memory of the host for bytes, refused where there is none.

use crate::describe::error::{Error, Result};

/// Empty memory of the host for so many bytes.
///
/// # Errors
/// [`Error::Unavailable`] where the host has no such memory.
pub fn host_bytes(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|error| Error::Unavailable {
        what: format!("host memory of {len} bytes"),
        reason: error.to_string(),
        hint: "Use a smaller part or free memory.".into(),
    })?;
    Ok(bytes)
}

/// Zeros in memory of the host, so many bytes.
///
/// # Errors
/// [`Error::Unavailable`] where the host has no such memory.
pub fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut bytes = host_bytes(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}
