//! OpenGL objects of a wgpu device: memory that wgpu itself neither keeps mapped nor shares.
//!
//! `pixelferry-gl` creates it in wgpu's own context. wgpu receives it as its own buffers and textures, and reports when
//! nothing reads them any more. Because there is one context, later wgpu calls follow these calls, and wgpu's fences
//! cover all reads. All of wgpu-hal's `unsafe` for OpenGL is in this module.

mod memory;

pub(crate) use memory::Memory;

use crate::context::caps::SharingCaps;
use crate::context::error::failure;
use interop_core::describe::PlainMutex;
use interop_core::describe::panics::catch;
use interop_core::describe::threads::this_thread;
use interop_core::{DeviceIdentity, Display as _, Error, HandleType, Result, SemaphoreCap, Support};
use pixelferry_gl::{CurrentCheck, EngineOptions, GlDisplay};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// The API type of wgpu-hal.
type Api = wgpu::hal::api::Gles;

/// Memory, and the token that is dropped when wgpu no longer reads it.
type LentMemory = (Weak<()>, Arc<Memory>);

/// A display of `pixelferry-gl` in wgpu's context.
pub(crate) struct Gl {
    device: wgpu::Device,
    identity: DeviceIdentity,
    /// `None` only during the drop.
    display: Option<Arc<GlDisplay>>,
    inside: Inside,
    read: PlainMutex<Vec<LentMemory>>,
}

/// The thread that holds wgpu's context, so that dropped objects can be deleted at once; 0 for none.
type Inside = Arc<AtomicUsize>;

/// Marks this thread as holding the context until dropped.
struct EntryGuard<'a>(&'a AtomicUsize);

impl<'a> EntryGuard<'a> {
    fn new(inside: &'a AtomicUsize) -> Self {
        inside.store(this_thread(), Ordering::Relaxed);
        Self(inside)
    }
}

impl Drop for EntryGuard<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Gl {
    /// Opens the OpenGL objects of a device; `None` if its API is not OpenGL.
    ///
    /// # Errors
    /// If the context is not wgpu's own, or is not a desktop OpenGL 3.3 context.
    pub(crate) fn of(device: &wgpu::Device, identity: &DeviceIdentity) -> Option<Result<Arc<Self>>> {
        // SAFETY: nothing of the guard's is destroyed.
        unsafe { device.as_hal::<Api>() }.map(|_| Self::open(device, identity))
    }

    fn open(device: &wgpu::Device, identity: &DeviceIdentity) -> Result<Arc<Self>> {
        let inside = Inside::default();
        let display = in_context(device, identity, &inside, |context| {
            let Some(egl) = context.egl_instance() else {
                return Err(absent(identity, "wgpu was given its context by the program"));
            };
            let load = |name: &CStr| {
                let found = name.to_str().ok().and_then(|name| egl.get_proc_address(name));
                found.map_or(std::ptr::null(), |function| function as *const c_void)
            };
            let here = Arc::clone(&inside);
            let check = move || here.load(Ordering::Relaxed) == this_thread();
            let mut options = EngineOptions::default();
            options.is_current = Some(CurrentCheck::AnyThread(Box::new(check)));
            // SAFETY: wgpu's context is current here, and lives as long as the device, which `Gl` keeps longer than the
            // display. It is current on another thread only while that one holds wgpu's lock; `inside` names
            // the thread that does. The loader is that of the context's EGL.
            let display = unsafe { GlDisplay::from_loader(load, options) }?;
            if display.is_es() {
                return Err(absent(identity, "wgpu's context is an OpenGL ES context, which is untested"));
            }
            Ok(display)
        })?;
        let (device, identity) = (device.clone(), identity.clone());
        Ok(Arc::new(Self { device, identity, display: Some(display), inside, read: PlainMutex::default() }))
    }

    /// Runs `f` with wgpu's context current. `f` must not call wgpu, which would wait for the context.
    fn within<T>(&self, f: impl FnOnce(&Arc<GlDisplay>) -> Result<T>) -> Result<T> {
        let display = self.display.as_ref().ok_or_else(|| absent(&self.identity, "it was closed"))?;
        in_context(&self.device, &self.identity, &self.inside, |_| f(display))
    }

