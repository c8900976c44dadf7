//! [`DeferredDrop`].

use crate::context::device_state::DeviceState;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

/// Objects of a device that are destroyed when the queue no longer uses them.
pub struct DeferredDrop<T: Send + Sync + 'static> {
    value: ManuallyDrop<T>,
    shared: Arc<DeviceState>,
}

impl<T: Send + Sync> DeferredDrop<T> {
    pub fn new(shared: &Arc<DeviceState>, value: T) -> Self {
        Self { value: ManuallyDrop::new(value), shared: Arc::clone(shared) }
    }

    pub fn shared(&self) -> &Arc<DeviceState> {
        &self.shared
    }
}

impl<T: Send + Sync> Deref for DeferredDrop<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Send + Sync> Drop for DeferredDrop<T> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: the value is not used after this.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        self.shared.submissions.retire(Box::new(value));
    }
}
