//! Semaphores that GL and a compute device share: created by Vulkan, opened by both.

use crate::api::semaphore_object::{SemaphoreFns, SemaphoreObject, SharedObject};
use crate::api::vulkan::VulkanSemaphore;
use crate::context::context_state::ContextState;
use crate::context::external_objects::open_semaphore;
use crate::context::owned_object::OwnedObject;
use crate::staging::GlStaging;
use glow::HasContext as _;
use interop_core::display::{SemaphoreDriver, Staging};
use interop_core::{Result, SharedHandle, SyncKind};
use std::sync::Arc;

const WAIT: &str = "glWaitSemaphoreEXT";
const SIGNAL: &str = "glSignalSemaphoreEXT";

/// GL's end of a semaphore.
pub(crate) struct GlSemaphore {
    semaphore: OwnedObject<SemaphoreObject>,
    /// The Vulkan semaphore that was opened; dropped after it.
    _made: VulkanSemaphore,
    functions: SemaphoreFns,
    shared: Arc<ContextState>,
    timeline: bool,
    /// True after the first successful wait and signal; until then errors are checked.
    verified: [bool; 2],
}

impl GlSemaphore {
    /// Creates a semaphore, opens it, and exports it for others.
    pub(crate) fn new(shared: &Arc<ContextState>, kind: SyncKind) -> Result<(Self, SharedHandle)> {
        shared.enter()?;
        let functions = shared.raw.semaphores;
        let functions =
            functions.ok_or_else(|| shared.unsupported("the functions of the extension were not loaded".into()))?;
        let timeline = kind == SyncKind::TimelineSemaphore;
        let made = VulkanSemaphore::new(shared.vulkan()?, kind)?;
        let handle = SharedHandle::Semaphore(made.export()?);
        // SAFETY: the context is current and lists the extensions (`caps`).
        let semaphore = unsafe { open_semaphore(&functions, &shared.gl, &shared.device, made.export()?) }?;
        let semaphore = OwnedObject::new(shared, semaphore);
        let (shared, verified) = (Arc::clone(shared), [false; 2]);
        Ok((Self { semaphore, _made: made, functions, shared, timeline, verified }, handle))
    }

    /// Runs `f`, which waits or signals, on the block.
    fn cross(
        &mut self,
        which: usize,
        operation: &'static str,
        value: u64,
        staging: &Staging,
        f: impl FnOnce(&SemaphoreFns, SemaphoreObject, SharedObject<'_>),
    ) -> Result<()> {
        let crossing = GlStaging::of(staging, &self.shared)?.crossing();
        let verify = cfg!(debug_assertions) || !self.verified[which];
        self.shared.checked_if(verify, operation, || {
            if self.timeline {
                // SAFETY: the context is current (entered by the callers) and the semaphore is a timeline of it.
                unsafe { self.functions.set_value(self.semaphore.get(), value) }
            }
            f(&self.functions, self.semaphore.get(), crossing);
        })?;
        self.verified[which] = true;
        Ok(())
    }
}

impl SemaphoreDriver for GlSemaphore {
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        self.shared.enter()?;
        self.cross(0, SIGNAL, value, staging, |functions, semaphore, crossing| {
            // SAFETY: the context is current, and semaphore and block are of it.
            unsafe { functions.signal(semaphore, crossing) }
        })?;
        // Otherwise the other side would wait for commands that are still in this process.
        // SAFETY: the context is current.
        unsafe { self.shared.gl.flush() };
        Ok(())
    }

    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        self.shared.enter()?;
        self.cross(1, WAIT, value, staging, |functions, semaphore, crossing| {
            // SAFETY: the context is current, and semaphore and block are of it.
            unsafe { functions.wait(semaphore, crossing) }
        })
    }
}
