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
    /// Kept on the host until what it waits for is done.
    Queued,
    /// With the device, which orders it after what it waits for.
    Submitted,
    /// The device has begun.
    Running,
    /// Done.
    Complete,
    /// Ended by an error, or never begun because of one.
    Failed,
}

/// Times at which an operation passed each stage, in nanoseconds on the clock of [`super::now`].
///
/// `started` and `ended` of a device with a clock of its own are that clock's, moved by one offset for each device: their
/// difference is exact, their place among the host's times good to some microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// The call was made.
    pub queued: u64,
    /// It was given to the device.
    pub submitted: u64,
    /// The device began.
    pub started: u64,
    /// The device was done.
    pub ended: u64,
}
