//! Handles of OpenCL's objects, and queries about them.

use super::driver::{Driver, SetDestructor, driver};
use crate::codes::INVALID_VALUE;
use crate::edge::Raw;
use std::ptr;

/// A live object of OpenCL: whoever makes a handle from an address promises that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle(usize);

impl Handle {
    /// # Safety
    /// The object lives as long as the handle is used.
    pub unsafe fn new(raw: Raw) -> Self {
        Self(raw.expose_provenance())
    }

    pub fn raw(self) -> Raw {
        ptr::with_exposed_provenance_mut(self.0)
    }
}

/// A function that answers queries about an object.
pub type InfoCall = fn(&Driver) -> unsafe extern "C" fn(Raw, u32, usize, Raw, *mut usize) -> i32;

/// Returns the answer to a query as bytes; `call` is the function for this kind of object.
pub fn info(call: InfoCall, object: Handle, parameter: u32) -> Result<Vec<u8>, i32> {
    let (call, mut bytes) = (call(driver()?), 0);
    // SAFETY: the object is live by the handle's promise; the buffer has the given size.
    unsafe {
        checked(call(object.raw(), parameter, 0, ptr::null_mut(), &raw mut bytes))?;
        let mut answer = vec![0u8; bytes];
        checked(call(object.raw(), parameter, bytes, answer.as_mut_ptr().cast(), ptr::null_mut()))?;
        Ok(answer)
    }
}

/// Returns an answer that is a list of handles.
pub fn handles(call: InfoCall, object: Handle, parameter: u32) -> Result<Vec<Handle>, i32> {
    let answer = info(call, object, parameter)?;
    let numbers = answer.chunks_exact(size_of::<usize>()).filter_map(|bytes| bytes.try_into().ok());
    Ok(numbers.map(|bytes| Handle(usize::from_ne_bytes(bytes))).collect())
}

/// Returns an answer that is one handle.
pub fn handle(call: InfoCall, object: Handle, parameter: u32) -> Result<Handle, i32> {
    handles(call, object, parameter)?.first().copied().filter(|handle| handle.0 != 0).ok_or(INVALID_VALUE)
}

/// Converts a code to a result.
pub fn checked(code: i32) -> Result<(), i32> {
    if code == 0 { Ok(()) } else { Err(code) }
}

/// Returns what a function made that returns a handle and a code.
pub fn made(f: impl FnOnce(&Driver, *mut i32) -> Raw) -> Result<Handle, i32> {
    let mut code = 0;
    let raw = f(driver()?, &raw mut code);
    checked(code)?;
    if raw.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: just made, and the caller's.
    Ok(unsafe { Handle::new(raw) })
}

/// Returns the handles that a function lists.
fn listed(ask: impl Fn(&Driver, u32, *mut Raw, *mut u32) -> i32) -> Result<Vec<Handle>, i32> {
    let (driver, mut found) = (driver()?, 0);
    checked(ask(driver, 0, ptr::null_mut(), &raw mut found))?;
    let mut list = vec![ptr::null_mut(); found as usize];
    checked(ask(driver, found, list.as_mut_ptr(), &raw mut found))?;
    // SAFETY: platforms and devices live as long as the process.
    Ok(list.into_iter().map(|raw| unsafe { Handle::new(raw) }).collect())
}

/// Platforms of the process.
pub fn platforms() -> Result<Vec<Handle>, i32> {
    // SAFETY: the buffer has the given size.
    listed(|driver, count, list, found| unsafe { (driver.get_platform_ids)(count, list, found) })
}

/// `CL_DEVICE_TYPE_DEFAULT` and `CL_DEVICE_TYPE_ALL`.
pub const DEFAULT_DEVICES: u64 = 1;
pub const ALL_DEVICES: u64 = 0xFFFF_FFFF;

/// Devices of a platform.
pub fn devices(platform: Handle, kind: u64) -> Result<Vec<Handle>, i32> {
    // SAFETY: as above; the platform lives by its handle's promise.
    listed(|driver, count, list, found| unsafe { (driver.get_device_ids)(platform.raw(), kind, count, list, found) })
}

/// One reference to an object, held by the layer.
pub struct OwnHandle {
    pub handle: Handle,
    release: fn(&Driver) -> unsafe extern "C" fn(Raw) -> i32,
}

impl OwnHandle {
    /// A command queue of the layer's own.
    pub fn queue(context: Handle, device: Handle) -> Result<Self, i32> {
        // SAFETY: both live by their handles' promise.
        made(|driver, code| unsafe { (driver.create_command_queue)(context.raw(), device.raw(), 0, code) })
            .map(|handle| Self { handle, release: |driver| driver.release_command_queue })
    }

    /// Takes over the reference from creating a memory object.
    pub fn memory(handle: Handle) -> Self {
        Self { handle, release: |driver| driver.release_mem_object }
    }

    /// Adds a reference to a memory object.
    pub fn retained_memory(handle: Handle) -> Result<Self, i32> {
        // SAFETY: the object lives by its handle's promise.
        checked(unsafe { (driver()?.retain_mem_object)(handle.raw()) })?;
        Ok(Self::memory(handle))
    }

