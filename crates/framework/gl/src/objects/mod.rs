//! OpenGL objects with their operations, and guards of the state that these change.

pub(crate) mod attachment;
pub(crate) mod buffer_object;
pub(crate) mod call_check;
pub(crate) mod device_copy;
pub(crate) mod draw_state;
pub(crate) mod fence;
pub(crate) mod framebuffer;
pub(crate) mod image_unit;
pub(crate) mod neutral_state;
pub(crate) mod pixel_read;
pub(crate) mod program;
pub(crate) mod state_guards;
pub(crate) mod switches;
pub(crate) mod texture_object;
pub(crate) mod timeline;
pub(crate) mod transfer;
