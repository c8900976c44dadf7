//! Meaning of a picture's numbers: light and alpha, and how they are converted for a target.
//!
//! | to find | look at |
//! |---|---|
//! | what a surface holds | [`Encoding`], [`AlphaMode`] (both in [`crate::ImageDesc`]) |
//! | the encoding a target expects | [`TargetEncoding`] |
//! | the curves between numbers and light | [`Curve`] |
//! | scenes that are brighter than the display | [`ToneMap`] |
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
/// // By default, numbers go to the target unchanged.
/// assert_eq!(Encoding::default(), Encoding::Unmanaged);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Encoding {
    /// Numbers that go to the target unchanged, whatever the target takes them for. Filters weight the numbers
    /// themselves. Use it for data, and for kernels that encode what they write.
    #[default]
    Unmanaged,
    /// Numbers with the sRGB curve (IEC 61966-2-1), as in image files and most 8-bit pictures.
    Srgb,
    /// Linear light, as renderers compute it; floats may be brighter than 1.
    Linear,
    /// Numbers with a plain power curve of 2.2.
    Gamma22,
}

/// Meaning of a surface's alpha channel. Formats without an alpha channel are opaque.
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
    /// A fourth number, which goes to the target unchanged; nothing is blended.
    #[default]
    Stored,
    /// Alpha is ignored: every pixel is opaque.
    Opaque,
    /// Coverage (premultiplied alpha): the stored colours are already multiplied by it. Pixels with coverage 0 are
    /// invisible.
    Premultiplied,
    /// Coverage (straight alpha): the stored colours are not multiplied by it.
    Straight,
}

impl AlphaMode {
    /// Number of the mode in the shaders.
    pub const fn code(self) -> u32 {
        match self {
            Self::Stored => 0,
            Self::Opaque => 1,
            Self::Premultiplied => 2,
            Self::Straight => 3,
        }
    }

    /// True where the content below shows through.
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
    /// Numbers with the sRGB curve: the draw encodes them. For windows and 8-bit targets of plain formats. Blending
    /// with the target's content is done on the encoded numbers.
    #[default]
    Srgb,
    /// A format that encodes what is written (`SRGB8_ALPHA8`, `Rgba8UnormSrgb`): the draw writes light. Blending with
    /// the target's content is done on light.
    SrgbFormat,
    /// Light: floating-point targets, which keep light brighter than 1.
    Linear,
}
