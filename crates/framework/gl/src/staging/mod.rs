//! Staging blocks: memory that the host or the compute device writes and GL reads.

mod block;
mod external;
mod image_block;
mod orphaned_block;
mod persistent;
mod pinned_block;
pub(crate) mod semaphore;

pub(crate) use block::Block;
pub(crate) use image_block::ImageBlock;

use crate::api::semaphore_object::SharedObject;
use crate::context::context_state::ContextState;
use crate::objects::fence::Fence;
use crate::queue::QueueBuffer;
use glow::HasContext as _;
use interop_core::devices::maker_object::own;
use interop_core::display::{Reach, Staging, StagingDriver, StagingKind};
use interop_core::{Error, HandleType, Result, SharedHandle};
use std::sync::Arc;

/// Content of a block: linear memory or an image.
enum Body {
    Linear(Arc<Block>),
    Image(Arc<ImageBlock>),
}

impl Body {
    fn shared(&self) -> &Arc<ContextState> {
        match self {
            Self::Linear(block) => block.shared(),
            Self::Image(block) => block.shared(),
        }
    }
}

/// A block with the fence that guards it.
pub(crate) struct GlStaging {
    body: Body,
    fence: Option<Fence>,
}

impl GlStaging {
    /// Creates a block.
    pub(crate) fn new(shared: &Arc<ContextState>, kind: StagingKind, bytes: usize) -> Result<(Self, Reach)> {
        shared.enter()?;
        let linear = Body::Linear;
        let (body, reach) = match kind {
            StagingKind::Orphaned => (linear(orphaned_block::create(shared, bytes)?), Reach::EachFill),
            StagingKind::Persistent => {
                let (block, host) = persistent::create(shared, bytes)?;
                (linear(block), Reach::Address(host))
            }
            StagingKind::Imported(host) => (linear(pinned_block::create(shared, &host, bytes)?), Reach::Address(host)),
            StagingKind::External(SharedHandle::Memory(memory)) => {
                (linear(external::buffer(shared, memory, bytes, None)?), Reach::Never)
            }
            StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }) => {
                (linear(Block::over_queue_buffer(shared, QueueBuffer::open(&handle, bytes)?, bytes)), Reach::Never)
            }
            StagingKind::ExternalImage(SharedHandle::Memory(memory), image) => {
                (Body::Image(external::texture(shared, memory, &image, None)?), Reach::Never)
            }
            StagingKind::Exported => (linear(external::exported_buffer(shared, bytes)?), Reach::Never),
            StagingKind::ExportedImage(image) => {
                (Body::Image(external::exported_texture(shared, &image)?), Reach::Never)
            }
            other => return Err(shared.unsupported(format!("it does not support staging blocks of {other:?}"))),
        };
        Ok((Self { body, fence: None }, reach))
    }

    /// Returns the block in its own type, if it belongs to this context.
    pub(crate) fn of<'a>(staging: &'a Staging, shared: &Arc<ContextState>) -> Result<&'a Self> {
        own::<Self>(staging.driver(), shared)
    }

    /// Returns the buffer, for uses that need linear memory.
    pub(crate) fn linear(&self) -> Result<&Arc<Block>> {
        match &self.body {
            Body::Linear(block) => Ok(block),
            // Rejected before.
            Body::Image(_) => Err(Error::NothingShown),
        }
    }

    /// Returns the texture, if the block is one.
    pub(crate) fn image(&self) -> Option<&Arc<ImageBlock>> {
        match &self.body {
            Body::Linear(_) => None,
            Body::Image(block) => Some(block),
        }
    }

    /// Returns the block's object for a semaphore.
    pub(crate) fn crossing(&self) -> SharedObject<'static> {
        match &self.body {
            Body::Linear(block) => SharedObject::Buffer(block.buffer()),
            Body::Image(block) => SharedObject::Texture(block.source().texture),
        }
    }
}

interop_core::owned!(GlStaging: ContextState, "staging block", |block| block.body.shared());

impl StagingDriver for GlStaging {
    fn wait(&mut self) -> Result<()> {
        // Memory that was mapped is gone with the context, and the waiter would write it next.
        self.body.shared().check_not_lost()?;
        if let Some(fence) = &self.fence {
            self.body.shared().enter()?;
            fence.wait(self.body.shared())?;
            self.fence = None;
        }
        Ok(())
    }

    fn is_done(&mut self) -> Result<bool> {
        let shared = self.body.shared();
        shared.check_not_lost()?;
        let Some(fence) = &self.fence else { return Ok(true) };
        shared.enter()?;
        fence.is_done(shared)
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        orphaned_block::map_write(self.linear()?, f)
    }

    fn fence(&mut self, _: bool) -> Result<()> {
        let shared = self.body.shared();
        shared.enter()?;
        let exposed = matches!(&self.body, Body::Linear(block) if block.is_exposed());
        if exposed && shared.features.client_mapped_barrier {
            // SAFETY: the context is current and has GL 4.4 or the extension of ES. Shader writes become visible through the mapping.
            unsafe { shared.gl.memory_barrier(glow::CLIENT_MAPPED_BUFFER_BARRIER_BIT) }
        }
        self.fence = Some(Fence::insert(shared)?);
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        self.body.shared().enter()?;
        let exported = match &self.body {
            Body::Linear(block) => block.exported(),
            Body::Image(block) => block.exported(),
        };
        match (handle, exported) {
            (HandleType::OPAQUE, Some(made)) => Ok(Some(SharedHandle::Memory(made.export()?))),
            _ => Ok(None),
        }
    }
}
