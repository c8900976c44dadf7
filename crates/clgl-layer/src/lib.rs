//! OpenCL that shares buffers and textures with OpenGL (`cl_khr_gl_sharing`, `cl_khr_gl_event`) on drivers without it.
//!
//! The OpenCL loader puts this library before the driver (`OPENCL_LAYERS`). It gives the program ordinary memory objects of
//! the driver, and copies between them and OpenGL's at each acquire and release. OpenGL's side is a context of the layer's
//! own, on a thread of its own, that shares with the program's: what the program has bound, set or begun stays as it is.
//!
//! A device whose driver has the extension itself is left to the driver. `PIXELFERRY_CLGL=explain` says on standard error
//! why something was refused; without it nothing is printed.

// It knows EGL and GLX on Linux; elsewhere the library is empty.
#![cfg(target_os = "linux")]

mod calls;
mod cl;
mod codes;
mod command;
mod context;
mod contexts;
mod edge;
mod events;
mod explain;
mod extensions;
mod fence_event;
mod format;
mod gl;
mod layer;
mod object;
mod objects;
mod registry;
mod target;
mod transfer;

pub use layer::{clDeinitLayer, clGetLayerInfo, clInitLayer, clInitLayerWithProperties};
