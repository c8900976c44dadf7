//! Names of rows that are no path's, the same in every result.

/// Floor: what one copy of a frame costs the host.
pub(crate) const MEMCPY: &str = "memcpy of one frame";
/// Floor: the kernel.
pub(crate) const KERNEL: &str = "kernel alone";
/// Floor: the draw.
pub(crate) const DRAW: &str = "draw alone";
/// Floor: both, one after the other, with nothing handed over.
pub(crate) const NOTHING_SHARED: &str = "kernel, CPU sync, draw; nothing shared";
/// Floor: both, with no order between them.
pub(crate) const UNSYNCHRONISED: &str = "kernel and draw unsynchronised";
/// Name of the row for the library's own choice.
pub(crate) const AUTOMATIC: &str = "automatic";
