//! Status of an operation, and the times at which it passed each stage.

/// Status of an operation.
///
/// ```
/// use interop_core::{EventStatus, UserEvent};
///
/// let user = UserEvent::new();
/// let event = user.event();
/// assert_eq!(event.status(), EventStatus::Queued);
/// drop(user);
/// assert_eq!(event.status(), EventStatus::Failed, "nobody can complete it any more");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EventStatus {
    /// Held on the host until its dependencies are done.
    Queued,
    /// Submitted to the device, which orders it after its dependencies.
    Submitted,
    /// The device has started it.
    Running,
    /// The device has finished it successfully.
    Complete,
    /// It ended with an error, or an error kept it from starting.
    Failed,
}

/// Times at which an operation passed each stage, in nanoseconds on the clock of [`super::now`].
///
/// For a device with a clock of its own, `started` and `ended` are readings of that clock, shifted by one offset for
/// each device. Their difference is exact; their position among the host's times is accurate to a few microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Time of the call that queued it.
    pub queued: u64,
    /// Time at which it was submitted to the device.
    pub submitted: u64,
    /// Time at which the device started it.
    pub started: u64,
    /// Time at which the device finished it.
    pub ended: u64,
}
