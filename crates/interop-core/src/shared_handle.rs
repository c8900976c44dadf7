//! Names of memory and semaphores that one API opens and another owns.

use crate::capability::HandleType;
#[cfg(unix)]
use crate::capability::SyncKind;
#[cfg(unix)]
use std::os::fd::OwnedFd;

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
    /// Memory behind a POSIX file descriptor. Importing takes a duplicate; this one is closed on drop.
    #[cfg(unix)]
    OpaqueFd {
        /// The descriptor.
        fd: OwnedFd,
        /// Size of the whole allocation in bytes, which importers must be told.
        bytes: u64,
        /// The allocation was made for one image or buffer alone (`VkMemoryDedicatedAllocateInfo`), which importers
        /// must be told, too.
        dedicated: bool,
    },
    /// A semaphore behind a POSIX file descriptor (`VK_KHR_external_semaphore_fd`). Importing takes a duplicate.
    #[cfg(unix)]
    SemaphoreFd {
        /// The descriptor.
        fd: OwnedFd,
        /// [`SyncKind::BinarySemaphore`] or [`SyncKind::TimelineSemaphore`].
        kind: SyncKind,
    },
}

impl SharedHandle {
    /// What sort of handle it is.
    pub const fn handle_type(&self) -> HandleType {
        match self {
            Self::GlTexture { .. } | Self::GlBuffer { .. } => HandleType::GlObject,
            #[cfg(unix)]
            Self::OpaqueFd { .. } | Self::SemaphoreFd { .. } => HandleType::OpaqueFd,
        }
    }
}
