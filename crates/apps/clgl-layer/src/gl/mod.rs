//! OpenGL's side: a context of the layer's own, and reading and writing objects in it.

pub mod buffer;
pub mod egl;
pub mod fence;
pub mod functions;
pub mod glx;
pub mod library;
pub mod pixels;
pub mod renderbuffer;
pub mod signals;
pub mod storage;
pub mod system;
pub mod texture;
pub mod thread;
pub mod window_system;
pub mod work;
