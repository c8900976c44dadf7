//! Draws of pictures: with a triangle, and with a compute shader.

pub(crate) mod canvas;
pub(crate) mod draw_program;
pub(crate) mod drawing;
pub(crate) mod image_source;
pub(crate) mod quad;
pub(crate) mod store;
pub(crate) mod tools;
