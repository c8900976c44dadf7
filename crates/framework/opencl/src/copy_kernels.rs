//! [`CopyKernels`]: a context's kernels for copies between views.

use interop_core::Result;
use interop_core::describe::PlainMutex;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// The copy kernels of a context, by the unit that they copy. They do not keep the context, which would create a
/// reference cycle.
#[derive(Default)]
pub struct CopyKernels(PlainMutex<HashMap<&'static str, Arc<dyn Any + Send + Sync>>>);

impl CopyKernels {
    /// Returns the kernel of a unit, created at first use. All callers use the same type of kernel.
    pub fn get<K: Any + Send + Sync + Clone>(&self, unit: &'static str, make: impl FnOnce() -> Result<K>) -> Result<K> {
        let mut kernels = self.0.lock();
        if let Some(kernel) = kernels.get(unit).and_then(|kernel| kernel.downcast_ref::<K>()) {
            return Ok(kernel.clone());
        }
        let kernel = make()?;
        kernels.insert(unit, Arc::new(kernel.clone()));
        Ok(kernel)
    }
}
