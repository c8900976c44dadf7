//! JPEG encoding on the GPU that has the pixels: only the JPEG's bytes cross to the host.

use crate::jpeg::{self, FINE};
use crate::nvjpeg::{GpuJpegError, NvJpeg, Session};
use crate::wire::{Codec, Header, MessageKind};
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, Extent, ImageDesc, Kernel, KernelSource, PixelFormat, RowOrder, Target,
};
use std::sync::Arc;

/// Compiled from `kernels/rgb.cu` by `cargo xtask ptx`.
const PTX: &str = include_str!("ptx/rgb.ptx");

/// By how much the mean square error may exceed that of the host's JPEG, as a fraction and as an absolute number: the
/// two round differently.
const MORE: (f64, f64) = (0.25, 1.0);

/// An nvJPEG encoder for RGBA8 pictures of one size in linear memory of a CUDA device.
///
/// nvJPEG is loaded at run time (`libnvjpeg.so.13` or `.so.12`, `nvjpegEncodeImage`). A kernel first removes alpha.
/// Opening an encoder encodes a picture of many colours, decodes it on the host and compares.
///
/// It stays on the thread that made it; several threads may each have one. Other CUDA code in the process is not
/// disturbed.
///
///
/// ```
/// use interop_core::Extent;
/// use pixelferry_media::{GpuJpeg, GpuJpegError};
/// use std::sync::Arc;
///
/// // A backend without CUDA has no encoder.
/// let backend = Arc::new(pixelferry::CpuBackend::new()?);
/// let none = GpuJpeg::open(backend, Extent::new(64, 48), 90);
/// assert!(matches!(none.err(), Some(GpuJpegError::Absent(_) | GpuJpegError::Compute(_))));
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct GpuJpeg {
    session: Session,
    kernel: Arc<dyn Kernel>,
    rgb: Box<dyn ComputeMemory>,
    backend: Arc<dyn ComputeBackend>,
    extent: Extent,
    size: (u16, u16),
    quality: u8,
}

impl GpuJpeg {
    /// Looks for nvJPEG; needs no device.
    ///
    /// # Errors
    /// [`GpuJpegError::Absent`].
    pub fn available() -> Result<(), GpuJpegError> {
        NvJpeg::get().map(drop)
    }

    /// Opens an encoder. `quality` is from 1 to 100, as for [`Header::pack`], with the same resolution of colours.
    ///
    /// # Errors
    /// [`GpuJpegError::Absent`] without nvJPEG, [`GpuJpegError::Pixels`] for an unsupported size,
    /// [`GpuJpegError::Compute`] for a backend without PTX, [`GpuJpegError::Wrong`] if its picture differs too much
    /// from the host's.
    pub fn open(backend: Arc<dyn ComputeBackend>, extent: Extent, quality: u8) -> Result<Self, GpuJpegError> {
        Self::available()?;
        let bytes = u64::from(extent.width) * u64::from(extent.height) * 3;
        let sides = (u16::try_from(extent.width), u16::try_from(extent.height));
        // The kernel counts bytes with 32 bits.
        let ((Ok(width), Ok(height)), Ok(bytes), 1..) = (sides, i32::try_from(bytes), bytes) else {
            let needed = "1 to 65535 pixels a side, and less than 2 GiB of RGB";
            return Err(GpuJpegError::Pixels { needed, found: format!("{}x{}", extent.width, extent.height) });
        };
        // SAFETY: each item writes only its own bytes below the length, and reads the pixels of `extent`; `pack` checks
        // that the memory is large enough.
        let kernel = backend.build(&unsafe { KernelSource::new("pf_rgb").ptx(PTX) })?;
        let mut rgb = backend.allocate(bytes as usize)?;
        let session = Session::open(&backend, rgb.as_mut(), quality, quality < FINE)?;
        let mut made = Self { session, kernel, rgb, backend, extent, size: (width, height), quality };
        let pixels = colours(extent);
        let mut memory = made.backend.allocate(pixels.len())?;
        memory.write(0, &pixels)?;
        let packed = made.pack(memory.as_ref(), RowOrder::TopDown)?;
        made.check(&pixels, &packed)?;
        Ok(made)
    }

