//! The built-in paths: their requirements on the two sides, as data, and how they are opened.

use super::cost::{Cost, Medium};
use super::direct::DirectPath;
use super::host_round_trip::HostRoundTrip;
use super::opened_path::OpenedPath;
use super::pairing::Pairing;
use super::pbo_staging::PboStaging;
use super::pieces;
use super::shared_memory::{ReadMethod, SharedMemory};
use super::spec::{PathFns, PathSpec};
use crate::describe::error::Result;
use crate::describe::path_id::{PathId, PathKind};
use crate::describe::surface::{ImageAccess, MemoryShape, SurfaceDesc};
use crate::devices::capability::{HandleType, Support, SyncKind};

/// A row of [`PATHS`].
struct PathRow {
    kind: PathKind,
    id: PathId,
    /// Mechanism from compute to display.
    mechanism: &'static str,
    cost: Cost,
    /// Mechanism from the display to compute, for the paths that support it.
    takes: Option<&'static str>,
    /// Whether both sides meet the path's requirements.
    check_support: fn(&Pairing<'_>) -> Support,
    open: fn(&Pairing<'_>) -> Result<OpenedPath>,
}

impl PathRow {
    /// Adds what follows from the kind: how the sides synchronise, and whether they work at the same time.
    const fn spec(self) -> PathSpec {
        let Self { kind, id, mechanism, cost, takes, check_support, open } = self;
        let (syncs, pipelined): (&[SyncKind], bool) = match kind {
            PathKind::Direct => (&[SyncKind::Implicit, SyncKind::SharedEvent, SyncKind::Finish], false),
            PathKind::InQueue => (&[SyncKind::Implicit], false),
            PathKind::ExternalMemory => {
                (&[SyncKind::HostFence, SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore], true)
            }
            PathKind::HostVisible => (&[SyncKind::HostFence], true),
            // The driver itself waits where a block is orphaned.
            PathKind::PboStaging if cost.waits => (&[SyncKind::Implicit], false),
            PathKind::PboStaging => (&[SyncKind::HostFence], false),
            PathKind::HostRoundTrip | PathKind::Plugged => (&[SyncKind::Finish], false),
        };
        PathSpec { id, kind, mechanism, syncs, pipelined, cost, takes, means: PathFns::Ours { check_support, open } }
    }
}

/// Every built-in path, in no order of merit; [`crate::select`] ranks them. Paths of equal cost are tried in this
/// order.
pub static PATHS: &[PathSpec] = &[
    PathRow {
        kind: PathKind::Direct,
        id: PathId::DIRECT,
        mechanism: "the kernel writes the display's own texture or buffer: no copy",
        cost: Cost::in_place(Medium::Object),
        takes: Some("the compute API opens the texture, 1 copy on the device, or the buffer, no copy"),
        check_support: |p| same_device(p).and(|| check_both(p, HandleType::GlObject, p.desc.shape(), Giver::Display)),
        open: |p| Ok(DirectPath::open(p, HandleType::GlObject)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::InQueue,
        id: PathId::IN_QUEUE_TEXTURE,
        mechanism: "the kernel runs in the display's own queue and stores to the display's texture: no copy, no fence",
        cost: Cost::in_place(Medium::Image),
        takes: Some("kernels of the display's own queue read a copy of the texture: 1 copy on the device, no fence"),
        check_support: |p| {
            let check = |queue| check_both(p, queue, IMAGE, Giver::Display);
            check_in_queue(p).and(|| check_texture(p)).and(|| with_queue(p, check))
        },
        open: |p| Ok(DirectPath::open(p, pieces::queue(p)?)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::InQueue,
        id: PathId::IN_QUEUE_IN_PLACE,
        mechanism: "the kernel runs in the display's own queue and writes memory that the draw reads: no copy, no fence",
        cost: Cost::in_place(Medium::Device),
        takes: Some("kernels of the display's own queue read the buffer itself: no copy, no fence"),
        check_support: |p| check_in_queue(p).and(|| if p.object.is_some() { check_object_in_queue(p) } else { check_in_place(p) }),
        open: |p| match p.object {
            Some(_) => Ok(DirectPath::open(p, pieces::queue(p)?)?.into()),
            None => Ok(SharedMemory::open(&in_queue(p), ReadMethod::InPlace, pieces::in_queue)?.into()),
        },
    }
    .spec(),
    PathRow {
        kind: PathKind::InQueue,
        id: PathId::IN_QUEUE_UPLOAD,
        mechanism: "the kernel runs in the display's own queue, the display copies the result: 1 copy, no fence",
        cost: Cost::copied(Medium::Device, 1),
        takes: Some("the display copies to memory that kernels of its own queue read: 1 copy, no fence"),
        check_support: check_in_queue,
        open: |p| Ok(SharedMemory::open(&in_queue(p), ReadMethod::Upload, pieces::in_queue)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::ExternalMemory,
        id: PathId::EXTERNAL_TEXTURE,
        mechanism: "the kernel writes an image of the compute device that is a texture of the display's: no copy",
        cost: Cost::in_place(Medium::Image),
        takes: None,
        check_support: |p| same_device(p).and(|| check_texture(p)).and(|| check_both(p, HandleType::OPAQUE, IMAGE, Giver::Compute)),
        open: |p| Ok(SharedMemory::open(p, ReadMethod::Texture, pieces::external_image)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::ExternalMemory,
        id: PathId::EXPORTED_TEXTURE,
        mechanism: "the kernel writes a texture that the display exports: no copy",
        cost: Cost::in_place(Medium::Image),
        takes: None,
        check_support: |p| same_device(p).and(|| check_texture(p)).and(|| check_both(p, HandleType::OPAQUE, IMAGE, Giver::Display)),
        open: |p| Ok(SharedMemory::open(p, ReadMethod::Texture, pieces::exported_image)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::ExternalMemory,
        id: PathId::EXTERNAL_IN_PLACE,
        mechanism: "the kernel writes device memory that the display has opened, the draw reads it: no copy",
        cost: Cost::in_place(Medium::Device),
        takes: None,
        check_support: |p| {
            can_export_to(p).and(|| check_both(p, HandleType::OPAQUE, LINEAR, Giver::Compute)).and(|| check_in_place(p))
        },
        open: |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::external)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::ExternalMemory,
        id: PathId::EXTERNAL_UPLOAD,
        mechanism: "the kernel writes device memory that the display has opened, the display copies: 1 copy",
        cost: Cost::copied(Medium::Device, 1),
        takes: Some("the display copies to memory of the compute device that it has opened: 1 copy"),
        check_support: |p| can_export_to(p).and(|| check_both(p, HandleType::OPAQUE, LINEAR, Giver::Compute)),
        open: |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::external)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::ExternalMemory,
        id: PathId::EXPORTED_IN_PLACE,
        mechanism: "the kernel writes device memory that the display exports, the draw reads it: no copy",
        cost: Cost::in_place(Medium::Device),
        takes: None,
        check_support: |p| check_exported(p).and(|| check_in_place(p)),
        open: |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::exported)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::ExternalMemory,
        id: PathId::EXPORTED_UPLOAD,
        mechanism: "the kernel writes device memory that the display exports, the display copies: 1 copy",
        cost: Cost::copied(Medium::Device, 1),
        takes: Some("the display copies to memory of its device that the compute API has opened: 1 copy"),
        check_support: |p| {
            let reason = "display: other processes read the memory in place";
            check_exported(p).and(|| Support::when(p.display.caps().outside_readers == 0, reason))
        },
        open: |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::exported)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::HostVisible,
        id: PathId::HOST_VISIBLE_IN_PLACE,
        mechanism: "the kernel writes the display's mapped buffer, the draw reads it where it lies: no copy",
        cost: Cost::in_place(Medium::Mapped),
        takes: None,
        check_support: |p| check_in_place(p).and(|| check_mapped(p)),
        open: |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::mapped)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::HostVisible,
        id: PathId::HOST_VISIBLE_UPLOAD,
        mechanism: "the kernel writes the display's mapped buffer, the display uploads from it: 1 copy",
        cost: Cost::copied(Medium::Mapped, 1),
        takes: Some("the display copies to its mapped buffer, which kernels read: 1 copy"),
        check_support: check_mapped,
        open: |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::mapped)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::HostVisible,
        id: PathId::PINNED_IN_PLACE,
        mechanism: "the kernel writes host pages that the display has pinned, the draw reads them: no copy",
        cost: Cost::in_place(Medium::Pages),
        takes: None,
        check_support: |p| check_in_place(p).and(|| check_pinned(p)),
        open: |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::pinned)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::HostVisible,
        id: PathId::PINNED_UPLOAD,
        mechanism: "the kernel writes host pages that the display has pinned, the display uploads: 1 copy",
        cost: Cost::copied(Medium::Pages, 1),
        takes: Some("the display copies to pages of the host, which kernels read: 1 copy"),
        check_support: check_pinned,
        open: |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::pinned)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::PboStaging,
        id: PathId::PBO_PERSISTENT,
        mechanism: "read into a ring of persistently mapped pixel buffers with fences, then uploaded: 2 copies",
        cost: Cost::copied(Medium::Staging, 2),
        takes: Some("the display copies to its mapped pixel buffer, the backend from there: 2 copies"),
        check_support: |p| p.display.caps().persistent_staging.of_the("display"),
        open: |p| Ok(PboStaging::open_persistent(p)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::PboStaging,
        id: PathId::PBO_ORPHAN,
        mechanism: "read into a pixel buffer that is orphaned and mapped each frame, then uploaded: 2 copies",
        cost: Cost::copied(Medium::Staging, 2).waiting(),
        takes: None,
        check_support: |p| p.display.caps().orphaned_staging.of_the("display"),
        open: |p| Ok(PboStaging::open_orphan(p)?.into()),
    }
    .spec(),
    PathRow {
        kind: PathKind::HostRoundTrip,
        id: PathId::HOST_ROUND_TRIP,
        mechanism: "mapped for or read by the host, then uploaded from client memory",
        cost: Cost::copied(Medium::Client, 1).waiting(),
        takes: Some("the display is read back to the host, which writes the memory: 3 copies"),
        check_support: |_| Support::Yes,
        open: |p| Ok(HostRoundTrip::open(p)?.into()),
    }
    .spec(),
];

