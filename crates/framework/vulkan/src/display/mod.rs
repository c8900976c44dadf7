//! The display, its surfaces and its targets.

pub(crate) mod blit;
pub(crate) mod contract;
pub(crate) mod engine_surfaces;
pub(crate) mod image_target;
