//! Capabilities of both sides: the memory and the semaphores that each can export and import.

use super::language::Language;
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::RowOrder;
use crate::describe::setters::setters;
use crate::describe::surface::{ImageDesc, MemoryShape, SurfaceDesc};
use crate::devices::queue_id::QueueId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A way of naming memory across two APIs.
///
/// ```
/// use interop_core::{HandleType, SharedHandle};
///
/// let handle = SharedHandle::GlBuffer { name: 7 };
/// assert_eq!(handle.handle_type(), HandleType::GlObject);
/// let of_this_system = if cfg!(windows) { "Win32 handle" } else { "opaque fd" };
/// assert_eq!(HandleType::OPAQUE.to_string(), of_this_system);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum HandleType {
    /// A pointer into this process's memory.
    HostPointer,
    /// A POSIX file descriptor (`VK_KHR_external_memory_fd`, `GL_EXT_memory_object_fd`, CUDA VMM).
    OpaqueFd,
    /// A Windows NT handle (`VK_KHR_external_memory_win32`, `GL_EXT_memory_object_win32`, CUDA VMM).
    Win32,
    /// An OpenGL object name (`cl_khr_gl_sharing`, CUDA-GL).
    GlObject,
    /// A buffer of the display's own device, made by a backend that computes in this very queue, the display's.
    #[serde(untagged)]
    QueueBuffer(QueueId),
    /// One that only a backend, a display and a path of a program's own know, by its name ([`crate::SharedHandle::Other`]).
    #[serde(untagged)]
    Other(&'static str),
}

impl HandleType {
    /// Type of this operating system's handles of device memory.
    pub const OPAQUE: Self = if cfg!(windows) { Self::Win32 } else { Self::OpaqueFd };
}

impl fmt::Display for HandleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HostPointer => "host pointer",
            Self::OpaqueFd => "opaque fd",
            Self::Win32 => "Win32 handle",
            Self::GlObject => "GL object",
            Self::QueueBuffer(_) => "queue buffer",
            Self::Other(name) => name,
        })
    }
}

/// Yes, or no with the reason that the user will read.
///
/// ```
/// use interop_core::Support;
///
/// let small = |side: u32| Support::when(side <= 16384, format!("images have at most 16384 pixels a side, not {side}"));
/// assert!(small(4096).is_yes());
/// let answer = small(4096).and(|| small(20000)).of_the("display");
/// assert_eq!(answer, Support::No("display: images have at most 16384 pixels a side, not 20000".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// The side can do it.
    Yes,
    /// The side cannot, because of this.
    No(String),
}

impl Support {
    /// `Yes` where `condition` holds, else the reason.
    pub fn when(condition: bool, reason: impl Into<String>) -> Self {
        if condition { Self::Yes } else { Self::No(reason.into()) }
    }

    /// True for `Yes`.
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Puts a side's name before the reason, e.g. `display`.
    #[must_use]
    pub fn of_the(&self, side: &str) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No(reason) => Self::No(format!("{side}: {reason}")),
        }
    }

    /// `Yes` only where both are; the first reason otherwise.
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes => other(),
            no => no,
        }
    }
}

/// One handle type that a side exports or imports.
///
/// ```
/// use interop_core::{HandleType, MemoryCap, MemoryShape, Support};
///
/// // Pages of the host, at multiples of 4096 bytes.
/// let pages = MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes).aligned(4096, 4096);
/// assert_eq!((pages.address_alignment, pages.support.is_yes()), (4096, true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MemoryCap {
    /// The handle.
    pub handle: HandleType,
    /// Layout of the memory.
    pub shape: MemoryShape,
    /// Tells if it really can, and if not, why.
    pub support: Support,
    /// Alignment in bytes that an imported address must have, or an exported one has.
    pub address_alignment: usize,
    /// Sizes are rounded up to a multiple of this many bytes.
    pub size_alignment: usize,
    /// Formats that images of this handle cannot have, although the side has images of them otherwise.
    pub refused_formats: Vec<PixelFormat>,
}

impl MemoryCap {
    /// What kernels in a queue open of others by handles of the operating system, which is linear memory at most.
    pub fn opened_by_kernels(linear: Support) -> Vec<Self> {
        let image = Support::No("its kernels open no images of others, but linear memory".into());
        let cap = |shape, support| Self::new(HandleType::OPAQUE, shape, support);
        vec![cap(MemoryShape::Linear, linear), cap(MemoryShape::Image, image)]
    }

    /// With no demands on alignment.
    pub const fn new(handle: HandleType, shape: MemoryShape, support: Support) -> Self {
        Self { handle, shape, support, address_alignment: 1, size_alignment: 1, refused_formats: Vec::new() }
    }

