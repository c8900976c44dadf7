//! Names of paths.

use serde::Serialize;
use std::fmt;

/// The family of a path.
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
    /// One API exports memory that the other opens.
    ExternalMemory,
    /// Kernels run in the display's own queue.
    InQueue,
    /// The compute API writes memory that the display reads or maps: no copy by us.
    HostVisible,
    /// Through a pixel buffer object (or its like) of the display.
    PboStaging,
    /// Through client memory. Exists for every pair.
    HostRoundTrip,
    /// A way of the program's own, see [`crate::Paths`].
    Plugged,
}

impl PathKind {
    /// True where compute and display share memory of a device; false where the frame passes through memory of the host.
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

/// The name of a path: of a built-in one, or of one that a program [adds](crate::Paths::with).
///
/// ```
/// use interop_core::{PathId, Paths, Policy};
///
/// // As a command line names it.
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
    /// An image of the compute device, opened by the display as a texture.
    pub const EXTERNAL_TEXTURE: Self = Self("external-texture");
    /// A texture of the display in memory made to be shared, opened by the compute device.
    pub const EXPORTED_TEXTURE: Self = Self("exported-texture");
    /// Memory of the compute device, opened by the display, read by the draw where it lies.
    pub const EXTERNAL_IN_PLACE: Self = Self("external-in-place");
    /// Memory of the compute device, opened by the display, then uploaded by the display.
    pub const EXTERNAL_UPLOAD: Self = Self("external-upload");
    /// Memory of the display's device, opened by the compute device, read by the draw where it lies.
    pub const EXPORTED_IN_PLACE: Self = Self("exported-in-place");
    /// Memory of the display's device, opened by the compute device, then uploaded by the display.
    pub const EXPORTED_UPLOAD: Self = Self("exported-upload");
    /// A texture of the display, written by kernels in the display's queue.
    pub const IN_QUEUE_TEXTURE: Self = Self("in-queue-texture");
    /// Memory of the display's device, written by kernels in the display's queue, read by the draw where it lies.
    pub const IN_QUEUE_IN_PLACE: Self = Self("in-queue-in-place");
    /// Memory of the display's device, written by kernels in the display's queue, then copied by the display.
    pub const IN_QUEUE_UPLOAD: Self = Self("in-queue-upload");
    /// Mapped memory of the display, written by the kernel, read by the draw where it lies.
    pub const HOST_VISIBLE_IN_PLACE: Self = Self("host-visible-in-place");
    /// Mapped memory of the display, written by the kernel, then uploaded by the display.
    pub const HOST_VISIBLE_UPLOAD: Self = Self("host-visible-upload");
    /// Pages of the host, taken by both sides in place, read by the draw where they lie.
    pub const PINNED_IN_PLACE: Self = Self("pinned-in-place");
    /// Pages of the host, taken by both sides in place, then uploaded by the display.
    pub const PINNED_UPLOAD: Self = Self("pinned-upload");
    /// A ring of persistently mapped staging blocks, with fences.
    pub const PBO_PERSISTENT: Self = Self("pbo-persistent");
    /// A staging block that is orphaned and mapped for each frame.
    pub const PBO_ORPHAN: Self = Self("pbo-orphan");
    /// The frame is made visible to the host and uploaded from there.
    pub const HOST_ROUND_TRIP: Self = Self("host-round-trip");

    /// A name that nobody has looked at yet; [`crate::Paths::with`] does.
    pub(crate) const fn unchecked(name: &'static str) -> Self {
        Self(name)
    }

    /// Name on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
