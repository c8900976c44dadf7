//! libjpeg-turbo, which encodes JPEG about twice as fast. It is opened at run time, so that building needs nothing.
//! This uses the interface of version 2, which version 3 has, too.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_ulong, c_void};
use std::ptr;
use std::sync::OnceLock;

#[cfg(windows)]
const NAME: &str = "turbojpeg.dll";
#[cfg(target_os = "macos")]
const NAME: &str = "libturbojpeg.dylib";
#[cfg(not(any(windows, target_os = "macos")))]
const NAME: &str = "libturbojpeg.so.0";

/// Keeps the library from replacing our buffer, which is large enough.
const NO_REALLOC: c_int = 1024;

/// Order of a pixel's bytes, numbered as in `TJPF`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Grey = 6,
    Rgba = 7,
    Bgra = 8,
}

type Handle = *mut c_void;
type InitCompress = unsafe extern "C" fn() -> Handle;
type BufSize = unsafe extern "C" fn(c_int, c_int, c_int) -> c_ulong;
type Compress = unsafe extern "C" fn(
    Handle,
    *const c_uchar,
    c_int,
    c_int,
    c_int,
    c_int,
    *mut *mut c_uchar,
    *mut c_ulong,
    c_int,
    c_int,
    c_int,
) -> c_int;
type Destroy = unsafe extern "C" fn(Handle) -> c_int;
type ErrorText = unsafe extern "C" fn(Handle) -> *mut c_char;

pub struct Turbo {
    init: InitCompress,
    buf_size: BufSize,
    compress: Compress,
    destroy: Destroy,
    error_text: ErrorText,
    _library: Library,
}

