//! The closed table of paths: what each needs of the two sides, as data, and how it is opened.

use super::shared_memory::{Owner, Reading, SharedMemory};
use super::{Direct, HostRoundTrip, OpenedPath, Pairing, PathId, PathKind, PboStaging};
use crate::capability::{HandleType, MemoryShape, Support, SyncKind};
use crate::error::Result;
use crate::surface::{ImageAccess, SurfaceDesc};

/// One row of [`PATHS`].
pub struct PathSpec {
    /// Which path.
    pub id: PathId,
    /// Its family.
    pub kind: PathKind,
    /// What happens, in one line, for reports.
    pub mechanism: &'static str,
    /// How the two sides can be kept apart; the first where nothing else is asked for.
    pub syncs: &'static [SyncKind],
    /// Whether it can show frames late, see [`crate::Mode`].
    pub pipelined: bool,
    offer: fn(&Pairing<'_>) -> Support,
    open: fn(&Pairing<'_>) -> Result<OpenedPath>,
}

impl PathSpec {
    /// Whether both sides say that they can do it. Looks at data only; makes nothing.
    pub fn offer(&self, pairing: &Pairing<'_>) -> Support {
        offer_sync(pairing, self.syncs).and(|| (self.offer)(pairing))
    }

    /// Makes the surface and the memory that crosses.
    pub fn open(&self, pairing: &Pairing<'_>) -> Result<OpenedPath> {
        (self.open)(pairing)
    }
}

/// The row of a path.
pub fn spec(id: PathId) -> &'static PathSpec {
    // Every id has a row (tested), so the search always ends inside the table.
    PATHS.iter().find(|p| p.id == id).unwrap_or(&PATHS[PATHS.len() - 1])
}

/// Ways of taking turns at memory that one device opened of another.
const DEVICES: &[SyncKind] = &[SyncKind::HostFence, SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];
/// Ways of taking turns at memory of the host.
const HOST: &[SyncKind] = &[SyncKind::HostFence];

/// Every path, in no order of merit; [`crate::select`] ranks them.
pub static PATHS: [PathSpec; 14] = [
    PathSpec {
        id: PathId::Direct,
        kind: PathKind::Direct,
        mechanism: "the kernel writes the display's own texture or buffer: no copy",
        syncs: &[SyncKind::Implicit, SyncKind::SharedEvent, SyncKind::Finish],
        pipelined: false,
        offer: |p| same_device(p).and(|| offer_both(p, HandleType::GlObject, p.desc.shape(), Giver::Display)),
        open: |p| Ok(Direct::open(p)?.into()),
    },
    PathSpec {
        id: PathId::ExternalTexture,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes an image of the compute device that is a texture of the display's: no copy",
        syncs: DEVICES,
        pipelined: true,
        offer: |p| {
            same_device(p).and(|| offer_texture(p)).and(|| offer_both(p, HandleType::OPAQUE, IMAGE, Giver::Compute))
        },
        open: |p| Ok(SharedMemory::open(p, Owner::ComputeImage, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::ExportedTexture,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes a texture that the display made to be shared: no copy",
        syncs: DEVICES,
        pipelined: true,
        offer: |p| {
            same_device(p).and(|| offer_texture(p)).and(|| offer_both(p, HandleType::OPAQUE, IMAGE, Giver::Display))
        },
        open: |p| Ok(SharedMemory::open(p, Owner::DisplayImage, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::ExternalInPlace,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes device memory that the display has opened, the draw reads it: no copy",
        syncs: DEVICES,
        pipelined: true,
        offer: |p| {
            reaches(p).and(|| offer_both(p, HandleType::OPAQUE, LINEAR, Giver::Compute)).and(|| offer_in_place(p))
        },
        open: |p| Ok(SharedMemory::open(p, Owner::Compute, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::ExternalUpload,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes device memory that the display has opened, the display copies: 1 copy",
        syncs: DEVICES,
        pipelined: true,
        offer: |p| reaches(p).and(|| offer_both(p, HandleType::OPAQUE, LINEAR, Giver::Compute)),
        open: |p| Ok(SharedMemory::open(p, Owner::Compute, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::ExportedInPlace,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes device memory that the display made to be shared, the draw reads it: no copy",
        syncs: DEVICES,
        pipelined: true,
        offer: |p| offer_exported(p).and(|| offer_in_place(p)),
        open: |p| Ok(SharedMemory::open(p, Owner::DisplayMemory, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::ExportedUpload,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes device memory that the display made to be shared, the display copies: 1 copy",
        syncs: DEVICES,
        pipelined: true,
        offer: offer_exported,
        open: |p| Ok(SharedMemory::open(p, Owner::DisplayMemory, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::HostVisibleInPlace,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes the display's mapped buffer, the draw reads it where it lies: no copy",
        syncs: HOST,
        pipelined: true,
        offer: |p| offer_in_place(p).and(|| offer_mapped(p)),
        open: |p| Ok(SharedMemory::open(p, Owner::Display, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::HostVisibleUpload,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes the display's mapped buffer, the display uploads from it: 1 copy",
        syncs: HOST,
        pipelined: true,
        offer: offer_mapped,
        open: |p| Ok(SharedMemory::open(p, Owner::Display, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::PinnedInPlace,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes host pages that the display has pinned, the draw reads them: no copy",
        syncs: HOST,
        pipelined: true,
        offer: |p| offer_in_place(p).and(|| offer_pinned(p)),
        open: |p| Ok(SharedMemory::open(p, Owner::Neutral, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::PinnedUpload,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes host pages that the display has pinned, the display uploads: 1 copy",
        syncs: HOST,
        pipelined: true,
        offer: offer_pinned,
        open: |p| Ok(SharedMemory::open(p, Owner::Neutral, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::PboPersistent,
        kind: PathKind::PboStaging,
        mechanism: "read into a ring of persistently mapped pixel buffers with fences, then uploaded: 2 copies",
        syncs: HOST,
        pipelined: false,
        offer: |p| named("display", &p.display.caps().persistent_staging),
        open: |p| Ok(PboStaging::open_persistent(p)?.into()),
    },
    PathSpec {
        id: PathId::PboOrphan,
        kind: PathKind::PboStaging,
        mechanism: "read into a pixel buffer that is orphaned and mapped each frame, then uploaded: 2 copies",
        syncs: &[SyncKind::Implicit],
        pipelined: false,
        offer: |p| named("display", &p.display.caps().orphaned_staging),
        open: |p| Ok(PboStaging::open_orphan(p)?.into()),
    },
    PathSpec {
        id: PathId::HostRoundTrip,
        kind: PathKind::HostRoundTrip,
        mechanism: "mapped for or read by the host, then uploaded from client memory",
        syncs: &[SyncKind::Finish],
        pipelined: false,
        offer: |_| Support::Yes,
        open: |p| Ok(HostRoundTrip::open(p)?.into()),
    },
];

/// The same answer with the side's name before the reason.
fn named(side: &str, support: &Support) -> Support {
    match support {
        Support::Yes => Support::Yes,
        Support::No(reason) => Support::No(format!("{side}: {reason}")),
    }
}

fn offer_in_place(p: &Pairing<'_>) -> Support {
    let caps = p.display.caps();
    match p.desc {
        SurfaceDesc::Buffer(_) => named("display", &caps.in_place_buffers),
        SurfaceDesc::Image(i) => Support::when(
            i.access == ImageAccess::Any,
            "surface: a texture was asked for; ask for ImageAccess::Any to let the draw read linear memory",
        )
        .and(|| named("display", &caps.in_place_images))
        .and(|| {
            Support::when(
                i.extent.pixels() <= caps.max_in_place_pixels,
                format!("display: reads at most {} pixels in place", caps.max_in_place_pixels),
            )
        }),
    }
}

fn offer_texture(p: &Pairing<'_>) -> Support {
    Support::when(matches!(p.desc, SurfaceDesc::Image(_)), "surface: a buffer is no texture")
}

/// The way of taking turns that was asked for, if any.
fn offer_sync(p: &Pairing<'_>, syncs: &[SyncKind]) -> Support {
    match p.sync {
        None => Support::Yes,
        Some(kind) if !syncs.contains(&kind) => {
            let known: Vec<_> = syncs.iter().map(SyncKind::to_string).collect();
            Support::No(format!("policy: a {kind} was asked for, this path knows: {}", known.join(", ")))
        }
        Some(kind @ (SyncKind::BinarySemaphore | SyncKind::TimelineSemaphore)) => {
            named("compute", &p.backend.caps().can_open_semaphore(kind))
                .and(|| named("display", &p.display.caps().can_make_semaphore(kind)))
        }
        Some(kind @ SyncKind::SharedEvent) => named("compute", &p.backend.caps().can_open_semaphore(kind)),
        Some(_) => Support::Yes,
    }
}

const LINEAR: MemoryShape = MemoryShape::Linear;
const IMAGE: MemoryShape = MemoryShape::Image;

/// Which side owns the memory.
#[derive(Clone, Copy)]
enum Giver {
    Compute,
    Display,
}

fn offer_both(p: &Pairing<'_>, handle: HandleType, shape: MemoryShape, giver: Giver) -> Support {
    let (compute, display) = (p.backend.caps(), p.display.caps());
    match giver {
        Giver::Compute => named("compute", &compute.can_export(handle, shape))
            .and(|| named("display", &display.can_import(handle, shape))),
        Giver::Display => named("display", &display.can_export(handle, shape))
            .and(|| named("compute", &compute.can_import(handle, shape).and(|| offer_format(p, shape)))),
    }
}

/// Images are of what format the display's is.
fn offer_format(p: &Pairing<'_>, shape: MemoryShape) -> Support {
    match (p.desc, shape) {
        (SurfaceDesc::Image(image), MemoryShape::Image) => p.backend.caps().can_write_images_of(image.format),
        _ => Support::Yes,
    }
}

/// Memory of one device is not given to another.
fn same_device(p: &Pairing<'_>) -> Support {
    p.backend.device().is_one_with(p.display.device())
}

/// Kernels write where the display can open it.
fn reaches(p: &Pairing<'_>) -> Support {
    p.backend.reaches(p.display.device())
}

/// Linear memory of the display's device.
fn offer_exported(p: &Pairing<'_>) -> Support {
    same_device(p).and(|| offer_both(p, HandleType::OPAQUE, LINEAR, Giver::Display))
}

fn offer_mapped(p: &Pairing<'_>) -> Support {
    named("display", &p.display.caps().persistent_staging)
        .and(|| offer_both(p, HandleType::HostPointer, LINEAR, Giver::Display))
}

fn offer_pinned(p: &Pairing<'_>) -> Support {
    named("compute", &p.backend.caps().can_import(HandleType::HostPointer, LINEAR))
        .and(|| named("display", &p.display.caps().can_import(HandleType::HostPointer, LINEAR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_its_own_row() {
        for (i, row) in PATHS.iter().enumerate() {
            assert!(std::ptr::eq(spec(row.id), &raw const PATHS[i]), "{} has two rows", row.id);
            assert!(!row.mechanism.is_empty());
        }
        assert_eq!(PATHS.len(), PathId::ALL.len());
    }
}