impl PathId {
    /// Every built-in path, as in [`PATHS`].
    pub const ALL: [Self; PATHS.len()] = {
        let mut ids = [Self::DIRECT; PATHS.len()];
        let mut i = 0;
        while i < PATHS.len() {
            ids[i] = PATHS[i].id;
            i += 1;
        }
        ids
    };
}

/// True for a path on which kernels access an engine's object itself.
pub(crate) fn is_object(path: PathId) -> bool {
    [PathId::DIRECT, PathId::IN_QUEUE_TEXTURE, PathId::IN_QUEUE_IN_PLACE].contains(&path)
}

fn check_in_place(p: &Pairing<'_>) -> Support {
    let caps = p.display.caps();
    match p.desc {
        SurfaceDesc::Buffer(_) => caps.in_place_buffers.of_the("display"),
        SurfaceDesc::Image(i) => Support::when(
            // Other processes open memory but no textures, whatever the description requests.
            i.access == ImageAccess::Any || caps.outside_readers > 0,
            "surface: a texture was requested; use ImageAccess::Any to let the draw read linear memory",
        )
        .and(|| caps.in_place_images.of_the("display"))
        .and(|| {
            Support::when(
                i.extent.pixels() <= caps.max_in_place_pixels,
                format!("display: reads at most {} pixels in place", caps.max_in_place_pixels),
            )
        }),
    }
}

