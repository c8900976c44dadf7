//! A place that a display draws in, for links that show frames there.

use super::surface::Surface;
use crate::describe::error::Result;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Extent;
use crate::devices::shared_handle::SharedHandle;
use crate::draw::{DrawOptions, Obstacle};
use std::any::Any;

/// A place to draw in, which [`crate::Link::show`] shows frames in. Displays make them.
///
/// A display without kernels in its own queue implements the first two calls and names an [`Obstacle`] in
/// [`ShowTarget::pixels`].
pub trait ShowTarget {
    /// Size of the place: pictures are fitted into it.
    fn area(&self) -> Extent;

    /// Draws a surface of the display's into the place, as the display's own draw does.
    ///
    /// # Errors
    /// The errors of that draw.
    fn draw(&mut self, surface: &Surface, options: DrawOptions) -> Result<()>;

    /// Lets kernels that are queued until the draw go to the device with it, in one submission, while the value lives. `None` where
    /// each is submitted separately anyway.
    fn with_the_draw(&mut self) -> Option<Box<dyn Any>> {
        None
    }

    /// The texture behind the place as it is now. Asked before each frame, so it is quick.
    ///
    /// # Errors
    /// What stands between the texture and stores of kernels.
    fn pixels(&mut self) -> Result<TargetPixels, Obstacle>;

    /// Name of the texture for kernels of the display's own queue ([`crate::HandleType::QueueBuffer`]), and what keeps that name
    /// valid. Asked once for each [`TargetPixels::key`].
    ///
    /// # Errors
    /// Those of the display.
    fn handle(&mut self) -> Result<(SharedHandle, Box<dyn Any>)>;

    /// Reads all of the texture: tight rows in the display's order. Waits for what was queued.
    ///
    /// # Errors
    /// Those of the display.
    fn read_back(&mut self) -> Result<Vec<u8>>;
}

/// The texture behind a [`ShowTarget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetPixels {
    /// Tells one texture from another: while it stays, a handle that was given reaches what is drawn to.
    pub key: [u64; 3],
    /// Textures of this size and format are all alike, as those of a swapchain are: one proof is for all.
    pub alike: bool,
    /// Size of the texture.
    pub extent: Extent,
    /// Format of the texture.
    pub format: PixelFormat,
    /// First column and first row of the place, in the display's row order.
    pub first: (i32, i32),
}
