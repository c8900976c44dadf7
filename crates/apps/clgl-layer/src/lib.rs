//! Adds sharing of buffers and textures with OpenGL (`cl_khr_gl_sharing`, `cl_khr_gl_event`) to OpenCL drivers without
//! it.
//!
//! The OpenCL loader calls this library before the driver (`OPENCL_LAYERS`). It gives the program ordinary memory
//! objects of the driver, and copies between them and OpenGL's objects at each acquire and release. On OpenGL's side it
//! uses a context of its own, on a thread of its own, that shares with the program's: the program's state and bindings
//! do not change.
//!
//! Devices whose driver has the extension are left to the driver. `PIXELFERRY_CLGL=explain` prints on standard error
//! why something was refused; otherwise nothing is printed.

// It uses EGL and GLX on Linux; elsewhere the library is empty.
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
mod function_table;
mod gl;
mod layer;
mod object;
mod objects;
mod registry;
mod target;
mod transfer;
mod trial;

pub use layer::{clDeinitLayer, clGetLayerInfo, clInitLayer, clInitLayerWithProperties};
