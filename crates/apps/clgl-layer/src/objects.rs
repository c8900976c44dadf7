//! The memory objects that represent OpenGL objects.

use crate::cl::handles::{Handle, OwnHandle, when_gone};
use crate::context::SharedContext;
use crate::object::{GlName, SharedObject};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

fn objects() -> MutexGuard<'static, HashMap<Handle, Arc<SharedObject>>> {
    static OBJECTS: LazyLock<Mutex<HashMap<Handle, Arc<SharedObject>>>> = LazyLock::new(Mutex::default);
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a memory object for an OpenGL object.
pub fn create(context: Arc<SharedContext>, flags: u64, name: GlName) -> Result<OwnHandle, i32> {
    let (memory, object) = SharedObject::create(context, flags, name)?;
    objects().insert(memory.handle, Arc::new(object));
    when_gone(|driver| driver.set_memory_destructor, memory.handle, gone).inspect_err(|_| gone(memory.handle))?;
    Ok(memory)
}

/// Returns the layer's object of that handle, if it is one.
pub fn find(handle: Handle) -> Option<Arc<SharedObject>> {
    objects().get(&handle).map(Arc::clone)
}

/// Called when the driver destroys an object.
fn gone(memory: Handle) {
    let object = objects().remove(&memory);
    // Dropped outside of the lock.
    drop(object);
}
