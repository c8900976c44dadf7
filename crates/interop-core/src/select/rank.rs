//! The static order of paths by memory kind.
//!
//! The cost of a path is its number of copies times the cost of one; which copies are dear depends on whose memory it
//! is. The order only decides which paths are tried first: pixels decide whether they count.

use crate::device::MemoryKind;
use crate::path::PathId;

/// An order and the reason for it.
pub(super) struct Rank {
    pub order: &'static str,
    pub ids: [PathId; 14],
}

pub(super) fn by_memory_kind(compute: MemoryKind, display: MemoryKind) -> Rank {
    use PathId::{
        Direct, ExportedInPlace, ExportedTexture, ExportedUpload, ExternalInPlace, ExternalTexture, ExternalUpload,
        HostRoundTrip, HostVisibleInPlace, HostVisibleUpload, PboOrphan, PboPersistent, PinnedInPlace, PinnedUpload,
    };
    match (compute.is_host_memory(), display.is_host_memory()) {
        (true, true) => Rank {
            order: "both sides use host memory: fewest copies first",
            ids: [
                Direct,
                ExternalTexture,
                ExportedTexture,
                ExternalInPlace,
                ExportedInPlace,
                HostVisibleInPlace,
                PinnedInPlace,
                ExternalUpload,
                ExportedUpload,
                PinnedUpload,
                HostVisibleUpload,
                HostRoundTrip,
                PboPersistent,
                PboOrphan,
            ],
        },
        // Kernels write over the bus once; reading in place would cross it for every draw.
        (true, false) => Rank {
            order: "host compute, display with memory of its own: write its mapped buffer, no reads over the bus",
            ids: [
                Direct,
                HostVisibleUpload,
                PinnedUpload,
                PboPersistent,
                HostRoundTrip,
                PboOrphan,
                HostVisibleInPlace,
                PinnedInPlace,
                ExternalUpload,
                ExportedUpload,
                ExternalInPlace,
                ExportedInPlace,
                ExternalTexture,
                ExportedTexture,
            ],
        },
        // Frames stay on the device where they can; else one read into memory that the display can fetch.
        (false, _) => Rank {
            order: "compute with memory of its own: stay on the device, else one read into memory that the display fetches",
            ids: [
                Direct,
                ExternalTexture,
                ExportedTexture,
                ExternalInPlace,
                ExportedInPlace,
                ExternalUpload,
                ExportedUpload,
                PboPersistent,
                PboOrphan,
                HostRoundTrip,
                HostVisibleUpload,
                PinnedUpload,
                HostVisibleInPlace,
                PinnedInPlace,
            ],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_names_every_path_once() {
        let kinds = [MemoryKind::Host, MemoryKind::Integrated, MemoryKind::Discrete, MemoryKind::Unknown];
        for compute in kinds {
            for display in kinds {
                let mut ids = by_memory_kind(compute, display).ids.map(PathId::name);
                ids.sort_unstable();
                let mut all = PathId::ALL.map(PathId::name);
                all.sort_unstable();
                assert_eq!(ids, all);
            }
        }
    }
}
