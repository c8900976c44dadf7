//! Memory that a display reads from.

use super::watch::{Call, Watch};
use crate::describe::error::{Error, Result};
use crate::describe::process::ProcessOwned;
use crate::describe::surface::{ImageDesc, MemoryShape, SurfaceDesc};
use crate::devices::borrows::{Borrow, Holder, Member};
use crate::devices::capability::{DisplayCaps, HandleType};
use crate::devices::host_block::HostBlock;
use crate::devices::identity::DeviceIdentity;
use crate::devices::ranges::Access;
use crate::devices::shared_handle::SharedHandle;
use std::any::Any;
use std::cell::Cell;

/// Origin of a staging block's memory.
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

/// Way in which the host reaches the bytes of a block.
#[derive(Debug, Clone)]
pub enum Reach {
    /// By their address, which stays.
    Address(HostBlock),
    /// In a call of the driver's for each fill ([`StagingDriver::map_write`]).
    EachFill,
    /// Not at all: they are a device's.
    Never,
}

/// The driver of a block of a display's memory. Its calls come checked, from [`Staging`].
///
/// A display finds its own blocks by their type, which the compiler tells and no implementation can change. So a block's length and
/// [`Reach`] stay what its own display said when it made the block.
pub trait StagingDriver: Any {
    /// Marks what the display was told so far, for [`StagingDriver::wait`]. `is_shown`: surfaces read the block in place, so that
    /// any work of the display's may.
    fn fence(&mut self, is_shown: bool) -> Result<()>;

    /// Waits for the last mark, where there is one.
    fn wait(&mut self) -> Result<()>;

    /// Takes the block from readers outside of this program before it is written again; `false` where one keeps it.
    fn claim(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Lets the host fill new memory of the block. Called where that is its [`Reach::EachFill`].
    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Names the memory for others; `None` where it was not made for that.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        let _ = handle;
        Ok(None)
    }
}

/// Memory that the host or a compute device writes and the display reads.
pub struct Staging {
    /// As messages call it.
    device: String,
    len: usize,
    reach: Reach,
    image: Option<ImageDesc>,
    /// Told to the display since the last mark.
    is_unmarked: bool,
    is_shown: Cell<bool>,
    writes: HostWrites,
    watch: Option<Watch>,
    driver: ProcessOwned<Box<dyn StagingDriver>>,
}

