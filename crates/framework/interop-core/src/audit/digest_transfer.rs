//! Digests on their way to the host. Nobody waits for them.

use super::digest_kernels::{DIGEST_BYTES, DigestKernels};
use super::digest_plan::DigestPlan;
use crate::compute::{ComputeBackend, ComputeMemory, ReadBack};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::{BufferView, View};
use crate::devices::borrows::Holder;
use crate::devices::capability::HandleType;
use crate::display::{Display, Staging, StagingKind, Surface, SurfacePart};
use std::sync::Arc;

/// Most digests of one side that are on their way. Further frames are not audited until one arrives.
const MOST_UNDER_WAY: usize = 4;

/// Memory of one digest, and what reads it.
struct DigestSlot {
    memory: Box<dyn ComputeMemory>,
    reader: SlotReader,
}

enum SlotReader {
    /// A queue beside the backend's own.
    Queue,
    /// The display, in whose queue the kernels run.
    Display(Box<DisplayReader>),
}

/// Brings a digest to the host: from the kernels' memory through a buffer of the device into a block of the host.
struct DisplayReader {
    from: Staging,
    through: Surface,
    to: Staging,
}

/// A digest that the host has, or will have.
pub(super) enum Digest {
    Arrived(Vec<u32>),
    UnderWay(Box<DigestTransfer>),
    /// The device reported an error instead.
    Failed(Error),
}

/// A digest on its way.
pub(super) struct DigestTransfer {
    slot: DigestSlot,
    bands: usize,
    read: Option<ReadBack>,
    /// Memory that the kernels read, where the digest alone keeps it.
    _from: Option<Box<dyn ComputeMemory>>,
}

impl Digest {
    /// Returns the digest if it has arrived; does not wait. Gives its slot back to `maker`.
    pub fn poll(&mut self, maker: Option<&mut DigestMaker>) -> Result<Option<&[u32]>> {
        if let Self::UnderWay(read) = self {
            let found = match read.poll() {
                Ok(None) => return Ok(None),
                Ok(Some(digest)) => Self::Arrived(digest),
                Err(error) => Self::Failed(error),
            };
            if let (Self::UnderWay(read), Some(maker)) = (std::mem::replace(self, found), maker) {
                maker.free.push(read.slot);
            }
        }
        match self {
            Self::Arrived(digest) => Ok(Some(digest)),
            Self::Failed(error) => Err(error.clone()),
            Self::UnderWay(_) => Ok(None),
        }
    }
}

impl DigestTransfer {
    fn poll(&mut self) -> Result<Option<Vec<u32>>> {
        let words = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        match &mut self.slot.reader {
            SlotReader::Queue => {
                let Some(read) = self.read.take_if(|read| read.event().is_settled()) else { return Ok(None) };
                Ok(Some(words(&read.wait()?)))
            }
            SlotReader::Display(reader) => {
                let to = &mut reader.to;
                if !to.is_done()? {
                    return Ok(None);
                }
                let block = to.host_block().ok_or_else(no_address)?;
                let bytes = block.read(0..4 * self.bands, Holder::Staging)?;
                Ok(Some(words(&bytes)))
            }
        }
    }
}

/// Makes digests with the kernels of one backend.
pub(super) struct DigestMaker {
    backend: Arc<dyn ComputeBackend>,
    kernels: Arc<DigestKernels>,
    sums: Vec<Box<dyn ComputeMemory>>,
    free: Vec<DigestSlot>,
    made: usize,
}

impl DigestMaker {
    pub fn open(backend: &Arc<dyn ComputeBackend>) -> Result<Self> {
        let kernels = DigestKernels::of(backend.as_ref())?;
        let sums = kernels.sums(backend.as_ref())?;
        Ok(Self { backend: Arc::clone(backend), kernels, sums, free: Vec::new(), made: 0 })
    }

    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.backend
    }

    /// True where the kernels run in the queue of a display.
    pub fn is_in_queue(&self) -> bool {
        self.kernels.queue.is_none()
    }

    /// Queues the digest of a view of linear memory. Returns `None` where too many are on their way.
    pub fn start(
        &mut self,
        display: &dyn Display,
        (plan, view): (&DigestPlan, &View),
        from: &dyn ComputeMemory,
    ) -> Result<Option<Digest>> {
        let mut slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.made < MOST_UNDER_WAY => {
                self.made += 1;
                self.slot(display)?
            }
            None => return Ok(None),
        };
        let bands = plan.bands() as usize;
        self.kernels.queue(self.backend.as_ref(), (plan, view), from, &mut self.sums, slot.memory.as_mut())?;
        let read = match (&mut slot.reader, &self.kernels.queue) {
            (SlotReader::Display(reader), _) => {
                let DisplayReader { from, through, to } = reader.as_mut();
                let (part, view) = (SurfacePart::Buffer(0..DIGEST_BYTES), all());
                through.upload_staged(&part, from, &view)?;
                through.download(&part, to, &view)?;
                to.fence()?;
                None
            }
            (SlotReader::Queue, Some(queue)) => Some(queue.read(slot.memory.as_ref(), 0..4 * bands, &[])?),
            (SlotReader::Queue, None) => None,
        };
        Ok(Some(Digest::UnderWay(Box::new(DigestTransfer { slot, bands, read, _from: None }))))
    }

    fn slot(&self, display: &dyn Display) -> Result<DigestSlot> {
        let backend = self.backend();
        if self.kernels.queue.is_some() {
            return Ok(DigestSlot { memory: backend.allocate(DIGEST_BYTES)?, reader: SlotReader::Queue });
        }
        let no_queue = || Error::unsupported(backend.device(), "it has no second queue, nor the display's");
        let handle = HandleType::QueueBuffer(backend.caps().display_queue().ok_or_else(no_queue)?);
        let (memory, handle) = backend.allocate_shared(DIGEST_BYTES, handle, display.device())?;
        let from = display.create_staging(StagingKind::External(handle), DIGEST_BYTES)?;
        let through = display.create_surface(&SurfaceDesc::buffer(DIGEST_BYTES as u64))?;
        let to = display.create_staging(StagingKind::Persistent, DIGEST_BYTES)?;
        to.host_block().ok_or_else(no_address)?;
        Ok(DigestSlot { memory, reader: SlotReader::Display(Box::new(DisplayReader { from, through, to })) })
    }
}

impl Digest {
    /// Keeps the memory that the kernels read until the digest has arrived.
    pub fn keep(&mut self, memory: Box<dyn ComputeMemory>) {
        if let Self::UnderWay(read) = self {
            read._from = Some(memory);
        }
    }
}

fn all() -> View {
    View::Buffer(BufferView { offset: 0, len: DIGEST_BYTES })
}

fn no_address() -> Error {
    Error::refused("a staging block of the display has no fixed address")
}
