//! Descriptions of what a display shows.

use crate::capability::{DisplayCaps, MemoryShape};
use crate::color::{AlphaMode, Encoding};
use crate::error::{Error, Result};
use crate::format::PixelFormat;
use crate::geometry::{Extent, RowOrder};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the display side will read an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ImageAccess {
    /// A texture of the display's API: can be sampled with filtering, attached to a framebuffer, drawn into.
    #[default]
    Texture,
    /// The display only has to show it: it may also read the linear memory in place (GL: buffer texture), which
    /// saves the upload. There may then be no texture object.
    Any,
}

/// A 2-D image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageDesc {
    /// Size in pixels; neither side may be 0.
    pub extent: Extent,
    /// Pixel format.
    pub format: PixelFormat,
    /// Where row 0 is shown.
    pub row_order: RowOrder,
    /// What the display must be able to do with it.
    pub access: ImageAccess,
    /// What its colours stand for. Draws heed it; the bytes that paths carry do not depend on it.
    #[serde(default)]
    pub encoding: Encoding,
    /// What its alpha stands for.
    #[serde(default)]
    pub alpha: AlphaMode,
}

/// A linear buffer: vertices, or storage that shaders read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BufferDesc {
    /// Size in bytes; not 0.
    pub bytes: u64,
}

/// What a link carries to the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SurfaceDesc {
    /// A picture.
    Image(ImageDesc),
    /// Vertices or other linear data.
    Buffer(BufferDesc),
}

impl ImageDesc {
    /// A texture with row 0 on top, whose numbers are shown as they are.
    pub const fn new(width: u32, height: u32, format: PixelFormat) -> Self {
        Self {
            extent: Extent::new(width, height),
            format,
            row_order: RowOrder::TopDown,
            access: ImageAccess::Texture,
            encoding: Encoding::Unmanaged,
            alpha: AlphaMode::Stored,
        }
    }

    /// The same with another row order.
    pub const fn with_row_order(self, row_order: RowOrder) -> Self {
        Self { row_order, ..self }
    }

    /// The same with another access.
    pub const fn with_access(self, access: ImageAccess) -> Self {
        Self { access, ..self }
    }

    /// The same with colours that stand for this.
    pub const fn with_encoding(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// The same with an alpha channel that stands for this.
    pub const fn with_alpha(self, alpha: AlphaMode) -> Self {
        Self { alpha, ..self }
    }
}

impl SurfaceDesc {
    /// An RGBA-or-other image, row 0 on top, as a texture.
    pub const fn image(width: u32, height: u32, format: PixelFormat) -> Self {
        Self::Image(ImageDesc::new(width, height, format))
    }

    /// A buffer of `bytes` bytes.
    pub const fn buffer(bytes: u64) -> Self {
        Self::Buffer(BufferDesc { bytes })
    }

    /// How its own memory lies where it is shared.
    pub const fn shape(&self) -> MemoryShape {
        match self {
            Self::Image(_) => MemoryShape::Image,
            Self::Buffer(_) => MemoryShape::Linear,
        }
    }

    /// Bytes of one frame with tight rows. Refuses zero sizes and what does not fit this machine's address space.
    pub fn byte_len(&self, operation: &'static str) -> Result<usize> {
        let bytes = match self {
            Self::Image(i) => {
                if i.extent.width == 0 || i.extent.height == 0 {
                    return Err(Error::invalid(
                        operation,
                        format!("image size {} has a zero side; give at least 1x1", i.extent),
                    ));
                }
                i.extent.pixels().checked_mul(i.format.bytes_per_pixel() as u64)
            }
            Self::Buffer(b) => {
                if b.bytes == 0 {
                    return Err(Error::invalid(operation, "buffer size is 0 bytes; give at least 1"));
                }
                Some(b.bytes)
            }
        };
        bytes
            .and_then(|b| usize::try_from(b).ok())
            // No allocation of Rust's may be larger, and pointer offsets need the sign bit.
            .filter(|b| *b <= isize::MAX as usize)
            .ok_or_else(|| Error::invalid(operation, format!("{self} needs more bytes than can be addressed")))
    }

    /// Checks the description against a display's limits. Returns the bytes of one frame.
    pub fn check(&self, display: &str, caps: &DisplayCaps, operation: &'static str) -> Result<usize> {
        let bytes = self.byte_len(operation)?;
        match self {
            Self::Image(i) if i.extent.width.max(i.extent.height) > caps.max_image_side => Err(Error::Unsupported {
                operation,
                device: display.to_owned(),
                reason: format!(
                    "{} is larger than its largest texture, {m}x{m}; use a smaller size or several surfaces",
                    i.extent,
                    m = caps.max_image_side
                ),
            }),
            _ if bytes as u64 > caps.max_buffer_bytes => Err(Error::Unsupported {
                operation,
                device: display.to_owned(),
                reason: format!("{self} is larger than its largest buffer, {} bytes", caps.max_buffer_bytes),
            }),
            _ => Ok(bytes),
        }
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
