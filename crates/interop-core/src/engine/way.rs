//! The paths of the way back: how each is opened, and how it takes.

use crate::compute::{ComputeBackend, ComputeMemory, host_bytes};
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::{BufferView, ImageView, View};
use crate::devices::borrows::Holder;
use crate::devices::capability::{HandleType, Support};
use crate::devices::host_block::HostBlock;
use crate::display::{Display, Part, Staging, StagingKind, Surface};
use crate::path::{PATHS, Pairing, Piece, pieces};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

const OP: &str = "Intake::take";

/// One path.
pub(super) struct Row {
    /// Its name in the other direction, whose needs it has.
    pub id: PathId,
    pub mechanism: &'static str,
    pub open: fn(&Pairing<'_>, &dyn Surface) -> Result<Way>,
}

impl Row {
    /// Whether both sides offer it, or why not.
    pub fn offered(&self, pairing: &Pairing<'_>) -> Result<(), String> {
        let spec = PATHS.iter().find(|spec| spec.id == self.id);
        match spec.map_or_else(|| Support::No("no such path".into()), |spec| spec.check_support(pairing)) {
            Support::Yes => Ok(()),
            Support::No(reason) => Err(reason),
        }
    }
}

/// In the order in which they are tried.
pub(super) static WAYS: [Row; 8] = [
    Row {
        id: PathId::DIRECT,
        mechanism: "the compute API opens the texture or buffer: a texture is copied on the device, a buffer not at all",
        open: |p, source| Direct::open(p, source).map(Way::Direct),
    },
    Row {
        id: PathId::IN_QUEUE_UPLOAD,
        mechanism: "the display copies to memory that kernels of its own queue read: 1 copy, no fence",
        open: |p, _| Shared::open(p, pieces::in_queue, true),
    },
    Row {
        id: PathId::EXTERNAL_UPLOAD,
        mechanism: "the display copies to memory of the compute device that it has opened: 1 copy",
        open: |p, _| Shared::open(p, pieces::external, false),
    },
    Row {
        id: PathId::EXPORTED_UPLOAD,
        mechanism: "the display copies to memory of its device that the compute API has opened: 1 copy",
        open: |p, _| Shared::open(p, pieces::exported, false),
    },
    Row {
        id: PathId::HOST_VISIBLE_UPLOAD,
        mechanism: "the display copies to its mapped buffer, which kernels read: 1 copy",
        open: |p, _| Shared::open(p, pieces::mapped, false),
    },
    Row {
        id: PathId::PINNED_UPLOAD,
        mechanism: "the display copies to pages of the host, which kernels read: 1 copy",
        open: |p, _| Shared::open(p, pieces::pinned, false),
    },
    Row {
        id: PathId::PBO_PERSISTENT,
        mechanism: "the display copies to its mapped pixel buffer, the backend from there: 2 copies",
        open: |p, _| Mapped::open(p).map(Way::Mapped),
    },
    Row {
        id: PathId::HOST_ROUND_TRIP,
        mechanism: "the display is read back to the host, which writes the memory: 3 copies",
        open: |p, _| Ok(Way::Host { memory: own(p)? }),
    },
];

/// The row of that name.
pub(super) fn row_of(id: PathId) -> Result<&'static Row> {
    WAYS.iter()
        .find(|row| row.id == id)
        .ok_or_else(|| Error::invalid(OP, format!("no engine's object is reached by {id}")))
}

/// Tight rows in the display's order.
pub(super) fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
        SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: desc.byte_len("Intake::open")? }),
    })
}