fn check_texture(p: &Pairing<'_>) -> Support {
    Support::when(matches!(p.desc, SurfaceDesc::Image(_)), "surface: a buffer is not a texture")
}

const LINEAR: MemoryShape = MemoryShape::Linear;
const IMAGE: MemoryShape = MemoryShape::Image;

/// The side that owns the memory.
#[derive(Clone, Copy)]
enum Giver {
    Compute,
    Display,
}

fn check_both(p: &Pairing<'_>, handle: HandleType, shape: MemoryShape, giver: Giver) -> Support {
    let (compute, display) = (p.backend.caps(), p.display.caps());
    match giver {
        Giver::Compute => compute
            .can_export(handle, shape)
            .of_the("compute")
            .and(|| display.can_import(handle, shape).of_the("display")),
        Giver::Display => display.can_export(handle, shape).of_the("display").and(|| {
            let imports = match shape {
                // An image must have the display's format; linear memory holds any.
                MemoryShape::Image => compute.can_import_surface(handle, p.desc),
                MemoryShape::Linear => compute.can_import(handle, shape),
            };
            imports.of_the("compute")
        }),
    }
}

/// Memory of one device cannot be opened by another.
fn same_device(p: &Pairing<'_>) -> Support {
    p.backend.device().same_device(p.display.device())
}

