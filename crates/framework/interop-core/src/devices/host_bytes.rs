//! Fallible allocation of host memory for bytes.

use crate::describe::error::{Error, Result};
use std::fs;

/// From this size on, an allocation needs so much free memory: Linux promises more than it has, and ends a process that
/// uses it.
const LARGE: usize = 64 << 20;

/// Returns a value of `/proc/meminfo` in bytes; the system may not report it.
pub fn system_memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Checks that the host has `len` bytes to spare. Every large allocation of host memory asks this first.
///
/// # Errors
/// [`Error::Unavailable`] where it has less.
pub fn check_host_memory(len: usize) -> Result<()> {
    let free = if len < LARGE { None } else { system_memory("MemAvailable") };
    match free {
        Some(free) if len as u64 > free => Err(no_host_memory(len, format!("the system has {free} bytes left"))),
        _ => Ok(()),
    }
}

/// Makes the error for host memory that the allocator refuses.
pub fn no_host_memory(len: usize, reason: impl std::fmt::Display) -> Error {
    Error::unavailable(format!("host memory of {len} bytes"), reason, "Use a smaller surface or part, or free memory.")
}

/// Allocates an empty vector with room for `len` bytes.
///
/// # Errors
/// [`Error::Unavailable`] where the host has too little memory.
pub fn host_bytes(len: usize) -> Result<Vec<u8>> {
    check_host_memory(len)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|error| no_host_memory(len, error))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostBlock;

    #[test]
    fn more_than_the_free_memory_is_refused() {
        let all = usize::try_from(system_memory("MemTotal").unwrap()).unwrap();
        let said = zeros(all).unwrap_err().to_string();
        assert!(said.contains("host memory of") && said.contains("free memory"), "{said}");
        assert!(matches!(HostBlock::allocate(all), Err(Error::Unavailable { .. })));
        assert_eq!(zeros(3).unwrap(), [0; 3]);
        assert_eq!(system_memory("Mem"), None);
    }
}
