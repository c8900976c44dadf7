//! Staging blocks: memory that the host or the compute device writes and GL reads.

mod block;
mod external;
mod image_block;
mod imported;
mod orphaned;
mod persistent;

pub(crate) use block::Block;
pub(crate) use image_block::ImageBlock;

use crate::compute::QueueBuffer;
use crate::context_state::ContextState;
use crate::fence::Fence;
use crate::semaphore_object::Crossing;
use glow::HasContext as _;
use interop_core::devices::borrows::Holder;
use interop_core::devices::owned::{own, own_mut};
use interop_core::display::{HostWrites, Staging, StagingKind};
use interop_core::{Error, HandleType, HostBlock, Result, SharedHandle};
use std::any::Any;
use std::rc::Rc;

/// How the host reaches the bytes.
enum Access {
    /// Mapped for each fill.
    Orphaned,
    /// Mapped once; kept so by the block.
    Mapped(HostBlock),
    /// Not at all: it is a device's.
    Never,
}

/// What a block is to GL.
enum Body {
    Linear(Rc<Block>),
    Image(Rc<ImageBlock>),
}

impl Body {
    fn shared(&self) -> &Rc<ContextState> {
        match self {
            Self::Linear(block) => block.shared(),
            Self::Image(block) => block.shared(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Linear(block) => block.len(),
            Self::Image(block) => block.len(),
        }
    }
}

/// A block with the fence that guards it.
pub(crate) struct GlStaging {
    body: Body,
    access: Access,
    fence: Option<Fence>,
    /// GL was told to read since the last fence.
    unfenced: bool,
    writes: HostWrites,
}

impl GlStaging {
    /// Makes a block; `bytes` was checked against the display's limit.
    pub(crate) fn new(shared: &Rc<ContextState>, kind: StagingKind, bytes: usize) -> Result<Self> {
        let linear = Body::Linear;
        let (body, access) = match kind {
            StagingKind::Orphaned => (linear(orphaned::create(shared, bytes)?), Access::Orphaned),
            StagingKind::Persistent => {
                let (block, host) = persistent::create(shared, bytes)?;
                (linear(block), Access::Mapped(host))
            }
            StagingKind::Imported(host) => (linear(imported::create(shared, &host, bytes)?), Access::Mapped(host)),
            StagingKind::External(SharedHandle::Memory(memory)) => {
                (linear(external::buffer(shared, memory, bytes, None)?), Access::Never)
            }
            StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }) => (
                linear(Block::over_queue_buffer(shared, QueueBuffer::open(&handle, shared, bytes)?, bytes)),
                Access::Never,
            ),
            StagingKind::ExternalImage(SharedHandle::Memory(memory), image) => {
                (Body::Image(external::texture(shared, memory, &image, None)?), Access::Never)
            }
            StagingKind::Exported => (linear(external::exported_buffer(shared, bytes)?), Access::Never),
            StagingKind::ExportedImage(image) => {
                (Body::Image(external::exported_texture(shared, &image)?), Access::Never)
            }
            other => return Err(shared.unsupported("create_staging", format!("it knows no staging of {other:?}"))),
        };
        Ok(Self { body, access, fence: None, unfenced: false, writes: HostWrites::default() })
    }

    /// Finds our type again, made in this context.
    pub(crate) fn of<'a>(
        staging: &'a dyn Staging,
        shared: &Rc<ContextState>,
        operation: &'static str,
    ) -> Result<&'a Self> {
        own::<Self>(staging.as_any(), shared, operation)
    }

    pub(crate) fn of_mut<'a>(
        staging: &'a mut dyn Staging,
        shared: &Rc<ContextState>,
        operation: &'static str,
    ) -> Result<&'a mut Self> {
        own_mut::<Self>(staging.as_any_mut(), shared, operation)
    }

    /// The buffer, for what needs linear memory.
    pub(crate) fn linear(&self, operation: &'static str) -> Result<&Rc<Block>> {
        match &self.body {
            Body::Linear(block) => Ok(block),
            Body::Image(_) => Err(Error::invalid(operation, "the block is a texture; show it in place")),
        }
    }

    /// The texture, where it is one.
    pub(crate) fn image(&self) -> Option<&Rc<ImageBlock>> {
        match &self.body {
            Body::Linear(_) => None,
            Body::Image(block) => Some(block),
        }
    }

    /// What the block is to a semaphore.
    pub(crate) fn crossing(&self) -> Crossing {
        match &self.body {
            Body::Linear(block) => Crossing::Buffer(block.buffer()),
            Body::Image(block) => Crossing::Texture(block.source().texture),
        }
    }

    /// Before GL is told to write the block: whoever waits for the block waits for that.
    pub(crate) fn begin_write(&mut self, operation: &'static str) -> Result<()> {
        if let Access::Mapped(host) = &self.access {
            self.writes.begin(host, operation)?;
        }
        self.unfenced = true;
        Ok(())
    }

    /// GL will read the block: a wait without a fence in between must make one.
    pub(crate) fn mark_read(&mut self) {
        self.unfenced = true;
    }
}

