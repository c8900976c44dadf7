//! JPEG on the GPU where the pixels are: only its bytes cross to the host.

use crate::jpeg::{self, FINE};
use crate::nvjpeg::{GpuJpegError, NvJpeg, Session};
use crate::wire::{Codec, Header, Kind};
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, Extent, ImageDesc, Kernel, KernelSource, PixelFormat, RowOrder, Target,
};
use std::sync::Arc;

/// Compiled from `kernels/rgb.cu` by `cargo xtask ptx`.
const PTX: &str = include_str!("ptx/rgb.ptx");

/// Mean square error that may be added to that of the host's JPEG, as a part of it and as a number: transforms round apart.
const MORE: (f64, f64) = (0.25, 1.0);

/// An encoder of RGBA8 pictures of one size that lie in linear memory of a CUDA device, by nvJPEG.
///
/// nvJPEG is loaded at run time (`libnvjpeg.so.13` or `.so.12`, `nvjpegEncodeImage`), after a kernel that leaves alpha out. An encoder
/// is there only after a picture of many colours was packed, unpacked on the host and compared.
///
/// Stays on the thread that made it; several threads may each have one. Other CUDA code in the process is not disturbed.
///
/// ```
/// use interop_core::Extent;
/// use pixelferry_media::{GpuJpeg, GpuJpegError};
/// use std::sync::Arc;
///
/// // Of a backend without CUDA there is none.
/// let backend = Arc::new(cpu_fallback::CpuBackend::new()?);
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
    /// Looks for nvJPEG; takes no device.
    ///
    /// # Errors
    /// [`GpuJpegError::Absent`].
    pub fn available() -> Result<(), GpuJpegError> {
        NvJpeg::get().map(drop)
    }

    /// Opens an encoder; `quality` is from 1 to 100 as [`Header::pack`] takes it, with colours at the same resolution.
    ///
    /// # Errors
    /// [`GpuJpegError::Absent`] without nvJPEG, [`GpuJpegError::Pixels`] for a size that it does not take, [`GpuJpegError::Compute`] for a
    /// backend without PTX, [`GpuJpegError::Wrong`] where it makes another picture than the host.
    pub fn open(backend: Arc<dyn ComputeBackend>, extent: Extent, quality: u8) -> Result<Self, GpuJpegError> {
        Self::available()?;
        let bytes = u64::from(extent.width) * u64::from(extent.height) * 3;
        let sides = (u16::try_from(extent.width), u16::try_from(extent.height));
        // The kernel counts bytes by 32 bits.
        let ((Ok(width), Ok(height)), Ok(bytes), 1..) = (sides, i32::try_from(bytes), bytes) else {
            let needed = "1 to 65535 pixels a side, and less than 2 GiB of RGB";
            return Err(GpuJpegError::Pixels { needed, found: format!("{}x{}", extent.width, extent.height) });
        };
        // SAFETY: each item writes its own bytes below the length, and reads the pixels that `extent` has; `pack` checks that the
        // memory has as many.
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

    /// Packs tight rows of RGBA8 from byte 0 of the backend's memory, in that order; a JPEG has the top row first. Waits for it.
    ///
    /// # Errors
    /// [`GpuJpegError::Pixels`] for memory that is smaller than the picture, and what libraries and device report.
    pub fn pack(&mut self, rgba: &dyn ComputeMemory, rows: RowOrder) -> Result<Vec<u8>, GpuJpegError> {
        let Extent { width, height } = self.extent;
        if (rgba.len() as u64) < u64::from(width) * u64::from(height) * 4 {
            let found = format!("{} bytes for {width}x{height}", rgba.len());
            return Err(GpuJpegError::Pixels { needed: "four bytes for each pixel", found });
        }
        let flip = u32::from(rows == RowOrder::BottomUp);
        let arguments = [Arg::Memory(rgba), Arg::U32(width), Arg::U32(height), Arg::U32(flip)];
        self.backend.launch(self.kernel.as_ref(), Target::buffer(self.rgb.as_mut()), &arguments)?;
        self.session.pack(self.rgb.as_mut(), self.size)
    }

    /// Compares what was packed with the pixels that it was packed of, rows of RGBA8 with the top one first, as the host would pack
    /// them.
    ///
    /// # Errors
    /// [`GpuJpegError::Wrong`] where it is further from them than the host's JPEG, and what unpacking reports.
    pub fn check(&self, pixels: &[u8], packed: &[u8]) -> Result<(), GpuJpegError> {
        let image = ImageDesc::new(self.extent.width, self.extent.height, PixelFormat::Rgba8);
        let header = Header { codec: Codec::Jpeg, ..Header::new(Kind::Picture, image, self.extent.full()) };
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

    /// The library and the device that pack, in words.
    pub fn name(&self) -> String {
        let library = NvJpeg::get().map_or("nvJPEG", NvJpeg::name);
        format!("{library} on {}", self.backend.device())
    }
}

/// Mean square error of red, green and blue between two pictures of RGBA8; the peak signal-to-noise ratio is
/// 10 log10(255 * 255 / error) decibels.
pub fn mean_square(one: &[u8], two: &[u8]) -> f64 {
    let pixels = one.chunks_exact(4).zip(two.chunks_exact(4));
    let numbers = pixels.flat_map(|(one, two)| one.iter().zip(two).take(3));
    let (sum, count) = numbers.fold((0_u64, 0_u64), |(sum, count), (one, two)| {
        let apart = u64::from(one.abs_diff(*two));
        (sum + apart * apart, count + 1)
    });
    sum as f64 / count.max(1) as f64
}

/// A picture in which no row, column or channel is like another: slow waves, which JPEG keeps well.
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
    use cpu_fallback::CpuBackend;

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
