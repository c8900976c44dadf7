//! An image target, as a CPU kernel writes it.

use crate::crew::Loops;
use crate::pods;
use bytemuck::Pod;
use interop_core::{Error, Extent, ImageView, PixelFormat, Result};
use std::any::type_name;

/// The pixels that a kernel writes. Pitch, region and row order are handled: row 0 is the surface's row 0.
///
/// ```
/// use cpu_fallback::{CpuBackend, CpuKernelExt};
/// use interop_core::{ComputeBackend, Extent, KernelSource, PixelFormat, Target};
///
/// let ramp = KernelSource::new("ramp").cpu_image(|out, _| {
///     let width = out.width();
///     out.par_pixels(|x, y| (y * width + x) as u8)
/// });
/// let backend = CpuBackend::new()?;
/// let (kernel, mut memory) = (backend.build(&ramp)?, backend.allocate(6)?);
/// let target = Target::image(memory.as_mut(), Extent::new(3, 2), PixelFormat::R8)?;
/// backend.launch(kernel.as_ref(), target, &[])?;
/// memory.map_read(0..6, &mut |bytes| Ok(assert_eq!(bytes, [0, 1, 2, 3, 4, 5])))?;
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct CpuImage<'a> {
    bytes: &'a mut [u8],
    view: ImageView,
    loops: Loops,
    kernel: &'a str,
}

impl<'a> CpuImage<'a> {
    /// `bytes` is the span of `view`, which was checked.
    pub(crate) const fn new(bytes: &'a mut [u8], view: ImageView, loops: Loops, kernel: &'a str) -> Self {
        Self { bytes, view, loops, kernel }
    }

    /// Returns the width of the region in pixels.
    pub fn width(&self) -> u32 {
        self.view.extent.width
    }

    /// Returns the height of the region in pixels.
    pub fn height(&self) -> u32 {
        self.view.extent.height
    }

    /// Returns the width and height of the region in pixels.
    pub fn extent(&self) -> Extent {
        self.view.extent
    }

    /// Returns the pixel format.
    pub fn format(&self) -> PixelFormat {
        self.view.format
    }

    /// Sets every pixel to `pixel(x, y)`, many in parallel.
    ///
    /// `P` is the type of a pixel in memory: `u8` or `[u8; 1]` for R8, `[u8; 4]` for RGBA8, `[half::f16; 4]` or `[u16;
    /// 4]` for RGBA16F, `f32` for R32F, `[f32; 4]` for RGBA32F.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `P` does not have the size of a pixel; nothing was written.
    pub fn par_pixels<P: Pod>(&mut self, pixel: impl Fn(u32, u32) -> P + Send + Sync) -> Result<()> {
        self.check_pixel::<P>()?;
        self.for_rows(|y, row| pods::write_items(row, |x| pixel(x as u32, y)));
        Ok(())
    }

    /// Calls `f(y, row)` for every row, many in parallel. The row contains the previous content of the memory.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `P` does not have the size of a pixel; `f` was not called.
    pub fn par_rows<P: Pod>(&mut self, f: impl Fn(u32, &mut [P]) + Send + Sync) -> Result<()> {
        self.check_pixel::<P>()?;
        self.for_rows(|y, row| pods::with_items(row, |pixels| f(y, pixels)));
        Ok(())
    }

    /// Calls `f(y, bytes)` for every row, many in parallel.
    pub(crate) fn for_rows(&mut self, f: impl Fn(u32, &mut [u8]) + Send + Sync) {
        let Extent { width, height } = self.view.extent;
        let (row_len, reversed) = (self.view.row_len(), self.view.is_reversed());
        // A single row may have any pitch, even 0.
        let pitch = self.view.pitch().max(row_len);
        self.loops.for_pieces(self.bytes, pitch, width as usize, |piece, bytes| {
            let piece = piece as u32;
            let y = if reversed { height - 1 - piece } else { piece };
            f(y, &mut bytes[..row_len]);
        });
    }

    fn check_pixel<P>(&self) -> Result<()> {
        let (have, want) = (size_of::<P>(), self.view.format.bytes_per_pixel());
        if have == want {
            return Ok(());
        }
        Err(Error::invalid(
            "CpuImage",
            format!(
                "kernel '{}': {} has {have} B, a pixel of {} has {want} B",
                self.kernel,
                type_name::<P>(),
                self.view.format
            ),
        ))
    }
}
