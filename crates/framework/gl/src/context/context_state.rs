//! The context and its properties, shared by the display and all of its objects.

use crate::api::caps::caps;
use crate::api::features::Features;
use crate::api::host_state::{HostStates, check_lists};
use crate::api::identity::{Origin, identify};
use crate::api::raw::RawFns;
use crate::api::version::{GlVersion, check_version};
use crate::api::vulkan::VulkanDevice;
use crate::context::current_check::{CurrentCheck, EngineCheck};
use crate::context::deletion_list::DeletionList;
use crate::context::names::{Counts, DeferredDelete, ObjectCounts};
use crate::context::{GlFunctions, NativeContext, OwnContext, SharedContext};
use interop_core::describe::process::{ForkGuard, is_forked};
use interop_core::describe::threads::this_thread;
use interop_core::devices::maker_object::Maker;
use interop_core::{
    DeviceIdentity, DisplayCaps, Error, GlContext, HandleType, MemoryCap, MemoryShape, QueueId, Result, Support,
};
use std::sync::{Arc, OnceLock};

/// Owner of the context.
pub(crate) enum Ownership {
    /// Created by this crate: no other code relies on its state, so nothing is saved.
    Own(OwnContext),
    /// Created by an engine: every call restores the state. The engine may supply a function that tells whether the
    /// context is current.
    Engine(Option<CurrentCheck>),
}

/// One context. It is dropped after every object in it, because each holds an `Arc` of this.
pub(crate) struct ContextState {
    pub gl: GlFunctions,
    pub raw: RawFns,
    pub features: Features,
    /// State that its host may have set.
    pub host_states: HostStates,
    pub device: DeviceIdentity,
    pub caps: DisplayCaps,
    pub counts: Counts,
    /// The context, if this crate created it; `None` during the drop.
    own: ForkGuard<Option<OwnContext>>,
    /// An engine's function that tells whether its context is current.
    told: Option<EngineCheck>,
    /// The thread that made the display.
    thread: usize,
    /// The window system's handles of the context; `None` if no window system can be queried.
    held: Option<Arc<SharedContext>>,
    /// Dropped after the context, because host memory in it may be freed only when GL no longer uses it.
    deferred: DeletionList<DeferredDelete>,
    /// Vulkan device that allocates memory and semaphores for sharing.
    pub vulkan: OnceLock<Arc<VulkanDevice>>,
}

impl Maker for ContextState {
    fn name(&self) -> String {
        self.device.name.clone()
    }
}

impl ContextState {
    /// Wraps the current context.
    ///
    /// # Safety
    /// The context of `gl` is current and is the one in `ownership` and `native`; `raw` was loaded for it. An engine's
    /// context stays alive as [`GlDisplay::from_engine`](crate::GlDisplay::from_engine) requires.
    pub(crate) unsafe fn new(
        gl: GlFunctions,
        mut raw: RawFns,
        (ownership, native): (Ownership, Option<NativeContext>),
        origin: &Origin,
        limit: Option<(u32, u32)>,
    ) -> Result<Arc<Self>> {
        let version = GlVersion::of(&gl);
        check_version(Some(version), &version.to_string())?;
        // SAFETY: the caller's promise, and the version was checked.
        let (features, device) = unsafe {
            let mut features = raw.suffixed.limit(Features::query(&gl, limit));
            if features.es {
                // EXT_disjoint_timer_query reports a disturbance once: reading it here would take it from the engine.
                raw.timers = None;
            }
            let device = identify(&gl, &raw, &features, origin);
            if features.es && features.memory_object && device.uuid.is_none() && raw.memory_objects.is_some() {
                features.sharing_refused = true;
            }
            (features, device)
        };
        let mut caps = caps(&features, &raw);
        let held = native.map(|native| Arc::new(SharedContext::new(native)));
        let queue = held.as_ref().map(|held| HandleType::QueueBuffer(QueueId::of(held)));
        caps.imports.extend(queue.map(|queue| MemoryCap::new(queue, MemoryShape::Linear, Support::Yes)));
        let stores = !features.es && features.version >= (4, 3);
        let textures = queue.filter(|_| stores).map(|queue| MemoryCap::new(queue, MemoryShape::Image, Support::Yes));
        caps.exports.extend(textures);
        let (own, told) = match ownership {
            Ownership::Own(own) => (Some(own), None),
            Ownership::Engine(told) => (None, told.map(EngineCheck::new)),
        };
        let host_states = HostStates::query(&gl);
        let state = Arc::new(Self {
            gl,
            raw,
            features,
            host_states,
            device,
            caps,
            counts: Counts::default(),
            own: ForkGuard::new(own),
            told,
            thread: this_thread(),
            held,
            deferred: DeletionList::default(),
            vulkan: OnceLock::new(),
        });
        if state.features.sharing_refused {
            // The query caused an error, which must not remain in the queue.
            state.drain_errors("GlDisplay");
        }
        Ok(state)
    }

    /// Returns the handle type of its queue, where kernels can run in it.
    pub(crate) fn queue_handle(&self) -> Option<HandleType> {
        self.held.as_ref().map(|held| HandleType::QueueBuffer(QueueId::of(held)))
    }

    /// True where an engine's state must be restored.
    pub(crate) fn is_engine(&self) -> bool {
        self.own.is_none()
    }

