//! Frames as the engine gets them.

use ash::vk;
use interop_core::{Extent, ImageView};

/// A timeline semaphore and the value to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimelinePoint {
    /// The semaphore.
    pub semaphore: vk::Semaphore,
    /// The value that its counter reaches.
    pub value: u64,
}

/// Image or buffer with a frame's pixels or bytes. The handles stay the display's: the engine destroys none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VulkanObject {
    /// An image of one level and one layer, of the tiling `OPTIMAL`, that can be sampled and copied from. Row 0 is the top row.
    Image {
        /// The image.
        image: vk::Image,
        /// Its format.
        format: vk::Format,
        /// Its size, pixels.
        extent: Extent,
        /// The layout that it has when the frame is ready, and that the engine leaves it in.
        layout: vk::ImageLayout,
    },
    /// Rows of an image in a buffer: storage, or the source of a copy. The top row comes first.
    Rows {
        /// The buffer; it may be larger than the rows.
        buffer: vk::Buffer,
        /// The format that an image of these pixels would have.
        format: vk::Format,
        /// Offset and row pitch in bytes, size in pixels.
        view: ImageView,
    },
    /// Bytes of a buffer: vertices, indices, storage, or the source of a copy.
    Bytes {
        /// The buffer; it may be larger than the bytes.
        buffer: vk::Buffer,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
}

/// A frame for the engine's own submission; of [`crate::VulkanDisplay::surface_frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct VulkanFrame {
    /// Object that holds the frame.
    pub object: VulkanObject,
    /// The submission that reads the frame waits for this, at the stages that read. Submissions to the display's own queue need
    /// not: they come after.
    ///
    /// `None` where the device was made without timeline semaphores. A submission to another queue then comes after
    /// [`interop_core::Display::finish`].
    pub ready: Option<TimelinePoint>,
}
