//! A path for a backend on the display's own device: kernels and draws in one queue.

use interop_core::path::{Cost, Medium, Pairing, PathSpec, Piece, Reading, SharedMemory};
use interop_core::{ImageAccess, MemoryShape, Result, SharingPath, StagingKind, SurfaceDesc, SyncKind};
use wgpu_display::LentBuffer;

/// The row for [`interop_core::Policy::paths`]: kernels write memory of the display's device, in its queue. The draw reads it
/// where it lies; where a texture is asked for, or fragment shaders read no storage, the display copies it there. No fence, no
/// switch between contexts, and the host waits for nothing.
///
/// It works between a [`crate::WgpuBackend::on`] of [`wgpu_display::WgpuDisplay::shared_device`] and that display.
pub fn in_queue() -> PathSpec {
    let offer = |pairing: &Pairing<'_>| {
        let shape = MemoryShape::Linear;
        let compute = pairing.backend.caps().can_export(LentBuffer::HANDLE, shape).of_the("compute");
        compute.and(|| pairing.display.caps().can_import(LentBuffer::HANDLE, shape).of_the("display"))
    };
    let open = |pairing: &Pairing<'_>| {
        let pairing = Pairing { sync: Some(SyncKind::Implicit), ..*pairing };
        Ok(Box::new(SharedMemory::open(&pairing, reading(&pairing), piece)?) as Box<dyn SharingPath>)
    };
    let mut spec = PathSpec::new("in-queue", offer, open);
    spec.mechanism =
        "the kernel runs in the display's own queue and writes memory that the draw reads: no copy, no fence";
    spec.syncs = &[SyncKind::Implicit];
    spec.cost = Cost::in_place(Medium::Device);
    spec
}

fn reading(pairing: &Pairing<'_>) -> Reading {
    match pairing.desc {
        SurfaceDesc::Image(image) => {
            let caps = pairing.display.caps();
            let in_place = image.access == ImageAccess::Any
                && caps.in_place_images.is_yes()
                && image.extent.pixels() <= caps.max_in_place_pixels;
            if in_place { Reading::InPlace } else { Reading::Upload }
        }
        SurfaceDesc::Buffer(_) => Reading::InPlace,
    }
}

fn piece(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    let (memory, handle) = pairing.backend.allocate_shared(bytes, LentBuffer::HANDLE, pairing.display.device())?;
    Ok(Piece { memory, staging: pairing.display.create_staging(StagingKind::External(handle), bytes)? })
}