    /// True where GL calls reach this context. Where the current context cannot be determined, the
    /// engine is trusted on the thread of the display.
    pub(crate) fn is_current(&self) -> bool {
        if self.deferred.is_closed() || is_forked() {
            return false;
        }
        match (&self.told, &self.held, &*self.own) {
            (Some(told), ..) => told.is_current(),
            (None, Some(held), _) => held.is_current(),
            (None, None, Some(own)) => own.is_current(),
            (None, None, None) => self.thread == this_thread(),
        }
    }

    /// Returns the context, if this crate created it.
    pub(crate) fn own(&self) -> Option<&OwnContext> {
        self.own.as_ref()
    }

    /// Returns the context for APIs that share with it.
    pub(crate) fn hold(&self) -> Result<Arc<dyn GlContext>> {
        Ok(self.held()?)
    }

    /// Returns the context in the form in which objects of this crate keep it.
    pub(crate) fn held(&self) -> Result<Arc<SharedContext>> {
        self.check_not_lost()?;
        let reason = "no window system (EGL, GLX, WGL, CGL) knows its context";
        self.held.clone().ok_or_else(|| self.unsupported(reason.into()))
    }

    /// Deletes objects that other users dropped while the context was not current. It must be current now.
    fn delete_deferred(&self) {
        if let Some(held) = &self.held {
            // SAFETY: the context is current, and the functions are its own.
            unsafe { held.deferred_deletes.empty(&self.gl) }
        }
    }

    /// Starts every call: checks that the context is current, and deletes objects that waited for it.
    pub(crate) fn enter(&self) -> Result<()> {
        self.check_not_lost()?;
        if !self.is_current() {
            return Err(Error::WrongContext { operation: "", device: self.device.name.clone() });
        }
        check_lists(&self.gl, self.is_engine() && self.host_states.has_lists())?;
        self.delete_deferred_of_display();
        self.delete_deferred();
        Ok(())
    }

    /// Returns the Vulkan device of this context's GPU, opened at first use.
    pub(crate) fn vulkan(&self) -> Result<&Arc<VulkanDevice>> {
        if let Some(device) = self.vulkan.get() {
            return Ok(device);
        }
        let device = VulkanDevice::open(&self.device)?;
        Ok(self.vulkan.get_or_init(|| device))
    }

    /// Fails after [`ContextState::lose`], for calls that need the context, current or not.
    pub(crate) fn check_not_lost(&self) -> Result<()> {
        if !self.deferred.is_closed() {
            return Ok(());
        }
        let hint = crate::api::error_codes::hint(glow::CONTEXT_LOST);
        Err(self.failure("", glow::CONTEXT_LOST.into(), "the context is gone", hint))
    }

    /// Records that the context is gone and its objects need no deletion. The caller of
    /// [`crate::GlDisplay::context_lost`] has promised that, and host memory that the context read in place is freed.
    pub(crate) fn lose(&self) {
        let dropped = self.deferred.close();
        if let Some(held) = &self.held {
            held.lose();
        }
        dropped.into_iter().for_each(|object| object.abandon(&self.counts));
    }

    /// Keeps a dropped object until its context is current.
    pub(crate) fn defer_delete(&self, object: DeferredDelete) {
        if let Some(object) = self.deferred.push(object) {
            object.abandon(&self.counts);
        }
    }

    /// Deletes a dropped object. The context must be current.
    pub(crate) fn delete(&self, object: DeferredDelete) {
        object.delete(&self.gl, &self.raw, self.device.software, &self.counts);
    }

    fn delete_deferred_of_display(&self) {
        for object in self.deferred.take() {
            self.delete(object);
        }
    }

    pub(crate) fn object_counts(&self) -> ObjectCounts {
        let mut counts = self.counts.read(self.deferred.lock().len());
        if let Some(held) = &self.held {
            held.deferred_deletes.add_to(&mut counts);
        }
        counts
    }
}

impl Drop for ContextState {
    fn drop(&mut self) {
        if is_forked() {
            // Dropping these would unload the context's driver and free memory that it reads.
            return std::mem::forget((self.held.clone(), self.vulkan.take(), self.deferred.take()));
        }
        // Another API shares the context, which lives on without this.
        let held = self.held.as_ref().filter(|held| Arc::strong_count(held) > 1).cloned();
        self.end_deferred(held.is_some());
        if self.is_current() {
            self.delete_deferred();
        }
        if let (Some(held), Some(own)) = (held, self.own.take())
            && let Some(resting) = own.rest()
        {
            held.keep(resting);
        }
        // The context is dropped before the deferred deletes.
        *self.own = None;
    }
}

impl ContextState {
    /// Deletes objects that were dropped while the context was not current. `goes_on` says that the context outlives
    /// this.
    fn end_deferred(&self, goes_on: bool) {
        if self.deferred.lock().is_empty() {
            return;
        }
        // GL objects are deleted with the context, but these must be dropped before it.
        let has_others = self.deferred.lock().iter().any(|c| matches!(c, DeferredDelete::Other(_)));
        if let (false, true, Some(own)) = (self.is_current(), has_others || goes_on, self.own())
            && let Err(e) = own.make_current(&self.device.name)
        {
            tracing::warn!(error = %e, "dropping compute-side registrations without their context");
        }
        if self.is_current() {
            self.delete_deferred_of_display();
        } else if goes_on || self.is_engine() {
            // The context lives on and may still read this memory; its names cannot be deleted from here.
            let dead = self.deferred.take();
            tracing::warn!(objects = dead.len(), "GL objects outlive the display because its context is not current");
            dead.into_iter().for_each(std::mem::forget);
        }
    }
}
