//! Names of sharing paths.

use serde::Serialize;
use std::fmt;

/// The family of a sharing path: how its memory reaches the display.
///
/// ```
/// use interop_core::{PathId, PathKind, path::PATHS};
///
/// let in_place = PATHS.iter().find(|path| path.id == PathId::PINNED_IN_PLACE);
/// assert_eq!(in_place.map(|path| path.kind), Some(PathKind::HostVisible));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum PathKind {
    /// The compute API writes the display's own texture or buffer.
    Direct,
    /// One API exports memory, and the other imports it.
    ExternalMemory,
    /// Kernels run in the display's own queue.
    InQueue,
    /// The compute API writes memory that the display reads or maps; the framework makes no copy.
    HostVisible,
    /// Frames pass through a pixel buffer object, or a similar staging block, of the display.
    PboStaging,
    /// Frames pass through plain host memory. It exists for every pair of backend and display.
    HostRoundTrip,
    /// A path that the program supplies, see [`crate::Paths`].
    Plugged,
}

impl PathKind {
    /// True where compute and display share memory of a device; false where the frame passes through host memory.
    ///
    /// ```
    /// use interop_core::PathKind;
    ///
    /// assert!(PathKind::Direct.is_shared() && !PathKind::HostVisible.is_shared());
    /// ```
    pub const fn is_shared(self) -> bool {
        match self {
            Self::Direct | Self::ExternalMemory | Self::InQueue | Self::Plugged => true,
            Self::HostVisible | Self::PboStaging | Self::HostRoundTrip => false,
        }
    }
}

/// The name of a path: a built-in one, or one that a program [adds](crate::Paths::with).
///
/// ```
/// use interop_core::{PathId, Paths, Policy};
///
/// // The name as on a command line.
/// let id = Paths::default().named("host-round-trip")?;
/// assert_eq!(id, PathId::HOST_ROUND_TRIP);
/// let policy = Policy::default().with_force(id);
/// # assert!(policy.force.is_some());
/// assert!(Paths::default().named("teleport").is_err());
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct PathId(&'static str);

impl PathId {
    /// The display's own texture or buffer, opened by the compute API.
    pub const DIRECT: Self = Self("direct");
    /// An image of the compute device, imported by the display as a texture.
    pub const EXTERNAL_TEXTURE: Self = Self("external-texture");
    /// A shareable texture of the display, imported by the compute device.
    pub const EXPORTED_TEXTURE: Self = Self("exported-texture");
    /// Memory of the compute device, imported by the display; the draw reads it where it lies.
    pub const EXTERNAL_IN_PLACE: Self = Self("external-in-place");
    /// Memory of the compute device, imported by the display, which then uploads it.
    pub const EXTERNAL_UPLOAD: Self = Self("external-upload");
    /// Memory of the display's device, imported by the compute device; the draw reads it where it lies.
    pub const EXPORTED_IN_PLACE: Self = Self("exported-in-place");
    /// Memory of the display's device, imported by the compute device; the display then uploads it.
    pub const EXPORTED_UPLOAD: Self = Self("exported-upload");
    /// A texture of the display, written by kernels in the display's queue.
    pub const IN_QUEUE_TEXTURE: Self = Self("in-queue-texture");
    /// Memory of the display's device, written by kernels in the display's queue; the draw reads it where it lies.
    pub const IN_QUEUE_IN_PLACE: Self = Self("in-queue-in-place");
    /// Memory of the display's device, written by kernels in the display's queue; the display then copies it.
    pub const IN_QUEUE_UPLOAD: Self = Self("in-queue-upload");
    /// Mapped memory of the display, written by the kernel; the draw reads it where it lies.
    pub const HOST_VISIBLE_IN_PLACE: Self = Self("host-visible-in-place");
    /// Mapped memory of the display, written by the kernel; the display then uploads it.
    pub const HOST_VISIBLE_UPLOAD: Self = Self("host-visible-upload");
    /// Host pages that both sides import; the draw reads them where they lie.
    pub const PINNED_IN_PLACE: Self = Self("pinned-in-place");
    /// Host pages that both sides import; the display then uploads them.
    pub const PINNED_UPLOAD: Self = Self("pinned-upload");
    /// A ring of persistently mapped staging blocks, with fences.
    pub const PBO_PERSISTENT: Self = Self("pbo-persistent");
    /// A staging block that is orphaned and mapped for each frame.
    pub const PBO_ORPHAN: Self = Self("pbo-orphan");
    /// The frame is copied or mapped to the host and uploaded from there.
    pub const HOST_ROUND_TRIP: Self = Self("host-round-trip");

    /// Creates a name without a check; [`crate::Paths::with`] checks it.
    pub(crate) const fn unchecked(name: &'static str) -> Self {
        Self(name)
    }

    /// Name of the path on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
