//! The paths to an engine's object: how each is opened, how it takes, and how it gives.

use super::direct::Direct;
use crate::compute::{ComputeBackend, ComputeMemory, Target, zeros};
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use crate::describe::pattern::lay_out;
use crate::describe::surface::Unwritten;
use crate::describe::view::View;
use crate::devices::borrows::Holder;
use crate::devices::capability::{HandleType, Support};
use crate::devices::host_block::HostBlock;
use crate::display::{Part, Staging, StagingKind, Surface};
use crate::path::{Crossing, FrameLayout, PATHS, Pairing, Piece, clear, not_begun, pieces};
use std::any::Any;

/// Direction in which pixels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the object to kernels: rows lie one behind the other, in the display's order.
    Take,
    /// From kernels to the object: rows are padded for the display's copies, and in the surface's order. An object that the
    /// compute API opens has tight ones.
    Give,
}

/// Returns true for a path that gives kernels the object itself.
pub(crate) fn is_object(path: PathId) -> bool {
    [PathId::DIRECT, PathId::IN_QUEUE_IN_PLACE].contains(&path)
}

/// One path.
pub(super) struct Row {
    /// Its name in the other direction, whose needs it has.
    pub id: PathId,
    takes: &'static str,
    gives: &'static str,
    /// With so many bytes of memory.
    open: fn(&Pairing<'_>, &Surface, usize) -> Result<Body>,
}

impl Row {
    /// The copies that it makes, for people.
    pub const fn mechanism(&self, direction: Direction) -> &'static str {
        match direction {
            Direction::Take => self.takes,
            Direction::Give => self.gives,
        }
    }

    /// True where kernels have the object itself.
    pub fn is_object(&self) -> bool {
        is_object(self.id)
    }

