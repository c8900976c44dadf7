//! The closed table of paths: what each needs of the two sides, as data, and how it is opened.

use super::shared_memory::{Owner, Reading, SharedMemory};
use super::{Direct, HostRoundTrip, OpenedPath, Pairing, PathId, PathKind, PboStaging};
use crate::capability::{HandleType, Support};
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
    offer: fn(&Pairing<'_>) -> Support,
    open: fn(&Pairing<'_>) -> Result<OpenedPath>,
}

impl PathSpec {
    /// Whether both sides say that they can do it. Looks at data only; makes nothing.
    pub fn offer(&self, pairing: &Pairing<'_>) -> Support {
        (self.offer)(pairing)
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

/// Every path, in no order of merit; [`crate::select`] ranks them.
pub static PATHS: [PathSpec; 10] = [
    PathSpec {
        id: PathId::Direct,
        kind: PathKind::Direct,
        mechanism: "the kernel writes the display's own texture or buffer: no copy",
        offer: |p| same_device(p).and(|| offer_both(p, HandleType::GlObject, Giver::Display)),
        open: |p| Ok(Direct::open(p)?.into()),
    },
    PathSpec {
        id: PathId::ExternalInPlace,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes device memory that the display has opened, the draw reads it: no copy",
        offer: |p| same_device(p).and(|| offer_both(p, HandleType::OpaqueFd, Giver::Compute)).and(|| offer_in_place(p)),
        open: |p| Ok(SharedMemory::open(p, Owner::Compute, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::ExternalUpload,
        kind: PathKind::ExternalMemory,
        mechanism: "the kernel writes device memory that the display has opened, the display copies: 1 copy",
        offer: |p| same_device(p).and(|| offer_both(p, HandleType::OpaqueFd, Giver::Compute)),
        open: |p| Ok(SharedMemory::open(p, Owner::Compute, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::HostVisibleInPlace,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes the display's mapped buffer, the draw reads it where it lies: no copy",
        offer: |p| offer_in_place(p).and(|| offer_mapped(p)),
        open: |p| Ok(SharedMemory::open(p, Owner::Display, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::HostVisibleUpload,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes the display's mapped buffer, the display uploads from it: 1 copy",
        offer: offer_mapped,
        open: |p| Ok(SharedMemory::open(p, Owner::Display, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::PinnedInPlace,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes host pages that the display has pinned, the draw reads them: no copy",
        offer: |p| offer_in_place(p).and(|| offer_pinned(p)),
        open: |p| Ok(SharedMemory::open(p, Owner::Neutral, Reading::InPlace)?.into()),
    },
    PathSpec {
        id: PathId::PinnedUpload,
        kind: PathKind::HostVisible,
        mechanism: "the kernel writes host pages that the display has pinned, the display uploads: 1 copy",
        offer: offer_pinned,
        open: |p| Ok(SharedMemory::open(p, Owner::Neutral, Reading::Upload)?.into()),
    },
    PathSpec {
        id: PathId::PboPersistent,
        kind: PathKind::PboStaging,
        mechanism: "read into a ring of persistently mapped pixel buffers with fences, then uploaded: 2 copies",
        offer: |p| named("display", &p.display.caps().persistent_staging),
        open: |p| Ok(PboStaging::open_persistent(p)?.into()),
    },
    PathSpec {
        id: PathId::PboOrphan,
        kind: PathKind::PboStaging,
        mechanism: "read into a pixel buffer that is orphaned and mapped each frame, then uploaded: 2 copies",
        offer: |p| named("display", &p.display.caps().orphaned_staging),
        open: |p| Ok(PboStaging::open_orphan(p)?.into()),
    },
    PathSpec {
        id: PathId::HostRoundTrip,
        kind: PathKind::HostRoundTrip,
        mechanism: "mapped for or read by the host, then uploaded from client memory",
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

/// Which side owns the memory.
#[derive(Clone, Copy)]
enum Giver {
    Compute,
    Display,
}

fn offer_both(p: &Pairing<'_>, handle: HandleType, giver: Giver) -> Support {
    let (compute, display) = (p.backend.caps(), p.display.caps());
    match giver {
        Giver::Compute => {
            named("compute", &compute.can_export(handle)).and(|| named("display", &display.can_import(handle)))
        }
        Giver::Display => {
            named("compute", &compute.can_import(handle)).and(|| named("display", &display.can_export(handle)))
        }
    }
}

/// Memory of one device is not given to another.
fn same_device(p: &Pairing<'_>) -> Support {
    let (compute, display) = (p.backend.device(), p.display.device());
    match (compute.uuid, display.uuid) {
        (Some(a), Some(b)) => Support::when(a == b, format!("not one device: {compute} is {a}, {display} is {b}")),
        _ => Support::Yes,
    }
}

fn offer_mapped(p: &Pairing<'_>) -> Support {
    named("display", &p.display.caps().persistent_staging)
        .and(|| offer_both(p, HandleType::HostPointer, Giver::Display))
}

fn offer_pinned(p: &Pairing<'_>) -> Support {
    named("compute", &p.backend.caps().can_import(HandleType::HostPointer))
        .and(|| named("display", &p.display.caps().can_import(HandleType::HostPointer)))
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
