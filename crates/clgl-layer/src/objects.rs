//! The memory objects that stand for objects of OpenGL's.

use crate::cl::handles::Handle;
use crate::object::SharedObject;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

fn objects() -> MutexGuard<'static, HashMap<usize, Arc<SharedObject>>> {
    static OBJECTS: LazyLock<Mutex<HashMap<usize, Arc<SharedObject>>>> = LazyLock::new(Mutex::default);
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn insert(handle: Handle, object: Arc<SharedObject>) {
    objects().insert(handle.raw().addr(), object);
}

/// The object of that handle, where it is one of the layer's.
pub fn find(handle: Handle) -> Option<Arc<SharedObject>> {
    objects().get(&handle.raw().addr()).map(Arc::clone)
}

/// The driver has ended an object.
pub fn gone(address: usize) {
    let object = objects().remove(&address);
    // Outside the lock.
    drop(object);
}