    /// With no images of these formats.
    #[must_use]
    pub fn without(self, formats: &[PixelFormat]) -> Self {
        Self { refused_formats: formats.to_vec(), ..self }
    }

    /// With addresses and sizes at multiples of so many bytes.
    #[must_use]
    pub fn aligned(self, address_alignment: usize, size_alignment: usize) -> Self {
        Self { address_alignment, size_alignment, ..self }
    }
}

/// Means of ordering two APIs' accesses to the same memory, best first.
///
/// ```
/// use interop_core::{Policy, SyncKind};
///
/// // Only paths whose two sides wait for each other on the GPU.
/// let policy = Policy::default().with_sync("timeline-semaphore".parse::<SyncKind>()?);
/// assert_eq!(policy.sync, Some(SyncKind::TimelineSemaphore));
/// assert!(SyncKind::TimelineSemaphore < SyncKind::Finish, "the best is the least");
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SyncKind {
    /// A semaphore with a counter, waited on by the other API on the GPU.
    TimelineSemaphore,
    /// A one-shot semaphore, waited on by the other API on the GPU.
    BinarySemaphore,
    /// A GL sync object turned into a compute event, or the reverse.
    SharedEvent,
    /// Acquire/release or map/unmap order the two.
    Implicit,
    /// The host waits for a fence of one slot; other slots go on.
    HostFence,
    /// The host waits until the queue is empty.
    Finish,
}

impl SyncKind {
    /// Every kind, best first.
    pub const ALL: [Self; Self::Finish as usize + 1] = [
        Self::TimelineSemaphore,
        Self::BinarySemaphore,
        Self::SharedEvent,
        Self::Implicit,
        Self::HostFence,
        Self::Finish,
    ];

    /// Its name for options and variables, e.g. `timeline-semaphore`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimelineSemaphore => "timeline-semaphore",
            Self::BinarySemaphore => "binary-semaphore",
            Self::SharedEvent => "shared-event",
            Self::Implicit => "implicit",
            Self::HostFence => "host-fence",
            Self::Finish => "finish",
        }
    }
}

impl fmt::Display for SyncKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name().replace('-', " "))
    }
}

impl FromStr for SyncKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid("SyncKind::from_str", format!("'{text}' is no such kind; the kinds are {names}"))
        })
    }
}

/// One kind of semaphore that a display makes or a compute device opens.
///
/// ```
/// use interop_core::{ComputeCaps, SemaphoreCap, Support, SyncKind};
///
/// let binary = SemaphoreCap::new(SyncKind::BinarySemaphore, Support::Yes);
/// let caps = ComputeCaps::new(vec![], 1 << 30).with_semaphores(vec![binary]);
/// assert!(caps.can_open_semaphore(SyncKind::BinarySemaphore).is_yes());
/// assert!(!caps.can_open_semaphore(SyncKind::TimelineSemaphore).is_yes());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SemaphoreCap {
    /// [`SyncKind::BinarySemaphore`], [`SyncKind::TimelineSemaphore`] or, of a compute device, [`SyncKind::SharedEvent`].
    pub kind: SyncKind,
    /// Tells if it really can, and if not, why.
    pub support: Support,
}

impl SemaphoreCap {
    /// Tells whether the side can do `kind`.
    pub const fn new(kind: SyncKind, support: Support) -> Self {
        Self { kind, support }
    }
}

/// Capabilities of a compute device for the sharing paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ComputeCaps {
    /// Languages that kernels may be written in, best first.
    pub languages: Vec<Language>,
    /// Memory of others that kernels can write.
    pub imports: Vec<MemoryCap>,
    /// Formats of the images among them; empty where there are none.
    pub image_formats: Vec<PixelFormat>,
    /// Memory of its own that others can open.
    pub exports: Vec<MemoryCap>,
    /// Semaphores of others that its queue can wait for and signal; [`SyncKind::SharedEvent`] for objects of the display
    /// that it opens.
    pub semaphores: Vec<SemaphoreCap>,
    /// Largest single allocation of linear memory, bytes. Images of a display's are as large as its textures.
    pub max_allocation: u64,
    /// The device's name for that limit, and how to get more where it can be asked for; for errors. Empty where it has none.
    pub allocation_limit: &'static str,
    /// Displays of its queue need no path that shares memory between queues.
    pub serves_its_queue: bool,
}

