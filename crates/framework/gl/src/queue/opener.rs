//! The type [`Opener`].

use crate::api::memory_object::MemoryObjectFns;
use crate::api::semaphore_object::SemaphoreFns;
use crate::context::context_state::ContextState;
use interop_core::{HandleType, MemoryCap, MemoryShape, SemaphoreCap, Support};

/// Functions with which kernels of a context open imported memory and semaphores.
pub(crate) struct Opener {
    /// The functions, or the reason why there are none.
    pub memory: Result<MemoryObjectFns, String>,
    pub semaphores: Option<SemaphoreFns>,
    semaphore_caps: Vec<SemaphoreCap>,
}

impl Opener {
    /// Returns the functions of a display's context, which opens the same itself.
    pub(crate) fn of(shared: &ContextState) -> Self {
        let memory = match (shared.caps.can_import(HandleType::OPAQUE, MemoryShape::Linear), shared.raw.memory_objects)
        {
            (Support::Yes, Some(functions)) => Ok(functions),
            (Support::No(reason), _) => Err(reason),
            (Support::Yes, None) => Err("the functions of the extension were not loaded".into()),
        };
        Self { memory, semaphores: shared.raw.semaphores, semaphore_caps: shared.caps.semaphores.clone() }
    }

    /// Returns an opener of nothing, for this reason.
    pub(crate) fn none(reason: &str) -> Self {
        Self { memory: Err(reason.into()), semaphores: None, semaphore_caps: Vec::new() }
    }

    /// Returns the capabilities.
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone calls it"))]
    pub(crate) fn caps(&self) -> (Vec<MemoryCap>, Vec<SemaphoreCap>) {
        let linear = self.memory.as_ref().map_or_else(|reason| Support::No(reason.clone()), |_| Support::Yes);
        (MemoryCap::opened_by_kernels(linear), self.semaphore_caps.clone())
    }
}
