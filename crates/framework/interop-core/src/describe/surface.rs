//! Descriptions of images and buffers that a display shows.

use super::color::{AlphaMode, Encoding};
use super::error::{Error, Result};
use super::format::PixelFormat;
use super::geometry::{Extent, RowOrder};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the display reads an image.
///
/// ```
/// use interop_core::{ImageAccess, ImageDesc, PixelFormat};
///
/// // This image is only drawn, so the display may read it where the kernel wrote it.
/// let drawn = ImageDesc::new(640, 480, PixelFormat::Rgba8).with_access(ImageAccess::Any);
/// assert_ne!(drawn.access, ImageAccess::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ImageAccess {
    /// A texture of the display's API: it can be sampled with filtering, attached to a framebuffer and drawn into.
    #[default]
    Texture,
    /// The display only has to show the image. It may read the linear memory in place (in OpenGL through a buffer
    /// texture), which saves the upload; then there may be no texture object.
    Any,
}

/// Layout of pixels or bytes in shared memory.
///
/// ```
/// use interop_core::{MemoryShape, PixelFormat, SurfaceDesc};
///
/// assert_eq!(SurfaceDesc::image(4, 4, PixelFormat::R8).shape(), MemoryShape::Image);
/// assert_eq!(SurfaceDesc::buffer(64).shape(), MemoryShape::Linear);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryShape {
    /// Linear memory: one byte after the other, pixels in rows with a pitch.
    Linear,
    /// A texture's own layout, which only the drivers know.
    Image,
}

impl fmt::Display for MemoryShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Linear => "linear memory",
            Self::Image => "image",
        })
    }
}

/// Content of the pixels or bytes that a frame leaves unwritten, inside the part of the surface that the frame was
/// begun for. Everything outside that part keeps its content, whatever the variant.
///
/// The first frame of a link, and the first of a new size, starts from zero. A frame that was dropped unfinished or
/// failed leaves no trace under [`Unwritten::Keep`] and [`Unwritten::Clear`].
///
/// ```
/// use interop_core::{PixelFormat, SurfaceDesc, Unwritten};
///
/// let trails = SurfaceDesc::image(640, 480, PixelFormat::Rgba8);
/// assert_eq!(trails.unwritten(), Unwritten::Keep);
/// // A kernel that draws a few dots on black.
/// let dots = trails.with_unwritten(Unwritten::Clear);
/// assert_eq!(dots.unwritten(), "clear".parse()?);
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unwritten {
    /// Unwritten pixels keep the content of the last finished frame, as kernels and the host wrote it. A path with
    /// several slots copies on the device whatever changed since a slot was written last; the timing of paths includes
    /// that copy.
    #[default]
    Keep,
    /// Unwritten pixels are zero. The device clears them before each frame.
    Clear,
    /// The caller writes every pixel, and nothing is copied or cleared. A pixel that the caller leaves out has the
    /// content of an older frame of this link, possibly one that was dropped unfinished, or zero.
    Overwrite,
}

impl Unwritten {
    /// Every variant.
    pub const ALL: [Self; 3] = [Self::Keep, Self::Clear, Self::Overwrite];

    /// Name on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Clear => "clear",
            Self::Overwrite => "overwrite",
        }
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Unwritten {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid("Unwritten::from_str", format!("unknown rule for unwritten pixels '{text}'; give {names}"))
        })
    }
}

/// Description of a 2-D image.
///
/// ```
/// use interop_core::{Encoding, ImageDesc, PixelFormat, RowOrder, SurfaceDesc};
///
/// // Light as a renderer computes it, row 0 at the bottom.
/// let scene = ImageDesc::new(1280, 720, PixelFormat::Rgba16F)
///     .with_encoding(Encoding::Linear)
///     .with_row_order(RowOrder::BottomUp);
/// assert_eq!(SurfaceDesc::Image(scene).byte_len()?, 1280 * 720 * 8);
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ImageDesc {
    /// Size in pixels; neither side may be 0.
    pub extent: Extent,
    /// Pixel format.
    pub format: PixelFormat,
    /// Position of row 0 on the screen.
    pub row_order: RowOrder,
    /// How the display reads the image.
    pub access: ImageAccess,
    /// Encoding of the colours. Draws use it; the bytes that paths carry do not depend on it.
    #[serde(default)]
    pub encoding: Encoding,
    /// Meaning of the alpha channel.
    #[serde(default)]
    pub alpha: AlphaMode,
    /// Content of the pixels that a frame leaves unwritten.
    #[serde(default)]
    pub unwritten: Unwritten,
}

/// Description of a linear buffer: vertices, or storage that shaders read.
///
/// ```
/// use interop_core::{BufferDesc, SurfaceDesc, Unwritten};
///
/// // A thousand vertices of four floats, all of which each frame writes.
/// let vertices = BufferDesc::new(1000 * 16).with_unwritten(Unwritten::Overwrite);
/// assert_eq!(SurfaceDesc::Buffer(vertices).to_string(), "buffer of 16000 bytes");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BufferDesc {
    /// Size in bytes; at least 1.
    pub bytes: u64,
    /// Content of the bytes that a frame leaves unwritten.
    #[serde(default)]
    pub unwritten: Unwritten,
}

