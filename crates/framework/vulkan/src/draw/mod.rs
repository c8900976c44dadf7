//! Frames drawn into images by compute shaders.

#[cfg_attr(feature = "compute", path = "painter.rs")]
#[cfg_attr(not(feature = "compute"), path = "painter_absent.rs")]
pub(crate) mod painter;
