//! Staging blocks: memory that the host or the compute device writes and wgpu reads.

mod block;
mod ring;
#[cfg(any(target_os = "linux", windows))]
pub(crate) mod semaphore;

pub(crate) use block::Block;

use crate::context::device::Submission;
use crate::context::device_state::DeviceState;
use crate::context::gl;
use crate::context::kept_memory::{KeptMemory, Object};
use crate::context::queue_buffer::QueueBuffer;
use crate::context::vulkan::{ExportedMemory, Vulkan};
use crate::draw::picture::Picture;
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::display::checks::not_lasting;
use interop_core::display::{Reach, StagingDriver};
use interop_core::{Error, HandleType, Result, SharedHandle, Staging, StagingKind};
use ring::Ring;
use std::sync::Arc;

/// Content of a block: linear memory or an image.
enum Body {
    /// Buffers that are mapped for each fill.
    Ring(Ring),
    /// One persistent buffer.
    Linear(Arc<Block>),
    /// A texture.
    Image(Arc<Picture>),
}

/// Owner of memory that other code opens.
#[allow(dead_code, reason = "made by Vulkan and OpenGL, which are not everywhere")]
enum Keeper {
    Gl(Arc<gl::Memory>),
    Vulkan(ExportedMemory),
}

/// A block, and the submission that reads it last.
pub(crate) struct WgpuStaging {
    body: Body,
    /// The submission after which the block may be written.
    fence: Option<Submission>,
    /// True where the host has its address.
    is_the_hosts: bool,
    keeper: Option<Keeper>,
    /// Dropped last: lent memory waits for its readers.
    shared: Arc<DeviceState>,
}

impl WgpuStaging {
    /// Creates a block.
    pub(crate) fn new(shared: &Arc<DeviceState>, kind: StagingKind, bytes: usize) -> Result<(Self, Reach)> {
        let KeptMemory { object, host, keeper } = match (kind, &shared.gl, &shared.vulkan) {
            (StagingKind::Orphaned, ..) => {
                let body = Body::Ring(Ring::new(shared, bytes)?);
                return Ok((Self::of_body(shared, body, false, None), Reach::EachFill));
            }
            (StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }), ..) => {
                let buffer = QueueBuffer::open(&handle, bytes)?.buffer().clone();
                KeptMemory { object: Object::Buffer(buffer), host: None, keeper: None }
            }
            (kind, Some(gl), _) => gl.create(shared, kind, bytes)?.kept_as(Keeper::Gl),
            (kind, None, Some(vulkan)) => vulkan.create(shared, kind, bytes)?.kept_as(Keeper::Vulkan),
            (_, None, None) => return Err(shared.unsupported(Vulkan::ABSENT)),
        };
        let body = match object {
            Object::Buffer(buffer) => Body::Linear(Arc::new(Block::new(buffer))),
            Object::Texture(texture, image) => {
                Body::Image(Arc::new(shared.scoped(|| Picture::texture(texture, image.format))?))
            }
        };
        let reach = host.map_or(Reach::Never, Reach::Address);
        Ok((Self::of_body(shared, body, matches!(reach, Reach::Address(_)), keeper), reach))
    }

    fn of_body(shared: &Arc<DeviceState>, body: Body, is_the_hosts: bool, keeper: Option<Keeper>) -> Self {
        Self { shared: Arc::clone(shared), body, fence: None, is_the_hosts, keeper }
    }

    /// Downcasts a staging block made by this display.
    pub(crate) fn of<'a>(staging: &'a Staging, shared: &Arc<DeviceState>) -> Result<&'a Self> {
        own::<Self>(staging.driver(), shared)
    }

    pub(crate) fn of_mut<'a>(staging: &'a mut Staging, shared: &Arc<DeviceState>) -> Result<&'a mut Self> {
        own_mut::<Self>(staging.driver_mut(), shared)
    }

    /// Returns the buffer for copies.
    pub(crate) fn buffer(&self) -> Result<&wgpu::Buffer> {
        match &self.body {
            Body::Ring(ring) => ring.filled(),
            Body::Linear(block) => Ok(block.buffer()),
            // Rejected before.
            Body::Image(_) => Err(Error::NothingShown),
        }
    }

    /// Returns the buffer that is shown in place.
    pub(crate) fn block(&self) -> Result<&Arc<Block>> {
        match &self.body {
            Body::Linear(block) => Ok(block),
            _ => Err(not_lasting()),
        }
    }

    /// Returns the texture, if the block is one.
    pub(crate) fn image(&self) -> Result<&Arc<Picture>> {
        match &self.body {
            Body::Image(picture) => Ok(picture),
            _ => Err(Error::NothingShown),
        }
    }

    /// Marks the block as read by the device up to this submission.
    pub(crate) fn read_until(&mut self, index: wgpu::SubmissionIndex) {
        self.fence = Some(self.shared.submission(index));
    }

    /// Marks the block as written by the device up to this submission; the host may read it afterwards, if it can.
    pub(crate) fn written_until(&mut self, index: wgpu::SubmissionIndex) -> Result<()> {
        // The writes end with this submission, even if the next call fails.
        self.read_until(index);
        if self.is_the_hosts && self.shared.vulkan.is_some() {
            self.read_until(self.shared.show_host()?);
        }
        Ok(())
    }
}

interop_core::owned!(WgpuStaging: DeviceState, "staging block", |block| &block.shared);

impl StagingDriver for WgpuStaging {
    fn wait(&mut self) -> Result<()> {
        if let Some(last) = self.fence.take()
            && let Err(error) = self.shared.wait(Some(last.index.clone()))
        {
            self.fence = Some(last);
            return Err(error);
        }
        Ok(())
    }

    fn is_done(&mut self) -> Result<bool> {
        match &self.fence {
            Some(last) => self.shared.is_done(last),
            None => Ok(true),
        }
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.wait()?;
        match &mut self.body {
            Body::Ring(ring) => ring.map_write(&self.shared, f),
            _ => Err(Error::NothingShown),
        }
    }

    fn fence(&mut self, is_shown: bool) -> Result<()> {
        // Copies already recorded their submission.
        if is_shown {
            self.read_until(self.shared.flush()?);
        }
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        match (&self.keeper, &self.shared.gl, handle) {
            (Some(Keeper::Gl(memory)), Some(gl), _) => memory.export(gl, handle).map(Some),
            (Some(Keeper::Vulkan(exported)), _, HandleType::OPAQUE) => exported.handle(&self.shared).map(Some),
            _ => Ok(None),
        }
    }
}
