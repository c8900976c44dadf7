//! The paths to an engine's object: how each is opened, how it takes, and how it gives.

use super::direct::{Direct, OP};
use crate::compute::{ComputeBackend, ComputeMemory, Target, host_bytes};
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use crate::describe::view::View;
use crate::devices::borrows::Holder;
use crate::devices::capability::{HandleType, Support};
use crate::devices::host_block::HostBlock;
use crate::display::{Part, Staging, StagingKind, Surface};
use crate::path::{PATHS, Pairing, Piece, pieces};
use std::any::Any;

/// How the rows of an image lie in the memory that kernels have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// One behind the other.
    Tight,
    /// Rows padded for the display's copies; an object that the compute API opens has tight ones.
    Padded,
}

/// One path.
pub(super) struct Row {
    /// Its name in the other direction, whose needs it has.
    pub id: PathId,
    pub mechanism: &'static str,
    /// With so many bytes of memory.
    open: fn(&Pairing<'_>, &dyn Surface, usize) -> Result<Body>,
}

impl Row {
    /// Opens it to a surface's object.
    pub fn open(&self, pairing: &Pairing<'_>, surface: &dyn Surface, packing: Packing) -> Result<Way> {
        let layout = pairing.layout();
        let is_own = [PathId::DIRECT, PathId::IN_QUEUE_IN_PLACE].contains(&self.id);
        let is_tight = is_own || packing == Packing::Tight;
        let view = if is_tight { layout.tight() } else { layout }.whole()?;
        Ok(Way { body: (self.open)(pairing, surface, view.span().end)?, view })
    }

    /// Links share memory in a queue that the compute side made; here the engine's own is shared.
    fn check_object(&self, pairing: &Pairing<'_>) -> Support {
        match pieces::queue(pairing) {
            Ok(queue) if self.id == PathId::IN_QUEUE_IN_PLACE => {
                pairing.display.caps().can_export(queue, pairing.desc.shape()).of_the("display")
            }
            _ => Support::Yes,
        }
    }

