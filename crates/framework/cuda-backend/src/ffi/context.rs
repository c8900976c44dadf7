//! The device's primary context, and one in-order stream in it.

use super::Failure;
use super::api::{Api, call};
use super::gate::Gate;
use super::registry::Registry;
use cudarc::driver::sys as cu;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, OnceLock};

/// `CU_STREAM_NON_BLOCKING`: no implicit order with the default stream of other code in this process.
pub(super) const NON_BLOCKING: u32 = 1;

/// A reference to the primary context.
struct Context {
    api: &'static Api,
    device: cu::CUdevice,
    raw: cu::CUcontext,
}

// SAFETY: a context may be made current on any thread, on several at once (CUDA programming guide, "Context"); the
// handle itself is only a name.
unsafe impl Send for Context {}
// SAFETY: as above; nothing here is changed after it was made.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: retained once when this was made, released once here.
        Failure::log(unsafe { call!(self.api.driver, cuDevicePrimaryCtxRelease_v2(self.device)) });
    }
}

/// Guard: the context is current on this thread while this lives. Not `Send`, because it must be dropped on its own
/// thread.
pub struct Current<'a> {
    api: &'a Api,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: pops what was pushed on this thread when this guard was made; guards nest.
        Failure::log(unsafe { call!(self.api.driver, cuCtxPopCurrent_v2(&raw mut popped)) });
    }
}

/// A stream of the highest priority, because its results are about to be shown.
pub struct Queue {
    raw: cu::CUstream,
    /// Host pages that queues of this context have registered.
    registry: Arc<Registry>,
    /// Created at first use; `None` where the driver does not support it.
    gate: OnceLock<Option<Gate>>,
    // After the stream, which `drop` destroys first.
    context: Context,
}

// SAFETY: streams may be used from any thread (the driver locks them); the handle is only a name.
unsafe impl Send for Queue {}
// SAFETY: as above; nothing here is changed after it was made.
unsafe impl Sync for Queue {}

impl Queue {
    /// Takes a reference to the primary context of `device` and creates a stream in it.
    pub fn new(api: &'static Api, device: cu::CUdevice) -> Result<Arc<Self>, Failure> {
        let mut raw = ptr::null_mut();
        // SAFETY: writes the handle to the given location; `cuInit` has been called to get `device`.
        unsafe { call!(api.driver, cuDevicePrimaryCtxRetain(&raw mut raw, device)) }?;
        let context = Context { api, device, raw };
        let stream = {
            let _current = enter(&context)?;
            let (mut least, mut greatest, mut stream) = (0, 0, ptr::null_mut());
            // SAFETY: writes two numbers; the context is current.
            unsafe { call!(api.driver, cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)) }?;
            // SAFETY: writes the handle to the given location; the context is current.
            unsafe { call!(api.driver, cuStreamCreateWithPriority(&raw mut stream, NON_BLOCKING, greatest)) }?;
            stream
        };
        let registry = Registry::of(raw);
        Ok(Arc::new(Self { raw: stream, registry, gate: OnceLock::new(), context }))
    }

    pub fn api(&self) -> &'static Api {
        self.context.api
    }

    pub fn device(&self) -> cu::CUdevice {
        self.context.device
    }

    pub fn raw(&self) -> cu::CUstream {
        self.raw
    }

    pub fn context(&self) -> cu::CUcontext {
        self.context.raw
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Makes the context current on this thread until the guard is dropped. Releases held-back work, because the caller
    /// may be about to wait for it.
    pub fn enter(&self) -> Result<Current<'_>, Failure> {
        if let Some(gate) = self.gate() {
            gate.let_go();
        }
        enter(&self.context)
    }

    /// Makes the context current on this thread until the guard is dropped. For calls that never wait: held-back work
    /// stays held back.
    pub fn enter_held(&self) -> Result<Current<'_>, Failure> {
        enter(&self.context)
    }

    fn gate(&self) -> Option<&Gate> {
        self.gate.get().and_then(Option::as_ref)
    }

    /// Holds back work that is queued from now on until something waits (see [`super::gate`]). Does nothing where the
    /// driver does not support it.
    pub fn defer_submission(&self) {
        let Ok(_current) = self.enter_held() else { return };
        let gate = self.gate.get_or_init(|| Gate::new(self.api()).inspect_err(|f| log_no_gate(*f)).ok());
        if let Some(gate) = gate {
            gate.defer_submission(self.api(), self.raw).unwrap_or_else(log_no_gate);
        }
    }

    /// Must be called before each launch.
    pub fn launched(&self) {
        if let Some(gate) = self.gate() {
            gate.launched();
        }
    }

    #[cfg(test)]
    pub fn gate_is_open(&self) -> bool {
        self.gate().is_none_or(Gate::is_open)
    }

    /// Returns the free bytes of device memory.
    pub fn free_memory(&self) -> Result<usize, Failure> {
        let _current = self.enter_held()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two numbers; the context is current.
        unsafe { call!(self.api().driver, cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok(free)
    }

    /// Waits until all work queued so far is done. Returns the error of failed work.
    pub fn synchronize(&self) -> Result<(), Failure> {
        let _current = self.enter()?;
        // SAFETY: the stream is live and belongs to the current context.
        unsafe { call!(self.api().driver, cuStreamSynchronize(self.raw)) }
    }
}

fn log_no_gate(failure: Failure) {
    tracing::debug!(operation = failure.operation, code = failure.code, "cannot hold back work");
}

fn enter(context: &Context) -> Result<Current<'_>, Failure> {
    // SAFETY: the context is retained for as long as `context` lives.
    unsafe { call!(context.api.driver, cuCtxPushCurrent_v2(context.raw)) }?;
    Ok(Current { api: context.api, _this_thread: PhantomData })
}

impl Drop for Queue {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Without the context the stream cannot be destroyed; the primary context destroys its streams.
        let Ok(_current) = self.enter() else { return };
        if let Some(gate) = self.gate() {
            // The device may still have to read the word.
            Failure::log(self.synchronize());
            gate.close(self.api());
        }
        // SAFETY: made once, destroyed once; the driver finishes what is queued before it lets the stream go.
        Failure::log(unsafe { call!(self.api().driver, cuStreamDestroy_v2(self.raw)) });
    }
}
