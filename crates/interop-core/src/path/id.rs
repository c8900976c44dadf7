//! Names of paths.

use crate::error::{Error, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The family of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum PathKind {
    /// The compute API writes the display's own texture or buffer.
    Direct,
    /// One API exports memory that the other opens.
    ExternalMemory,
    /// The compute API writes memory that the display reads or maps: no copy by us.
    HostVisible,
    /// Through a pixel buffer object (or its like) of the display.
    PboStaging,
    /// Through client memory. Exists for every pair.
    HostRoundTrip,
}

/// One path: a family and its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PathId {
    /// The display's own texture or buffer, opened by the compute API.
    Direct,
    /// An image of the compute device, opened by the display as a texture.
    ExternalTexture,
    /// A texture of the display in memory made to be shared, opened by the compute device.
    ExportedTexture,
    /// Memory of the compute device, opened by the display, read by the draw where it lies.
    ExternalInPlace,
    /// Memory of the compute device, opened by the display, then uploaded by the display.
    ExternalUpload,
    /// Memory of the display's device, opened by the compute device, read by the draw where it lies.
    ExportedInPlace,
    /// Memory of the display's device, opened by the compute device, then uploaded by the display.
    ExportedUpload,
    /// Mapped memory of the display, written by the kernel, read by the draw where it lies.
    HostVisibleInPlace,
    /// Mapped memory of the display, written by the kernel, then uploaded by the display.
    HostVisibleUpload,
    /// Pages of the host, taken by both sides in place, read by the draw where they lie.
    PinnedInPlace,
    /// Pages of the host, taken by both sides in place, then uploaded by the display.
    PinnedUpload,
    /// A ring of persistently mapped staging blocks, with fences.
    PboPersistent,
    /// A staging block that is orphaned and mapped for each frame.
    PboOrphan,
    /// The frame is made visible to the host and uploaded from there.
    HostRoundTrip,
}

impl PathId {
    /// Every path.
    pub const ALL: [Self; 14] = [
        Self::Direct,
        Self::ExternalTexture,
        Self::ExportedTexture,
        Self::ExternalInPlace,
        Self::ExternalUpload,
        Self::ExportedInPlace,
        Self::ExportedUpload,
        Self::HostVisibleInPlace,
        Self::HostVisibleUpload,
        Self::PinnedInPlace,
        Self::PinnedUpload,
        Self::PboPersistent,
        Self::PboOrphan,
        Self::HostRoundTrip,
    ];

    /// Name on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::ExternalTexture => "external-texture",
            Self::ExportedTexture => "exported-texture",
            Self::ExternalInPlace => "external-in-place",
            Self::ExternalUpload => "external-upload",
            Self::ExportedInPlace => "exported-in-place",
            Self::ExportedUpload => "exported-upload",
            Self::HostVisibleInPlace => "host-visible-in-place",
            Self::HostVisibleUpload => "host-visible-upload",
            Self::PinnedInPlace => "pinned-in-place",
            Self::PinnedUpload => "pinned-upload",
            Self::PboPersistent => "pbo-persistent",
            Self::PboOrphan => "pbo-orphan",
            Self::HostRoundTrip => "host-round-trip",
        }
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PathId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|id| id.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid("PathId::from_str", format!("'{text}' is no path; the paths are {names}"))
        })
    }
}
