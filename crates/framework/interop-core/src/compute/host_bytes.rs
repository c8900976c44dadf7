//! Fallible allocation of host memory for bytes.

use crate::describe::error::{Error, Result};

/// Allocates an empty vector with room for `len` bytes.
///
/// # Errors
/// [`Error::Unavailable`] where the host has too little memory.
pub fn host_bytes(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|error| {
        Error::unavailable(format!("host memory of {len} bytes"), error, "Use a smaller part or free memory.")
    })?;
    Ok(bytes)
}

/// Allocates `len` zero bytes.
///
/// # Errors
/// [`Error::Unavailable`] where the host has too little memory.
pub fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut bytes = host_bytes(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}