impl Turbo {
    /// Returns the library if this machine has it.
    pub fn get() -> Option<&'static Self> {
        static TURBO: OnceLock<Result<Turbo, libloading::Error>> = OnceLock::new();
        TURBO.get_or_init(Self::open).as_ref().ok()
    }

    fn open() -> Result<Self, libloading::Error> {
        // SAFETY: the library's initialisers only inspect the processor.
        let library = unsafe { Library::new(NAME) }?;
        // SAFETY: the types are those of turbojpeg.h, equal in all versions with this file name. The library stays open
        // as long as its functions are held.
        unsafe {
            Ok(Self {
                init: *library.get(b"tjInitCompress\0")?,
                buf_size: *library.get(b"tjBufSize\0")?,
                compress: *library.get(b"tjCompress2\0")?,
                destroy: *library.get(b"tjDestroy\0")?,
                error_text: *library.get(b"tjGetErrorStr2\0")?,
                _library: library,
            })
        }
    }

    /// Encodes tight rows, with colours at half resolution (4:2:0) if `halved`.
    pub fn pack(
        &self,
        pixels: &[u8],
        (width, height): (u16, u16),
        layout: Layout,
        quality: u8,
        halved: bool,
    ) -> Result<Vec<u8>, String> {
        let pixel = if layout == Layout::Grey { 1 } else { 4 };
        if width == 0 || height == 0 || pixels.len() != usize::from(width) * usize::from(height) * pixel {
            return Err(format!("{} bytes do not match {width}x{height} pixels", pixels.len()));
        }
        // Numbered as in `TJSAMP`.
        let sampling = match (layout, halved) {
            (Layout::Grey, _) => 3,
            (_, true) => 2,
            (_, false) => 0,
        };
        let (width, height) = (c_int::from(width), c_int::from(height));
        // SAFETY: the function uses only these numbers.
        let most = unsafe { (self.buf_size)(width, height, sampling) };
        let mut packed = vec![0; usize::try_from(most).map_err(|error| error.to_string())?];
        // SAFETY: the function has no arguments; its result is destroyed once, below.
        let handle = unsafe { (self.init)() };
        if handle.is_null() {
            return Err("libjpeg-turbo returned no compressor; memory may be exhausted".into());
        }
        let (mut out, mut length) = (packed.as_mut_ptr(), most);
        // SAFETY: the pixels match the sizes, in tight rows (pitch 0). The buffer has the size that the library asks
        // for, and `NO_REALLOC` keeps the library from replacing it.
        let done = unsafe {
            let (from, quality) = (pixels.as_ptr(), c_int::from(quality));
            let (to, format) = ((&raw mut out, &raw mut length), layout as c_int);
            (self.compress)(handle, from, width, 0, height, format, to.0, to.1, sampling, quality, NO_REALLOC)
        };
        let problem = (done != 0).then(|| self.problem(handle));
        // SAFETY: the handle comes from `init` and is not used any more. The result changes nothing here.
        unsafe { (self.destroy)(handle) };
        match (problem, usize::try_from(length)) {
            (None, Ok(length)) if length <= packed.len() && ptr::eq(out, packed.as_ptr()) => {
                packed.truncate(length);
                Ok(packed)
            }
            (problem, _) => Err(format!("libjpeg-turbo failed: {}", problem.unwrap_or_default())),
        }
    }

    fn problem(&self, handle: Handle) -> String {
        // SAFETY: the text belongs to the handle, ends with 0, and is copied before the next call.
        let text = unsafe {
            let text = (self.error_text)(handle);
            (!text.is_null()).then(|| CStr::from_ptr(text))
        };
        text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::without_turbo;
    use jpeg_encoder::ColorType;
    use pixelferry_testing::{Need, need};
    use zune_core::bytestream::ZCursor;
    use zune_core::colorspace::ColorSpace;
    use zune_core::options::DecoderOptions;
    use zune_jpeg::JpegDecoder;

    fn turbo() -> Option<&'static Turbo> {
        need(Need::TurboJpeg, Turbo::get().ok_or(NAME))
    }

    fn picture(width: u16, height: u16, bytes: usize) -> Vec<u8> {
        let wave = |x: f32, y: f32, at: f32| 127.5 + 60.0 * ((x / 17.0 + at).sin() + (y / 23.0 - at).cos());
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (f32::from(x), f32::from(y))));
        places.flat_map(|(x, y)| (0..bytes).map(move |at| wave(x, y, at as f32) as u8)).collect()
    }

    fn unpack(packed: &[u8], space: ColorSpace) -> Vec<u8> {
        let options = DecoderOptions::default().jpeg_set_out_colorspace(space);
        JpegDecoder::new_with_options(ZCursor::new(packed), options).decode().unwrap()
    }

    #[test]
    fn both_encoders_give_the_same_picture() {
        let Some(turbo) = turbo() else { return };
        for (layout, color, space, bytes) in [
            (Layout::Grey, ColorType::Luma, ColorSpace::Luma, 1),
            (Layout::Rgba, ColorType::Rgba, ColorSpace::RGBA, 4),
            (Layout::Bgra, ColorType::Bgra, ColorSpace::RGBA, 4),
        ] {
            for (size, quality, halved) in [
                ((64, 48), 85, true),
                ((37, 29), 85, true),
                ((37, 29), 95, false),
                ((1, 1), 85, true),
                ((640, 1), 50, true),
            ] {
                let pixels = picture(size.0, size.1, bytes);
                let packed = turbo.pack(&pixels, size, layout, quality, halved).unwrap();
                let other = without_turbo(&pixels, size, color, quality, halved).unwrap();
                let (a, b) = (unpack(&packed, space), unpack(&other, space));
                assert_eq!(a.len(), b.len());
                // Transforms round apart by one step of a coefficient here and there, and hardly anywhere.
                let apart: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b).into()).collect();
                let (most, sum) = (apart.iter().max(), apart.iter().sum::<u32>());
                let is_same = most <= Some(&16) && sum as usize <= a.len();
                assert!(is_same, "{layout:?} {size:?} {quality}: {most:?} apart, {sum} over {} numbers", a.len());
                // Grey has a table less.
                let apart = packed.len().abs_diff(other.len());
                assert!(apart <= 200 + other.len() / 10, "{layout:?} {size:?} {quality}: {apart} of {}", other.len());
            }
        }
        assert!(turbo.pack(&[0; 3], (1, 1), Layout::Rgba, 85, true).is_err());
    }
}
