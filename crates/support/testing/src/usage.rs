//! The resources of the system that a process uses.

use std::io::{Error, Result};

/// Resources that must not grow in a program that runs without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The resident memory in bytes.
    pub rss: u64,
    /// The number of open file descriptors.
    pub descriptors: usize,
    /// The number of threads.
    pub threads: usize,
}

impl Usage {
    /// Returns the usage of this process.
    ///
    /// # Errors
    /// The system cannot tell it.
    pub fn here() -> Result<Self> {
        Self::of(std::process::id())
    }

    /// Returns the usage of a running process.
    ///
    /// # Errors
    /// The system cannot tell it.
    pub fn of(process: u32) -> Result<Self> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"))?.count();
        let (rss, threads) = (number(&status, "VmRSS:")? << 10, number(&status, "Threads:")? as usize);
        Ok(Self { rss, descriptors, threads })
    }
}

/// Returns the largest resident memory of this process so far, in bytes.
///
/// # Errors
/// The system cannot tell it.
pub fn peak() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    Ok(number(&status, "VmHWM:")? << 10)
}

/// Reads one number from the system's description of a process.
fn number(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    value.ok_or_else(|| Error::other(format!("the system does not report {name}")))
}
