//! The event of an operation that the device orders on its own.

use super::status::EventStatus;
use std::any::Any;

/// A device's own handle of an operation, by which later operations on the device can wait without the host.
pub trait DeviceEvent: Any + Send + Sync {
    /// [`EventStatus::Submitted`] or [`EventStatus::Running`], where the device tells them apart.
    fn status(&self) -> EventStatus {
        EventStatus::Submitted
    }
}

impl dyn DeviceEvent {
    /// For the backend to find its own type again.
    pub fn downcast_ref<E: DeviceEvent>(&self) -> Option<&E> {
        (self as &dyn Any).downcast_ref()
    }
}
