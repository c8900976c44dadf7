//! An opened path of any mechanism.

use super::contract::SharingPath;
use super::direct::{AbsentMemory, DirectPath};
use super::host_round_trip::HostRoundTrip;
use super::pairing::Pairing;
use super::pbo_staging::PboStaging;
use super::plugged_path::PluggedPath;
use super::shared_memory::SharedMemory;
use crate::compute::{ComputeMemory, Target};
use crate::describe::error::{Error, Result};
use crate::devices::capability::SyncKind;
use crate::devices::timeline::FrameTag;
use crate::display::{Surface, SurfacePart};
use enum_dispatch::enum_dispatch;
use std::mem::swap;

/// An opened path of any mechanism. The set is closed except for the last variant, so that calls of the built-in paths
/// are branches instead of virtual calls.
// The macro generates its code here because this file comes after the trait's; this file therefore imports the types of
// the trait.
#[enum_dispatch(SharingPath)]
pub enum OpenedPath {
    /// Objects of the display, opened by the compute API.
    Direct(DirectPath),
    /// Memory that both sides access.
    SharedMemory(SharedMemory),
    /// Staging blocks of the display.
    PboStaging(PboStaging),
    /// Client memory of the host.
    HostRoundTrip(HostRoundTrip),
    /// A mechanism that the program supplies.
    Plugged(PluggedPath),
}

/// Engine's objects in place of the path's own surface.
impl OpenedPath {
    /// Runs `f` with `object` as the path's surface, which must be of the same kind. Imports of an object stay open
    /// when [`SharingPath::surface_mut`] swaps it for another one that was used here before.
    pub(crate) fn with_object<R>(&mut self, object: &mut Surface, f: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.exchange(object)?;
        let done = f(self);
        swap(self.surface_mut(), object);
        done
    }

    /// Continues with this surface, which must be of the same kind, and leaves the previous one in its place.
    pub(crate) fn exchange(&mut self, object: &mut Surface) -> Result<()> {
        match self {
            Self::Direct(path) => path.exchange(object)?,
            path => swap(path.surface_mut(), object),
        }
        Ok(())
    }

    /// Returns the memory of the frame that was begun last, for kernels that read the surface's content.
    pub(crate) fn memory(&self) -> &dyn ComputeMemory {
        match self {
            Self::Direct(path) => path.memory(),
            Self::SharedMemory(path) => path.memory(),
            Self::PboStaging(path) => path.canvas.memory(),
            Self::HostRoundTrip(path) => path.canvas.memory(),
            Self::Plugged(_) => &AbsentMemory,
        }
    }

    /// True where kernels write a texture's own memory.
    pub(crate) fn is_texture(&self) -> bool {
        match self {
            Self::Direct(path) => path.is_texture(),
            Self::SharedMemory(path) => !path.has_views(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => false,
        }
    }

    /// True where the display reads the kernels' memory for as long as a frame is shown, and cannot write it.
    pub(crate) fn reads_in_place(&self) -> bool {
        matches!(self, Self::SharedMemory(path) if path.reads_in_place())
    }

    /// True where smaller sizes are views of the memory; textures have no views.
    pub(crate) fn has_views(&self) -> bool {
        match self {
            Self::Direct(_) => false,
            Self::SharedMemory(path) => path.has_views(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => true,
        }
    }
}

/// Rings whose slots are made one by one, see [`Pairing::with_one_piece`].
impl OpenedPath {
    /// Number of slots that the next frames use and that are not made yet.
    pub(crate) fn missing_pieces(&self) -> usize {
        match self {
            Self::Direct(path) => path.missing_pieces(),
            Self::SharedMemory(path) => path.missing_pieces(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => 0,
        }
    }

    /// True where the next frame needs a slot that is not made yet. Skips slots that readers outside this program keep.
    pub(crate) fn lacks_piece(&mut self) -> Result<bool> {
        match self {
            Self::Direct(path) => Ok(path.lacks_piece()),
            Self::SharedMemory(path) => path.lacks_piece(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => Ok(false),
        }
    }

    /// Takes the slots of another path of the same kind and size, which was verified and whose content was discarded.
    pub(crate) fn take_pieces(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::Direct(path), Self::Direct(other)) => path.take_pieces(other),
            (Self::SharedMemory(path), Self::SharedMemory(other)) => path.take_pieces(other),
            _ => return Err(Error::invalid("take_pieces", "the other path is of another kind")),
        }
        Ok(())
    }

    /// Discards the content of the slots: nothing is shown until the next frame is finished, and each slot is zero
    /// before its first frame. Returns `false`, with nothing changed, where the display has copied the content.
    ///
    /// `pairing` is the one that the path was opened with.
    pub(crate) fn forget(&mut self, pairing: &Pairing<'_>) -> Result<bool> {
        match self {
            Self::Direct(path) => path.forget(),
            Self::SharedMemory(path) => path.forget(pairing),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => Ok(false),
        }
    }
}
