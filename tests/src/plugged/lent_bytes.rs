//! A path by a handle of which pixelferry knows nothing but the name: the backend lends its own memory to the display.

use interop_core::path::{Cost, Medium, Pairing, PathSpec, Piece, ReadMethod, SharedMemory};
use interop_core::{HandleType, MemoryShape, Result, SharingPath, StagingKind, SyncKind};

/// Name of the memory's handle type.
pub(crate) const BYTES: &str = "lent bytes";

/// The handle itself.
pub(crate) type SharedBytes = std::sync::Arc<std::sync::Mutex<Vec<u8>>>;

/// The row.
pub fn lent_bytes() -> PathSpec {
    let check_support = |pairing: &Pairing<'_>| {
        let (handle, shape) = (HandleType::Other(BYTES), MemoryShape::Linear);
        let compute = pairing.backend.caps().can_export(handle, shape).of_the("compute");
        compute.and(|| pairing.display.caps().can_import(handle, shape).of_the("display"))
    };
    let open = |pairing: &Pairing<'_>| {
        let shared = SharedMemory::open(pairing, ReadMethod::Upload, lent)?;
        Ok(Box::new(shared) as Box<dyn SharingPath>)
    };
    let mut spec = PathSpec::new("lent-bytes", check_support, open);
    spec.mechanism = "the kernel writes bytes that the display reads, by a handle of their own: 1 copy";
    spec.syncs = &[SyncKind::HostFence];
    spec.pipelined = true;
    spec.cost = Cost::copied(Medium::Device, 1);
    spec
}

fn lent(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    let handle = HandleType::Other(BYTES);
    let (memory, handle) = pairing.backend.allocate_shared(bytes, handle, pairing.display.device())?;
    Ok(Piece { memory, staging: pairing.display.create_staging(StagingKind::External(handle), bytes)? })
}
