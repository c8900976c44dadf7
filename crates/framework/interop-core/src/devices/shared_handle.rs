//! Handles of memory and semaphores that one API owns and another opens.

use super::capability::{HandleType, SyncKind};
use super::os_handle::OsHandle;
use super::queue_id::QueueId;
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use std::any::Any;
use std::{fmt, io};

/// A handle to memory or a semaphore, as one side exports it.
///
/// ```
/// use interop_core::{HandleType, SharedHandle};
///
/// // A handle that only a program's own backend and display know.
/// let handle = SharedHandle::Other { name: "my-pages", handle: Box::new(vec![0_u8; 64]) };
/// assert_eq!(handle.handle_type(), HandleType::Other("my-pages"));
/// let SharedHandle::Other { handle, .. } = handle else { return };
/// assert!(handle.downcast::<Vec<u8>>().is_ok());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SharedHandle {
    /// A texture of the OpenGL context that is current on the calling thread.
    GlTexture {
        /// Name of the texture object.
        name: u32,
        /// Binding target, e.g. `GL_TEXTURE_2D`.
        target: u32,
    },
    /// A buffer of the OpenGL context that is current on the calling thread.
    GlBuffer {
        /// Name of the buffer object.
        name: u32,
    },
    /// Memory behind an opaque handle of the operating system.
    Memory(MemoryHandle),
    /// A semaphore behind an opaque handle of the operating system.
    Semaphore(SemaphoreHandle),
    /// A buffer of the display's own device.
    QueueBuffer {
        /// Identity of the display's queue.
        queue: QueueId,
        /// The buffer, in a type of the display's crate, which downcasts it.
        buffer: Box<dyn Any + Send>,
    },
    /// A handle for sides that agree on its name, such as a dma-buf or an IOSurface.
    Other {
        /// The agreed name, as in [`HandleType::Other`].
        name: &'static str,
        /// The handle itself, in a type of those sides; dropping it closes the handle.
        handle: Box<dyn Any + Send>,
    },
}

impl SharedHandle {
    /// Returns the kind of handle.
    pub const fn handle_type(&self) -> HandleType {
        match self {
            Self::GlTexture { .. } | Self::GlBuffer { .. } => HandleType::GlObject,
            Self::Memory(_) | Self::Semaphore(_) => HandleType::OPAQUE,
            Self::QueueBuffer { queue, .. } => HandleType::QueueBuffer(*queue),
            Self::Other { name, .. } => HandleType::Other(name),
        }
    }

    /// Duplicates the handle of the memory that it names, for a driver that takes ownership.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it does not name memory; [`Error::Unsupported`] where the operating system has no
    /// more handles.
    pub fn duplicate_memory(&self) -> Result<MemoryHandle> {
        match self {
            Self::Memory(memory) => memory.try_clone().map_err(not_duplicated),
            _ => Err(self.names_no(&"memory by an opaque handle")),
        }
    }

    /// Duplicates the handle of the semaphore that it names, for a driver that takes ownership.
    ///
    /// # Errors
    /// Like [`SharedHandle::duplicate_memory`], for a semaphore.
    pub fn duplicate_semaphore(&self) -> Result<SemaphoreHandle> {
        match self {
            Self::Semaphore(semaphore) => semaphore.try_clone().map_err(not_duplicated),
            _ => Err(self.names_no(&"semaphore by an opaque handle")),
        }
    }

    /// Returns the object of a display's queue that it names, in the type that the same crate stored.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it names no such object, or an object of another crate or version. `what` names
    /// the requested object, e.g. `buffer`.
    pub fn in_queue<T: Any>(&self, what: &str) -> Result<&T> {
        let Self::QueueBuffer { buffer, .. } = self else { return Err(self.names_no(&format!("{what} of a queue"))) };
        let other = || Error::refused(format!("the {what} belongs to another API or to another version of this crate"));
        buffer.downcast_ref().ok_or_else(other)
    }

    /// Returns the error for a handle that does not name the requested object.
    pub fn names_no(&self, what: &dyn fmt::Display) -> Error {
        Error::refused(format!("a {} does not name a {what}", self.handle_type()))
    }

    /// Checks that memory is large enough.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `has` is less than `needed`, in bytes.
    pub fn check_room(has: u64, needed: u64) -> Result<()> {
        if has >= needed {
            return Ok(());
        }
        Err(Error::refused(format!("the memory has {has} bytes, but {needed} are needed")))
    }