interop_core::owned!(GlStaging: ContextState, "staging block", |block| block.body.shared());

impl Staging for GlStaging {
    fn len(&self) -> usize {
        self.body.len()
    }

    fn host_block(&self) -> Option<HostBlock> {
        match &self.access {
            Access::Orphaned | Access::Never => None,
            Access::Mapped(host) => Some(host.clone()),
        }
    }

    fn wait(&mut self) -> Result<()> {
        // Memory that was mapped is gone with the context: whoever waits writes it next.
        self.body.shared().check_not_lost("wait")?;
        if self.fence.is_none() && !self.unfenced {
            self.writes.end();
            return Ok(());
        }
        self.body.shared().enter("wait")?;
        if self.unfenced {
            self.fence()?;
        }
        if let Some(fence) = &self.fence {
            fence.wait(self.body.shared())?;
            self.fence = None;
        }
        self.writes.end();
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        match &self.access {
            Access::Orphaned => orphaned::map_write(self.linear("map_write")?, f),
            Access::Never => {
                let reason = "the host cannot address memory of a device; write it there";
                Err(self.body.shared().unsupported("fill", reason.into()))
            }
            Access::Mapped(host) => {
                let host = host.clone();
                self.wait()?;
                f(&mut host.write(0..self.body.len(), Holder::Staging, "Staging::map_write")?)
            }
        }
    }

    fn fence(&mut self) -> Result<()> {
        let shared = self.body.shared();
        shared.enter("fence")?;
        let exposed = matches!(&self.body, Body::Linear(block) if block.is_exposed());
        if exposed && shared.features.client_mapped_barrier {
            // SAFETY: the context is current and has GL 4.4 or the extension of ES. Shader writes become visible through the mapping.
            unsafe { shared.gl.memory_barrier(glow::CLIENT_MAPPED_BUFFER_BARRIER_BIT) }
        }
        let fence = Fence::insert(shared)?;
        self.fence = Some(fence);
        self.unfenced = false;
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        const OP: &str = "export";
        let shared = self.body.shared();
        shared.enter(OP)?;
        let exported = match &self.body {
            Body::Linear(block) => block.exported(),
            Body::Image(block) => block.exported(),
        };
        match (handle, exported) {
            (HandleType::OPAQUE, Some(made)) => Ok(SharedHandle::Memory(made.export()?)),
            _ => Err(shared.unsupported(OP, format!("this block cannot be named by a {handle}"))),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for GlStaging {
    fn drop(&mut self) {
        if self.writes.are_under_way()
            && let Err(error) = self.wait()
        {
            tracing::debug!(%error, "a block that OpenGL writes was dropped where nobody could wait; its bytes stay borrowed");
        }
    }
}