/// Description of the surface that a link carries to the display: an image or a buffer.
///
/// ```
/// use interop_core::{Error, PixelFormat, SurfaceDesc};
///
/// let picture = SurfaceDesc::image(640, 480, PixelFormat::Rgba8);
/// assert_eq!(picture.to_string(), "image 640x480 RGBA8");
/// assert_eq!(picture.byte_len()?, 640 * 480 * 4);
/// let nothing = SurfaceDesc::image(0, 480, PixelFormat::Rgba8);
/// assert!(matches!(nothing.byte_len(), Err(Error::InvalidInput { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SurfaceDesc {
    /// An image of pixels.
    Image(ImageDesc),
    /// Vertices or other linear data.
    Buffer(BufferDesc),
}

impl ImageDesc {
    /// A texture with row 0 at the top. Its numbers go to the target unchanged, and unwritten pixels keep their
    /// content.
    pub const fn new(width: u32, height: u32, format: PixelFormat) -> Self {
        Self {
            extent: Extent::new(width, height),
            format,
            row_order: RowOrder::TopDown,
            access: ImageAccess::Texture,
            encoding: Encoding::Unmanaged,
            alpha: AlphaMode::Stored,
            unwritten: Unwritten::Keep,
        }
    }

    /// Sets the position of row 0.
    pub const fn with_row_order(self, row_order: RowOrder) -> Self {
        Self { row_order, ..self }
    }

    /// Sets how the display reads the image.
    pub const fn with_access(self, access: ImageAccess) -> Self {
        Self { access, ..self }
    }

    /// Sets the encoding of the colours.
    pub const fn with_encoding(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// Sets the meaning of the alpha channel.
    pub const fn with_alpha(self, alpha: AlphaMode) -> Self {
        Self { alpha, ..self }
    }

    /// Sets the content of unwritten pixels.
    pub const fn with_unwritten(self, unwritten: Unwritten) -> Self {
        Self { unwritten, ..self }
    }
}

impl BufferDesc {
    /// A buffer of `bytes` bytes. Unwritten bytes keep their content.
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, unwritten: Unwritten::Keep }
    }

    /// Sets the content of unwritten bytes.
    pub const fn with_unwritten(self, unwritten: Unwritten) -> Self {
        Self { unwritten, ..self }
    }
}

impl SurfaceDesc {
    /// An image, used as a texture with row 0 at the top; see [`ImageDesc::new`].
    pub const fn image(width: u32, height: u32, format: PixelFormat) -> Self {
        Self::Image(ImageDesc::new(width, height, format))
    }

    /// A buffer of `bytes` bytes.
    pub const fn buffer(bytes: u64) -> Self {
        Self::Buffer(BufferDesc::new(bytes))
    }

    /// Returns this surface with the larger size of both on each side; `None` where one is an image and the other a
    /// buffer.
    pub(crate) fn covering(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Image(image), Self::Image(other)) => {
                let (a, b) = (image.extent, other.extent);
                let extent = Extent::new(a.width.max(b.width), a.height.max(b.height));
                Some(Self::Image(ImageDesc { extent, ..*image }))
            }
            (Self::Buffer(buffer), Self::Buffer(other)) => {
                Some(Self::Buffer(BufferDesc { bytes: buffer.bytes.max(other.bytes), ..*buffer }))
            }
            _ => None,
        }
    }

    /// True where a proof for `room` holds for this surface: it is no larger, and everything except the size is equal.
    pub(crate) fn is_inside(&self, room: &Self) -> bool {
        self.covering(room).is_some_and(|both| both == *room)
    }

    /// Sets the content of unwritten pixels or bytes.
    #[must_use]
    pub const fn with_unwritten(self, unwritten: Unwritten) -> Self {
        match self {
            Self::Image(i) => Self::Image(i.with_unwritten(unwritten)),
            Self::Buffer(b) => Self::Buffer(b.with_unwritten(unwritten)),
        }
    }

    /// Returns the content of the pixels or bytes that a frame leaves unwritten.
    pub const fn unwritten(&self) -> Unwritten {
        match self {
            Self::Image(i) => i.unwritten,
            Self::Buffer(b) => b.unwritten,
        }
    }

    /// Returns the layout of its memory where that is shared.
    pub const fn shape(&self) -> MemoryShape {
        match self {
            Self::Image(_) => MemoryShape::Image,
            Self::Buffer(_) => MemoryShape::Linear,
        }
    }

    /// Returns the description of the image.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a buffer.
    pub fn pixels(&self) -> Result<&ImageDesc> {
        match self {
            Self::Image(image) => Ok(image),
            Self::Buffer(_) => Err(Error::refused(format!("a {self} has no pixels; give an image"))),
        }
    }

    /// Bytes of one frame with tightly packed rows.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a zero size and for one that exceeds this machine's address space.
    pub fn byte_len(&self) -> Result<usize> {
        let bytes = match self {
            Self::Image(i) => {
                if i.extent.width == 0 || i.extent.height == 0 {
                    return Err(Error::refused(format!("image size {} has a zero side; give at least 1x1", i.extent)));
                }
                i.extent.pixels().checked_mul(i.format.bytes_per_pixel() as u64)
            }
            Self::Buffer(b) => {
                if b.bytes == 0 {
                    return Err(Error::refused("buffer size is 0 bytes; give at least 1"));
                }
                Some(b.bytes)
            }
        };
        bytes
            .and_then(|b| usize::try_from(b).ok())
            // Rust's allocations have at most this size, because pointer offsets are signed.
            .filter(|b| *b <= isize::MAX as usize)
            .ok_or_else(|| Error::refused(format!("{self} exceeds the address space; use a smaller size")))
    }
}

impl fmt::Display for SurfaceDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(i) => write!(f, "image {} {}", i.extent, i.format),
            Self::Buffer(b) => write!(f, "buffer of {} bytes", b.bytes),
        }
    }
}
