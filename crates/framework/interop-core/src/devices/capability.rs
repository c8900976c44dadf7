//! Capabilities of both sides: the memory and the semaphores that each can export and import.

use super::language::Language;
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::RowOrder;
use crate::describe::surface::{ImageDesc, MemoryShape, SurfaceDesc};
use crate::devices::queue_id::QueueId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Kind of handle that names memory across two APIs.
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
    /// A buffer of the display's own device, for a backend that computes in the display's own queue.
    #[serde(untagged)]
    QueueBuffer(QueueId),
    /// A handle known only to a program's own backend, display and path, by its name ([`crate::SharedHandle::Other`]).
    #[serde(untagged)]
    Other(&'static str),
}

impl HandleType {
    /// Handle type of device memory on this operating system.
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

/// Yes, or no with a reason for the user.
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
    /// The side supports it.
    Yes,
    /// The side does not support it, for this reason.
    No(String),
}

impl Support {
    /// Returns `Yes` where `condition` holds, otherwise `No` with the reason.
    pub fn when(condition: bool, reason: impl Into<String>) -> Self {
        if condition { Self::Yes } else { Self::No(reason.into()) }
    }

    /// True for `Yes`.
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Puts the name of the side, e.g. `display`, in front of the reason.
    #[must_use]
    pub fn of_the(&self, side: &str) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No(reason) => Self::No(format!("{side}: {reason}")),
        }
    }

    /// Returns `Yes` only where both are `Yes`, otherwise the first reason. `other` is asked only after a `Yes`.
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes => other(),
            no => no,
        }
    }

    /// Returns the error that `error` makes of the reason, where it is not supported.
    ///
    /// # Errors
    /// That error.
    pub fn ok_or_else<E>(self, error: impl FnOnce(String) -> E) -> Result<(), E> {
        match self {
            Self::Yes => Ok(()),
            Self::No(reason) => Err(error(reason)),
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
    /// Kind of handle.
    pub handle: HandleType,
    /// Layout of the memory.
    pub shape: MemoryShape,
    /// Whether this device supports it, and if not, why.
    pub support: Support,
    /// Alignment in bytes that an imported address must have, or that an exported one has.
    pub address_alignment: usize,
    /// Sizes are rounded up to a multiple of this many bytes.
    pub size_alignment: usize,
    /// Formats that images of this handle cannot have, although the side supports them otherwise.
    pub refused_formats: Vec<PixelFormat>,
}

impl MemoryCap {
    /// Returns what kernels in a queue can import by handles of the operating system: linear memory, if `linear` says
    /// so.
    pub fn opened_by_kernels(linear: Support) -> Vec<Self> {
        let image = Support::No("its kernels import linear memory only, no images".into());
        let cap = |shape, support| Self::new(HandleType::OPAQUE, shape, support);
        vec![cap(MemoryShape::Linear, linear), cap(MemoryShape::Image, image)]
    }

    /// Describes a handle type without alignment requirements.
    pub const fn new(handle: HandleType, shape: MemoryShape, support: Support) -> Self {
        Self { handle, shape, support, address_alignment: 1, size_alignment: 1, refused_formats: Vec::new() }
    }

    /// Excludes images of these formats.
    #[must_use]
    pub fn without(self, formats: &[PixelFormat]) -> Self {
        Self { refused_formats: formats.to_vec(), ..self }
    }

    /// Sets the alignment of addresses and sizes, in bytes.
    #[must_use]
    pub fn aligned(self, address_alignment: usize, size_alignment: usize) -> Self {
        Self { address_alignment, size_alignment, ..self }
    }
}

/// How two APIs order their accesses to the same memory; the best is the least.
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
    /// A semaphore with a counter; the other API waits for it on the GPU.
    TimelineSemaphore,
    /// A one-shot semaphore; the other API waits for it on the GPU.
    BinarySemaphore,
    /// A GL sync object that becomes a compute event, or the reverse.
    SharedEvent,
    /// Acquire and release, or map and unmap, order the accesses.
    Implicit,
    /// The host waits for a fence of one slot; work on other slots continues.
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

    /// Name on the command line, in variables and in JSON, e.g. `timeline-semaphore`.
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
            Error::invalid("SyncKind::from_str", format!("unknown synchronisation '{text}'; the kinds are {names}"))
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
    /// Whether this device supports it, and if not, why.
    pub support: Support,
}

