//! The device: the engine's, or one that the display creates itself.

pub(crate) mod device_state;
pub(crate) mod engine;
pub(crate) mod functions;
pub(crate) mod headless;
pub(crate) mod identity;
pub(crate) mod needs;
pub(crate) mod stores;
