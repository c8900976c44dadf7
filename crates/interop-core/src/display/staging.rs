//! Memory that a display reads from.

use crate::describe::error::{Error, Result};
use crate::describe::surface::ImageDesc;
use crate::devices::borrows::{Borrow, Holder, Member};
use crate::devices::capability::HandleType;
use crate::devices::host_block::HostBlock;
use crate::devices::ranges::Access;
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

    /// Waits until the display has read, and written, what it was told to. Returns at once where nothing was fenced.
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

/// Host memory that a display was told to write, from the command on until the display has done it.
///
/// A staging block with a [`Staging::host_block`] that its display writes ([`crate::Surface::download`]) keeps one: bytes of which
/// somebody has a slice are refused, and nobody gets a slice of bytes that the display still writes.
#[derive(Default)]
pub struct HostWrites {
    under_way: Option<Borrow>,
}

impl HostWrites {
    /// Before the display is told to write into `block`. Waits for commands of compute devices that use its bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of these bytes: it says who.
    pub fn begin(&mut self, block: &HostBlock, operation: &'static str) -> Result<()> {
        if self.under_way.is_none() {
            let all = block.borrows().slice(&(0..block.len()), Access::Write, Holder::Display, Member::ALONE);
            self.under_way = Some(all.map_err(|held| held.refuse(operation))?);
        }
        Ok(())
    }

    /// True while the display may still write.
    pub fn are_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Once the display has done all that it was told.
    pub fn end(&mut self) {
        self.under_way = None;
    }
}

impl Drop for HostWrites {
    /// Keeps the bytes where nobody waited: the display may write them at any time.
    fn drop(&mut self) {
        std::mem::forget(self.under_way.take());
    }
}
