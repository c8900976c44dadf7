//! The display.

pub(crate) mod contract;
pub(crate) mod engine_objects;
pub(crate) mod view_target;
