//! The APIs one by one: their devices, contexts and windows, and their native objects.

/// CUDA: devices, and ahead-of-time compilation of kernels.
#[cfg(feature = "cuda")]
pub use cuda_backend as cuda;
/// OpenCL: devices and memory, and the OpenCL API as safe Rust.
#[cfg(feature = "opencl")]
pub use opencl_backend as opencl;
/// OpenGL: contexts, windows, drawing, native textures and buffers; with the feature `gl-compute` also kernels in the
/// display's context.
#[cfg(feature = "gl")]
pub use pixelferry_gl as gl;
/// The display on an engine's own Vulkan device; with the feature `vulkan-compute` also kernels in its queue.
#[cfg(feature = "vulkan")]
pub use pixelferry_vulkan as vulkan;
/// wgpu: devices, drawing, surfaces as textures and buffers, and WGSL kernels.
#[cfg(feature = "wgpu")]
pub use pixelferry_wgpu as wgpu;
