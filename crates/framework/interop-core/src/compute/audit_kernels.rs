//! Kernels that live as long as their backend.

use crate::describe::PlainMutex;
use crate::describe::error::Result;
use std::any::Any;
use std::sync::Arc;

/// The kernels with which audits compute digests. All links of a backend share them, and so do links that it opens later; for
/// backends that implement [`crate::compute::BackendDriver::audit_kernels`].
#[derive(Default)]
pub struct AuditKernels(PlainMutex<Option<Arc<dyn Any + Send + Sync>>>);

impl AuditKernels {
    /// Returns the kernels, which are built at their first use.
    pub(crate) fn get<K: Any + Send + Sync>(&self, build: impl FnOnce() -> Result<K>) -> Result<Arc<K>> {
        let mut built = self.0.lock();
        if let Some(Ok(kernels)) = built.clone().map(Arc::downcast) {
            return Ok(kernels);
        }
        let kernels = Arc::new(build()?);
        *built = Some(Arc::<K>::clone(&kernels));
        Ok(kernels)
    }
}
