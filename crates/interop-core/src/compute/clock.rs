//! The one clock of times that are compared between queues, devices and the host.

use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds since this process first asked.
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}
