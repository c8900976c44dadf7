//! Blocks of memory that frames are copied from, and semaphores of both sides.

pub(crate) mod block;
pub(crate) mod memory;
pub(crate) mod queue_buffer;
// Read by the backend alone.
#[cfg_attr(not(feature = "compute"), expect(dead_code))]
pub(crate) mod queue_image;
pub(crate) mod scratch;
pub(crate) mod semaphore;
pub(crate) mod transfer;
