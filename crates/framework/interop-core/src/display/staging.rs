//! Staging blocks: memory that a display reads from.

use super::watch::{Call, Watch};
use crate::describe::error::{Error, Result};
use crate::describe::process::ForkGuard;
use crate::describe::surface::{ImageDesc, MemoryShape, SurfaceDesc};
use crate::devices::borrows::{Borrow, Holder, Member};
use crate::devices::capability::{DisplayCaps, HandleType};
use crate::devices::host_block::HostBlock;
use crate::devices::identity::DeviceIdentity;
use crate::devices::ranges::Access;
use crate::devices::shared_handle::SharedHandle;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};

/// Origin of a staging block's memory.
#[derive(Debug)]
#[non_exhaustive]
pub enum StagingKind {
    /// Mapped for each frame; the driver may provide new memory each time (orphaning).
    Orphaned,
    /// Mapped once and coherent; a fence guards each use.
    Persistent,
    /// Host memory that the display imports in place (`GL_AMD_pinned_memory`, `VK_EXT_external_memory_host`).
    Imported(HostBlock),
    /// Memory of the compute device, opened with its handle. The host cannot address it.
    External(SharedHandle),
    /// Memory of the display's device, which [`Staging::export`] exports. The host cannot address it.
    Exported,
    /// An image of the compute device, opened with its handle as a texture. It can only be read in place.
    ExternalImage(SharedHandle, ImageDesc),
    /// An image of the display, which [`Staging::export`] exports. It can only be read in place.
    ExportedImage(ImageDesc),
}

/// How the host accesses the bytes of a block.
#[derive(Debug, Clone)]
pub enum Reach {
    /// Through their address, which stays the same.
    Address(HostBlock),
    /// During a driver call for each fill ([`StagingDriver::map_write`]).
    EachFill,
    /// The host has no access: the bytes are a device's.
    Never,
}

/// The driver of a staging block. [`Staging`] checks its calls first.
///
/// A display recovers its own blocks by their type, which the compiler knows and no implementation can fake. A block's
/// length and [`Reach`] therefore stay as its own display set them.
pub trait StagingDriver: Any + Send + Sync {
    /// Inserts a fence after the display's work so far, for [`StagingDriver::wait`]. `is_shown` says that surfaces read
    /// the block in place, so that any work of the display may use it.
    fn fence(&mut self, is_shown: bool) -> Result<()>;

    /// Waits for the last fence, if there is one.
    fn wait(&mut self) -> Result<()>;

    /// Returns true where [`StagingDriver::wait`] would not wait. By default it waits, which suits displays whose work is
    /// done when a call returns.
    fn is_done(&mut self) -> Result<bool> {
        self.wait().map(|()| true)
    }

    /// Claims the block from readers outside this program before it is written again; returns `false` while one keeps
    /// it.
    fn claim(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Lets the host fill new memory of the block. It is called only for [`Reach::EachFill`].
    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Exports the memory; `None` where the block was not made for that.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        let _ = handle;
        Ok(None)
    }
}

/// Memory that the host or a compute device writes and the display reads.
pub struct Staging {
    /// Name of the display in messages.
    device: String,
    len: usize,
    reach: Reach,
    image: Option<ImageDesc>,
    /// True where the display has received work since the last fence.
    is_unmarked: bool,
    is_shown: AtomicBool,
    writes: HostWrites,
    watch: Option<Watch>,
    driver: ForkGuard<Box<dyn StagingDriver>>,
}

