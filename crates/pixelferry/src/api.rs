//! The APIs one by one: their devices, contexts and windows, and objects by their own names.

/// CUDA: devices, and compiling kernels ahead.
#[cfg(feature = "cuda")]
pub use cuda_backend as cuda;
/// OpenCL: devices and memory, and OpenCL as safe Rust.
#[cfg(feature = "opencl")]
pub use opencl_backend as opencl;
/// OpenGL: contexts, windows, drawing, the names of textures and buffers; with `gl-compute` kernels in the context that draws.
#[cfg(feature = "gl")]
pub use pixelferry_gl as gl;
/// The display on an engine's own Vulkan device; with `vulkan-compute` kernels in its queue.
#[cfg(feature = "vulkan")]
pub use pixelferry_vulkan as vulkan;
/// wgpu: devices, drawing, surfaces as textures and buffers, and kernels in WGSL.
#[cfg(feature = "wgpu")]
pub use pixelferry_wgpu as wgpu;