    /// Checks that the handle can name memory for this surface, as far as the handle itself tells.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it has another kind or too few bytes.
    pub fn check_names(&self, desc: &SurfaceDesc) -> Result<()> {
        let bytes = desc.byte_len()?;
        match (self, desc) {
            (Self::Memory(memory), _) => Self::check_room(memory.bytes(), bytes as u64),
            (Self::GlTexture { .. }, SurfaceDesc::Buffer(_))
            | (Self::GlBuffer { .. }, SurfaceDesc::Image(_))
            | (Self::Semaphore(_), _) => Err(self.names_no(desc)),
            _ => Ok(()),
        }
    }
}

fn not_duplicated(error: io::Error) -> Error {
    Error::unsupported("the operating system", format!("the handle cannot be duplicated: {error}"))
}

/// Device memory behind an opaque handle of the operating system (`VK_KHR_external_memory_fd` or `_win32`, CUDA VMM),
/// with the properties that importers need. Importing uses a duplicate; dropping this value closes the handle.
///
/// Its owner may open it anywhere. Drivers trust the given description of opaque memory, so the promise is made where
/// the handle is described ([`MemoryHandle::new`]).
///
/// ```compile_fail,E0133
/// # use interop_core::MemoryHandle;
/// let any = std::fs::File::open("/dev/null").unwrap();
/// let handle = MemoryHandle::new(any.into(), 1 << 30, false); // a promise: needs `unsafe`
/// ```
#[derive(Debug)]
pub struct MemoryHandle {
    handle: OsHandle,
    bytes: u64,
    dedicated: bool,
}

impl MemoryHandle {
    /// Describes a handle that another API exported.
    ///
    /// `bytes` is the size of the whole allocation. `dedicated` says that the allocation was made for exactly one image
    /// or buffer (`VkMemoryDedicatedAllocateInfo`).
    ///
    /// # Safety
    /// The handle is an opaque handle of device memory (`vkGetMemoryFdKHR`, `vkGetMemoryWin32HandleKHR`,
    /// `cuMemExportToShareableHandle`), and both values are correct for it.
    pub const unsafe fn new(handle: OsHandle, bytes: u64, dedicated: bool) -> Self {
        Self { handle, bytes, dedicated }
    }

    /// The file descriptor (Unix) or NT handle (Windows).
    pub const fn handle(&self) -> &OsHandle {
        &self.handle
    }

    /// Size of the whole allocation, in bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True where the allocation was made for exactly one image or buffer.
    pub const fn is_dedicated(&self) -> bool {
        self.dedicated
    }

    /// Returns the handle without its description, for a driver that takes ownership.
    pub fn into_handle(self) -> OsHandle {
        self.handle
    }

    /// Duplicates the handle; both name the same memory.
    ///
    /// # Errors
    /// Where the operating system has no more handles.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()?, ..*self })
    }
}

/// A semaphore behind an opaque handle of the operating system (`VK_KHR_external_semaphore_fd`,
/// `VK_KHR_external_semaphore_win32`), with its kind. Importing uses a duplicate; dropping this value closes the
/// handle.
#[derive(Debug)]
pub struct SemaphoreHandle {
    handle: OsHandle,
    kind: SyncKind,
}

impl SemaphoreHandle {
    /// Describes a handle that another API exported, like [`MemoryHandle::new`].
    ///
    /// # Safety
    /// The handle is an opaque handle of a semaphore (`vkGetSemaphoreFdKHR`, `vkGetSemaphoreWin32HandleKHR`) of this
    /// kind: [`SyncKind::BinarySemaphore`] or [`SyncKind::TimelineSemaphore`].
    pub const unsafe fn new(handle: OsHandle, kind: SyncKind) -> Self {
        Self { handle, kind }
    }

    /// The file descriptor (Unix) or NT handle (Windows).
    pub const fn handle(&self) -> &OsHandle {
        &self.handle
    }

    /// Returns whether the semaphore is binary or a timeline.
    pub const fn kind(&self) -> SyncKind {
        self.kind
    }

    /// Returns the handle without its kind, for a driver that takes ownership.
    pub fn into_handle(self) -> OsHandle {
        self.handle
    }

    /// Duplicates the handle; both name the same semaphore.
    ///
    /// # Errors
    /// Where the operating system has no more handles.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()?, ..*self })
    }
}
