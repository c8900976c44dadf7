//! Identity of a device's queue that work goes into.

use serde::{Serialize, Serializer};
use std::sync::Arc;

/// A queue, told apart from all others of this process for as long as anybody works in it. A backend that computes in a
/// display's queue has the same as the display.
///
/// ```
/// use interop_core::QueueId;
/// use std::sync::Arc;
///
/// let (device, other) = (Arc::new("device"), Arc::new("other"));
/// assert_eq!(QueueId::of(&device), QueueId::of(&Arc::clone(&device)));
/// assert_ne!(QueueId::of(&device), QueueId::of(&other));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueueId(usize);

impl QueueId {
    /// That of the queue which this object belongs to. All who work there hold the object, so that its address is no other's.
    pub fn of<T: ?Sized>(object: &Arc<T>) -> Self {
        Self(Arc::as_ptr(object).addr())
    }
}

/// Written as nothing: addresses of this process mean nothing outside it.
impl Serialize for QueueId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str("queue-buffer")
    }
}
