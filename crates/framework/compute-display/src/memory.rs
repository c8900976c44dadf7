//! Memory that several objects of a display share, and the positions of pictures in it.

use interop_core::{
    BufferView, ComputeMemory, Error, ImageView, PixelFormat, Region, Result, SurfaceDesc, SurfacePart, View,
};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// Shared memory, for example of a staging block and the surface that shows it.
#[derive(Clone)]
pub struct Memory(Arc<RwLock<Box<dyn ComputeMemory>>>);

impl Memory {
    pub fn new(memory: Box<dyn ComputeMemory>) -> Self {
        Self(Arc::new(RwLock::new(memory)))
    }

    /// Borrows it for kernels that read it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] inside a closure that fills it.
    pub fn get(&self) -> Result<RwLockReadGuard<'_, Box<dyn ComputeMemory>>> {
        unpoisoned(self.0.try_read())
    }

    /// Borrows it for writes.
    ///
    /// # Errors
    /// The errors of [`Memory::get`].
    pub fn get_mut(&self) -> Result<RwLockWriteGuard<'_, Box<dyn ComputeMemory>>> {
        unpoisoned(self.0.try_write())
    }
}

/// A panic leaves the memory as a failed call leaves it. Waiting could last forever: the closure that fills the memory may
/// be what calls.
fn unpoisoned<G>(guard: Result<G, TryLockError<G>>) -> Result<G> {
    match guard {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(Error::refused("the memory is being filled; call this after the closure that fills it"))
        }
    }
}

/// Returns the layout of a surface with storage of its own.
pub fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(image) => View::Image(rows(image.extent.full(), image.format)?),
        SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: desc.byte_len()? }),
    })
}

/// Returns the view of a region's rows without padding.
pub fn rows(region: Region, format: PixelFormat) -> Result<ImageView> {
    ImageView::packed(region.extent(), format, 1, 0, false)
}

/// Returns the view of a region that lies inside `view`.
pub fn part_of(view: &ImageView, region: Region) -> ImageView {
    let left = region.x as usize * view.format.bytes_per_pixel();
    ImageView { extent: region.extent(), ..view.moved_to(view.row_start(region.y) + left) }
}

/// View of a checked part.
pub enum CheckedView {
    Pixels(ImageView),
    Bytes { first: usize, len: usize },
}

/// Returns the position of a part in the memory that `view` describes.
pub fn asked(view: &View, part: &SurfacePart) -> Result<CheckedView> {
    match (view, part) {
        (View::Image(image), SurfacePart::Image(region)) => Ok(CheckedView::Pixels(part_of(image, *region))),
        (View::Buffer(buffer), SurfacePart::Buffer(range)) => {
            Ok(CheckedView::Bytes { first: buffer.offset + range.start, len: range.len() })
        }
        _ => Err(Error::refused(format!("{part} does not match {view:?}"))),
    }
}

/// Checks the alignment: kernels read whole pixels, each at a multiple of its size.
pub fn check_aligned(view: &View) -> Result<()> {
    let View::Image(image) = view else { return Ok(()) };
    if image.has_whole_pixels() {
        return Ok(());
    }
    let problem = format!("{image:?} is not aligned to its pixels of {} bytes", image.format.bytes_per_pixel());
    Err(Error::refused(problem))
}
