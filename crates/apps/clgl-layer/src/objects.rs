//! The memory objects that represent OpenGL objects.

use crate::cl::handles::{Handle, OwnHandle};
use crate::cl::memory;
use crate::context::SharedContext;
use crate::object::{GlName, SharedObject};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

fn objects() -> MutexGuard<'static, HashMap<usize, Arc<SharedObject>>> {
    static OBJECTS: LazyLock<Mutex<HashMap<usize, Arc<SharedObject>>>> = LazyLock::new(Mutex::default);
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a memory object for an OpenGL object.
pub fn create(context: Arc<SharedContext>, flags: u64, name: GlName) -> Result<OwnHandle, i32> {
    let (memory, object) = SharedObject::create(context, flags, name)?;
    let address = memory.handle.raw().addr();
    objects().insert(address, Arc::new(object));
    memory::when_gone(memory.handle, gone).inspect_err(|_| gone(address))?;
    Ok(memory)
}

/// Returns the layer's object of that handle, if it is one.
pub fn find(handle: Handle) -> Option<Arc<SharedObject>> {
    objects().get(&handle.raw().addr()).map(Arc::clone)
}

/// Called when the driver destroys an object.
fn gone(address: usize) {
    let object = objects().remove(&address);
    // Dropped outside of the lock.
    drop(object);
}
