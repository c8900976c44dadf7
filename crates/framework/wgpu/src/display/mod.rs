//! The display and its targets.

pub(crate) mod contract;
pub(crate) mod engine_objects;
pub(crate) mod view_target;
