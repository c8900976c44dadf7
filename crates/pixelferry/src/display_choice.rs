//! The names of displays.

/// The display to open.
///
/// ```
/// use pixelferry::{Api, DisplayChoice, open_headless};
///
/// let memory = open_headless(DisplayChoice::Memory)?;
/// assert_eq!(memory.display().device().api, Api::Cpu);
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DisplayChoice {
    /// OpenGL without a window, else the compute device itself where that is known and hardware, else plain memory. Never fails
    /// for want of a driver.
    #[default]
    Auto,
    /// OpenGL without a window, or an error.
    Gl,
    /// wgpu on Vulkan or OpenGL, or an error: also where this library was built without its feature `wgpu`.
    Wgpu,
    /// Memory of the CUDA or OpenCL device that computes, or of the best one, drawn by its own kernels; or an error.
    Compute,
    /// Plain memory.
    Memory,
    /// Vulkan without a window, on a device of the display's own, or an error: also where this library was built without its
    /// feature `vulkan`.
    Vulkan,
}
