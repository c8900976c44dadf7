//! Names of memory and semaphores that one API opens and another owns.

use super::capability::{HandleType, SyncKind};
use super::os_handle::OsHandle;
use super::queue_id::QueueId;
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use std::any::Any;
use std::{fmt, io};

/// A handle to memory or a semaphore, as one side gives it out.
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
        /// Object name.
        name: u32,
        /// Binding target, e.g. `GL_TEXTURE_2D`.
        target: u32,
    },
    /// A buffer of the OpenGL context that is current on the calling thread.
    GlBuffer {
        /// Object name.
        name: u32,
    },
    /// Memory behind an opaque handle of the operating system.
    Memory(MemoryHandle),
    /// A semaphore behind an opaque handle of the operating system.
    Semaphore(SemaphoreHandle),
    /// A buffer of the display's own device.
    QueueBuffer {
        /// The display's queue.
        queue: QueueId,
        /// The buffer, of a type of the display's crate, which knows it again.
        buffer: Box<dyn Any + Send>,
    },
    /// Something that only those know who give it the same name, such as a dma-buf or an IOSurface.
    Other {
        /// Its name, as in [`HandleType::Other`].
        name: &'static str,
        /// The handle itself, of a type of theirs, which closes it when it is dropped.
        handle: Box<dyn Any + Send>,
    },
}

impl SharedHandle {
    /// Returns what sort of handle it is.
    pub const fn handle_type(&self) -> HandleType {
        match self {
            Self::GlTexture { .. } | Self::GlBuffer { .. } => HandleType::GlObject,
            Self::Memory(_) | Self::Semaphore(_) => HandleType::OPAQUE,
            Self::QueueBuffer { queue, .. } => HandleType::QueueBuffer(*queue),
            Self::Other { name, .. } => HandleType::Other(name),
        }
    }

    /// Another handle of the memory that it names, for a driver that is to take it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it does not name memory; [`Error::Unsupported`] where the operating system has no more
    /// handles.
    pub fn duplicate_memory(&self) -> Result<MemoryHandle> {
        match self {
            Self::Memory(memory) => memory.try_clone().map_err(not_duplicated),
            _ => Err(self.names_no(&"memory by an opaque handle")),
        }
    }

    /// Another handle of the semaphore that it names, for a driver that is to take it.
    ///
    /// # Errors
    /// Those of [`SharedHandle::duplicate_memory`], of a semaphore.
    pub fn duplicate_semaphore(&self) -> Result<SemaphoreHandle> {
        match self {
            Self::Semaphore(semaphore) => semaphore.try_clone().map_err(not_duplicated),
            _ => Err(self.names_no(&"semaphore by an opaque handle")),
        }
    }

    /// The object of a display's queue that it names, of the type that the same crate put there.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it names none, or one of another crate or version; `what` is asked for, e.g. `buffer`.
    pub fn in_queue<T: Any>(&self, what: &str) -> Result<&T> {
        let Self::QueueBuffer { buffer, .. } = self else { return Err(self.names_no(&format!("{what} of a queue"))) };
        let other = || Error::refused(format!("the {what} is of another API, or of another version of this crate"));
        buffer.downcast_ref().ok_or_else(other)
    }

    /// An error where it does not name what is asked for.
    pub fn names_no(&self, what: &dyn fmt::Display) -> Error {
        Error::refused(format!("a {} does not name a {what}", self.handle_type()))
    }

    /// Refuses memory that is smaller than what is asked of it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check_room(has: u64, needed: u64) -> Result<()> {
        if has >= needed {
            return Ok(());
        }
        Err(Error::refused(format!("the memory has {has} bytes, {needed} are needed")))
    }

    /// Refuses what is no such surface, or is too small for one, as far as the handle itself says.
    ///
    /// # Errors
    /// [`Error::InvalidInput`], of `operation`.
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

/// Memory of a device behind an opaque handle of the operating system (`VK_KHR_external_memory_fd` or `_win32`, CUDA VMM),
/// with what importers must be told of it. Importing takes a duplicate; this one is closed on drop.
///
/// Whoever has one may open it anywhere: drivers believe what they are told of opaque memory, so that the promise is made
/// where a handle gets its description ([`MemoryHandle::new`]).
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
    /// Describes a handle that another API gave out.
    ///
    /// `bytes` is the size of the whole allocation; `dedicated` says that it was made for one image or buffer alone
    /// (`VkMemoryDedicatedAllocateInfo`).
    ///
    /// # Safety
    /// The handle is an opaque one of device memory (`vkGetMemoryFdKHR`, `vkGetMemoryWin32HandleKHR`,
    /// `cuMemExportToShareableHandle`), and both are true of it.
    pub const unsafe fn new(handle: OsHandle, bytes: u64, dedicated: bool) -> Self {
        Self { handle, bytes, dedicated }
    }

    /// The file descriptor (Unix) or NT handle (Windows).
    pub const fn handle(&self) -> &OsHandle {
        &self.handle
    }

    /// Size of the whole allocation in bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True where the allocation was made for one image or buffer alone.
    pub const fn is_dedicated(&self) -> bool {
        self.dedicated
    }

    /// The handle alone, for the driver that is to take it.
    pub fn into_handle(self) -> OsHandle {
        self.handle
    }

    /// Another handle of the same memory.
    ///
    /// # Errors
    /// Where the operating system has no more handles.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()?, ..*self })
    }
}

/// A semaphore behind an opaque handle of the operating system (`VK_KHR_external_semaphore_fd`,
/// `VK_KHR_external_semaphore_win32`), with its kind. Importing takes a duplicate; this one is closed on drop.
#[derive(Debug)]
pub struct SemaphoreHandle {
    handle: OsHandle,
    kind: SyncKind,
}

impl SemaphoreHandle {
    /// Describes a handle that another API gave out, as [`MemoryHandle::new`] does.
    ///
    /// # Safety
    /// The handle is an opaque one of a semaphore (`vkGetSemaphoreFdKHR`, `vkGetSemaphoreWin32HandleKHR`) of this kind:
    /// [`SyncKind::BinarySemaphore`] or [`SyncKind::TimelineSemaphore`].
    pub const unsafe fn new(handle: OsHandle, kind: SyncKind) -> Self {
        Self { handle, kind }
    }

    /// The file descriptor (Unix) or NT handle (Windows).
    pub const fn handle(&self) -> &OsHandle {
        &self.handle
    }

    /// Tells whether it has a counter.
    pub const fn kind(&self) -> SyncKind {
        self.kind
    }

    /// The handle alone, for the driver that is to take it.
    pub fn into_handle(self) -> OsHandle {
        self.handle
    }

    /// Another handle of the same semaphore.
    ///
    /// # Errors
    /// Where the operating system has no more handles.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()?, ..*self })
    }
}
