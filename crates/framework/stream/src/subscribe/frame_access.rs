//! Access paths from a backend to a stream's frames, best first; each is proved before it is used.

use super::subscription::{NamedPiece, Subscription};
use crate::proof;
use crate::wire::message::PieceKind;
use crate::wire::pages::{self, WriteRight};
use crate::wire::table::From;
use interop_core::{
    ComputeBackend, ComputeMemory, DeviceUuid, Error, HandleType, HostBlock, MemoryHandle, MemoryKind, MemoryShape,
    PathId, Result, SharedHandle, Support, SurfaceDesc,
};

/// How a backend accesses frames. Names are those of the paths that do the same within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameAccess {
    /// Kernels read the memory that the publisher's kernels wrote.
    Device,
    /// Kernels read shared pages of the host.
    Pages,
    /// The host copies frames to memory of the backend.
    Copy,
}

impl FrameAccess {
    pub(super) fn path(self) -> PathId {
        match self {
            Self::Device => PathId::EXPORTED_IN_PLACE,
            Self::Pages => PathId::HOST_VISIBLE_IN_PLACE,
            Self::Copy => PathId::HOST_ROUND_TRIP,
        }
    }

    fn of(kind: PieceKind) -> &'static [Self] {
        match kind {
            PieceKind::Device { .. } => &[Self::Device],
            PieceKind::Host => &[Self::Pages, Self::Copy],
        }
    }

    fn check_support(self, backend: &dyn ComputeBackend, joined: &Subscription) -> Support {
        let device = backend.device();
        match self {
            Self::Device => {
                let Some(uuid) = joined.publisher.uuid else {
                    return Support::No("publisher: its frames are in host memory".into());
                };
                let is_same = device.uuid == Some(DeviceUuid(uuid));
                Support::when(is_same, format!("compute: its device is not {}", joined.publisher.name))
                    .and(|| backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear).of_the("compute"))
            }
            Self::Pages => Support::when(device.memory == MemoryKind::Host, "compute: its memory is not host memory")
                .and(|| backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear).of_the("compute")),
            Self::Copy => Support::Yes,
        }
    }

    /// Compares the bytes that this access path yields with the expected ones.
    fn prove(self, backend: &dyn ComputeBackend, joined: &Subscription) -> Result<()> {
        let wanted = proof::bytes(joined.publisher.proof);
        let mut memory = match self {
            Self::Device => {
                let first = joined.pieces.iter().filter(|(_, piece)| matches!(piece.kind, PieceKind::Device { .. }));
                let (_, piece) = first
                    .min_by_key(|(number, _)| **number)
                    .ok_or_else(|| Error::refused("the publisher announced no device memory"))?;
                open_device(backend, piece)?
            }
            Self::Pages => {
                let (descriptor, mapping) = pages::create("pixelferry proof", proof::BYTES, WriteRight::Maker)?;
                let block = mapping.into_block();
                block.write(0..proof::BYTES, interop_core::devices::borrows::Holder::Guard)?.copy_from_slice(&wanted);
                let there = pages::open(&descriptor, proof::BYTES, WriteRight::Maker)?;
                backend.import_host(&there.into_block())?
            }
            Self::Copy => {
                let mut memory = backend.allocate(proof::BYTES)?;
                memory.write(0, &wanted)?;
                memory
            }
        };
        let mut seen = vec![0; proof::BYTES];
        memory.read(0, &mut seen)?;
        if seen == wanted {
            return Ok(());
        }
        let at = seen.iter().zip(&wanted).position(|(seen, wanted)| seen != wanted).unwrap_or(0);
        Err(Error::unsupported(
            backend.device(),
            format!("it reads bytes that the publisher did not write, from {at} on"),
        ))
    }
}

/// Access paths that work, and reasons against the others.
pub(super) struct AccessList {
    proved: Vec<FrameAccess>,
    pub refused: Vec<(PathId, String)>,
}

