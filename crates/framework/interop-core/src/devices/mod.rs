//! Properties of devices: identity, capabilities, languages, handles, clocks, and the host's memory.

pub mod borrows;
pub mod capability;
pub mod gl_context;
pub mod host_block;
pub mod host_bytes;
pub mod identity;
pub mod language;
pub mod library;
mod limits;
pub mod maker_object;
pub mod os_handle;
pub mod queue_id;
pub mod ranges;
pub mod shared_handle;
pub mod timeline;
