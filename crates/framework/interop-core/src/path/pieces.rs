//! Memory that both sides access, by its owner: each function makes one piece.

use super::pairing::Pairing;
use crate::compute::ComputeMemory;
use crate::describe::error::{Error, Result};
use crate::describe::surface::{ImageDesc, SurfaceDesc};
use crate::devices::capability::HandleType;
use crate::devices::host_block::HostBlock;
use crate::display::{Staging, StagingKind};

/// One piece of shared memory, as each side has it.
pub struct Piece {
    /// The memory that kernels write. It is dropped first because it may lie inside `staging`.
    pub memory: Box<dyn ComputeMemory>,
    /// The block that the display reads.
    pub staging: Staging,
}

/// Makes a mapped buffer of the display.
pub(super) fn mapped(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    on_the_host(pairing, StagingKind::Persistent, bytes)
}

/// Makes host pages that the display and the compute side both import.
pub(super) fn pinned(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    on_the_host(pairing, StagingKind::Imported(HostBlock::allocate(bytes)?), bytes)
}

fn on_the_host(pairing: &Pairing<'_>, kind: StagingKind, bytes: usize) -> Result<Piece> {
    let staging = pairing.display.create_staging(kind, bytes)?;
    let block = staging.host_block().ok_or_else(|| Error::Unsupported {
        operation: "create_staging",
        device: pairing.display.device().to_string(),
        reason: "the block has no fixed address".into(),
    })?;
    Ok(Piece { memory: pairing.backend.import_host(&block)?, staging })
}

/// Makes memory of the compute device, opened by the display.
pub(super) fn external(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    of_the_compute_side(pairing, bytes, HandleType::OPAQUE)
}

/// Makes a buffer of the display's device, allocated by the compute side.
pub(super) fn in_queue(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    of_the_compute_side(pairing, bytes, queue(pairing)?)
}

/// Returns the handle type of buffers in the queue that both sides use.
pub(super) fn queue(pairing: &Pairing<'_>) -> Result<HandleType> {
    let queue = pairing.backend.caps().display_queue().ok_or_else(|| Error::Unsupported {
        operation: "open",
        device: pairing.backend.device().to_string(),
        reason: "it does not compute in a display's queue".into(),
    })?;
    Ok(HandleType::QueueBuffer(queue))
}

fn of_the_compute_side(pairing: &Pairing<'_>, bytes: usize, handle: HandleType) -> Result<Piece> {
    let Pairing { backend, display, .. } = pairing;
    let (memory, handle) = backend.allocate_shared(bytes, handle, display.device())?;
    Ok(Piece { memory, staging: display.create_staging(StagingKind::External(handle), bytes)? })
}

/// Makes an image of the compute device, opened by the display as a texture.
pub(super) fn external_image(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    let image = image_of(pairing)?;
    let (memory, handle) = pairing.backend.allocate_shared_image(&image, HandleType::OPAQUE)?;
    Ok(Piece { memory, staging: pairing.display.create_staging(StagingKind::ExternalImage(handle, image), bytes)? })
}

/// Makes memory of the display's device that is exported to the compute side.
pub(super) fn exported(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    opened(pairing, StagingKind::Exported, bytes, &SurfaceDesc::buffer(bytes as u64))
}

/// Makes a texture of the display that is exported to the compute side.
pub(super) fn exported_image(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    opened(pairing, StagingKind::ExportedImage(image_of(pairing)?), bytes, pairing.desc)
}

fn opened(pairing: &Pairing<'_>, kind: StagingKind, bytes: usize, desc: &SurfaceDesc) -> Result<Piece> {
    let staging = pairing.display.create_staging(kind, bytes)?;
    let handle = staging.export(HandleType::OPAQUE)?;
    Ok(Piece { memory: pairing.backend.import_surface(&handle, desc)?, staging })
}

fn image_of(pairing: &Pairing<'_>) -> Result<ImageDesc> {
    match pairing.desc {
        SurfaceDesc::Image(image) => Ok(*image),
        SurfaceDesc::Buffer(_) => Err(Error::invalid("open", "a buffer is not a texture")),
    }
}
