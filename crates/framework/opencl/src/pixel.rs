//! [`Pixel`]: image formats of Rust's types, and back.

use super::{ChannelOrder, ChannelType, ImageFormat};
use crate::Element;

/// A Rust type that is one pixel of an image (`cl_image_format`). A number is `CL_R`, `[T; 2]` is `CL_RG`, `[T; 4]` is
/// `CL_RGBA`. Numbers have 8, 16 or 32 bits, or are `f32`. Integers stay integers in kernels (`read_imageui`,
/// `read_imagei`); see [`ImageFormat::normalized`].
pub trait Pixel: Element {
    /// Its format: the `cl_image_format` for `clCreateImage`.
    const FORMAT: ImageFormat;
}

/// Layout of a channel in memory.
enum Lies {
    /// A number of this Rust type, with this number of bytes.
    As(&'static str, usize),
    /// All channels together, in this number of bytes.
    Packed(usize),
}

macro_rules! pixels {
    ($($scalar:ident = $data:ident;)*) => {$(
        impl Pixel for $scalar {
            const FORMAT: ImageFormat = ImageFormat::new(ChannelOrder::R, ChannelType::$data);
        }

        impl Pixel for [$scalar; 2] {
            const FORMAT: ImageFormat = ImageFormat::new(ChannelOrder::Rg, ChannelType::$data);
        }

        impl Pixel for [$scalar; 4] {
            const FORMAT: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::$data);
        }
    )*};
}

pixels! {
    u8 = UnsignedInt8;
    u16 = UnsignedInt16;
    u32 = UnsignedInt32;
    i8 = SignedInt8;
    i16 = SignedInt16;
    i32 = SignedInt32;
    f32 = Float;
}

impl ChannelType {
    const fn lies(self) -> Lies {
        match self {
            Self::UnormInt8 | Self::UnsignedInt8 => Lies::As("u8", 1),
            Self::SnormInt8 | Self::SignedInt8 => Lies::As("i8", 1),
            // Rust's library has no half-precision type, so halves are their bits.
            Self::UnormInt16 | Self::UnsignedInt16 | Self::HalfFloat => Lies::As("u16", 2),
            Self::SnormInt16 | Self::SignedInt16 => Lies::As("i16", 2),
            Self::UnsignedInt32 => Lies::As("u32", 4),
            Self::SignedInt32 => Lies::As("i32", 4),
            Self::Float => Lies::As("f32", 4),
            Self::UnormShort565 | Self::UnormShort555 => Lies::Packed(2),
            Self::UnormInt24 | Self::UnormInt101010 | Self::UnormInt1010102 => Lies::Packed(4),
        }
    }
}

impl ImageFormat {
    /// Returns the format of images whose pixels have this type (`cl_image_format`), e.g. `[f32; 4]` as `CL_RGBA` of
    /// `CL_FLOAT`. [`super::Context::image_formats`] reports whether a device supports such images.
    pub const fn of<T: Pixel>() -> Self {
        T::FORMAT
    }

    /// Returns the format whose channels are read as numbers from 0 or -1 to 1 (`read_imagef`), e.g. `CL_UNORM_INT8`
    /// for `CL_UNSIGNED_INT8`; `None` where `cl_channel_type` has no such values.
    pub const fn normalized(self) -> Option<Self> {
        let data = match self.data {
            ChannelType::UnsignedInt8 | ChannelType::UnormInt8 => ChannelType::UnormInt8,
            ChannelType::UnsignedInt16 | ChannelType::UnormInt16 => ChannelType::UnormInt16,
            ChannelType::SignedInt8 | ChannelType::SnormInt8 => ChannelType::SnormInt8,
            ChannelType::SignedInt16 | ChannelType::SnormInt16 => ChannelType::SnormInt16,
            _ => return None,
        };
        Some(Self { order: self.order, data })
    }

    /// Returns the number of channels of a pixel in memory (`cl_channel_order`).
    pub const fn channels(self) -> usize {
        match self.order {
            ChannelOrder::R
            | ChannelOrder::A
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance
            | ChannelOrder::Depth => 1,
            ChannelOrder::Rg | ChannelOrder::Ra | ChannelOrder::DepthStencil => 2,
            ChannelOrder::Rgb => 3,
            ChannelOrder::Rgba | ChannelOrder::Bgra | ChannelOrder::Argb | ChannelOrder::Abgr | ChannelOrder::Srgba => {
                4
            }
        }
    }

    /// Returns the bytes of a pixel (`CL_IMAGE_ELEMENT_SIZE` of images of this format).
    pub const fn pixel_bytes(self) -> usize {
        match self.data.lies() {
            Lies::As(_, bytes) => self.channels() * bytes,
            Lies::Packed(bytes) => bytes,
        }
    }

    /// Returns the Rust type of a pixel's channels in memory order (that of `cl_channel_order`). For example, `CL_BGRA`
    /// of `CL_UNORM_INT8` has `[u8; 4]`. Halves are their bits, `u16`. `None` for channels that are packed into one
    /// number.
    pub fn rust_type(self) -> Option<String> {
        match (self.data.lies(), self.channels()) {
            (Lies::As(name, _), 1) => Some(name.to_owned()),
            (Lies::As(name, _), n) => Some(format!("[{name}; {n}]")),
            (Lies::Packed(_), _) => None,
        }
    }

    /// Returns true where pixels of this format (`cl_image_format`) are values of `T` in memory: the same number of
    /// channels, of the same number type.
    pub fn holds<T: Pixel>(self) -> bool {
        let own = self.rust_type();
        own.is_some() && own == T::FORMAT.rust_type()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_a_format_and_the_format_has_the_type() {
        fn both<T: Pixel>(name: &str) {
            let format = ImageFormat::of::<T>();
            assert_eq!(format.rust_type().as_deref(), Some(name));
            assert_eq!(format.pixel_bytes(), size_of::<T>(), "{name}");
            assert!(format.holds::<T>(), "{name}");
        }
        both::<u8>("u8");
        both::<[u16; 2]>("[u16; 2]");
        both::<[i32; 4]>("[i32; 4]");
        both::<[f32; 4]>("[f32; 4]");
        assert_eq!(ImageFormat::of::<[f32; 2]>(), ImageFormat::new(ChannelOrder::Rg, ChannelType::Float));
    }

    #[test]
    fn formats_without_a_type_of_their_own_say_so() {
        let packed = ImageFormat::new(ChannelOrder::Rgb, ChannelType::UnormShort565);
        assert_eq!((packed.pixel_bytes(), packed.rust_type()), (2, None));
        assert!(!packed.holds::<u16>());
        let bgra = ImageFormat::of::<[u8; 4]>().normalized().map(|f| ImageFormat::new(ChannelOrder::Bgra, f.data));
        assert!(bgra.is_some_and(|f| f.holds::<[u8; 4]>() && !f.holds::<[i8; 4]>() && f.pixel_bytes() == 4));
        assert_eq!(ImageFormat::of::<f32>().normalized(), None);
    }
}
