//! The event of an operation that the device itself orders.

use super::status::EventStatus;
use std::any::Any;

/// A device's own handle of an operation. Later operations on the device can wait for it without the host.
pub trait DeviceEvent: Any + Send + Sync {
    /// Returns [`EventStatus::Submitted`] or [`EventStatus::Running`], where the device tells them apart.
    fn status(&self) -> EventStatus {
        EventStatus::Submitted
    }
}

impl dyn DeviceEvent {
    /// Returns the event as type `E`, for the backend that made it.
    pub fn downcast_ref<E: DeviceEvent>(&self) -> Option<&E> {
        (self as &dyn Any).downcast_ref()
    }
}