/// Bytes of the host's.
pub(super) fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut bytes = host_bytes(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Memory of the backend's own, as large as the surface.
fn own(pairing: &Pairing<'_>) -> Result<Box<dyn ComputeMemory>> {
    pairing.backend.allocate(pairing.desc.byte_len("Intake::open")?)
}

/// An opened path.
pub(super) enum Way {
    Direct(Direct),
    Shared(Shared),
    Mapped(Mapped),
    Host { memory: Box<dyn ComputeMemory> },
}

impl Way {
    /// Brings what the display was told so far into the memory.
    pub fn take(&mut self, backend: &dyn ComputeBackend, source: &mut dyn Surface, view: &View) -> Result<()> {
        let all = Part::full(source.desc());
        match self {
            Self::Direct(direct) => direct.take(backend, source),
            Self::Shared(shared) => shared.take(source, &all, view),
            Self::Mapped(mapped) => mapped.take(source, &all, view),
            Self::Host { memory } => memory.write(0, &source.read_back(&all)?),
        }
    }

    /// Begins the compute side's turn with what it is to write, once the display has read what was there before.
    pub fn begin(&mut self, to: &dyn Surface) -> Result<()> {
        match self {
            Self::Direct(direct) => direct.acquire(to),
            Self::Shared(shared) if !shared.is_one_queue => {
                shared.piece.staging.wait()?;
                shared.piece.memory.acquire()
            }
            Self::Shared(_) | Self::Mapped(_) | Self::Host { .. } => Ok(()),
        }
    }

    /// What kernels write in that turn.
    pub fn target(&mut self) -> &mut dyn ComputeMemory {
        match self {
            Self::Direct(direct) => direct.object.memory.as_mut(),
            other => other.memory_mut(),
        }
    }

    /// Ends the turn, and brings what was written into the surface.
    pub fn give(&mut self, to: &mut dyn Surface, view: &View) -> Result<()> {
        let all = Part::full(to.desc());
        match self {
            Self::Direct(direct) => direct.give_back(),
            Self::Shared(Shared { piece: Piece { memory, staging }, is_one_queue }) => {
                if *is_one_queue {
                    return to.upload_staged(&all, staging.as_mut(), view);
                }
                memory.release()?;
                to.upload_staged(&all, staging.as_mut(), view)?;
                staging.fence()
            }
            Self::Mapped(Mapped { memory, staging, .. }) => {
                staging.map_write(&mut |bytes| memory.read(0, bytes))?;
                to.upload_staged(&all, staging.as_mut(), view)?;
                staging.fence()
            }
            Self::Host { memory } => {
                let mut bytes = zeros(memory.len())?;
                memory.read(0, &mut bytes)?;
                to.upload(&all, &bytes, view)
            }
        }
    }

    /// Ends the compute side's turn, where it has one.
    pub fn give_back(&mut self) -> Result<()> {
        match self {
            Self::Direct(direct) => direct.give_back(),
            Self::Shared(_) | Self::Mapped(_) | Self::Host { .. } => Ok(()),
        }
    }

    pub fn memory(&self) -> &dyn ComputeMemory {
        match self {
            Self::Direct(direct) => &**direct.linear.as_ref().unwrap_or(&direct.object.memory),
            Self::Shared(shared) => shared.piece.memory.as_ref(),
            Self::Mapped(mapped) => mapped.memory.as_ref(),
            Self::Host { memory } => memory.as_ref(),
        }
    }

    pub fn memory_mut(&mut self) -> &mut dyn ComputeMemory {
        match self {
            Self::Direct(direct) => &mut **direct.linear.as_mut().unwrap_or(&mut direct.object.memory),
            Self::Shared(shared) => shared.piece.memory.as_mut(),
            Self::Mapped(mapped) => mapped.memory.as_mut(),
            Self::Host { memory } => memory.as_mut(),
        }
    }
}

/// The surface's own object, opened by the compute API.
pub(super) struct Direct {
    /// Of a texture that was taken: its pixels in rows.
    linear: Option<Box<dyn ComputeMemory>>,
    object: Object,
    is_image: bool,
    acquired: bool,
}

/// Goes while the display's context is current, or later.
struct Object {
    memory: Box<dyn ComputeMemory>,
    display: Rc<dyn Display>,
}

impl Drop for Object {
    fn drop(&mut self) {
        let memory = std::mem::replace(&mut self.memory, Box::new(Gone));
        self.display.drop_in_context(Box::new(memory));
    }
}

/// In the place of memory that goes later than its owner.
struct Gone;

impl ComputeMemory for Gone {
    fn len(&self) -> usize {
        0
    }

    fn read(&mut self, _: usize, _: &mut [u8]) -> Result<()> {
        Err(gone())
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<()> {
        Err(gone())
    }

    fn map_read(&mut self, _: Range<usize>, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Err(gone())
    }

    fn map_write(&mut self, _: Range<usize>, _: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        Err(gone())
    }

    fn release(&mut self) -> Result<()> {
        Err(gone())
    }
}

fn gone() -> Error {
    Error::invalid(OP, "the memory was given back")
}

impl Direct {
    fn open(pairing: &Pairing<'_>, source: &dyn Surface) -> Result<Self> {
        let handle = source.export(HandleType::GlObject)?;
        let object = pairing.backend.import_surface(&handle, pairing.desc)?;
        let object = Object { memory: object, display: Rc::clone(pairing.display) };
        let is_image = matches!(pairing.desc, SurfaceDesc::Image(_));
        Ok(Self { linear: None, object, is_image, acquired: false })
    }

    /// Begins a turn, after the end of one that a panic or another context left open.
    fn acquire(&mut self, surface: &dyn Surface) -> Result<()> {
        self.give_back()?;
        // An engine's object may be another by now: the display says so.
        surface.export(HandleType::GlObject)?;
        self.object.memory.acquire()?;
        self.acquired = true;
        Ok(())
    }

    fn take(&mut self, backend: &dyn ComputeBackend, source: &dyn Surface) -> Result<()> {
        if self.is_image && self.linear.is_none() {
            self.linear = Some(backend.allocate(self.object.memory.len())?);
        }
        self.acquire(source)?;
        if !self.is_image {
            return Ok(());
        }
        let object = self.object.memory.as_ref();
        let copied = match &mut self.linear {
            Some(linear) => backend.copy(object, linear.as_mut(), 0..object.len()),
            None => Err(gone()),
        };
        self.give_back().and(copied)
    }

    fn give_back(&mut self) -> Result<()> {
        if self.acquired {
            self.object.memory.release()?;
            self.acquired = false;
        }
        Ok(())
    }
}

/// Memory that both sides address.
pub(super) struct Shared {
    piece: Piece,
    /// The two sides are one queue.
    is_one_queue: bool,
}

impl Shared {
    fn open(
        pairing: &Pairing<'_>,
        piece: impl FnOnce(&Pairing<'_>, usize) -> Result<Piece>,
        is_one_queue: bool,
    ) -> Result<Way> {
        let piece = piece(pairing, pairing.desc.byte_len("Intake::open")?)?;
        Ok(Way::Shared(Self { piece, is_one_queue }))
    }

    fn take(&mut self, source: &mut dyn Surface, all: &Part, view: &View) -> Result<()> {
        let Piece { memory, staging } = &mut self.piece;
        if self.is_one_queue {
            return source.download(all, staging.as_mut(), view);
        }
        // Kernels that read the last take, before the display writes over it.
        memory.release()?;
        source.download(all, staging.as_mut(), view)?;
        staging.wait()?;
        memory.acquire()
    }
}

/// A mapped block of the display's, and memory of the backend's own.
pub(super) struct Mapped {
    memory: Box<dyn ComputeMemory>,
    // Goes before the block.
    _prepared: Option<Box<dyn Any>>,
    block: HostBlock,
    staging: Box<dyn Staging>,
}

impl Mapped {
    fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let memory = own(pairing)?;
        let staging = pairing.display.create_staging(StagingKind::Persistent, memory.len())?;
        let block = staging.host_block().ok_or_else(|| Error::Unsupported {
            operation: OP,
            device: pairing.display.device().to_string(),
            reason: "the block has no fixed address".into(),
        })?;
        // Faster copies where the backend can; without it they are only slower.
        let prepared = pairing.backend.prepare_host(&block).unwrap_or_default();
        Ok(Self { memory, _prepared: prepared, block, staging })
    }

    fn take(&mut self, source: &mut dyn Surface, all: &Part, view: &View) -> Result<()> {
        source.download(all, self.staging.as_mut(), view)?;
        self.staging.wait()?;
        let bytes = self.block.read(0..self.memory.len(), Holder::Staging, OP)?;
        self.memory.write(0, &bytes)
    }
}
