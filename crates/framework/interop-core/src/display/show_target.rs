//! Targets in which a display draws the frames of a link.

use super::surface::Surface;
use crate::describe::error::Result;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Extent;
use crate::devices::shared_handle::SharedHandle;
use crate::draw::{DrawOptions, Obstacle};
use std::any::Any;

/// A target to draw in; [`Link::show`](crate::LinkCore::show) shows frames there. Displays make them.
///
/// A display without kernels in its own queue implements the first two calls and returns an [`Obstacle`] from
/// [`ShowTarget::pixels`].
pub trait ShowTarget {
    /// Size of the target; pictures are fitted into it.
    fn area(&self) -> Extent;

    /// Draws a surface of the display into the target, as the display's own draw does.
    ///
    /// # Errors
    /// The errors of that draw.
    fn draw(&mut self, surface: &Surface, options: DrawOptions) -> Result<()>;

    /// While the returned value lives, queued kernels are submitted together with the draw, in one submission. `None`
    /// where each is submitted separately anyway.
    fn with_the_draw(&mut self) -> Option<Box<dyn Any + Send + Sync>> {
        None
    }

    /// Returns the texture behind the target at the moment. It is called before each frame, so it must be fast.
    ///
    /// # Errors
    /// The reason why kernels cannot store into the texture.
    fn pixels(&mut self) -> Result<TargetPixels, Obstacle>;

    /// Returns a handle of the texture for kernels in the display's own queue ([`crate::HandleType::QueueBuffer`]), and
    /// a guard that keeps it valid. It is called once for each [`TargetPixels::key`].
    ///
    /// # Errors
    /// Those of the display.
    fn handle(&mut self) -> Result<(SharedHandle, Box<dyn Any + Send + Sync>)>;

    /// Reads the whole texture as tight rows in the display's order. Waits for the queued work.
    ///
    /// # Errors
    /// Those of the display.
    fn read_back(&mut self) -> Result<Vec<u8>>;
}

/// The texture behind a [`ShowTarget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetPixels {
    /// Identifies the texture: while the key stays the same, a handle that was returned before reaches the drawn
    /// texture.
    pub key: [u64; 3],
    /// True where all textures of this size and format are equivalent, as in a swapchain: one proof covers all.
    pub alike: bool,
    /// Size of the texture.
    pub extent: Extent,
    /// Format of the texture.
    pub format: PixelFormat,
    /// First column and first row of the target in the texture, in the display's row order.
    pub first: (i32, i32),
}