impl SemaphoreCap {
    /// Describes the support for semaphores of `kind`.
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
    /// Memory of other APIs that kernels can write.
    pub imports: Vec<MemoryCap>,
    /// Formats of the images among the imports; empty where there are no images.
    pub image_formats: Vec<PixelFormat>,
    /// Its own memory that other APIs can open.
    pub exports: Vec<MemoryCap>,
    /// Semaphores of other APIs that its queue can wait for and signal; [`SyncKind::SharedEvent`] for sync objects of
    /// the display that it imports.
    pub semaphores: Vec<SemaphoreCap>,
    /// Largest single allocation of linear memory, in bytes. Images of a display may be as large as its textures.
    pub max_allocation: u64,
    /// The device's name for that limit, and how to raise it where that is possible, for errors. Empty where it has no
    /// name.
    pub allocation_limit: &'static str,
    /// True where displays in its own queue need no path that shares memory between queues.
    pub serves_its_queue: bool,
}

/// Capabilities of a display for the sharing paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DisplayCaps {
    /// Memory of other APIs that it can read.
    pub imports: Vec<MemoryCap>,
    /// Its own memory that other APIs can write.
    pub exports: Vec<MemoryCap>,
    /// Semaphores that it can make for other APIs.
    pub semaphores: Vec<SemaphoreCap>,
    /// Support for staging blocks that are mapped again for each frame.
    pub orphaned_staging: Support,
    /// Support for staging blocks that stay mapped.
    pub persistent_staging: Support,
    /// Formats of the images that it shows.
    pub image_formats: Vec<PixelFormat>,
    /// Formats that it does not show, each with the feature that the device lacks, where that is known.
    pub lacked_formats: Vec<(PixelFormat, String)>,
    /// Support for showing images straight from linear memory, without an upload.
    pub in_place_images: Support,
    /// Support for reading buffers straight from linear memory, without a copy.
    pub in_place_buffers: Support,
    /// Largest width or height of an image, in pixels.
    pub max_image_side: u32,
    /// Largest number of pixels of an image shown in place.
    pub max_in_place_pixels: u64,
    /// Readers outside this program, each of which may keep one block for any time
    /// ([`crate::display::StagingDriver::claim`]): rings get one more slot for each.
    pub outside_readers: usize,
    /// Largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// The device's name for that limit; see [`ComputeCaps::allocation_limit`].
    pub buffer_limit: &'static str,
    /// Largest texture, in bytes. It may exceed the largest buffer where pixels reach it without a buffer.
    pub max_image_bytes: u64,
    /// Rows in staging memory must start at multiples of this many bytes; a power of two.
    pub row_pitch_alignment: usize,
    /// Order of the rows in the display's memory.
    pub native_row_order: RowOrder,
}

fn find(caps: &[MemoryCap], handle: HandleType, shape: MemoryShape) -> Support {
    caps.iter()
        .find(|c| c.handle == handle && c.shape == shape)
        .map_or_else(|| Support::No(format!("it cannot share {shape} memory as {handle}")), |c| c.support.clone())
}

fn find_semaphore(caps: &[SemaphoreCap], kind: SyncKind) -> Support {
    caps.iter()
        .find(|c| c.kind == kind)
        .map_or_else(|| Support::No(format!("it cannot share a {kind}")), |c| c.support.clone())
}