    /// Adds the properties that only OpenGL reports to an identity.
    pub(crate) fn identify(&self, identity: DeviceIdentity) -> DeviceIdentity {
        let Some(display) = &self.display else { return identity };
        let told = display.device();
        let (uuid, ordinal) = (identity.uuid.or(told.uuid), identity.ordinal.or(told.ordinal));
        let pci = identity.pci.clone().or_else(|| told.pci.clone());
        identity.with_uuid(uuid).with_ordinal(ordinal).with_pci(pci)
    }

    /// Returns the capabilities that OpenGL adds.
    pub(crate) fn sharing(&self) -> SharingCaps {
        let Some(display) = &self.display else { return SharingCaps::none("it was closed") };
        let caps = display.caps();
        let exports = caps.exports.iter().cloned().map(|mut cap| {
            if cap.handle == HandleType::GlObject {
                let reason = "compute drivers need a current context, and wgpu's is current only during its own calls";
                cap.support = Support::No(reason.into());
            }
            cap
        });
        let semaphores = caps.semaphores.iter().map(|cap| {
            let reason =
                "wgpu on OpenGL synchronises by host fences; the driver's semaphores must be created by Vulkan";
            SemaphoreCap::new(cap.kind, Support::No(reason.into()))
        });
        SharingCaps {
            imports: caps.imports.clone(),
            exports: exports.collect(),
            semaphores: semaphores.collect(),
            persistent: caps.persistent_staging.clone(),
        }
    }

    /// Deletes memory that nothing reads any more.
    ///
    /// # Errors
    /// If wgpu's context cannot be made current.
    pub(crate) fn collect(&self) -> Result<()> {
        self.read.lock().retain(|(reader, _)| reader.strong_count() > 0);
        self.within(|display| display.delete_dropped())
    }
}

impl Drop for Gl {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Some(display) = self.display.take() else { return };
        if !self.read.lock().is_empty() {
            // wgpu frees dropped objects when it is polled; it panics if the device is lost.
            let wait = || self.device.poll(wgpu::PollType::wait_indefinitely());
            if !matches!(catch(wait), Ok(Ok(_))) {
                tracing::warn!(device = %self.identity, "waiting for the device failed");
            }
        }
        for (reader, memory) in self.read.take() {
            if reader.strong_count() > 0 {
                // The engine still holds the buffer: leaking it is better than a read after deletion.
                tracing::warn!(device = %self.identity, "memory is still read by a buffer that outlives its display");
                std::mem::forget(memory);
            }
        }
        let closed = in_context(&self.device, &self.identity, &self.inside, |_| {
            let deleted = display.delete_dropped();
            drop(display);
            deleted
        });
        if let Err(error) = closed {
            tracing::warn!(%error, "the OpenGL objects of the device could not be deleted");
        }
    }
}

/// Runs `f` with the device's context current on this thread; wgpu unbinds it afterwards.
fn in_context<T>(
    device: &wgpu::Device,
    identity: &DeviceIdentity,
    inside: &AtomicUsize,
    f: impl FnOnce(&wgpu::hal::gles::AdapterContext) -> Result<T>,
) -> Result<T> {
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { device.as_hal::<Api>() };
    let hal = hal.ok_or_else(|| absent(identity, "the device's API is not OpenGL"))?;
    let context = hal.context();
    // wgpu panics if its context cannot be made current.
    let locked = catch(|| context.lock());
    let Ok(_locked) = locked else {
        let hint = "No GLX context may be current on this thread, and wgpu's context on no other thread.";
        return Err(failure(identity, 0, "wgpu's context could not be made current".into(), hint));
    };
    let _entered = EntryGuard::new(inside);
    f(context)
}

fn absent(identity: &DeviceIdentity, reason: &str) -> Error {
    Error::unsupported(identity, reason)
}