    /// Opens it to a surface's object.
    pub fn open(&self, pairing: &Pairing<'_>, surface: &Surface, direction: Direction) -> Result<Way> {
        let layout = match direction {
            Direction::Take => pairing.layout().tight(),
            Direction::Give if self.is_object() => pairing.layout().unpadded(),
            Direction::Give => pairing.layout(),
        };
        let view = layout.whole()?;
        Ok(Way { body: (self.open)(pairing, surface, view.span().end)?, layout, view, begun: None })
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

    /// Tells whether both sides offer it, or why not.
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
        takes: "the compute API opens the texture or buffer: a texture is copied on the device, a buffer not at all",
        gives: "the compute API opens the texture or buffer, and kernels write it: no copy",
        open: |p, source, _| Direct::open(p, source, HandleType::GlObject).map(Body::Direct),
    },
    Row {
        id: PathId::IN_QUEUE_IN_PLACE,
        takes: "kernels of the display's own queue have the buffer itself: no copy, no fence",
        gives: "kernels of the display's own queue write the buffer itself: no copy, no fence",
        open: |p, source, _| Direct::open(p, source, pieces::queue(p)?).map(Body::Direct),
    },
    Row {
        id: PathId::IN_QUEUE_UPLOAD,
        takes: "the display copies to memory that kernels of its own queue read: 1 copy, no fence",
        gives: "the display copies from memory that kernels of its own queue write: 1 copy, no fence",
        open: |p, _, bytes| pieces::in_queue(p, bytes).map(|piece| Body::shared(piece, true)),
    },
    Row {
        id: PathId::EXTERNAL_UPLOAD,
        takes: "the display copies to memory of the compute device that it has opened: 1 copy",
        gives: "the display copies from memory of the compute device that it has opened: 1 copy",
        open: |p, _, bytes| pieces::external(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::EXPORTED_UPLOAD,
        takes: "the display copies to memory of its device that the compute API has opened: 1 copy",
        gives: "the display copies from memory of its device that the compute API has opened: 1 copy",
        open: |p, _, bytes| pieces::exported(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::HOST_VISIBLE_UPLOAD,
        takes: "the display copies to its mapped buffer, which kernels read: 1 copy",
        gives: "the display copies from its mapped buffer, which kernels write: 1 copy",
        open: |p, _, bytes| pieces::mapped(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::PINNED_UPLOAD,
        takes: "the display copies to pages of the host, which kernels read: 1 copy",
        gives: "the display copies from pages of the host, which kernels write: 1 copy",
        open: |p, _, bytes| pieces::pinned(p, bytes).map(|piece| Body::shared(piece, false)),
    },
    Row {
        id: PathId::PBO_PERSISTENT,
        takes: "the display copies to its mapped pixel buffer, the backend from there: 2 copies",
        gives: "the backend copies to the display's mapped pixel buffer, the display from there: 2 copies",
        open: |p, _, bytes| Mapped::open(p, bytes).map(Body::Mapped),
    },
    Row {
        id: PathId::HOST_ROUND_TRIP,
        takes: "the display is read back to the host, which writes the memory: 3 copies",
        gives: "the host reads the memory and uploads it to the display: 3 copies",
        open: |p, _, bytes| Ok(Body::Host { memory: p.backend.allocate(bytes)? }),
    },
];

/// The row of that name.
pub(super) fn row_of(id: PathId) -> Result<&'static Row> {
    WAYS.iter()
        .find(|row| row.id == id)
        .ok_or_else(|| Error::invalid("Outlet::open", format!("no engine's object is reached by {id}")))
}

/// An opened path.
pub(super) struct Way {
    body: Body,
    layout: FrameLayout,
    view: View,
    /// The part that the compute side's turn replaces.
    begun: Option<Crossing>,
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
    /// Tells how the whole surface lies in the memory; rows in the display's order.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Brings what the display was told so far into the memory.
    pub fn take(&mut self, backend: &dyn ComputeBackend, source: &mut Surface) -> Result<()> {
        let all = Part::full(source.desc());
        match &mut self.body {
            Body::Direct(direct) => direct.take(backend, source),
            Body::Shared(shared) => shared.take(source, &all, &self.view),
            Body::Mapped(mapped) => mapped.take(source, &all, &self.view),
            Body::Host { memory } => fetch(memory.as_mut(), source, &all, &self.view),
        }
    }

    /// Begins the compute side's turn with `part`, rows in the surface's order, once the display has read what was there before.
    /// Pixels that kernels leave unwritten there are by the surface's rule.
    pub fn begin(&mut self, backend: &dyn ComputeBackend, to: &mut Surface, part: &Part) -> Result<()> {
        self.reach(to, part)?;
        if self.layout.desc().unwritten() == Unwritten::Clear {
            clear(backend, self.target()?)?;
        }
        Ok(())
    }

    /// [`Way::begin`], but that nothing is written into the object.
    pub fn reach(&mut self, to: &mut Surface, part: &Part) -> Result<()> {
        self.begun = None;
        let crossing = self.layout.in_place(part)?;
        let keeps = self.layout.desc().unwritten() == Unwritten::Keep;
        match &mut self.body {
            Body::Direct(direct) => direct.acquire(to)?,
            Body::Shared(shared) => shared.begin(to, &crossing, keeps)?,
            Body::Mapped(mapped) if keeps => mapped.take(to, &crossing.part, &crossing.native)?,
            Body::Host { memory } if keeps => fetch(memory.as_mut(), to, &crossing.part, &crossing.native)?,
            Body::Mapped(_) | Body::Host { .. } => {}
        }
        self.begun = Some(crossing);
        Ok(())
    }

    /// Memory of the path's own begins from zero.
    pub fn blank(&mut self, backend: &dyn ComputeBackend) -> Result<()> {
        if !matches!(self.body, Body::Direct(_)) {
            clear(backend, self.target()?)?;
        }
        Ok(())
    }

    /// Returns what kernels write in that turn.
    pub fn target(&mut self) -> Result<Target<'_>> {
        let crossing = self.begun.as_ref().ok_or_else(not_begun)?;
        Target::new(self.body.target(), crossing.kernel)
    }

    /// Ends the turn, and brings what was written into the surface.
    pub fn give(&mut self, to: &mut Surface) -> Result<()> {
        let Crossing { native, part, .. } = self.begun.take().ok_or_else(not_begun)?;
        match &mut self.body {
            Body::Direct(direct) => direct.give_back(),
            Body::Shared(Shared { piece: Piece { memory, staging }, is_one_queue }) => {
                if *is_one_queue {
                    return to.upload_staged(&part, staging, &native);
                }
                memory.release()?;
                to.upload_staged(&part, staging, &native)?;
                staging.fence()
            }
            Body::Mapped(Mapped { memory, staging, .. }) => {
                let span = native.span();
                staging.wait()?;
                staging.map_write(&mut |bytes| memory.read(span.start, &mut bytes[span.clone()]))?;
                to.upload_staged(&part, staging, &native)?;
                staging.fence()
            }
            Body::Host { memory } => {
                let span = native.span();
                let mut bytes = zeros(span.len())?;
                memory.read(span.start, &mut bytes)?;
                to.upload(&part, &bytes, &native.from_its_start())
            }
        }
    }

    /// Ends the compute side's turn, where it has one.
    pub fn give_back(&mut self) -> Result<()> {
        self.begun = None;
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
    /// The compute side's turn, with what the object holds where that is kept.
    fn begin(&mut self, to: &mut Surface, crossing: &Crossing, keeps: bool) -> Result<()> {
        if keeps {
            return self.take(to, &crossing.part, &crossing.native);
        }
        if self.is_one_queue {
            return Ok(());
        }
        self.piece.staging.wait()?;
        self.piece.memory.acquire()
    }

    fn take(&mut self, source: &mut Surface, all: &Part, view: &View) -> Result<()> {
        let Piece { memory, staging } = &mut self.piece;
        if self.is_one_queue {
            return source.download(all, staging, view);
        }
        // Kernels that read the last take, before the display writes over it.
        memory.release()?;
        source.download(all, staging, view)?;
        staging.wait()?;
        memory.acquire()
    }
}

/// A mapped block of the display's, and memory of the backend's own.
struct Mapped {
    memory: Box<dyn ComputeMemory>,
    // Goes before the block.
    _prepared: Option<Box<dyn Any>>,
    /// Host block at a fixed address, if the mapping has one: the display copies into it.
    block: Option<HostBlock>,
    staging: Staging,
}

impl Mapped {
    fn open(pairing: &Pairing<'_>, bytes: usize) -> Result<Self> {
        let memory = pairing.backend.allocate(bytes)?;
        let staging = pairing.display.create_staging(StagingKind::Persistent, bytes)?;
        let block = staging.host_block();
        // Faster copies where the backend can; without it they are only slower.
        let prepared = block.as_ref().and_then(|block| pairing.backend.prepare_host(block).unwrap_or_default());
        Ok(Self { memory, _prepared: prepared, block, staging })
    }

    fn take(&mut self, source: &mut Surface, all: &Part, view: &View) -> Result<()> {
        let Some(block) = &self.block else { return fetch(self.memory.as_mut(), source, all, view) };
        source.download(all, &mut self.staging, view)?;
        self.staging.wait()?;
        let span = view.span();
        let bytes = block.read(span.clone(), Holder::Staging)?;
        self.memory.write(span.start, &bytes)
    }
}

/// Brings what the object holds into the memory by way of the host.
fn fetch(memory: &mut dyn ComputeMemory, from: &mut Surface, part: &Part, view: &View) -> Result<()> {
    let held = from.read_back(part)?;
    memory.map_write(view.span(), &mut |bytes| {
        lay_out(&held, &view.from_its_start(), bytes);
        Ok(())
    })
}
