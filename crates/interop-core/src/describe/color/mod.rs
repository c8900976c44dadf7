//! Meaning of a picture's numbers: light and alpha, and their conversion for a target.
//!
//! | to find | look at |
//! |---|---|
//! | what a surface holds | [`Encoding`], [`AlphaMode`] (both in [`crate::ImageDesc`]) |
//! | what a target takes | [`TargetEncoding`] |
//! | the curves between numbers and light | [`Curve`] |
//! | bright scenes on displays that are not | [`ToneMap`] |
//!
//! All primaries are those of sRGB (ITU-R BT.709, white point D65). *Light* is linear: 1.0 is the target's white, and
//! scenes may be brighter. The functions here are the reference for the shaders of the displays.

mod curve;
mod texel;
mod tone;

pub use curve::Curve;
pub use texel::{load, store};
pub use tone::{BRIGHTEST, ToneMap};

use serde::{Deserialize, Serialize};

/// Meaning of a surface's colour channels.
///
/// ```
/// use interop_core::{Encoding, ImageDesc, PixelFormat};
///
/// let photo = ImageDesc::new(640, 480, PixelFormat::Rgba8).with_encoding(Encoding::Srgb);
/// assert_eq!(photo.encoding, Encoding::Srgb);
/// // Where nothing is said, numbers go to the target as they are.
/// assert_eq!(Encoding::default(), Encoding::Unmanaged);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Encoding {
    /// Numbers that go to the target as they are, whatever it takes them for; filters weigh the numbers. For data, and
    /// for kernels that encode what they write.
    #[default]
    Unmanaged,
    /// The sRGB curve (IEC 61966-2-1), as image files and most 8-bit pictures have it.
    Srgb,
    /// Light itself, as renderers compute it; floats may be brighter than 1.
    Linear,
    /// A plain power of 2.2.
    Gamma22,
}

/// Meaning of a surface's alpha channel. Formats without one are opaque.
///
/// ```
/// use interop_core::{AlphaMode, ImageDesc, PixelFormat};
///
/// let overlay = ImageDesc::new(64, 64, PixelFormat::Rgba8).with_alpha(AlphaMode::Premultiplied);
/// assert!(overlay.alpha.is_translucent());
/// assert!(!AlphaMode::Opaque.is_translucent());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AlphaMode {
    /// A fourth number, which goes to the target as it is; nothing is blended.
    #[default]
    Stored,
    /// Nothing: every pixel is opaque, whatever the channel holds.
    Opaque,
    /// Coverage that the stored numbers are already multiplied by. Numbers with coverage 0 are not seen.
    Premultiplied,
    /// Coverage; the colours are those of the thing itself.
    Straight,
}

impl AlphaMode {
    /// Its number in the shaders.
    pub const fn code(self) -> u32 {
        match self {
            Self::Stored => 0,
            Self::Opaque => 1,
            Self::Premultiplied => 2,
            Self::Straight => 3,
        }
    }

    /// True where what lies below is seen through.
    pub const fn is_translucent(self) -> bool {
        matches!(self, Self::Premultiplied | Self::Straight)
    }
}

/// Encoding that the target of a draw expects.
///
/// ```
/// use interop_core::{DrawOptions, TargetEncoding};
///
/// // The target is an sRGB texture, which encodes what is written to it.
/// let options = DrawOptions::default().with_target(TargetEncoding::SrgbFormat);
/// assert_ne!(options.target, TargetEncoding::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TargetEncoding {
    /// Numbers with the sRGB curve in them: the draw encodes. Windows and 8-bit targets of plain formats. What blends with
    /// the target's content blends numbers.
    #[default]
    Srgb,
    /// A format that encodes what is written (`SRGB8_ALPHA8`, `Rgba8UnormSrgb`): the draw writes light, and what blends with
    /// the target's content blends light.
    SrgbFormat,
    /// Light: targets of floats, which keep what is brighter than 1.
    Linear,
}