/// Capabilities of a display for the sharing paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DisplayCaps {
    /// Memory of others that it can read.
    pub imports: Vec<MemoryCap>,
    /// Memory of its own that others can write.
    pub exports: Vec<MemoryCap>,
    /// Semaphores that it can make for others.
    pub semaphores: Vec<SemaphoreCap>,
    /// Staging blocks that are mapped again for each frame.
    pub orphaned_staging: Support,
    /// Staging blocks that stay mapped.
    pub persistent_staging: Support,
    /// Formats of the images that it shows.
    pub image_formats: Vec<PixelFormat>,
    /// Formats that it does not show, each with what the device lacks for it, where that is known.
    pub lacked_formats: Vec<(PixelFormat, String)>,
    /// Images shown straight from linear memory, with no upload.
    pub in_place_images: Support,
    /// Buffers read straight from linear memory, with no copy.
    pub in_place_buffers: Support,
    /// Largest width or height of an image, pixels.
    pub max_image_side: u32,
    /// Largest number of pixels of an image shown in place.
    pub max_in_place_pixels: u64,
    /// Readers outside of this program, each of which may keep one block for as long as it likes ([`crate::display::StagingDriver::claim`]):
    /// rings grow by so many pieces where those are kept.
    pub outside_readers: usize,
    /// Largest buffer, bytes.
    pub max_buffer_bytes: u64,
    /// The device's name for that limit, as [`ComputeCaps::allocation_limit`].
    pub buffer_limit: &'static str,
    /// Largest texture, bytes: more than a buffer where pixels reach it without one.
    pub max_image_bytes: u64,
    /// Rows in staging memory must start at multiples of this many bytes; a power of two.
    pub row_pitch_alignment: usize,
    /// The row that its memory begins with.
    pub native_row_order: RowOrder,
}

fn find(caps: &[MemoryCap], handle: HandleType, shape: MemoryShape) -> Support {
    caps.iter()
        .find(|c| c.handle == handle && c.shape == shape)
        .map_or_else(|| Support::No(format!("it has no {shape} that is shared by {handle}")), |c| c.support.clone())
}

fn find_semaphore(caps: &[SemaphoreCap], kind: SyncKind) -> Support {
    caps.iter()
        .find(|c| c.kind == kind)
        .map_or_else(|| Support::No(format!("it shares no {kind}")), |c| c.support.clone())
}