    /// Encodes tight rows of RGBA8, which begin at byte 0 of memory of the backend and are in `rows` order; the JPEG
    /// has the top row first. Waits for the result.
    ///
    /// # Errors
    /// [`GpuJpegError::Pixels`] for memory that is smaller than the picture, and errors of libraries and device.
    pub fn pack(&mut self, rgba: &dyn ComputeMemory, rows: RowOrder) -> Result<Vec<u8>, GpuJpegError> {
        let Extent { width, height } = self.extent;
        if (rgba.len() as u64) < u64::from(width) * u64::from(height) * 4 {
            let found = format!("{} bytes for {width}x{height}", rgba.len());
            return Err(GpuJpegError::Pixels { needed: "four bytes per pixel", found });
        }
        let flip = u32::from(rows == RowOrder::BottomUp);
        let arguments = [Arg::Memory(rgba), Arg::U32(width), Arg::U32(height), Arg::U32(flip)];
        self.backend.launch(self.kernel.as_ref(), Target::buffer(self.rgb.as_mut()), &arguments)?;
        self.session.pack(self.rgb.as_mut(), self.size)
    }

    /// Compares a JPEG with its source pixels, rows of RGBA8 with the top one first, by the quality of the host's JPEG.
    ///
    /// # Errors
    /// [`GpuJpegError::Wrong`] if its error is larger than that of the host's JPEG, and errors of decoding.
    pub fn check(&self, pixels: &[u8], packed: &[u8]) -> Result<(), GpuJpegError> {
        let image = ImageDesc::new(self.extent.width, self.extent.height, PixelFormat::Rgba8);
        let header = Header { codec: Codec::Jpeg, ..Header::new(MessageKind::Picture, image, self.extent.full()) };
        let error_of = |jpeg: &[u8]| {
            let back =
                jpeg::unpack(&header, jpeg).map_err(|why| interop_core::Error::invalid("GpuJpeg::check", why))?;
            Ok::<_, GpuJpegError>(mean_square(&back, pixels))
        };
        let (found, expected) = (error_of(packed)?, error_of(&jpeg::pack(&header, pixels, self.quality)?)?);
        if found <= expected * (1.0 + MORE.0) + MORE.1 {
            return Ok(());
        }
        Err(GpuJpegError::Wrong { device: self.backend.device().to_string(), found, expected })
    }

    /// Size of its pictures.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Names the library and the device.
    pub fn name(&self) -> String {
        let library = NvJpeg::get().map_or("nvJPEG", NvJpeg::name);
        format!("{library} on {}", self.backend.device())
    }
}

/// Mean square error of red, green and blue between two RGBA8 pictures; the peak signal-to-noise ratio is 10 log10(255
/// * 255 / error) decibels.
pub fn mean_square(one: &[u8], two: &[u8]) -> f64 {
    let pixels = one.chunks_exact(4).zip(two.chunks_exact(4));
    let numbers = pixels.flat_map(|(one, two)| one.iter().zip(two).take(3));
    let (sum, count) = numbers.fold((0_u64, 0_u64), |(sum, count), (one, two)| {
        let apart = u64::from(one.abs_diff(*two));
        (sum + apart * apart, count + 1)
    });
    sum as f64 / count.max(1) as f64
}

/// A picture in which every row, column and channel differs: slow waves, which JPEG preserves well.
fn colours(extent: Extent) -> Vec<u8> {
    let level = |at: u32, of: u32| (u64::from(at) * 255 / u64::from(of.max(2) - 1)) as u8;
    let pixels = (0..extent.height).flat_map(|y| (0..extent.width).map(move |x| (x, y)));
    pixels
        .flat_map(|(x, y)| {
            let (across, down) = (level(x, extent.width), level(y, extent.height));
            [across, down, across / 4 + (255 - down) / 2, 255]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::CpuBackend;

    #[test]
    fn errors_are_told_from_each_other() {
        let extent = Extent::new(40, 30);
        let mut flipped = colours(extent);
        assert!((mean_square(&flipped, &flipped)).abs() < f64::EPSILON);
        let upright = flipped.clone();
        flipped.rotate_left(4 * 40 * 15);
        assert!(mean_square(&upright, &flipped) > 1000.0);
        let mut swapped = upright.clone();
        swapped.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
        assert!(mean_square(&upright, &swapped) > 1000.0);
    }

    #[test]
    fn without_cuda_there_is_none() {
        let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        let error = GpuJpeg::open(backend, Extent::new(64, 48), 90).err().unwrap();
        assert!(matches!(error, GpuJpegError::Absent(_) | GpuJpegError::Compute(_)), "{error}");
    }
}