#[allow(clippy::len_without_is_empty)] // never empty
impl Staging {
    /// For displays: a block of `bytes` bytes, which `make` makes once the kind is checked against what the display takes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] and [`Error::Unsupported`] for more bytes, or an image, than the display's limits allow, for host
    /// memory that is too small, and for a buffer of another queue; those of `make`.
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
                    return Err(Error::unsupported(device, "the buffer is of another queue than the display's"));
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
            is_shown: Cell::new(false),
            reach,
            writes: HostWrites::default(),
            watch: None,
            driver: ProcessOwned::new(Box::new(driver)),
        })
    }

    /// Watched from now on, see [`Watch`].
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        self.watch = Some(watch.over(self.watch.take()));
        self
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The memory's address where it stays the same for the block's life.
    pub fn host_block(&self) -> Option<HostBlock> {
        match &self.reach {
            Reach::Address(block) => Some(block.clone()),
            Reach::EachFill | Reach::Never => None,
        }
    }

    /// The image that the block is, where it is one.
    pub fn image(&self) -> Option<&ImageDesc> {
        self.image.as_ref()
    }

    /// Waits until the display has read, and written, what it was told to. Returns at once where it was told nothing.
    ///
    /// # Errors
    /// What the driver reports; the display may use the memory then.
    pub fn wait(&mut self) -> Result<()> {
        Call::Wait.named(|| {
            Watch::around(self.watch.as_ref(), Call::Wait, || {
                if self.is_unmarked {
                    self.driver.fence(self.is_shown.get())?;
                    self.is_unmarked = false;
                }
                self.driver.wait()?;
                // Only here has the driver waited: a hook can report success without the call.
                self.writes.end();
                Ok(())
            })
        })
    }

    /// Takes the block from readers outside of this program ([`DisplayCaps::outside_readers`]) before it is written again; `false`
    /// where one keeps it. Does not wait.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn claim(&mut self) -> Result<bool> {
        self.driver.claim()
    }

    /// Gives the host the bytes to fill, for the length of the call; waits before that for the display, and for commands of backends
    /// that use the same bytes. The old content is lost.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of these bytes: it says who. [`Error::Unsupported`] for memory of a
    /// device. The errors of `f`.
    pub fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        if let Reach::Address(_) = self.reach {
            self.wait()?;
        }
        Call::MapStaging.named(|| {
            Watch::around(self.watch.as_ref(), Call::MapStaging, || match &self.reach {
                Reach::Address(block) => f(&mut block.write(0..self.len, Holder::Staging)?),
                // A driver can map another length each time.
                Reach::EachFill => self.driver.map_write(&mut |bytes| {
                    let mapped = bytes.len();
                    let problem = || format!("the driver of the block mapped {mapped} bytes of {}", self.len);
                    f(bytes.get_mut(..self.len).ok_or_else(|| Error::refused(problem()))?)
                }),
                Reach::Never => {
                    let reason = "the host cannot address memory of the device; write it there";
                    Err(Error::unsupported(&self.device, reason))
                }
            })
        })
    }

    /// Marks the reads submitted so far; [`Staging::wait`] waits for them.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn fence(&mut self) -> Result<()> {
        let marked = || {
            self.driver.fence(self.is_shown.get())?;
            self.is_unmarked = false;
            Ok(())
        };
        Call::Fence.named(|| Watch::around(self.watch.as_ref(), Call::Fence, marked))
    }

    /// Names the block's memory for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for blocks that were not made for it.
    pub fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        Call::Export.named(|| {
            let made = Watch::around(self.watch.as_ref(), Call::Export, || self.driver.export(handle))?;
            made.ok_or_else(|| Error::unsupported(&self.device, format!("this block cannot be named by a {handle}")))
        })
    }

    /// The driver's own type, for the display to find again. No driver can pass for another.
    pub fn driver(&self) -> &dyn Any {
        self.driver.as_ref()
    }

    /// The driver's own type, for the display to find again and to change.
    pub fn driver_mut(&mut self) -> &mut dyn Any {
        self.driver.as_mut()
    }

    /// Refuses what is no linear memory for a copy.
    pub(super) fn check_linear(&self) -> Result<()> {
        match &self.image {
            None => Ok(()),
            Some(_) => Err(Error::refused("the block is a texture; show it in place")),
        }
    }

    /// Refuses what is not shown in place by `desc`; true where it is a texture.
    pub(super) fn check_shown(&self, desc: &SurfaceDesc) -> Result<bool> {
        let problem = match (&self.image, desc) {
            (None, _) => return Ok(false),
            (Some(of), SurfaceDesc::Image(to)) if of.extent == to.extent && of.format == to.format => return Ok(true),
            (Some(of), _) => format!("the block is a texture of {} {}, the surface is {desc}", of.extent, of.format),
        };
        Err(Error::refused(problem))
    }

    /// Surfaces read it in place from now on.
    pub(super) fn show(&self) {
        self.is_shown.set(true);
    }

    /// The display is told to read it.
    pub(super) fn begin_read(&mut self) {
        self.is_unmarked = true;
    }

    /// The display is told to write it: whoever waits for the block waits for that.
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
            tracing::debug!(%error, "a block that the display writes was dropped where nobody could wait; its bytes stay borrowed");
        }
    }
}

/// Host memory that a display was told to write, from the command on until the display has done it: bytes of which somebody has a
/// slice are refused, and nobody gets a slice of bytes that the display still writes.
#[derive(Default)]
struct HostWrites {
    under_way: Option<Borrow>,
}

impl HostWrites {
    /// Before the display is told to write into `block`. Waits for commands of compute devices that use its bytes.
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

    /// Once the display has done all that it was told.
    fn end(&mut self) {
        self.under_way = None;
    }
}

impl Drop for HostWrites {
    /// Keeps the bytes where nobody waited: the display may write them at any time.
    fn drop(&mut self) {
        std::mem::forget(self.under_way.take());
    }
}
