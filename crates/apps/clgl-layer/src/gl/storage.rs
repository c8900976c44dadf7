//! What OpenGL's objects have in common.

use super::pixels::{PixelRows, Shape};
use super::work::WorkContext;

/// OpenGL's side of an object; only for the thread that has the layer's context.
pub trait GlStorage: Send + Sync {
    /// Returns the current shape, or `None` if the object is gone; `before` is that of a name that has gone.
    fn shape(&self, work: &WorkContext, before: Shape) -> Option<Shape>;

    /// Reads all bytes, or writes them.
    fn copy(&self, work: &WorkContext, rows: &mut PixelRows<'_>, read: bool) -> Result<(), i32>;

    fn close(&self, work: &mut WorkContext);
}