impl AccessList {
    /// Tries all access paths.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the backend does not even accept copies from the host.
    pub(super) fn find(backend: &dyn ComputeBackend, joined: &Subscription) -> Result<Self> {
        let mut found = Self { proved: Vec::new(), refused: Vec::new() };
        for way in [FrameAccess::Device, FrameAccess::Pages, FrameAccess::Copy] {
            let reason = match way.check_support(backend, joined) {
                Support::Yes => way.prove(backend, joined).err().map(|error| error.to_string()),
                Support::No(reason) => Some(reason),
            };
            match reason {
                None => found.proved.push(way),
                Some(reason) => found.refused.push((way.path(), reason)),
            }
        }
        if found.proved.contains(&FrameAccess::Copy) {
            return Ok(found);
        }
        let reasons = found.refused.iter().map(|(path, reason)| format!("{path}: {reason}"));
        Err(Error::unsupported(backend.device(), reasons.collect::<Vec<_>>().join("; ")))
    }

    /// Returns the best access path to a piece of this kind.
    fn to(&self, kind: PieceKind) -> Option<FrameAccess> {
        FrameAccess::of(kind).iter().find(|way| self.proved.contains(way)).copied()
    }

    /// Returns where the subscriber takes frames from.
    pub(super) fn from(&self) -> From {
        if self.proved.contains(&FrameAccess::Device) { From::Device } else { From::Host }
    }
}

/// An open piece.
pub(super) enum OpenPiece {
    Device(Box<dyn ComputeMemory>),
    Pages(Box<dyn ComputeMemory>),
    /// The bytes are copied to memory that all pieces share.
    Copy(HostBlock),
}

impl OpenPiece {
    pub(super) fn new(ways: &AccessList, backend: &dyn ComputeBackend, piece: &NamedPiece) -> Result<Self> {
        let bytes = usize::try_from(piece.bytes).unwrap_or(usize::MAX);
        // Publishers allocate whole pages.
        let bytes = bytes.checked_next_multiple_of(HostBlock::PAGE).unwrap_or(bytes);
        let block = || pages::open(&piece.descriptor, bytes, WriteRight::Maker).map(pages::PageMapping::into_block);
        match ways.to(piece.kind) {
            Some(FrameAccess::Device) => open_device(backend, piece).map(Self::Device),
            Some(FrameAccess::Pages) => Ok(Self::Pages(backend.import_host(&block()?)?)),
            Some(FrameAccess::Copy) => Ok(Self::Copy(block()?)),
            None => Err(Error::refused("the newest frame is in memory that this process could not open")),
        }
    }

    /// The memory that kernels read; `None` where frames are copied to memory that all pieces share.
    pub(super) fn memory(&self) -> Option<&dyn ComputeMemory> {
        match self {
            Self::Device(memory) | Self::Pages(memory) => Some(memory.as_ref()),
            Self::Copy(_) => None,
        }
    }

    /// As [`OpenPiece::memory`].
    pub(super) fn memory_mut(&mut self) -> Option<&mut dyn ComputeMemory> {
        match self {
            Self::Device(memory) | Self::Pages(memory) => Some(memory.as_mut()),
            Self::Copy(_) => None,
        }
    }

    pub(super) fn path(&self) -> PathId {
        match self {
            Self::Device(_) => FrameAccess::Device.path(),
            Self::Pages(_) => FrameAccess::Pages.path(),
            Self::Copy(_) => FrameAccess::Copy.path(),
        }
    }
}

fn open_device(backend: &dyn ComputeBackend, piece: &NamedPiece) -> Result<Box<dyn ComputeMemory>> {
    let PieceKind::Device { dedicated, allocation } = piece.kind else {
        return Err(Error::refused("the publisher announced host memory as its device's"));
    };
    let descriptor = piece
        .descriptor
        .try_clone()
        .map_err(|error| Error::unavailable("a descriptor", error, "Raise the limit of descriptors."))?;
    // SAFETY: a process of the same user, identified by the socket, says that it exports the memory with this size from
    // the device of the same UUID. The driver refuses memory that is not its own.
    let memory = unsafe { MemoryHandle::new(descriptor, allocation, dedicated) };
    backend.import_surface(&SharedHandle::Memory(memory), &SurfaceDesc::buffer(piece.bytes))
}
