//! Sizes, regions and row order, all in pixels.

use super::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Width and height in pixels.
///
/// ```
/// use interop_core::{Extent, Region};
///
/// let screen = Extent::new(1920, 1080);
/// assert_eq!(screen.to_string(), "1920x1080");
/// assert_eq!(screen.pixels(), 2_073_600);
/// assert_eq!(screen.full(), Region::new(0, 0, 1920, 1080));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Extent {
    /// Width: number of columns.
    pub width: u32,
    /// Height: number of rows.
    pub height: u32,
}

impl Extent {
    /// Creates a size. It is not checked here: surfaces check it.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// Returns the region that covers the whole size.
    pub const fn full(self) -> Region {
        Region { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// `width * height`, which never overflows 64 bits.
    pub const fn pixels(self) -> u64 {
        self.width as u64 * self.height as u64
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Reason why a text is not a valid [`Extent`].
///
/// ```
/// use interop_core::{Extent, ExtentError};
///
/// assert_eq!("1920x1080".parse(), Ok(Extent::new(1920, 1080)));
/// assert_eq!("64x".parse::<Extent>(), Err(ExtentError::Missing));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtentError {
    /// The text has no `x`.
    #[error("give it as WIDTHxHEIGHT, e.g. 1920x1080")]
    NoPair,
    /// A side is missing before or after the `x`.
    #[error("a side is missing; give it as WIDTHxHEIGHT, e.g. 1920x1080")]
    Missing,
    /// A side is 0.
    #[error("a side is 0; give at least 1x1")]
    Zero,
    /// A side is not a whole number.
    #[error("invalid number of pixels '{side}': {source}")]
    Number {
        /// The side as it was given.
        side: String,
        /// The parser's error.
        source: std::num::ParseIntError,
    },
}

/// Parses `WIDTHxHEIGHT`, in pixels.
impl FromStr for Extent {
    type Err = ExtentError;

    fn from_str(text: &str) -> std::result::Result<Self, ExtentError> {
        let (width, height) = text.split_once(['x', 'X']).ok_or(ExtentError::NoPair)?;
        let side = |side: &str| match side.parse::<u32>() {
            _ if side.is_empty() => Err(ExtentError::Missing),
            Ok(0) => Err(ExtentError::Zero),
            Ok(pixels) => Ok(pixels),
            Err(source) => Err(ExtentError::Number { side: side.into(), source }),
        };
        Ok(Self::new(side(width)?, side(height)?))
    }
}

/// A rectangle of pixels. `y` counts in the surface's own [`RowOrder`].
///
/// ```
/// use interop_core::{Extent, Region};
///
/// let surface = Extent::new(64, 48);
/// let corner = Region::new(0, 0, 16, 8);
/// corner.check_inside(surface)?;
/// // The same pixels, with rows counted from the other end.
/// assert_eq!(corner.flipped_in(surface), Region::new(0, 40, 16, 8));
/// assert!(Region::new(60, 0, 16, 8).check_inside(surface).is_err());
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Region {
    /// First column, in pixels from the left.
    pub x: u32,
    /// First row, in the surface's row order.
    pub y: u32,
    /// Width: number of columns.
    pub width: u32,
    /// Height: number of rows.
    pub height: u32,
}

impl Region {
    /// Creates a rectangle. It is not checked here; see [`Region::check_inside`].
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }

    /// Returns the size of the rectangle.
    pub const fn extent(self) -> Extent {
        Extent { width: self.width, height: self.height }
    }

    /// Checks that the rectangle is not empty and lies inside `extent`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] otherwise.
    pub fn check_inside(self, extent: Extent) -> Result<()> {
        if self.width == 0 || self.height == 0 {
            return Err(Error::refused(format!("region {self} is empty; give at least 1x1")));
        }
        let right = u64::from(self.x) + u64::from(self.width);
        let bottom = u64::from(self.y) + u64::from(self.height);
        if right > u64::from(extent.width) || bottom > u64::from(extent.height) {
            return Err(Error::refused(format!("region {self} reaches outside the surface of {extent}")));
        }
        Ok(())
    }

    /// Returns the rectangle with `y` counted from the other end of `extent`; `y` is 0 where the rectangle reaches
    /// outside.
    pub const fn flipped_in(self, extent: Extent) -> Self {
        Self { y: extent.height.saturating_sub(self.y.saturating_add(self.height)), ..self }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}+{}+{}", self.width, self.height, self.x, self.y)
    }
}

/// Position of a surface's row 0 on the screen.
///
/// The compute side always addresses rows in the surface's order. Where the display stores them in the opposite order,
/// the framework gives the kernel a negative row pitch, so that a flip costs nothing.
///
/// ```
/// use interop_core::{ImageDesc, PixelFormat, RowOrder};
///
/// let image = ImageDesc::new(640, 480, PixelFormat::Rgba8);
/// assert_eq!(image.row_order, RowOrder::TopDown);
/// let of_a_texture = image.with_row_order(RowOrder::BottomUp);
/// assert_eq!(of_a_texture.row_order, RowOrder::BottomUp);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum RowOrder {
    /// Row 0 is the top row, as in image files, matrices and Vulkan.
    #[default]
    TopDown,
    /// Row 0 is the bottom row, as in OpenGL textures.
    BottomUp,
}

/// A rectangle of a target of draws, in pixels; `y` counts from the bottom in OpenGL, and from the top in wgpu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    /// Left edge, in pixels from the target's left edge.
    pub x: i32,
    /// Bottom edge in OpenGL, top edge in wgpu.
    pub y: i32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Viewport {
    /// Returns the viewport that covers a target of this size.
    pub const fn full(width: u32, height: u32) -> Self {
        Self { x: 0, y: 0, width, height }
    }
}
