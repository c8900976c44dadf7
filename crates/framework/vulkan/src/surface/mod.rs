//! Surfaces that the engine reads frames from.

pub(crate) mod frame;
pub(crate) mod in_place;
pub(crate) mod offscreen;
pub(crate) mod stored_surface;
pub(crate) mod surface_content;
