//! The two sides of an audit: what kernels wrote, and what the display reads.

use super::digest_plan::DigestPlan;
use super::digest_transfer::{Digest, DigestMaker};
use crate::compute::{ComputeBackend, ComputeMemory};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::HandleType;
use crate::devices::identity::Api;
use crate::display::{Display, Staging, StagingKind, Surface, SurfacePart};
use crate::path::{FrameLayout, OpenedPath, SharingPath};
use std::sync::Arc;

/// The side that writes frames.
pub(super) enum ComputeSide {
    /// Kernels are host functions, so the host reads their memory without waiting.
    Host,
    Kernels {
        maker: DigestMaker,
        /// Linear copy of memory that is a texture.
        copy: Option<Box<dyn ComputeMemory>>,
    },
}

impl ComputeSide {
    pub fn open(backend: &Arc<dyn ComputeBackend>) -> Result<Self> {
        if backend.device().api == Api::Cpu {
            return Ok(Self::Host);
        }
        Ok(Self::Kernels { maker: DigestMaker::open(backend)?, copy: None })
    }

    /// Queues the digest of the frame that is open in `path`, behind its kernels. Returns `None` where too many digests
    /// are on their way.
    pub fn written(
        &mut self,
        display: &dyn Display,
        path: &mut OpenedPath,
        part: &SurfacePart,
    ) -> Result<Option<(Digest, DigestPlan)>> {
        match self {
            Self::Kernels { maker, .. } if maker.is_in_queue() => batched(display, || self.queue(display, path, part)),
            _ => self.queue(display, path, part),
        }
    }

    fn queue(
        &mut self,
        display: &dyn Display,
        path: &mut OpenedPath,
        part: &SurfacePart,
    ) -> Result<Option<(Digest, DigestPlan)>> {
        let is_texture = path.is_texture();
        let (memory, view) = path.target()?.into_parts();
        let plan = DigestPlan::new(&view, part).ok_or_else(too_large)?;
        let digest = match self {
            Self::Host => {
                let (span, mut digest) = (view.span(), Vec::new());
                memory.map_read(span.clone(), &mut |bytes| {
                    digest = plan.host(bytes, span.start);
                    Ok(())
                })?;
                Some(Digest::Arrived(digest))
            }
            Self::Kernels { maker, copy } => {
                let from = if is_texture { linear(maker.backend().as_ref(), memory, copy)? } else { memory };
                maker.start(display, (&plan, &view), from)?
            }
        };
        Ok(digest.map(|digest| (digest, plan)))
    }

    pub fn maker(&mut self) -> Option<&mut DigestMaker> {
        match self {
            Self::Host => None,
            Self::Kernels { maker, .. } => Some(maker),
        }
    }
}

/// The side that shows frames.
pub(super) enum DisplaySide {
    /// The display's memory is the host's.
    Host,
    /// Kernels in the display's own queue.
    Kernels(Box<QueueSide>),
}

/// Kernels in a display's queue.
pub(super) struct QueueSide {
    maker: DigestMaker,
    queue: HandleType,
    /// The memory into which the display copies surfaces with storage of their own.
    copied: Option<(Box<dyn ComputeMemory>, Staging)>,
    /// Linear copy of a texture that is shown in place.
    copy: Option<Box<dyn ComputeMemory>>,
}

impl DisplaySide {
    pub fn open(display: &dyn Display) -> Result<Self> {
        if display.device().api == Api::Cpu {
            return Ok(Self::Host);
        }
        let no_kernels = || Error::unsupported(display.device(), "no kernels run in its queue");
        let backend = display.backend_in_queue()?.ok_or_else(no_kernels)?;
        let backend: Box<Arc<dyn ComputeBackend>> = backend.downcast().map_err(|_| no_kernels())?;
        let queue = HandleType::QueueBuffer(backend.caps().display_queue().ok_or_else(no_kernels)?);
        Ok(Self::Kernels(Box::new(QueueSide { maker: DigestMaker::open(&backend)?, queue, copied: None, copy: None })))
    }

