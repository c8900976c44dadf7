//! Memory that a display reads from.

use crate::describe::error::{Error, Result};
use crate::describe::surface::ImageDesc;
use crate::devices::capability::HandleType;
use crate::devices::host_block::HostBlock;
use crate::devices::shared_handle::SharedHandle;
use std::any::Any;

/// How a staging block comes by its memory.
#[derive(Debug)]
#[non_exhaustive]
pub enum StagingKind {
    /// Mapped for each frame; the driver may give new memory each time (orphaning).
    Orphaned,
    /// Mapped once, coherent; a fence guards each use.
    Persistent,
    /// Host memory that the display takes in place (`GL_AMD_pinned_memory`, `VK_EXT_external_memory_host`).
    Imported(HostBlock),
    /// Memory of the compute device, opened by its handle. The host cannot address it.
    External(SharedHandle),
    /// Memory of the display's device, which [`Staging::export`] names for others. The host cannot address it.
    Exported,
    /// An image of the compute device, opened by its handle as a texture. Read in place only.
    ExternalImage(SharedHandle, ImageDesc),
    /// An image of the display's, which [`Staging::export`] names for others. Read in place only.
    ExportedImage(ImageDesc),
}

/// Memory that the host writes and the display reads.
#[allow(clippy::len_without_is_empty)] // never empty
pub trait Staging {
    /// Number of bytes.
    fn len(&self) -> usize;

    /// The memory's address where it stays the same for the block's life.
    fn host_block(&self) -> Option<HostBlock>;

    /// Waits until the display has read what it was told to read. Returns at once where nothing was fenced.
    fn wait(&mut self) -> Result<()>;

    /// Gives the host the bytes to fill, after [`Staging::wait`] and for the length of the call. The old content is
    /// lost. Waits for commands of backends that use the same bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of these bytes: it says who.
    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Marks the reads submitted so far; [`Staging::wait`] waits for them.
    fn fence(&mut self) -> Result<()>;

    /// Names the block's memory for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for blocks that were not made for it.
    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        let reason = format!("this block cannot be named by a {handle}");
        Err(Error::Unsupported { operation: "export", device: "this display".into(), reason })
    }

    /// For the display to find its own type again.
    fn as_any(&self) -> &dyn Any;

    /// For the display to find its own type again.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}
