//! A path that is open, whichever it is.

use super::contract::SharingPath;
use super::direct::{Direct, Gone};
use super::host_round_trip::HostRoundTrip;
use super::pairing::Pairing;
use super::pbo_staging::PboStaging;
use super::plugged::Plugged;
use super::shared_memory::SharedMemory;
use crate::compute::{ComputeMemory, Target};
use crate::describe::error::{Error, Result};
use crate::devices::capability::SyncKind;
use crate::devices::timeline::FrameTag;
use crate::display::{Part, Surface};
use enum_dispatch::enum_dispatch;
use std::mem::swap;

/// Every mechanism there is. Closed except for the last, so that the per-frame calls of ours are a branch and not a
/// virtual call.
// The macro writes its code here, as this file comes after the trait's; so it imports what the trait names.
#[enum_dispatch(SharingPath)]
pub enum OpenedPath {
    /// Objects of the display, opened by the compute API.
    Direct(Direct),
    /// Memory that both sides address.
    SharedMemory(SharedMemory),
    /// Staging blocks of the display.
    PboStaging(PboStaging),
    /// Client memory.
    HostRoundTrip(HostRoundTrip),
    /// A mechanism of a program's own.
    Plugged(Plugged),
}

/// Objects that an engine has, instead of the path's own surface.
impl OpenedPath {
    /// Runs `f` with `object` as the path's surface, which is of the same kind. [`SharingPath::surface_mut`] gives it
    /// for good, where it is swapped with another that was here: what was opened of it stays open.
    pub(crate) fn with_object<R>(&mut self, object: &mut Surface, f: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.exchange(object)?;
        let done = f(self);
        swap(self.surface_mut(), object);
        done
    }

    /// Goes on with this surface, which is of the same kind; the one before is in its place then.
    pub(crate) fn exchange(&mut self, object: &mut Surface) -> Result<()> {
        match self {
            Self::Direct(path) => path.exchange(object)?,
            path => swap(path.surface_mut(), object),
        }
        Ok(())
    }

    /// The memory of the frame that was begun last, for kernels that read what the surface held.
    pub(crate) fn memory(&self) -> &dyn ComputeMemory {
        match self {
            Self::Direct(path) => path.memory(),
            Self::SharedMemory(path) => path.memory(),
            Self::PboStaging(path) => path.canvas.memory(),
            Self::HostRoundTrip(path) => path.canvas.memory(),
            Self::Plugged(_) => &Gone,
        }
    }

    /// True where sizes up to that of the memory are views of it; textures have none.
    pub(crate) fn has_views(&self) -> bool {
        match self {
            Self::Direct(_) => false,
            Self::SharedMemory(path) => path.has_views(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => true,
        }
    }
}

/// Rings whose pieces are made one by one, see [`Pairing::with_one_piece`].
impl OpenedPath {
    /// Pieces that the next frames take turns at and that are not made yet.
    pub(crate) fn missing_pieces(&self) -> usize {
        match self {
            Self::Direct(path) => path.missing_pieces(),
            Self::SharedMemory(path) => path.missing_pieces(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => 0,
        }
    }

    /// True where the next frame is for a piece that is not made yet. Passes over pieces that readers outside of this program keep.
    pub(crate) fn lacks_piece(&mut self) -> Result<bool> {
        match self {
            Self::Direct(path) => Ok(path.lacks_piece()),
            Self::SharedMemory(path) => path.lacks_piece(),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => Ok(false),
        }
    }

    /// Takes the pieces of another path of the same way and size, which was proved and made to forget what they hold.
    pub(crate) fn take_pieces(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::Direct(path), Self::Direct(other)) => path.take_pieces(other),
            (Self::SharedMemory(path), Self::SharedMemory(other)) => path.take_pieces(other),
            _ => return Err(Error::invalid("take_pieces", "the other path is of another kind")),
        }
        Ok(())
    }

    /// Returns what the pieces hold, which is no picture: nothing is on show until the next frame is finished, and each
    /// piece is zero before its first. `false`, and nothing has changed, where the display has copied what they held.
    ///
    /// `pairing` is what the path was opened with.
    pub(crate) fn forget(&mut self, pairing: &Pairing<'_>) -> Result<bool> {
        match self {
            Self::Direct(path) => path.forget(),
            Self::SharedMemory(path) => path.forget(pairing),
            Self::PboStaging(_) | Self::HostRoundTrip(_) | Self::Plugged(_) => Ok(false),
        }
    }
}
