//! Names of rows that are not paths; they are equal in every result.

/// Floor: one copy of a frame on the host.
pub(crate) const MEMCPY: &str = "memcpy of one frame";
pub(crate) const KERNEL: &str = "kernel alone";
pub(crate) const DRAW: &str = "draw alone";
/// Floor: kernel and draw in sequence, with no frame handed over.
pub(crate) const NOTHING_SHARED: &str = "kernel, CPU sync, draw; nothing shared";
/// Floor: kernel and draw without an order between them.
pub(crate) const UNSYNCHRONISED: &str = "kernel and draw unsynchronised";
/// The row for the library's own choice.
pub(crate) const AUTOMATIC: &str = "automatic";