#[allow(clippy::len_without_is_empty)] // never empty
impl Staging {
    /// For displays: creates a block of `bytes` bytes with `make`, after checking the kind against the display's
    /// capabilities.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] and [`Error::Unsupported`] for more bytes, or a larger image, than the display allows,
    /// for host memory that is too small, and for a buffer of another queue; errors of `make`.
    pub fn new<D: StagingDriver>(
        (device, caps): (&DeviceIdentity, &DisplayCaps),
        kind: StagingKind,
        bytes: usize,
        make: impl FnOnce(StagingKind) -> Result<(D, Reach)>,
    ) -> Result<Self> {
        let device = device.to_string();
        SurfaceDesc::buffer(bytes as u64).check(&device, caps)?;
        let image = match &kind {
            StagingKind::ExternalImage(_, image) | StagingKind::ExportedImage(image) => {
                SurfaceDesc::Image(*image).check(&device, caps)?;
                Some(*image)
            }
            StagingKind::Imported(block) => {
                SharedHandle::check_room(block.len() as u64, bytes as u64)?;
                None
            }
            StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }) => {
                if !caps.can_import(handle.handle_type(), MemoryShape::Linear).is_yes() {
                    return Err(Error::unsupported(device, "the buffer belongs to another queue than the display's"));
                }
                None
            }
            _ => None,
        };
        let (driver, reach) = make(kind)?;
        let len = image.map_or(Ok(bytes), |image| SurfaceDesc::Image(image).byte_len())?;
        Ok(Self {
            device,
            len,
            image,
            is_unmarked: false,
            is_shown: AtomicBool::new(false),
            reach,
            writes: HostWrites::default(),
            watch: None,
            driver: ForkGuard::new(Box::new(driver)),
        })
    }

    /// Installs a [`Watch`] around the later calls.
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        self.watch = Some(watch.over(self.watch.take()));
        self
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the memory, where its address stays the same for the block's life.
    pub fn host_block(&self) -> Option<HostBlock> {
        match &self.reach {
            Reach::Address(block) => Some(block.clone()),
            Reach::EachFill | Reach::Never => None,
        }
    }

    /// Returns the description of the image, where the block is one.
    pub fn image(&self) -> Option<&ImageDesc> {
        self.image.as_ref()
    }

    /// Waits until the display has finished the reads and writes of the block. Returns at once where there are none.
    ///
    /// # Errors
    /// Errors of the driver; the display may still use the memory then.
    pub fn wait(&mut self) -> Result<()> {
        Call::Wait.named(|| {
            Watch::around(self.watch.as_ref(), Call::Wait, || {
                if self.is_unmarked {
                    self.driver.fence(self.is_shown.load(Ordering::Relaxed))?;
                    self.is_unmarked = false;
                }
                self.driver.wait()?;
                // Reached only after the driver has waited: a hook may report success without calling it.
                self.writes.end();
                Ok(())
            })
        })
    }

    /// Returns true once the display has finished the reads and writes of the block. Does not wait.
    ///
    /// # Errors
    /// Those of [`Staging::wait`].
    pub fn is_done(&mut self) -> Result<bool> {
        Call::Poll.named(|| {
            Watch::around(self.watch.as_ref(), Call::Poll, || {
                if self.is_unmarked {
                    self.driver.fence(self.is_shown.load(Ordering::Relaxed))?;
                    self.is_unmarked = false;
                }
                let is_done = self.driver.is_done()?;
                if is_done {
                    self.driver.wait()?;
                    self.writes.end();
                }
                Ok(is_done)
            })
        })
    }

    /// Claims the block from readers outside this program ([`DisplayCaps::outside_readers`]) before it is written
    /// again; returns `false` while one keeps it. Does not wait.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn claim(&mut self) -> Result<bool> {
        self.driver.claim()
    }

    /// Passes the bytes to `f` for the host to fill. Before that, waits for the display and for commands of backends
    /// that use the same bytes. The old content is lost.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the bytes are borrowed by a slice; the error names the holder.
    /// [`Error::Unsupported`] for memory of a device. The errors of `f`.
    pub fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        if let Reach::Address(_) = self.reach {
            self.wait()?;
        }
        Call::MapStaging.named(|| {
            Watch::around(self.watch.as_ref(), Call::MapStaging, || match &self.reach {
                Reach::Address(block) => f(&mut block.write(0..self.len, Holder::Staging)?),
                // A driver may map another length each time.
                Reach::EachFill => self.driver.map_write(&mut |bytes| {
                    let mapped = bytes.len();
                    let problem = || format!("the block's driver mapped {mapped} bytes instead of {}", self.len);
                    f(bytes.get_mut(..self.len).ok_or_else(|| Error::refused(problem()))?)
                }),
                Reach::Never => {
                    let reason = "the host cannot address device memory; write it with a kernel";
                    Err(Error::unsupported(&self.device, reason))
                }
            })
        })
    }

    /// Inserts a fence after the reads submitted so far; [`Staging::wait`] waits for it.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn fence(&mut self) -> Result<()> {
        let marked = || {
            self.driver.fence(self.is_shown.load(Ordering::Relaxed))?;
            self.is_unmarked = false;
            Ok(())
        };
        Call::Fence.named(|| Watch::around(self.watch.as_ref(), Call::Fence, marked))
    }

    /// Exports the block's memory, for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for blocks that were not made for export with this kind of handle.
    pub fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        Call::Export.named(|| {
            let made = Watch::around(self.watch.as_ref(), Call::Export, || self.driver.export(handle))?;
            made.ok_or_else(|| Error::unsupported(&self.device, format!("this block cannot be exported as {handle}")))
        })
    }

    /// Returns the driver for a downcast by the display. No driver can pass for another.
    pub fn driver(&self) -> &dyn Any {
        self.driver.as_ref()
    }

    /// Returns the driver for a mutable downcast by the display.
    pub fn driver_mut(&mut self) -> &mut dyn Any {
        self.driver.as_mut()
    }

    /// Rejects a texture, because a copy needs linear memory.
    pub(super) fn check_linear(&self) -> Result<()> {
        match &self.image {
            None => Ok(()),
            Some(_) => Err(Error::refused("the block is a texture; show it in place")),
        }
    }

    /// Checks that a surface with this description can show the block in place; returns true where the block is a
    /// texture.
    pub(super) fn check_shown(&self, desc: &SurfaceDesc) -> Result<bool> {
        let problem = match (&self.image, desc) {
            (None, _) => return Ok(false),
            (Some(of), SurfaceDesc::Image(to)) if of.extent == to.extent && of.format == to.format => return Ok(true),
            (Some(of), _) => {
                format!("the block is a texture of {} {}, but the surface is {desc}", of.extent, of.format)
            }
        };
        Err(Error::refused(problem))
    }

    /// Records that surfaces read the block in place from now on.
    pub(super) fn show(&self) {
        self.is_shown.store(true, Ordering::Relaxed);
    }

    /// Records that the display reads the block.
    pub(super) fn begin_read(&mut self) {
        self.is_unmarked = true;
    }

    /// Records that the display writes the block; [`Staging::wait`] then waits for that.
    pub(super) fn begin_write(&mut self) -> Result<()> {
        if let Reach::Address(block) = &self.reach {
            self.writes.begin(block)?;
        }
        self.is_unmarked = true;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.writes.are_under_way()
            && let Err(error) = self.wait()
        {
            tracing::debug!(%error, "cannot wait for the display's write to a dropped block; its bytes stay borrowed");
        }
    }
}

/// The display's pending writes of host memory, from the command until it is done. Borrowed bytes are rejected, and the
/// bytes cannot be borrowed while the display still writes them.
#[derive(Default)]
struct HostWrites {
    under_way: Option<Borrow>,
}

impl HostWrites {
    /// Borrows the bytes before the display writes into `block`. Waits for commands of compute devices that use its
    /// bytes.
    fn begin(&mut self, block: &HostBlock) -> Result<()> {
        if self.under_way.is_none() {
            let all = block.borrows().slice(&(0..block.len()), Access::Write, Holder::Display, Member::ALONE);
            self.under_way = Some(all.map_err(|held| held.refuse())?);
        }
        Ok(())
    }

    /// True while the display may still write.
    fn are_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Releases the bytes after the display has done all its work.
    fn end(&mut self) {
        self.under_way = None;
    }
}

impl Drop for HostWrites {
    /// Keeps the bytes borrowed without a wait: the display may write them at any time.
    fn drop(&mut self) {
        std::mem::forget(self.under_way.take());
    }
}