    /// Queues the digest of `part` (rows in the surface's order) of what the display reads. Returns `None` where too
    /// many digests are on their way.
    pub fn read(
        &mut self,
        display: &Arc<dyn Display>,
        surface: &mut Surface,
        layout: &FrameLayout,
        part: &SurfacePart,
    ) -> Result<Option<Digest>> {
        batched(display.as_ref(), || self.queue(display, surface, layout, part))
    }

    fn queue(
        &mut self,
        display: &Arc<dyn Display>,
        surface: &mut Surface,
        layout: &FrameLayout,
        part: &SurfacePart,
    ) -> Result<Option<Digest>> {
        let Self::Kernels(side) = self else {
            let (bytes, view) = (surface.read_back(&layout.native(part))?, layout.alone(part)?);
            let plan = DigestPlan::new(&view, part).ok_or_else(too_large)?;
            return Ok(Some(Digest::Arrived(plan.host(&bytes, 0))));
        };
        let QueueSide { maker, queue, copied, copy } = side.as_mut();
        let Some((handle, shown)) = surface.lend(*queue)? else {
            let (native, view) = (layout.tight().alone(&layout.native(part))?, layout.alone(part)?);
            let bytes = view.span().end;
            let (memory, staging) = match copied.take().filter(|(memory, _)| memory.len() >= bytes) {
                Some(enough) => copied.insert(enough),
                None => copied.insert(frame_copy(display, maker.backend().as_ref(), *queue, bytes)?),
            };
            surface.download(&layout.native(part), staging, &native)?;
            let plan = DigestPlan::new(&view, part).ok_or_else(too_large)?;
            return maker.start(display.as_ref(), (&plan, &view), memory.as_ref());
        };
        let view = match &shown {
            Some(whole) => layout.within(whole, part)?.kernel,
            None => layout.clone().unpadded().in_place(part)?.kernel,
        };
        let plan = DigestPlan::new(&view, part).ok_or_else(too_large)?;
        let desc = shown.map_or(*layout.desc(), |whole| SurfaceDesc::buffer(whole.span().end as u64));
        let mut memory = maker.backend().import_surface(&handle, &desc)?;
        memory.acquire()?;
        let from = match shown {
            Some(_) => memory.as_mut(),
            None => linear(maker.backend().as_ref(), memory.as_mut(), copy)?,
        };
        let mut digest = maker.start(display.as_ref(), (&plan, &view), from)?;
        memory.submit()?;
        if let Some(digest) = &mut digest {
            digest.keep(memory);
        }
        Ok(digest)
    }

    pub fn maker(&mut self) -> Option<&mut DigestMaker> {
        match self {
            Self::Host => None,
            Self::Kernels(side) => Some(&mut side.maker),
        }
    }
}

/// Lets a display submit together what `work` queues.
fn batched<R>(display: &dyn Display, mut work: impl FnMut() -> Result<Option<R>>) -> Result<Option<R>> {
    let mut result = None;
    display.batch(&mut || work().map(|found| result = found))?;
    Ok(result)
}

/// Copies a texture's memory to linear memory, in queue order.
fn linear<'c>(
    backend: &dyn ComputeBackend,
    from: &mut dyn ComputeMemory,
    copy: &'c mut Option<Box<dyn ComputeMemory>>,
) -> Result<&'c mut dyn ComputeMemory> {
    let bytes = from.len();
    let to = match copy.take().filter(|copy| copy.len() >= bytes) {
        Some(enough) => copy.insert(enough),
        None => copy.insert(backend.allocate(bytes)?),
    };
    backend.copy(from, to.as_mut(), 0..bytes)?;
    Ok(to.as_mut())
}

/// Makes memory that both the kernels in the display's queue and the display address.
fn frame_copy(
    display: &Arc<dyn Display>,
    backend: &dyn ComputeBackend,
    queue: HandleType,
    bytes: usize,
) -> Result<(Box<dyn ComputeMemory>, Staging)> {
    let (memory, handle) = backend.allocate_shared(bytes, queue, display.device())?;
    Ok((memory, display.create_staging(StagingKind::External(handle), bytes)?))
}

fn too_large() -> Error {
    Error::refused("a frame beyond 4 GiB of memory is not audited")
}