crate::setters!(ComputeCaps {
    /// Sets the memory of other APIs that kernels can write.
    with_imports(imports: Vec<MemoryCap>);
    /// Sets the formats of the images among the imports.
    with_image_formats(image_formats: impl Into<Vec<PixelFormat>>);
    /// Sets the device's own memory that other APIs can open.
    with_exports(exports: Vec<MemoryCap>);
    /// Sets the semaphores of other APIs that the backend's queue can wait for and signal.
    with_semaphores(semaphores: Vec<SemaphoreCap>);
    /// Sets the device's name for the limit of allocations, and how to raise it.
    with_allocation_limit(allocation_limit: &'static str);
    /// Sets whether displays of the backend's queue need no path between queues.
    with_serves_its_queue(serves_its_queue: bool);
});

crate::setters!(DisplayCaps {
    /// Sets the memory of other APIs that the display can read.
    with_imports(imports: Vec<MemoryCap>);
    /// Sets the display's own memory that other APIs can write.
    with_exports(exports: Vec<MemoryCap>);
    /// Sets the semaphores that the display can make for other APIs.
    with_semaphores(semaphores: Vec<SemaphoreCap>);
    /// Sets the support for staging blocks that are mapped again for each frame.
    with_orphaned_staging(orphaned_staging: Support);
    /// Sets the support for staging blocks that stay mapped.
    with_persistent_staging(persistent_staging: Support);
    /// Sets the formats of the images that the display shows.
    with_image_formats(image_formats: impl Into<Vec<PixelFormat>>);
    /// Sets the formats that the display does not show, each with the feature that the device lacks.
    with_lacked_formats(lacked_formats: Vec<(PixelFormat, String)>);
    /// Sets the support for showing images straight from linear memory.
    with_in_place_images(in_place_images: Support);
    /// Sets the support for reading buffers straight from linear memory.
    with_in_place_buffers(in_place_buffers: Support);
    /// Sets the largest number of pixels of an image shown in place.
    with_max_in_place_pixels(max_in_place_pixels: u64);
    /// Sets the device's name for the limit of buffers, and how to raise it.
    with_buffer_limit(buffer_limit: &'static str);
    /// Sets the largest size of a texture, in bytes.
    with_max_image_bytes(max_image_bytes: u64);
    /// Sets the number of readers outside this program that may keep one block each.
    with_outside_readers(outside_readers: usize);
    /// Sets the alignment of rows in staging memory: a power of two, in bytes.
    with_row_pitch_alignment(row_pitch_alignment: usize);
});

impl ComputeCaps {
    /// A device with these kernel languages, best first, and allocations of at most `max_allocation` bytes. It shares
    /// nothing.
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

    /// Tells whether other APIs can open its memory by `handle`.
    pub fn can_export(&self, handle: HandleType, shape: MemoryShape) -> Support {
        find(&self.exports, handle, shape)
    }

    /// Returns the queue of the display in which the backend computes, where it does.
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

    /// Tells whether kernels can write memory named by `handle` as `surface`, by its layout and an image's format.
    pub fn can_import_surface(&self, handle: HandleType, surface: &SurfaceDesc) -> Support {
        let shape = surface.shape();
        self.can_import(handle, shape).and(|| {
            let SurfaceDesc::Image(ImageDesc { format, .. }) = surface else { return Support::Yes };
            let mut caps = self.imports.iter().filter(|c| c.handle == handle && c.shape == shape);
            if !self.image_formats.contains(format) {
                Support::No(format!("kernels cannot write images of format {format}"))
            } else if caps.any(|c| c.refused_formats.contains(format)) {
                Support::No(format!("images of format {format} cannot be shared by {handle}"))
            } else {
                Support::Yes
            }
        })
    }

    /// Tells whether its queue can wait for and signal semaphores of this kind that others made.
    pub fn can_open_semaphore(&self, kind: SyncKind) -> Support {
        find_semaphore(&self.semaphores, kind)
    }
}

impl DisplayCaps {
    /// A display with at most this many pixels on an image's side and bytes in a buffer, and no image formats yet. It
    /// has no staging blocks, shares nothing and shows nothing in place. Rows may start at any byte.
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

    /// Tells whether the display can export memory named by `handle`.
    pub fn can_export(&self, handle: HandleType, shape: MemoryShape) -> Support {
        find(&self.exports, handle, shape)
    }

    /// Tells whether the display can make semaphores of this kind for other APIs.
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
