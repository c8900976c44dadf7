//! [`DeferredDrop`].

use crate::context::device_state::DeviceState;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::rc::Rc;

/// Objects of a device that are destroyed when the queue no longer uses them.
pub struct DeferredDrop<T: 'static> {
    value: ManuallyDrop<T>,
    shared: Rc<DeviceState>,
}

impl<T> DeferredDrop<T> {
    pub fn new(shared: &Rc<DeviceState>, value: T) -> Self {
        Self { value: ManuallyDrop::new(value), shared: Rc::clone(shared) }
    }

    pub fn shared(&self) -> &Rc<DeviceState> {
        &self.shared
    }
}

impl<T> Deref for DeferredDrop<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for DeferredDrop<T> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: the value is not used after this.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        self.shared.submissions.retire(Box::new(value));
    }
}
