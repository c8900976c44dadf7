//! Surfaces that frames are copied into or read from in place, the display's and an engine's.

pub(crate) mod buffer;
pub(crate) mod buffer_copies;
pub(crate) mod engine_surfaces;
pub(crate) mod in_place;
pub(crate) mod texture;
pub(crate) mod texture_copies;
