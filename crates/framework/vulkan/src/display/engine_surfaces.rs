//! An engine's own images and buffers as surfaces: kernels read the engine's output, or write frames into them.

use crate::display::contract::VulkanDisplay;
use crate::queue::commands::CopyImage;
use crate::sharing::pixel_format;
use crate::surface::stored_surface::{StoredBuffer, StoredImage};
use ash::vk::{self, Handle as _};
use interop_core::describe::error::call;
use interop_core::display::checks::check_copies;
use interop_core::{Display as _, Error, Extent, ImageDesc, PixelFormat, Result, Surface};

/// An engine's image, for [`VulkanDisplay::engine_image`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineImage {
    /// The image, with two dimensions and one sample. Its first level and layer are used.
    pub image: vk::Image,
    /// Format of the image. A format that encodes (`_SRGB`) counts as its unencoded counterpart: the stored numbers are
    /// used.
    pub format: vk::Format,
    /// Size of the first level, in pixels.
    pub extent: Extent,
    /// The usage that it was created with: `TRANSFER_SRC` for reading, `TRANSFER_DST` for writing.
    pub usage: vk::ImageUsageFlags,
    /// The layout that the image has before and after each copy.
    pub layout: vk::ImageLayout,
}

impl EngineImage {
    /// Returns the image as an operand of the display's copies.
    pub(crate) fn place(&self) -> CopyImage {
        CopyImage { image: self.image, format: self.format, layout: self.layout }
    }

    /// Returns the description of a surface over it, or the reason why none is possible.
    pub(crate) fn check(&self) -> Result<ImageDesc> {
        let unkept = [vk::ImageLayout::UNDEFINED, vk::ImageLayout::PREINITIALIZED].contains(&self.layout);
        let problem = match pixel_format(self.format) {
            _ if self.image.is_null() => "the image is null".into(),
            _ if unkept => {
                format!(
                    "an image cannot stay in the layout {:?}; change it, for example to GENERAL, and describe that",
                    self.layout
                )
            }
            None => {
                let known: Vec<_> = PixelFormat::ALL.iter().map(ToString::to_string).collect();
                format!("frames cannot have the format {:?}; supported are {}", self.format, known.join(", "))
            }
            Some(format) => return Ok(ImageDesc::new(self.extent.width, self.extent.height, format)),
        };
        Err(Error::refused(problem))
    }
}

/// An engine's buffer, for [`VulkanDisplay::engine_buffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineBuffer {
    /// The buffer, whose first bytes are used.
    pub buffer: vk::Buffer,
    /// Number of bytes that are used.
    pub bytes: u64,
    /// The usage that it was created with: `TRANSFER_SRC` for reading, `TRANSFER_DST` for writing.
    pub usage: vk::BufferUsageFlags,
}

impl VulkanDisplay {
    /// Wraps an engine's image as a surface: for [`Intake`](interop_core::Intake), by which kernels read the engine's
    /// output, and [`Outlet`](interop_core::Outlet), by which they write the image. Row 0 is its first row.
    ///
    /// The display copies in its own queue, after all earlier submissions there. Work of the engine on another queue
    /// precedes the copy if [`VulkanDisplay::read_until`] announces its end, and follows it if it waits for
    /// [`VulkanFrame::ready`](crate::VulkanFrame::ready) of [`VulkanDisplay::surface_frame`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a null handle, a format that frames cannot have, an extent with a zero side, a usage
    /// that allows neither copy, and a layout in which an image cannot stay (`UNDEFINED`, `PREINITIALIZED`);
    /// [`Error::Unsupported`] for a format or a size that the display itself does not support.
    ///
    /// # Safety
    /// - The image belongs to this device and matches the description. It lives until the surface and everything opened
    ///   over it are dropped and the display has completed its work
    ///   ([`Display::finish`](interop_core::Display::finish)).
    /// - The display's queue family owns it, or it was created for several families (`VK_SHARING_MODE_CONCURRENT`),
    ///   including that one.
    /// - It has the layout whenever the display is called to read or write it, and no other code uses it until that has
    ///   completed.
    pub unsafe fn engine_image(&self, image: &EngineImage) -> Result<Surface> {
        call("VulkanDisplay::engine_image", || {
            let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
            let desc = image.check()?;
            check_copies(image.usage.intersects(copies), ["TRANSFER_SRC", "TRANSFER_DST"], &image.usage)?;
            let over = || Ok(StoredImage::over(&self.shared, &desc, image.place(), image.usage));
            Surface::engine_image((self.device(), self.caps()), desc, over)
        })
    }

    /// Wraps the first bytes of an engine's buffer as a surface, as [`VulkanDisplay::engine_image`] does for an image.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a null handle, zero bytes, and a usage that allows neither copy;
    /// [`Error::Unsupported`] for more bytes than the display can allocate itself.
    ///
    /// # Safety
    /// Those of [`VulkanDisplay::engine_image`], for the buffer, which has at least this number of bytes.
    pub unsafe fn engine_buffer(&self, buffer: &EngineBuffer) -> Result<Surface> {
        call("VulkanDisplay::engine_buffer", || {
            let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
            if buffer.buffer.is_null() {
                return Err(Error::refused("the buffer is null"));
            }
            check_copies(buffer.usage.intersects(copies), ["TRANSFER_SRC", "TRANSFER_DST"], &buffer.usage)?;
            let over = |len| Ok(StoredBuffer::over(&self.shared, len, buffer.buffer, buffer.usage));
            Surface::engine_buffer((self.device(), self.caps()), buffer.bytes, over)
        })
    }
}
