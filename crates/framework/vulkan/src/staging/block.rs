//! Staging blocks: memory that the host or the compute device writes and the engine or the display reads.

use crate::context::device_state::DeviceState;
use crate::staging::memory::{Buffer, Image};
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::scratch::Scratch;
use ash::vk;
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::display::checks::{not_filled, not_lasting};
use interop_core::display::{Reach, StagingDriver};
use interop_core::{Error, HandleType, Result, SharedHandle, Staging, StagingKind};
use std::sync::Arc;

enum Body {
    /// A new buffer for each fill.
    Orphaned {
        len: usize,
        filled: Option<Scratch>,
    },
    /// One persistent buffer.
    Linear(Arc<Buffer>),
    Image(Arc<Image>),
}

/// A block, and the submission that reads it last.
pub(crate) struct VulkanStaging {
    body: Body,
    /// The submission after which the block may be written.
    fence: Option<u64>,
    exported: bool,
    shared: Arc<DeviceState>,
}

interop_core::owned!(VulkanStaging: DeviceState, "staging block", |block| &block.shared);

impl VulkanStaging {
    pub(crate) fn new(shared: &Arc<DeviceState>, kind: StagingKind, bytes: usize) -> Result<(Self, Reach)> {
        let exported = matches!(kind, StagingKind::Exported | StagingKind::ExportedImage(_));
        let linear = |buffer| Body::Linear(Arc::new(buffer));
        let (body, reach) = match kind {
            StagingKind::Orphaned => (Body::Orphaned { len: bytes, filled: None }, Reach::EachFill),
            StagingKind::Persistent => {
                let (buffer, host) = Buffer::mapped(shared, bytes)?;
                (linear(buffer), Reach::Address(host))
            }
            StagingKind::Imported(host) => {
                (linear(Buffer::of_pages(shared, host.clone(), bytes)?), Reach::Address(host))
            }
            StagingKind::External(SharedHandle::Memory(memory)) => {
                (linear(Buffer::imported(shared, memory, bytes)?), Reach::Never)
            }
            StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }) => {
                (Body::Linear(QueueBuffer::open(&handle, bytes)?.lasting()?), Reach::Never)
            }
            StagingKind::Exported => (linear(Buffer::exported(shared, bytes)?), Reach::Never),
            StagingKind::ExportedImage(image) => {
                (Body::Image(Arc::new(Image::exported(shared, &image)?)), Reach::Never)
            }
            other => return Err(shared.unsupported(format!("it does not support staging blocks of {other:?}"))),
        };
        Ok((Self { body, fence: None, exported, shared: Arc::clone(shared) }, reach))
    }

    /// Downcasts a staging block made by this display.
    pub(crate) fn of<'a>(staging: &'a Staging, shared: &Arc<DeviceState>) -> Result<&'a Self> {
        own::<Self>(staging.driver(), shared)
    }

    /// Downcasts a staging block made by this display, mutably.
    pub(crate) fn of_mut<'a>(staging: &'a mut Staging, shared: &Arc<DeviceState>) -> Result<&'a mut Self> {
        own_mut::<Self>(staging.driver_mut(), shared)
    }

    /// Returns the buffer for copies.
    pub(crate) fn buffer(&self) -> Result<vk::Buffer> {
        match &self.body {
            Body::Orphaned { filled: Some(scratch), .. } => Ok(scratch.raw()),
            Body::Orphaned { .. } => Err(not_filled()),
            Body::Linear(buffer) => Ok(buffer.raw()),
            // Rejected before.
            Body::Image(_) => Err(Error::NothingShown),
        }
    }

    /// Returns the buffer that is shown in place.
    pub(crate) fn lasting(&self) -> Result<&Arc<Buffer>> {
        match &self.body {
            Body::Linear(buffer) => Ok(buffer),
            _ => Err(not_lasting()),
        }
    }

    /// Returns the image, if the block is one.
    pub(crate) fn image(&self) -> Result<&Arc<Image>> {
        match &self.body {
            Body::Image(image) => Ok(image),
            _ => Err(Error::NothingShown),
        }
    }

    /// Marks the block as used by the queue up to this submission.
    pub(crate) fn used_until(&mut self, number: u64) {
        self.fence = Some(number);
    }

    /// Releases the memory of the last fill.
    fn let_go(&mut self) {
        if let Body::Orphaned { filled, .. } = &mut self.body
            && let Some(scratch) = filled.take()
        {
            scratch.give_back(&self.shared, self.fence.take().unwrap_or(0));
        }
    }
}

impl StagingDriver for VulkanStaging {
    fn wait(&mut self) -> Result<()> {
        // Each fill has memory of its own.
        if matches!(self.body, Body::Orphaned { .. }) {
            return Ok(());
        }
        if let Some(number) = self.fence {
            self.shared.submissions.wait(number)?;
            self.fence = None;
        }
        Ok(())
    }

    fn is_done(&mut self) -> Result<bool> {
        Ok(self.fence.is_none_or(|number| number <= self.shared.submissions.done()))
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.let_go();
        let Body::Orphaned { len, filled } = &mut self.body else { return Err(Error::NothingShown) };
        let scratch = Scratch::take(&self.shared, *len)?;
        let done = scratch.fill(*len, f);
        match done {
            Ok(()) => *filled = Some(scratch),
            Err(_) => scratch.give_back(&self.shared, 0),
        }
        done
    }

    fn fence(&mut self, is_shown: bool) -> Result<()> {
        // Copies already recorded their submission.
        if is_shown {
            self.fence = Some(self.shared.submissions.flush(None)?);
        }
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        match &self.body {
            Body::Linear(buffer) if self.exported && handle == HandleType::OPAQUE => buffer.export().map(Some),
            Body::Image(image) if handle == HandleType::OPAQUE => image.export().map(Some),
            _ => Ok(None),
        }
    }
}

impl Drop for VulkanStaging {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.let_go();
    }
}