    /// Whether both sides offer it, or why not.
    pub fn offered(&self, pairing: &Pairing<'_>) -> Result<(), String> {
        let spec = PATHS.iter().find(|spec| spec.id == self.id);
        let spec = spec.ok_or("no such path")?;
        match self.check_object(pairing).and(|| spec.check_support(pairing)) {
            Support::Yes => Ok(()),
            Support::No(reason) => Err(reason),
        }
    }
}

/// In the order in which they are tried.
pub(super) static WAYS: [Row; 9] = [
    Row {
        id: PathId::DIRECT,
        mechanism: "the compute API opens the texture or buffer: a texture is copied on the device, a buffer not at all",
        open: |p, source, _| Direct::open(p, source, HandleType::GlObject).map(Body::Direct),
    },
    Row {
        id: PathId::IN_QUEUE_IN_PLACE,
        mechanism: "kernels of the display's own queue have the buffer itself: no copy, no fence",
        open: |p, source, _| Direct::open(p, source, pieces::queue(p)?).map(Body::Direct),
    },
    Row {
        id: PathId::IN_QUEUE_UPLOAD,
        mechanism: "the display copies to memory that kernels of its own queue read: 1 copy, no fence",
        open: |p, _, bytes| pieces::in_queue(p, bytes).map(|piece| Body::shared(piece, true)),
    },
    Row {
        id: PathId::EXTERNAL_UPLOAD,
        mechanism: "the display copies to memory of the compute device that it has opened: 1 copy",
        open: |p, _, bytes| pieces::external(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::EXPORTED_UPLOAD,
        mechanism: "the display copies to memory of its device that the compute API has opened: 1 copy",
        open: |p, _, bytes| pieces::exported(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::HOST_VISIBLE_UPLOAD,
        mechanism: "the display copies to its mapped buffer, which kernels read: 1 copy",
        open: |p, _, bytes| pieces::mapped(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::PINNED_UPLOAD,
        mechanism: "the display copies to pages of the host, which kernels read: 1 copy",
        open: |p, _, bytes| pieces::pinned(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::PBO_PERSISTENT,
        mechanism: "the display copies to its mapped pixel buffer, the backend from there: 2 copies",
        open: |p, _, bytes| Mapped::open(p, bytes).map(Body::Mapped),
    },
    Row {
        id: PathId::HOST_ROUND_TRIP,
        mechanism: "the display is read back to the host, which writes the memory: 3 copies",
        open: |p, _, bytes| Ok(Body::Host { memory: p.backend.allocate(bytes)? }),
    },
];

/// The row of that name.
pub(super) fn row_of(id: PathId) -> Result<&'static Row> {
    WAYS.iter()
        .find(|row| row.id == id)
        .ok_or_else(|| Error::invalid(OP, format!("no engine's object is reached by {id}")))
}

/// Bytes of the host's.
pub(super) fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut bytes = host_bytes(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// An opened path.
pub(super) struct Way {
    body: Body,
    view: View,
}

enum Body {
    Direct(Direct),
    Shared(Shared),
    Mapped(Mapped),
    Host { memory: Box<dyn ComputeMemory> },
}

impl Body {
    fn shared(piece: Piece, is_one_queue: bool) -> Self {
        Self::Shared(Shared { piece, is_one_queue })
    }

    fn target(&mut self) -> &mut dyn ComputeMemory {
        match self {
            Self::Direct(direct) => direct.object(),
            Self::Shared(shared) => shared.piece.memory.as_mut(),
            Self::Mapped(mapped) => mapped.memory.as_mut(),
            Self::Host { memory } => memory.as_mut(),
        }
    }
}

impl Way {
    /// How the whole surface lies in the memory; rows in the display's order.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Brings what the display was told so far into the memory.
    pub fn take(&mut self, backend: &dyn ComputeBackend, source: &mut dyn Surface) -> Result<()> {
        let all = Part::full(source.desc());
        match &mut self.body {
            Body::Direct(direct) => direct.take(backend, source),
            Body::Shared(shared) => shared.take(source, &all, &self.view),
            Body::Mapped(mapped) => mapped.take(source, &all, &self.view),
            Body::Host { memory } => memory.write(0, &source.read_back(&all)?),
        }
    }

    /// Begins the compute side's turn with what it is to write, once the display has read what was there before.
    pub fn begin(&mut self, to: &dyn Surface) -> Result<()> {
        match &mut self.body {
            Body::Direct(direct) => direct.acquire(to),
            Body::Shared(shared) if !shared.is_one_queue => {
                shared.piece.staging.wait()?;
                shared.piece.memory.acquire()
            }
            Body::Shared(_) | Body::Mapped(_) | Body::Host { .. } => Ok(()),
        }
    }

    /// What kernels write in that turn.
    pub fn target(&mut self) -> Result<Target<'_>> {
        let view = self.view;
        Target::new(self.body.target(), view)
    }

    /// Ends the turn, and brings what was written into the surface.
    pub fn give(&mut self, to: &mut dyn Surface) -> Result<()> {
        let all = Part::full(to.desc());
        match &mut self.body {
            Body::Direct(direct) => direct.give_back(),
            Body::Shared(Shared { piece: Piece { memory, staging }, is_one_queue }) => {
                if *is_one_queue {
                    return to.upload_staged(&all, staging.as_mut(), &self.view);
                }
                memory.release()?;
                to.upload_staged(&all, staging.as_mut(), &self.view)?;
                staging.fence()
            }
            Body::Mapped(Mapped { memory, staging, .. }) => {
                staging.wait()?;
                staging.map_write(&mut |bytes| memory.read(0, bytes))?;
                to.upload_staged(&all, staging.as_mut(), &self.view)?;
                staging.fence()
            }
            Body::Host { memory } => {
                let mut bytes = zeros(memory.len())?;
                memory.read(0, &mut bytes)?;
                to.upload(&all, &bytes, &self.view)
            }
        }
    }

    /// Ends the compute side's turn, where it has one.
    pub fn give_back(&mut self) -> Result<()> {
        match &mut self.body {
            Body::Direct(direct) => direct.give_back(),
            Body::Shared(_) | Body::Mapped(_) | Body::Host { .. } => Ok(()),
        }
    }

    pub fn memory(&self) -> &dyn ComputeMemory {
        match &self.body {
            Body::Direct(direct) => direct.memory(),
            Body::Shared(shared) => shared.piece.memory.as_ref(),
            Body::Mapped(mapped) => mapped.memory.as_ref(),
            Body::Host { memory } => memory.as_ref(),
        }
    }

    pub fn memory_mut(&mut self) -> &mut dyn ComputeMemory {
        match &mut self.body {
            Body::Direct(direct) => direct.memory_mut(),
            body => body.target(),
        }
    }
}

/// Memory that both sides address.
struct Shared {
    piece: Piece,
    /// The two sides are one queue.
    is_one_queue: bool,
}

impl Shared {
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
struct Mapped {
    memory: Box<dyn ComputeMemory>,
    // Goes before the block.
    _prepared: Option<Box<dyn Any>>,
    block: HostBlock,
    staging: Box<dyn Staging>,
}

impl Mapped {
    fn open(pairing: &Pairing<'_>, bytes: usize) -> Result<Self> {
        let memory = pairing.backend.allocate(bytes)?;
        let staging = pairing.display.create_staging(StagingKind::Persistent, bytes)?;
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