setters!(ComputeCaps {
    /// Sets the memory of others that kernels can write.
    with_imports(imports: Vec<MemoryCap>);
    /// Sets the formats of the images among the imports.
    with_image_formats(image_formats: impl Into<Vec<PixelFormat>>);
    /// Sets the device's own memory that others can open.
    with_exports(exports: Vec<MemoryCap>);
    /// Sets the semaphores of others that the backend's queue can wait for and signal.
    with_semaphores(semaphores: Vec<SemaphoreCap>);
    /// Sets the device's name for the limit of allocations, and how to get more.
    with_allocation_limit(allocation_limit: &'static str);
    /// Sets whether displays of the backend's queue need no path between queues.
    with_serves_its_queue(serves_its_queue: bool);
});

setters!(DisplayCaps {
    /// Sets the memory of others that the display can read.
    with_imports(imports: Vec<MemoryCap>);
    /// Sets the display's own memory that others can write.
    with_exports(exports: Vec<MemoryCap>);
    /// Sets the semaphores that the display can make for others.
    with_semaphores(semaphores: Vec<SemaphoreCap>);
    /// Sets the answer about staging blocks that are mapped again for each frame.
    with_orphaned_staging(orphaned_staging: Support);
    /// Sets the answer about staging blocks that stay mapped.
    with_persistent_staging(persistent_staging: Support);
    /// Sets the formats of the images that the display shows.
    with_image_formats(image_formats: impl Into<Vec<PixelFormat>>);
    /// Sets the formats that the display does not show, each with what the device lacks for it.
    with_lacked_formats(lacked_formats: Vec<(PixelFormat, String)>);
    /// Sets the answer about images shown straight from linear memory.
    with_in_place_images(in_place_images: Support);
    /// Sets the answer about buffers read straight from linear memory.
    with_in_place_buffers(in_place_buffers: Support);
    /// Sets how many pixels an image shown in place has at most.
    with_max_in_place_pixels(max_in_place_pixels: u64);
    /// Sets the device's name for the limit of buffers, and how to get more.
    with_buffer_limit(buffer_limit: &'static str);
    /// Sets how many bytes a texture has at most.
    with_max_image_bytes(max_image_bytes: u64);
    /// Sets how many readers outside of this program may keep a block each.
    with_outside_readers(outside_readers: usize);
    /// Sets the bytes, a power of two, at whose multiples rows in staging memory begin.
    with_row_pitch_alignment(row_pitch_alignment: usize);
});

impl ComputeCaps {
    /// Kernels in these languages, best first, and allocations of so many bytes at most. Nothing is shared.
    pub const fn new(languages: Vec<Language>, max_allocation: u64) -> Self {
        Self {
            languages,
            imports: Vec::new(),
            image_formats: Vec::new(),
            exports: Vec::new(),
            semaphores: Vec::new(),
            max_allocation,
            allocation_limit: "",
            serves_its_queue: false,
        }
    }

    /// Tells whether others can open its memory by `handle`.
    pub fn can_export(&self, handle: HandleType, shape: MemoryShape) -> Support {
        find(&self.exports, handle, shape)
    }

    /// The display's queue that it computes in, where it does.
    pub fn display_queue(&self) -> Option<QueueId> {
        self.exports.iter().find_map(|cap| match cap.handle {
            HandleType::QueueBuffer(queue) => Some(queue),
            _ => None,
        })
    }

    /// Tells whether kernels can write memory named by `handle`.
    pub fn can_import(&self, handle: HandleType, shape: MemoryShape) -> Support {
        find(&self.imports, handle, shape)
    }

    /// Tells whether kernels can write memory named by `handle` as that surface: how it lies, and the format of an image.
    pub fn can_import_surface(&self, handle: HandleType, surface: &SurfaceDesc) -> Support {
        let shape = surface.shape();
        self.can_import(handle, shape).and(|| {
            let SurfaceDesc::Image(ImageDesc { format, .. }) = surface else { return Support::Yes };
            let mut caps = self.imports.iter().filter(|c| c.handle == handle && c.shape == shape);
            if !self.image_formats.contains(format) {
                Support::No(format!("kernels cannot write images of {format}"))
            } else if caps.any(|c| c.refused_formats.contains(format)) {
                Support::No(format!("images of {format} cannot be shared by {handle}"))
            } else {
                Support::Yes
            }
        })
    }

    /// Tells whether its queue can wait for and signal such semaphores of others.
    pub fn can_open_semaphore(&self, kind: SyncKind) -> Support {
        find_semaphore(&self.semaphores, kind)
    }
}

impl DisplayCaps {
    /// Images of no format with so many pixels a side at most, and buffers of so many bytes. There are no staging blocks,
    /// nothing is shared and nothing shown in place; rows may start at any byte.
    pub fn new(max_image_side: u32, max_buffer_bytes: u64, native_row_order: RowOrder) -> Self {
        let no = |what: &str| Support::No(format!("it has no {what}"));
        Self {
            imports: Vec::new(),
            exports: Vec::new(),
            semaphores: Vec::new(),
            orphaned_staging: no("staging blocks that are mapped again"),
            persistent_staging: no("staging blocks that stay mapped"),
            image_formats: Vec::new(),
            lacked_formats: Vec::new(),
            in_place_images: no("images that are shown in place"),
            in_place_buffers: no("buffers that are read in place"),
            max_image_side,
            max_in_place_pixels: 0,
            outside_readers: 0,
            max_buffer_bytes,
            buffer_limit: "",
            max_image_bytes: max_buffer_bytes,
            row_pitch_alignment: 1,
            native_row_order,
        }
    }

    /// Tells whether the display can read memory named by `handle`.
    pub fn can_import(&self, handle: HandleType, shape: MemoryShape) -> Support {
        find(&self.imports, handle, shape)
    }

    /// Tells whether the display can give out memory named by `handle`.
    pub fn can_export(&self, handle: HandleType, shape: MemoryShape) -> Support {
        find(&self.exports, handle, shape)
    }

    /// Tells whether it can make such semaphores for others.
    pub fn can_make_semaphore(&self, kind: SyncKind) -> Support {
        find_semaphore(&self.semaphores, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_refuses_the_formats_of_its_row_alone() {
        let image = |format| SurfaceDesc::Image(ImageDesc::new(4, 4, format));
        let row = |handle| MemoryCap::new(handle, MemoryShape::Image, Support::Yes);
        let caps = ComputeCaps {
            languages: Vec::new(),
            imports: vec![row(HandleType::GlObject).without(&[PixelFormat::Rgb10A2]), row(HandleType::OPAQUE)],
            image_formats: vec![PixelFormat::Rgba8, PixelFormat::Rgb10A2],
            exports: Vec::new(),
            semaphores: Vec::new(),
            max_allocation: 0,
            allocation_limit: "",
            serves_its_queue: false,
        };
        let asked = |handle, format| caps.can_import_surface(handle, &image(format)).is_yes();
        assert!(asked(HandleType::GlObject, PixelFormat::Rgba8));
        assert!(!asked(HandleType::GlObject, PixelFormat::Rgb10A2));
        assert!(asked(HandleType::OPAQUE, PixelFormat::Rgb10A2));
        assert!(!asked(HandleType::OPAQUE, PixelFormat::R8));
    }
}
