//! Identity of the device queue that receives work.

use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Identifies a queue, uniquely in this process for as long as the queue is in use. A backend that computes in a
/// display's queue has the same identity as the display.
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
    /// Returns the identity of the queue that this object stands for. Every user of the queue holds the object, so no
    /// other object has its address.
    pub fn of<T: ?Sized>(object: &Arc<T>) -> Self {
        Self(Arc::as_ptr(object).addr())
    }
}

/// Serialised as nothing: addresses of this process mean nothing outside it.
impl Serialize for QueueId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str("queue-buffer")
    }
}
