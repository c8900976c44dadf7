//! An engine's own images and buffers as surfaces: what it rendered into them is taken, or frames are written into them.

use crate::display::contract::VulkanDisplay;
use crate::queue::commands::Place;
use crate::sharing::pixel_format;
use crate::surface::stored::{StoredBuffer, StoredImage};
use ash::vk::{self, Handle as _};
use interop_core::describe::error::call;
use interop_core::display::checks::check_copies;
use interop_core::{Display as _, Error, Extent, ImageDesc, PixelFormat, Result, Surface};

/// An engine's image, for [`VulkanDisplay::engine_image`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineImage {
    /// The image: of two dimensions and one sample. Its first level and layer are taken.
    pub image: vk::Image,
    /// Its format. One that encodes (`_SRGB`) counts as the one that does not: the numbers are those that are stored.
    pub format: vk::Format,
    /// The size of its first level.
    pub extent: Extent,
    /// The usage that it was made with: `TRANSFER_SRC` to be taken, `TRANSFER_DST` to be written.
    pub usage: vk::ImageUsageFlags,
    /// The layout in which copies find the image and leave it.
    pub layout: vk::ImageLayout,
}

impl EngineImage {
    /// The image as the display's copies meet it.
    pub(crate) fn place(&self) -> Place {
        Place { image: self.image, format: self.format, layout: self.layout }
    }

    /// What a surface over it is, or why there is none.
    pub(crate) fn check(&self) -> Result<ImageDesc> {
        let unkept = [vk::ImageLayout::UNDEFINED, vk::ImageLayout::PREINITIALIZED].contains(&self.layout);
        let problem = match pixel_format(self.format) {
            _ if self.image.is_null() => "the image is null".into(),
            _ if unkept => {
                format!(
                    "an image is not kept in the layout {:?}; change it to GENERAL, say, and tell that",
                    self.layout
                )
            }
            None => {
                let known: Vec<_> = PixelFormat::ALL.iter().map(ToString::to_string).collect();
                format!("no frame has the format {:?}; it is one of {}", self.format, known.join(", "))
            }
            Some(format) => return Ok(ImageDesc::new(self.extent.width, self.extent.height, format)),
        };
        Err(Error::refused(problem))
    }
}

/// An engine's buffer, for [`VulkanDisplay::engine_buffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineBuffer {
    /// The buffer, of which the first bytes are taken.
    pub buffer: vk::Buffer,
    /// Number of bytes.
    pub bytes: u64,
    /// The usage that it was made with: `TRANSFER_SRC` to be taken, `TRANSFER_DST` to be written.
    pub usage: vk::BufferUsageFlags,
}

impl VulkanDisplay {
    /// An engine's image as a surface: for [`Intake`](interop_core::Intake), by which kernels read what the engine rendered, and
    /// [`Outlet`](interop_core::Outlet), by which they write it. Row 0 is its first row.
    ///
    /// The display copies in its own queue, after what was submitted there before. Work of the engine's on another queue comes
    /// first where [`VulkanDisplay::read_until`] announces its end, and comes after where it waits for
    /// [`VulkanDisplay::surface_frame`]'s [`VulkanFrame::ready`](crate::VulkanFrame::ready).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a null handle, a format that frames do not have, an extent with a zero side, a usage with neither
    /// copy, and a layout that an image is not kept in (`UNDEFINED`, `PREINITIALIZED`); [`Error::Unsupported`] for a format or a
    /// size that the display itself does not make.
    ///
    /// # Safety
    /// - The image is of this device and is what the description says, and lives until the surface and what was opened over it are
    ///   dropped and the display has done what it was told ([`Display::finish`](interop_core::Display::finish)).
    /// - The display's queue family owns it, or it was made for several families (`VK_SHARING_MODE_CONCURRENT`), that one among
    ///   them.
    /// - It has the layout when the display is told to take or to write it, and nobody else uses it until that is done.
    pub unsafe fn engine_image(&self, image: &EngineImage) -> Result<Surface> {
        call("VulkanDisplay::engine_image", || {
            let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
            let desc = image.check()?;
            check_copies(image.usage.intersects(copies), ["TRANSFER_SRC", "TRANSFER_DST"], &image.usage)?;
            let over = || Ok(StoredImage::over(&self.shared, &desc, image.place(), image.usage));
            Surface::engine_image((self.device(), self.caps()), desc, over)
        })
    }

    /// The first bytes of an engine's buffer as a surface, as [`VulkanDisplay::engine_image`] for an image.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a null handle, no bytes, and a usage with neither copy; [`Error::Unsupported`] for more bytes
    /// than the display itself allocates.
    ///
    /// # Safety
    /// Those of [`VulkanDisplay::engine_image`], for the buffer, which has so many bytes.
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
