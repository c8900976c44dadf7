//! Memory of the host.

use interop_core::Result;

/// So many zeros in memory of the host.
///
/// # Errors
/// [`interop_core::Error::Unavailable`] where the host has no such memory.
pub fn host_bytes(len: usize) -> Result<Vec<u8>> {
    let mut bytes = interop_core::compute::host_bytes(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}
