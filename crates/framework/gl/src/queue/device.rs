//! The type [`GlDevice`].

use super::bind_range::BindRange;
use super::opener::Opener;
use crate::api::error_codes::hint;
use crate::api::host_state::check_lists;
use crate::api::version::GlVersion;
use crate::context::context_state::ContextState;
use crate::context::deferred_deletes::ObjectName;
use crate::context::error::{check, drain, failure};
use crate::context::{SharedContext, load_gl};
use glow::HasContext as _;
use interop_core::{DeviceIdentity, Error, GlContext as _, QueueId, Result};
use std::sync::Arc;

/// The context of a display, for a compute backend that inserts its commands between the draws
/// ([`crate::GlDisplay::shared_device`]).
///
/// Any thread may hold it, which keeps the context alive. Calls work where the context is current, and return
/// [`Error::WrongContext`] elsewhere. Buffers and programs that are dropped elsewhere are deleted by a later call.
#[derive(Clone)]
pub struct GlDevice {
    inner: Arc<Inner>,
}

struct Inner {
    gl: glow::Context,
    bind_range: BindRange,
    held: Arc<SharedContext>,
    identity: DeviceIdentity,
    is_engine: bool,
    has_lists: bool,
    is_es: bool,
    limits: ComputeLimits,
    opener: Opener,
}

/// Limits of the context's compute shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct ComputeLimits {
    /// Largest number of storage blocks in one program.
    pub storage_blocks: u32,
    /// Largest number of groups of a dispatch in each of the first two dimensions.
    pub groups: u32,
    /// Largest number of work items in a group.
    pub group_items: u32,
    /// Largest buffer of a storage block, in bytes.
    pub buffer_bytes: u64,
}

interop_core::debug_as!(GlDevice, |this| device = &this.inner.identity);

impl GlDevice {
    /// Creates the device. The context must be current.
    pub(crate) fn new(shared: &ContextState) -> Result<Self> {
        let features = &shared.features;
        if !features.kernels {
            let used = GlVersion { es: features.es, number: features.version };
            let reason = format!("compute shaders need OpenGL 4.3 or OpenGL ES 3.1, but the context has {used}");
            return Err(shared.unsupported(reason));
        }
        let held = shared.held()?;
        // SAFETY: the context is current, and what it is held by finds its functions.
        let gl = unsafe { load_gl(&mut |name| held.function(name))? };
        Self::with(
            gl,
            held,
            shared.device.clone(),
            (shared.is_engine(), shared.host_states.has_lists(), features.es),
            Opener::of(shared),
        )
    }

    /// Creates the device of an OpenGL ES context of this crate, which must be current.
    pub(crate) fn of_es(gl: glow::Context, held: Arc<SharedContext>, identity: DeviceIdentity) -> Result<Self> {
        Self::with(gl, held, identity, (false, false, true), Opener::none("kernels of OpenGL ES cannot import memory"))
    }

    fn with(
        gl: glow::Context,
        held: Arc<SharedContext>,
        identity: DeviceIdentity,
        (is_engine, has_lists, is_es): (bool, bool, bool),
        opener: Opener,
    ) -> Result<Self> {
        // SAFETY: the context is current, and what it is held by finds its functions.
        let Some(bind_range) = (unsafe { BindRange::load(&mut |name| held.function(name)) }) else {
            let reason = "the driver has no glBindBufferRange";
            return Err(Error::unsupported(identity.name, reason));
        };
        // SAFETY: the context is current and has OpenGL 4.3 or OpenGL ES 3.1, where these are single integers.
        let limits = unsafe {
            let unsigned = |value: i32| u32::try_from(value).unwrap_or(0);
            let groups = |axis| gl.get_parameter_indexed_i32(glow::MAX_COMPUTE_WORK_GROUP_COUNT, axis);
            let blocks = gl.get_parameter_i32(glow::MAX_COMPUTE_SHADER_STORAGE_BLOCKS);
            let places = gl.get_parameter_i32(glow::MAX_SHADER_STORAGE_BUFFER_BINDINGS);
            ComputeLimits {
                storage_blocks: unsigned(blocks.min(places)),
                groups: unsigned(groups(0).min(groups(1))),
                group_items: unsigned(gl.get_parameter_i32(glow::MAX_COMPUTE_WORK_GROUP_INVOCATIONS)),
                buffer_bytes: u64::try_from(gl.get_parameter_i64(glow::MAX_SHADER_STORAGE_BLOCK_SIZE)).unwrap_or(0),
            }
        };
        check(&gl, &identity.name, "glGetIntegerv", hint)?;
        Ok(Self {
            inner: Arc::new(Inner { gl, bind_range, held, identity, is_engine, has_lists, is_es, limits, opener }),
        })
    }

