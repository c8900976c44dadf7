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

/// A row of [`PATHS`]: its kind, its name, its mechanism from compute to display, its cost, its mechanism in the other
/// direction, what it requires of the two sides, and how it is opened. How its sides synchronise, and whether they work
/// at the same time, follows from the kind.
const fn of(
    kind: PathKind,
    id: PathId,
    mechanism: &'static str,
    cost: Cost,
    takes: Option<&'static str>,
    check_support: fn(&Pairing<'_>) -> Support,
    open: fn(&Pairing<'_>) -> Result<OpenedPath>,
) -> PathSpec {
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

/// Every built-in path, in no order of merit; [`crate::select`] ranks them. Paths of equal cost are tried in this
/// order.
pub static PATHS: &[PathSpec] = &[
    of(
        PathKind::Direct,
        PathId::DIRECT,
        "the kernel writes the display's own texture or buffer: no copy",
        Cost::in_place(Medium::Object),
        Some("the compute API opens the texture or buffer: a texture is copied on the device, a buffer not at all"),
        |p| same_device(p).and(|| check_both(p, HandleType::GlObject, p.desc.shape(), Giver::Display)),
        |p| Ok(DirectPath::open(p, HandleType::GlObject)?.into()),
    ),
    of(
        PathKind::InQueue,
        PathId::IN_QUEUE_TEXTURE,
        "the kernel runs in the display's own queue and stores to the display's texture: no copy, no fence",
        Cost::in_place(Medium::Image),
        Some("kernels of the display's own queue read a copy of the texture: 1 copy on the device, no fence"),
        |p| {
            let check = |queue| check_both(p, queue, IMAGE, Giver::Display);
            check_in_queue(p).and(|| check_texture(p)).and(|| with_queue(p, check))
        },
        |p| Ok(DirectPath::open(p, pieces::queue(p)?)?.into()),
    ),
    of(
        PathKind::InQueue,
        PathId::IN_QUEUE_IN_PLACE,
        "the kernel runs in the display's own queue and writes memory that the draw reads: no copy, no fence",
        Cost::in_place(Medium::Device),
        Some("kernels of the display's own queue read the buffer itself: no copy, no fence"),
        |p| check_in_queue(p).and(|| if p.object.is_some() { check_object_in_queue(p) } else { check_in_place(p) }),
        |p| match p.object {
            Some(_) => Ok(DirectPath::open(p, pieces::queue(p)?)?.into()),
            None => Ok(SharedMemory::open(&in_queue(p), ReadMethod::InPlace, pieces::in_queue)?.into()),
        },
    ),
    of(
        PathKind::InQueue,
        PathId::IN_QUEUE_UPLOAD,
        "the kernel runs in the display's own queue, the display copies the result: 1 copy, no fence",
        Cost::copied(Medium::Device, 1),
        Some("the display copies to memory that kernels of its own queue read: 1 copy, no fence"),
        check_in_queue,
        |p| Ok(SharedMemory::open(&in_queue(p), ReadMethod::Upload, pieces::in_queue)?.into()),
    ),
    of(
        PathKind::ExternalMemory,
        PathId::EXTERNAL_TEXTURE,
        "the kernel writes an image of the compute device that is a texture of the display's: no copy",
        Cost::in_place(Medium::Image),
        None,
        |p| same_device(p).and(|| check_texture(p)).and(|| check_both(p, HandleType::OPAQUE, IMAGE, Giver::Compute)),
        |p| Ok(SharedMemory::open(p, ReadMethod::Texture, pieces::external_image)?.into()),
    ),
    of(
        PathKind::ExternalMemory,
        PathId::EXPORTED_TEXTURE,
        "the kernel writes a texture that the display exports: no copy",
        Cost::in_place(Medium::Image),
        None,
        |p| same_device(p).and(|| check_texture(p)).and(|| check_both(p, HandleType::OPAQUE, IMAGE, Giver::Display)),
        |p| Ok(SharedMemory::open(p, ReadMethod::Texture, pieces::exported_image)?.into()),
    ),
    of(
        PathKind::ExternalMemory,
        PathId::EXTERNAL_IN_PLACE,
        "the kernel writes device memory that the display has opened, the draw reads it: no copy",
        Cost::in_place(Medium::Device),
        None,
        |p| {
            can_export_to(p).and(|| check_both(p, HandleType::OPAQUE, LINEAR, Giver::Compute)).and(|| check_in_place(p))
        },
        |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::external)?.into()),
    ),
    of(
        PathKind::ExternalMemory,
        PathId::EXTERNAL_UPLOAD,
        "the kernel writes device memory that the display has opened, the display copies: 1 copy",
        Cost::copied(Medium::Device, 1),
        Some("the display copies to memory of the compute device that it has opened: 1 copy"),
        |p| can_export_to(p).and(|| check_both(p, HandleType::OPAQUE, LINEAR, Giver::Compute)),
        |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::external)?.into()),
    ),
    of(
        PathKind::ExternalMemory,
        PathId::EXPORTED_IN_PLACE,
        "the kernel writes device memory that the display exports, the draw reads it: no copy",
        Cost::in_place(Medium::Device),
        None,
        |p| check_exported(p).and(|| check_in_place(p)),
        |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::exported)?.into()),
    ),
    of(
        PathKind::ExternalMemory,
        PathId::EXPORTED_UPLOAD,
        "the kernel writes device memory that the display exports, the display copies: 1 copy",
        Cost::copied(Medium::Device, 1),
        Some("the display copies to memory of its device that the compute API has opened: 1 copy"),
        |p| {
            let reason = "display: other processes read the memory in place";
            check_exported(p).and(|| Support::when(p.display.caps().outside_readers == 0, reason))
        },
        |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::exported)?.into()),
    ),
    of(
        PathKind::HostVisible,
        PathId::HOST_VISIBLE_IN_PLACE,
        "the kernel writes the display's mapped buffer, the draw reads it where it lies: no copy",
        Cost::in_place(Medium::Mapped),
        None,
        |p| check_in_place(p).and(|| check_mapped(p)),
        |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::mapped)?.into()),
    ),
    of(
        PathKind::HostVisible,
        PathId::HOST_VISIBLE_UPLOAD,
        "the kernel writes the display's mapped buffer, the display uploads from it: 1 copy",
        Cost::copied(Medium::Mapped, 1),
        Some("the display copies to its mapped buffer, which kernels read: 1 copy"),
        check_mapped,
        |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::mapped)?.into()),
    ),
    of(
        PathKind::HostVisible,
        PathId::PINNED_IN_PLACE,
        "the kernel writes host pages that the display has pinned, the draw reads them: no copy",
        Cost::in_place(Medium::Pages),
        None,
        |p| check_in_place(p).and(|| check_pinned(p)),
        |p| Ok(SharedMemory::open(p, ReadMethod::InPlace, pieces::pinned)?.into()),
    ),
    of(
        PathKind::HostVisible,
        PathId::PINNED_UPLOAD,
        "the kernel writes host pages that the display has pinned, the display uploads: 1 copy",
        Cost::copied(Medium::Pages, 1),
        Some("the display copies to pages of the host, which kernels read: 1 copy"),
        check_pinned,
        |p| Ok(SharedMemory::open(p, ReadMethod::Upload, pieces::pinned)?.into()),
    ),
    of(
        PathKind::PboStaging,
        PathId::PBO_PERSISTENT,
        "read into a ring of persistently mapped pixel buffers with fences, then uploaded: 2 copies",
        Cost::copied(Medium::Staging, 2),
        Some("the display copies to its mapped pixel buffer, the backend from there: 2 copies"),
        |p| p.display.caps().persistent_staging.of_the("display"),
        |p| Ok(PboStaging::open_persistent(p)?.into()),
    ),
    of(
        PathKind::PboStaging,
        PathId::PBO_ORPHAN,
        "read into a pixel buffer that is orphaned and mapped each frame, then uploaded: 2 copies",
        Cost::copied(Medium::Staging, 2).waiting(),
        None,
        |p| p.display.caps().orphaned_staging.of_the("display"),
        |p| Ok(PboStaging::open_orphan(p)?.into()),
    ),
    of(
        PathKind::HostRoundTrip,
        PathId::HOST_ROUND_TRIP,
        "mapped for or read by the host, then uploaded from client memory",
        Cost::copied(Medium::Client, 1).waiting(),
        Some("the display is read back to the host, which writes the memory: 3 copies"),
        |_| Support::Yes,
        |p| Ok(HostRoundTrip::open(p)?.into()),
    ),
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
