//! Staging blocks: memory that the host or the compute device writes and the engine or the display reads.

use crate::device_state::DeviceState;
use crate::memory::{Buffer, Image};
use crate::scratch::Scratch;
use ash::vk;
use interop_core::devices::borrows::Holder;
use interop_core::devices::owned::{own, own_mut};
use interop_core::display::HostWrites;
use interop_core::{Error, HandleType, HostBlock, Result, SharedHandle, Staging, StagingKind};
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

enum Body {
    /// Another buffer for each fill.
    Orphaned { len: usize, filled: Option<Scratch> },
    /// A buffer that stays, and its address where the host has one.
    Linear(Rc<Buffer>, Option<HostBlock>),
    /// An image, and its size in bytes.
    Image(Rc<Image>, usize),
}

/// A block, and when the queue has read it.
pub(crate) struct VulkanStaging {
    body: Body,
    /// The submission after which the block may be written.
    fence: Option<u64>,
    /// The engine may read it.
    shown: Cell<bool>,
    exported: bool,
    writes: HostWrites,
    shared: Rc<DeviceState>,
}

interop_core::owned!(VulkanStaging: DeviceState, "staging block", |block| &block.shared);

impl VulkanStaging {
    /// Makes a block; `bytes` was checked against the display's limit.
    pub(crate) fn new(shared: &Rc<DeviceState>, kind: StagingKind, bytes: usize) -> Result<Self> {
        const OP: &str = "create_staging";
        let exported = matches!(kind, StagingKind::Exported | StagingKind::ExportedImage(_));
        let linear = |buffer, host| Body::Linear(Rc::new(buffer), host);
        let body = match kind {
            StagingKind::Orphaned => Body::Orphaned { len: bytes, filled: None },
            StagingKind::Persistent => {
                let (buffer, host) = Buffer::mapped(shared, bytes)?;
                linear(buffer, Some(host))
            }
            StagingKind::Imported(host) => linear(Buffer::of_pages(shared, host.clone(), bytes)?, Some(host)),
            StagingKind::External(SharedHandle::Memory(memory)) => {
                linear(Buffer::imported(shared, memory, bytes)?, None)
            }
            StagingKind::Exported => linear(Buffer::exported(shared, bytes)?, None),
            StagingKind::ExportedImage(image) => {
                shared.check(&interop_core::SurfaceDesc::Image(image), OP)?;
                Body::Image(Rc::new(Image::exported(shared, &image)?), bytes)
            }
            other => return Err(shared.unsupported(OP, format!("it knows no staging of {other:?}"))),
        };
        let (fence, shown, writes) = Default::default();
        Ok(Self { body, fence, shown, exported, writes, shared: Rc::clone(shared) })
    }

    /// Finds our type again, made by this display.
    pub(crate) fn of<'a>(
        staging: &'a dyn Staging,
        shared: &Rc<DeviceState>,
        operation: &'static str,
    ) -> Result<&'a Self> {
        own::<Self>(staging.as_any(), shared, operation)
    }

    /// Finds our type again, to change it; made by this display.
    pub(crate) fn of_mut<'a>(
        staging: &'a mut dyn Staging,
        shared: &Rc<DeviceState>,
        operation: &'static str,
    ) -> Result<&'a mut Self> {
        own_mut::<Self>(staging.as_any_mut(), shared, operation)
    }

    /// The buffer to copy from, or to.
    pub(crate) fn buffer(&self, operation: &'static str) -> Result<vk::Buffer> {
        match &self.body {
            Body::Orphaned { filled: Some(scratch), .. } => Ok(scratch.raw()),
            Body::Orphaned { .. } => Err(Error::invalid(operation, "the staging block was not filled yet")),
            Body::Linear(buffer, _) => Ok(buffer.raw()),
            Body::Image(..) => Err(Error::invalid(operation, "the block is an image; show it in place")),
        }
    }

    /// The buffer to show in place.
    pub(crate) fn lasting(&self, operation: &'static str) -> Result<&Rc<Buffer>> {
        match &self.body {
            Body::Linear(buffer, _) => Ok(buffer),
            Body::Orphaned { .. } => Err(Error::invalid(
                operation,
                "a block that is another for each frame is not shown in place; upload it",
            )),
            Body::Image(..) => Err(Error::invalid(operation, "the block is an image, the surface is not")),
        }
    }

    /// The image, where it is one.
    pub(crate) fn image(&self) -> Option<&Rc<Image>> {
        match &self.body {
            Body::Image(image, _) => Some(image),
            _ => None,
        }
    }

    /// Before the queue is told to write the block.
    pub(crate) fn begin_write(&mut self, operation: &'static str) -> Result<()> {
        match &self.body {
            Body::Linear(_, Some(host)) => self.writes.begin(host, operation),
            _ => Ok(()),
        }
    }

    /// The queue reads or writes the block up to this submission.
    pub(crate) fn used_until(&mut self, number: u64) {
        self.fence = Some(number);
    }

    /// From now on the engine may read it.
    pub(crate) fn show(&self) {
        self.shown.set(true);
    }

    /// Lets go of what was filled last.
    fn let_go(&mut self) {
        if let Body::Orphaned { filled, .. } = &mut self.body
            && let Some(scratch) = filled.take()
        {
            scratch.give_back(&self.shared, self.fence.take().unwrap_or(0));
        }
    }
}

impl Staging for VulkanStaging {
    fn len(&self) -> usize {
        match &self.body {
            Body::Orphaned { len, .. } | Body::Image(_, len) => *len,
            Body::Linear(buffer, _) => buffer.len(),
        }
    }

    fn host_block(&self) -> Option<HostBlock> {
        match &self.body {
            Body::Linear(_, host) => host.clone(),
            _ => None,
        }
    }

    fn wait(&mut self) -> Result<()> {
        // Each fill has memory of its own.
        if matches!(self.body, Body::Orphaned { .. }) {
            return Ok(());
        }
        if let Some(number) = self.fence {
            self.shared.submissions.wait(number)?;
            self.fence = None;
        }
        self.writes.end();
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.wait()?;
        self.let_go();
        match &mut self.body {
            Body::Orphaned { len, filled } => {
                let scratch = Scratch::take(&self.shared, *len)?;
                let done = scratch.fill(*len, f);
                match done {
                    Ok(()) => *filled = Some(scratch),
                    Err(_) => scratch.give_back(&self.shared, 0),
                }
                done
            }
            Body::Linear(buffer, Some(host)) => {
                f(&mut host.write(0..buffer.len(), Holder::Staging, "Staging::map_write")?)
            }
            _ => {
                let reason = "the host cannot address memory of the device; write it there";
                Err(self.shared.unsupported("fill", reason))
            }
        }
    }

    fn fence(&mut self) -> Result<()> {
        // Uploads have marked their own end.
        if self.shown.get() {
            self.fence = Some(self.shared.submissions.flush(None)?);
        }
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        match &self.body {
            Body::Linear(buffer, _) if self.exported && handle == HandleType::OPAQUE => buffer.export(),
            Body::Image(image, _) if handle == HandleType::OPAQUE => image.export(),
            _ => Err(self.shared.unsupported("export", format!("this block cannot be named by a {handle}"))),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for VulkanStaging {
    fn drop(&mut self) {
        self.let_go();
        if self.writes.are_under_way()
            && let Err(error) = self.wait()
        {
            tracing::debug!(%error, "a block that Vulkan writes was dropped, and the wait failed; its bytes stay borrowed");
        }
    }
}
