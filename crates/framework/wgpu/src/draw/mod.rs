//! Draws of frames by triangles and by compute shaders.

pub(crate) mod beside;
pub(crate) mod drawing;
pub(crate) mod painter;
pub(crate) mod picture;
pub(crate) mod shader;
pub(crate) mod splice;
pub(crate) mod steps;
pub(crate) mod store;
pub(crate) mod target;
pub(crate) mod tools;
