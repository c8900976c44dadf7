//! Frames as the engine receives them.

use ash::vk;
use interop_core::{Extent, ImageView};

/// A timeline semaphore and the value to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimelinePoint {
    /// The semaphore.
    pub semaphore: vk::Semaphore,
    /// The value that its counter will reach.
    pub value: u64,
}

/// The image or buffer with a frame's pixels or bytes. The display owns the handles: the engine must not destroy them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VulkanObject {
    /// An image of one level and one layer, with the tiling `OPTIMAL`, that can be sampled and copied from. Row 0 is
    /// the top row.
    Image {
        /// The image.
        image: vk::Image,
        /// Format of the image.
        format: vk::Format,
        /// Size of the image in pixels.
        extent: Extent,
        /// The layout that it has when the frame is ready, and in which the engine must leave it.
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
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
}

/// A frame for the engine's own submission, from [`crate::VulkanDisplay::surface_frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct VulkanFrame {
    /// The object that holds the frame.
    pub object: VulkanObject,
    /// The submission that reads the frame must wait for this, at the stages that read. Submissions to the display's
    /// own queue need not: they follow the frame.
    ///
    /// `None` where the device was made without timeline semaphores. A submission to another queue must then follow
    /// [`interop_core::Display::finish`].
    pub ready: Option<TimelinePoint>,
}
