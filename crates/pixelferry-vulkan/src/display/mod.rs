//! The display, and what an engine does with it.

pub(crate) mod blit;
pub(crate) mod contract;
pub(crate) mod engine_surfaces;
pub(crate) mod image_target;