    /// Returns the identity of its queue.
    pub(crate) fn queue_id(&self) -> QueueId {
        QueueId::of(&self.inner.held)
    }

    /// Returns the identity of the device that draws there.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.inner.identity
    }

    /// Returns the opener of imported memory and semaphores.
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone calls it"))]
    pub(crate) fn opener(&self) -> &Opener {
        &self.inner.opener
    }

    /// Returns the limits of its compute shaders.
    pub(crate) fn limits(&self) -> ComputeLimits {
        self.inner.limits
    }

    /// True for OpenGL ES, which has another GLSL.
    pub fn is_es(&self) -> bool {
        self.inner.is_es
    }

    /// Waits for all work in the queue.
    ///
    /// # Errors
    /// [`Error::WrongContext`], [`Error::Driver`].
    pub(crate) fn finish(&self) -> Result<()> {
        let gl = self.enter()?;
        self.checked("glFinish", || {
            // SAFETY: the context is current.
            unsafe { gl.finish() }
        })
    }

    /// Returns an error for something that this context does not support.
    pub(crate) fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(&self.inner.identity.name, reason)
    }

    /// Starts every call: checks that the context is current, and deletes objects that waited for it.
    pub(crate) fn enter(&self) -> Result<&glow::Context> {
        let Inner { gl, held, identity, .. } = self.inner.as_ref();
        if held.is_lost() {
            let code = glow::CONTEXT_LOST;
            return Err(failure(&identity.name, "", code.into(), "the context is gone", hint(code)));
        }
        if !held.is_current() {
            return Err(Error::WrongContext { operation: "", device: identity.name.clone() });
        }
        check_lists(gl, self.inner.is_engine && self.inner.has_lists)?;
        // SAFETY: the context is current, and the functions are its own.
        unsafe { held.deferred_deletes.empty(gl) };
        Ok(gl)
    }

    /// Runs `f` between a drain of errors and a check. The context must be current.
    pub(crate) fn checked<T>(&self, operation: &'static str, f: impl FnOnce() -> T) -> Result<T> {
        self.checked_with(operation, hint, f)
    }

    /// Like [`GlDevice::checked`], with a hint from the caller.
    pub(crate) fn checked_with<T>(
        &self,
        operation: &'static str,
        hint: impl FnOnce(u32) -> &'static str,
        f: impl FnOnce() -> T,
    ) -> Result<T> {
        let Inner { gl, identity, .. } = self.inner.as_ref();
        drain(gl, operation);
        let value = f();
        check(gl, &identity.name, operation, hint)?;
        Ok(value)
    }

    /// Returns the error for an object that was not created.
    pub(crate) fn no_name(&self, operation: &'static str, why: &str) -> Error {
        failure(&self.inner.identity.name, operation, 0, "no object name returned", why)
    }

    /// Returns the function of that name; null where there is none. The context must be current.
    pub(super) fn function(&self, name: &std::ffi::CStr) -> *const std::ffi::c_void {
        self.inner.held.function(name)
    }

    pub(crate) fn is_engine(&self) -> bool {
        self.inner.is_engine
    }

    pub(crate) fn bind_range(&self) -> BindRange {
        self.inner.bind_range
    }

    /// Records a name that was created here.
    pub(crate) fn made(&self, name: ObjectName) {
        self.inner.held.deferred_deletes.made(name);
    }

    /// Deletes a name that was created here.
    pub(crate) fn unmake(&self, name: ObjectName) {
        let Inner { gl, held, .. } = self.inner.as_ref();
        if held.is_current() {
            // SAFETY: the context is current, the functions are its own, and the name's owner has gone.
            unsafe { held.deferred_deletes.delete(gl, name) }
        } else {
            held.deferred_deletes.defer_delete(name);
        }
    }
}
