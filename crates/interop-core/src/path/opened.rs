//! A path that is open, whichever it is.

use super::contract::SharingPath;
use super::direct::Direct;
use super::host_round_trip::HostRoundTrip;
use super::pairing::Pairing;
use super::pbo_staging::PboStaging;
use super::plugged::Plugged;
use super::shared_memory::SharedMemory;
use crate::compute::Target;
use crate::describe::error::Result;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::FrameTag;
use crate::display::{Part, Surface};
use enum_dispatch::enum_dispatch;

/// Every mechanism there is. Closed but for the last, so that the per-frame calls of ours are a branch and not a virtual call.
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
