//! Staging blocks: memory that the host or the compute device writes and wgpu reads.

mod block;
mod made;
mod ring;

pub(crate) use block::Block;
pub(crate) use made::{Made, Object};

use crate::device_state::DeviceState;
use crate::gl;
use crate::picture::Picture;
use crate::queue_buffer::QueueBuffer;
use crate::vulkan::{Exported, Vulkan};
use interop_core::devices::borrows::Holder;
use interop_core::devices::owned::{own, own_mut};
use interop_core::display::HostWrites;
use interop_core::{Error, HandleType, HostBlock, Result, SharedHandle, Staging, StagingKind};
use ring::Ring;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

/// What a block is to wgpu, and how the host reaches it.
enum Body {
    /// Mapped for each fill.
    Ring(Ring),
    /// A buffer that stays: the host's or a device's.
    Linear(Rc<Block>, Option<HostBlock>),
    /// A texture, with its size in bytes.
    Image(Rc<Picture>, usize),
}

/// What keeps memory by which others open it.
#[allow(dead_code, reason = "made by Vulkan and OpenGL, which are not everywhere")]
enum Keeper {
    Gl(Rc<gl::Memory>),
    Vulkan(Exported),
}

/// A block, and when the device has read it.
pub(crate) struct WgpuStaging {
    body: Body,
    /// The submission after which the block may be written.
    fence: Option<wgpu::SubmissionIndex>,
    /// Submissions of others may read it.
    shown: Cell<bool>,
    writes: HostWrites,
    keeper: Option<Keeper>,
    /// Goes last: memory that is lent waits for what reads it.
    shared: Rc<DeviceState>,
}

impl WgpuStaging {
    /// Makes a block; `bytes` was checked against the display's limit.
    pub(crate) fn new(shared: &Rc<DeviceState>, kind: StagingKind, bytes: usize) -> Result<Self> {
        const OP: &str = "create_staging";
        let Made { object, host, keeper } = match (kind, &shared.gl, &shared.vulkan) {
            (StagingKind::Orphaned, ..) => {
                return Ok(Self::of_body(shared, Body::Ring(Ring::new(shared, bytes)?), None));
            }
            (StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }), ..) => {
                let buffer = QueueBuffer::open(&handle, shared, bytes, OP)?.buffer().clone();
                Made { object: Object::Buffer(buffer), host: None, keeper: None }
            }
            (kind, Some(gl), _) => gl.create(shared, kind, bytes)?.kept_as(Keeper::Gl),
            (kind, None, Some(vulkan)) => vulkan.create(shared, kind, bytes)?.kept_as(Keeper::Vulkan),
            (_, None, None) => return Err(shared.unsupported(OP, Vulkan::ABSENT)),
        };
        let body = match object {
            Object::Buffer(buffer) => Body::Linear(Rc::new(Block::new(buffer, bytes)), host),
            Object::Texture(texture, image) => {
                let picture = shared.scoped(OP, || Picture::texture(texture, image.format))?;
                Body::Image(Rc::new(picture), bytes)
            }
        };
        Ok(Self::of_body(shared, body, keeper))
    }

    fn of_body(shared: &Rc<DeviceState>, body: Body, keeper: Option<Keeper>) -> Self {
        let (fence, shown, writes) = Default::default();
        Self { shared: Rc::clone(shared), body, fence, shown, writes, keeper }
    }

    /// Finds our type again, made by this display.
    pub(crate) fn of<'a>(
        staging: &'a dyn Staging,
        shared: &Rc<DeviceState>,
        operation: &'static str,
    ) -> Result<&'a Self> {
        own::<Self>(staging.as_any(), shared, operation)
    }

    pub(crate) fn of_mut<'a>(
        staging: &'a mut dyn Staging,
        shared: &Rc<DeviceState>,
        operation: &'static str,
    ) -> Result<&'a mut Self> {
        own_mut::<Self>(staging.as_any_mut(), shared, operation)
    }

    /// The buffer to copy from.
    pub(crate) fn buffer(&self, operation: &'static str) -> Result<&wgpu::Buffer> {
        match &self.body {
            Body::Ring(ring) => ring.filled(operation),
            Body::Linear(block, _) => Ok(block.buffer()),
            Body::Image(..) => Err(Error::invalid(operation, "the block is a texture; show it in place")),
        }
    }

    /// The buffer to show in place.
    pub(crate) fn block(&self, operation: &'static str) -> Result<&Rc<Block>> {
        match &self.body {
            Body::Linear(block, _) => Ok(block),
            Body::Ring(_) => {
                Err(Error::invalid(operation, "a block that is mapped for each frame is not shown in place; upload it"))
            }
            Body::Image(..) => Err(Error::invalid(operation, "the block is a texture, the surface a buffer")),
        }
    }

    /// The texture, where it is one.
    pub(crate) fn image(&self) -> Option<Rc<Picture>> {
        match &self.body {
            Body::Image(picture, _) => Some(Rc::clone(picture)),
            _ => None,
        }
    }

    /// The device reads the block up to this submission.
    pub(crate) fn read_until(&mut self, index: wgpu::SubmissionIndex) {
        self.fence = Some(index);
    }

    /// Before the device is told to write the block.
    pub(crate) fn begin_write(&mut self, operation: &'static str) -> Result<()> {
        match &self.body {
            Body::Linear(_, Some(host)) => self.writes.begin(host, operation),
            _ => Ok(()),
        }
    }

    /// The device writes the block up to this submission; the host may read it then, where it can.
    pub(crate) fn written_until(&mut self, index: wgpu::SubmissionIndex) -> Result<()> {
        // It is written to the end of this one, also where the next fails.
        self.fence = Some(index);
        if let (Body::Linear(_, Some(_)), Some(_)) = (&self.body, &self.shared.vulkan) {
            self.fence = Some(self.shared.show_host("download")?);
        }
        Ok(())
    }

    /// From now on any submission may read it.
    pub(crate) fn show(&self) {
        self.shown.set(true);
    }
}

interop_core::owned!(WgpuStaging: DeviceState, "staging block", |block| &block.shared);

impl Staging for WgpuStaging {
    fn len(&self) -> usize {
        match &self.body {
            Body::Ring(ring) => ring.len(),
            Body::Linear(block, _) => block.len(),
            Body::Image(_, bytes) => *bytes,
        }
    }

    fn host_block(&self) -> Option<HostBlock> {
        match &self.body {
            Body::Linear(_, host) => host.clone(),
            _ => None,
        }
    }

    fn wait(&mut self) -> Result<()> {
        if let Some(index) = self.fence.take()
            && let Err(error) = self.shared.wait("wait", Some(index.clone()))
        {
            self.fence = Some(index);
            return Err(error);
        }
        self.writes.end();
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.wait()?;
        match &mut self.body {
            Body::Ring(ring) => ring.map_write(&self.shared, f),
            Body::Linear(block, Some(host)) => {
                f(&mut host.write(0..block.len(), Holder::Staging, "Staging::map_write")?)
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
            self.fence = Some(self.shared.flush("fence")?);
        }
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        match (&self.keeper, &self.shared.gl, handle) {
            (Some(Keeper::Gl(memory)), Some(gl), _) => memory.export(gl, handle),
            (Some(Keeper::Vulkan(exported)), _, HandleType::OPAQUE) => exported.handle(&self.shared),
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

impl Drop for WgpuStaging {
    fn drop(&mut self) {
        if self.writes.are_under_way()
            && let Err(error) = self.wait()
        {
            tracing::debug!(%error, "a block that wgpu writes was dropped, and the wait failed; its bytes stay borrowed");
        }
    }
}
