//! What backends check and make for memory, on the device and on the host.

use crate::limits::Limits;
use interop_core::{ComputeCaps, Error, Result};

/// Checks the bytes of an allocation against the largest that there is.
///
/// # Errors
/// [`Error::InvalidInput`] for none, [`Error::Unsupported`] for too many.
pub fn check_size(bytes: usize, caps: &ComputeCaps, limits: &Limits, operation: &'static str) -> Result<()> {
    let most = caps.max_allocation;
    if bytes == 0 {
        return Err(Error::invalid(operation, "0 bytes asked for; give at least 1"));
    }
    if bytes as u64 > most {
        let reason = format!("{bytes} bytes are above its largest allocation, {most}");
        return Err(limits.unsupported(operation, reason));
    }
    Ok(())
}

/// So many zeros in memory of the host.
///
/// # Errors
/// [`Error::Unavailable`] where the host has no such memory.
pub fn host_bytes(len: usize) -> Result<Vec<u8>> {
    let mut bytes = interop_core::compute::host_bytes(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}
