//! Names of memory and semaphores that one API opens and another owns.

use crate::capability::{HandleType, SyncKind};
use crate::os_handle::OsHandle;

/// A handle to memory or a semaphore, as one side gives it out.
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
    /// Memory behind an opaque handle of the operating system. Importing takes a duplicate; this one is closed on drop.
    Memory {
        /// The file descriptor (Unix) or NT handle (Windows).
        handle: OsHandle,
        /// Size of the whole allocation in bytes, which importers must be told.
        bytes: u64,
        /// The allocation was made for one image or buffer alone (`VkMemoryDedicatedAllocateInfo`), which importers
        /// must be told, too.
        dedicated: bool,
    },
    /// A semaphore behind an opaque handle of the operating system (`VK_KHR_external_semaphore_fd`,
    /// `VK_KHR_external_semaphore_win32`). Importing takes a duplicate.
    Semaphore {
        /// The file descriptor (Unix) or NT handle (Windows).
        handle: OsHandle,
        /// [`SyncKind::BinarySemaphore`] or [`SyncKind::TimelineSemaphore`].
        kind: SyncKind,
    },
}

impl SharedHandle {
    /// What sort of handle it is.
    pub const fn handle_type(&self) -> HandleType {
        match self {
            Self::GlTexture { .. } | Self::GlBuffer { .. } => HandleType::GlObject,
            Self::Memory { .. } | Self::Semaphore { .. } => HandleType::OPAQUE,
        }
    }
}
