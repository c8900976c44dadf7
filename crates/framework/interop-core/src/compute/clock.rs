//! The clock for times that are compared between queues, devices and the host.

use std::sync::OnceLock;
use std::time::Instant;

/// Returns the nanoseconds since this process called it first.
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}
