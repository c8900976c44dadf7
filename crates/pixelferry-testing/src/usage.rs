//! Resources that a process has of the system.

use std::io::{Error, Result};

/// Resources that must not grow in a program that goes on and on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of memory.
    pub rss: u64,
    /// Open file descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
}

impl Usage {
    /// Returns the usage of this process.
    pub fn here() -> Result<Self> {
        Self::of(std::process::id())
    }

    /// Returns the usage of a process that lives.
    pub fn of(process: u32) -> Result<Self> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"))?.count();
        let (rss, threads) = (number(&status, "VmRSS:")? << 10, number(&status, "Threads:")? as usize);
        Ok(Self { rss, descriptors, threads })
    }
}

/// The most bytes of memory that this process has had by now.
pub fn peak() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    Ok(number(&status, "VmHWM:")? << 10)
}

/// A line of what the system tells of a process.
fn number(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    value.ok_or_else(|| Error::other(format!("the system tells no {name}")))
}
