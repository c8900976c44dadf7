//! A path with memory of the program's own: the core keeps the turns, the ring, frames shown late and unwritten pixels.

use interop_core::path::{Cost, Medium, Pairing, PathSpec, Piece, ReadMethod, SharedMemory};
use interop_core::{HandleType, HostBlock, MemoryShape, Result, SharingPath, StagingKind, SyncKind};

/// The row: pages that the program makes, written by kernels and read by the display where both take addresses.
pub fn own_pages() -> PathSpec {
    let check_support = |pairing: &Pairing<'_>| {
        let (handle, shape) = (HandleType::HostPointer, MemoryShape::Linear);
        let compute = pairing.backend.caps().can_import(handle, shape).of_the("compute");
        compute.and(|| pairing.display.caps().can_import(handle, shape).of_the("display"))
    };
    let open = |pairing: &Pairing<'_>| {
        let shared = SharedMemory::open(pairing, ReadMethod::Upload, pages)?;
        Ok(Box::new(shared) as Box<dyn SharingPath>)
    };
    let mut spec = PathSpec::new("own-pages", check_support, open);
    spec.mechanism = "the kernel writes pages of the program's, the display uploads from them: 1 copy";
    spec.syncs = &[SyncKind::HostFence];
    spec.pipelined = true;
    spec.cost = Cost::copied(Medium::Pages, 1);
    spec
}

fn pages(pairing: &Pairing<'_>, bytes: usize) -> Result<Piece> {
    // Room for a header of the program's own behind the frame.
    let block = HostBlock::allocate(bytes.saturating_add(HostBlock::PAGE))?;
    let memory = pairing.backend.import_host(&block)?;
    let len = block.len();
    Ok(Piece { memory, staging: pairing.display.create_staging(StagingKind::Imported(block), len)? })
}