    fn event(handle: Handle) -> Self {
        Self { handle, release: |driver| driver.release_event }
    }

    /// Gives the reference to the program.
    pub fn give(self) -> Raw {
        std::mem::ManuallyDrop::new(self).handle.raw()
    }
}

impl Drop for OwnHandle {
    fn drop(&mut self) {
        if let Ok(driver) = driver() {
            // SAFETY: this reference is released once, by the function for its kind of object.
            unsafe { (self.release)(driver)(self.handle.raw()) };
        }
    }
}

/// One reference to an event.
pub struct OwnEvent(pub OwnHandle);

impl OwnEvent {
    /// A marker: it completes when the events of the list have, or without a list all earlier commands.
    pub fn marker(queue: Handle, after: &[Raw]) -> Result<Self, i32> {
        let (count, list) = raw_list(after);
        // SAFETY: queue and events live by the callers' promises.
        enqueued(|driver, event| unsafe { (driver.enqueue_marker)(queue.raw(), count, list, event) })
    }

    /// A barrier: later commands begin after the event has completed.
    pub fn barrier(queue: Handle, after: &Self) -> Result<Self, i32> {
        let list = [after.0.handle.raw()];
        // SAFETY: as above.
        enqueued(|driver, event| unsafe { (driver.enqueue_barrier)(queue.raw(), 1, list.as_ptr(), event) })
    }

    pub fn user(context: Handle) -> Result<Self, i32> {
        // SAFETY: the context lives by its handle's promise.
        made(|driver, code| unsafe { (driver.create_user_event)(context.raw(), code) })
            .map(|handle| Self(OwnHandle::event(handle)))
    }

    /// A user event with two references.
    pub fn user_twice(context: Handle) -> Result<(Self, Self), i32> {
        let event = Self::user(context)?;
        // SAFETY: just made.
        checked(unsafe { (driver()?.retain_event)(event.0.handle.raw()) })?;
        let other = Self(OwnHandle::event(event.0.handle));
        Ok((event, other))
    }

    /// Waits until it is complete.
    pub fn wait(&self) -> Result<(), i32> {
        let list = [self.0.handle.raw()];
        // SAFETY: the reference keeps it alive.
        checked(unsafe { (driver()?.wait_for_events)(1, list.as_ptr()) })
    }

    /// Completes a user event, with 0 or with an error.
    pub fn complete(&self, status: i32) {
        if let Ok(driver) = driver() {
            // SAFETY: the reference keeps it alive.
            unsafe { (driver.set_user_event_status)(self.0.handle.raw(), status) };
        }
    }

    /// Calls `f` with the event's status when it completes.
    pub fn when_complete(&self, f: impl FnOnce(i32) + Send + 'static) -> Result<(), i32> {
        type Then = Box<dyn FnOnce(i32) + Send>;
        unsafe extern "C" fn done(_: Raw, status: i32, user: Raw) {
            // SAFETY: made below, and passed to one call only.
            let then = unsafe { Box::from_raw(user.cast::<Then>()) };
            let _ = crate::edge::caught(|| {
                then(status);
                Ok(())
            });
        }
        let then: *mut Then = Box::into_raw(Box::new(Box::new(f)));
        // SAFETY: the callback takes over its argument; if it was not registered, this function takes it back.
        unsafe {
            let code = (driver()?.set_event_callback)(self.0.handle.raw(), 0, done, then.cast());
            if code != 0 {
                drop(Box::from_raw(then));
            }
            checked(code)
        }
    }
}

pub fn enqueued(f: impl FnOnce(&Driver, *mut Raw) -> i32) -> Result<OwnEvent, i32> {
    let mut event = ptr::null_mut();
    checked(f(driver()?, &raw mut event))?;
    // SAFETY: just made.
    Ok(OwnEvent(OwnHandle::event(unsafe { Handle::new(event) })))
}

pub fn raw_list(list: &[Raw]) -> (u32, *const Raw) {
    if list.is_empty() { (0, ptr::null()) } else { (list.len() as u32, list.as_ptr()) }
}

/// Submits what was enqueued to the device.
pub fn flush(queue: Handle) -> Result<(), i32> {
    // SAFETY: the queue lives by its handle's promise.
    checked(unsafe { (driver()?.flush)(queue.raw()) })
}

/// Calls `gone` once with the object's handle when the driver destroys the object.
pub fn when_gone(call: fn(&Driver) -> SetDestructor, object: Handle, gone: fn(Handle)) -> Result<(), i32> {
    unsafe extern "C" fn call_back(object: Raw, user: Raw) {
        // SAFETY: the function was passed below as this type; the handle is only compared.
        let (gone, object) = unsafe { (std::mem::transmute::<Raw, fn(Handle)>(user), Handle::new(object)) };
        let _ = crate::edge::caught(|| {
            gone(object);
            Ok(())
        });
    }
    // SAFETY: the object lives by its handle's promise; the callback takes a function as its user data.
    checked(unsafe { call(driver()?)(object.raw(), call_back, gone as *mut std::ffi::c_void) })
}