/// Checks that kernels can write memory that the display can open.
fn can_export_to(p: &Pairing<'_>) -> Support {
    p.backend.can_export_to(p.display.device())
}

/// Checks for linear memory of the display's device, for a queue other than the display's.
fn check_exported(p: &Pairing<'_>) -> Support {
    same_device(p).and(|| check_both(p, HandleType::OPAQUE, LINEAR, Giver::Display)).and(|| {
        // It would only be one more path to time, and for it OpenGL's display creates a Vulkan device.
        let needless = p.backend.caps().serves_its_queue && is_in_queue(p);
        Support::when(!needless, "compute: it is in the display's queue, where memory needs no handle")
    })
}

fn is_in_queue(p: &Pairing<'_>) -> bool {
    let import = |queue| p.display.caps().can_import(HandleType::QueueBuffer(queue), LINEAR);
    p.backend.caps().display_queue().is_some_and(|queue| import(queue).is_yes())
}

fn check_in_queue(p: &Pairing<'_>) -> Support {
    Support::when(is_in_queue(p), "compute: it is not in the display's queue")
}

/// A link shares memory of the compute side; here the engine's own memory is shared.
fn check_object_in_queue(p: &Pairing<'_>) -> Support {
    if let SurfaceDesc::Image(_) = p.desc {
        return Support::No("surface: a texture cannot be read as linear memory".into());
    }
    with_queue(p, |queue| p.display.caps().can_export(queue, p.desc.shape()).of_the("display"))
}

/// Requires a queue that both sides use.
fn with_queue(p: &Pairing<'_>, check: impl FnOnce(HandleType) -> Support) -> Support {
    pieces::queue(p).map_or(Support::Yes, check)
}

/// Synchronises like [`QUEUE`], unless the pairing requests something else.
fn in_queue<'p>(p: &Pairing<'p>) -> Pairing<'p> {
    Pairing { sync: Some(SyncKind::Implicit), ..*p }
}

fn check_mapped(p: &Pairing<'_>) -> Support {
    p.display
        .caps()
        .persistent_staging
        .of_the("display")
        .and(|| check_both(p, HandleType::HostPointer, LINEAR, Giver::Display))
}

fn check_pinned(p: &Pairing<'_>) -> Support {
    p.backend
        .caps()
        .can_import(HandleType::HostPointer, LINEAR)
        .of_the("compute")
        .and(|| p.display.caps().can_import(HandleType::HostPointer, LINEAR).of_the("display"))
}
