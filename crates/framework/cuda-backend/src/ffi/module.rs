//! Modules from PTX text, their functions, and launches.

use super::api::call;
use super::{Failure, Queue};
use crate::plan::{Geometry, Params};
use cudarc::driver::sys as cu;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

const ERROR_LOG: cu::CUjit_option = cu::CUjit_option::CU_JIT_ERROR_LOG_BUFFER;
const ERROR_LOG_BYTES: cu::CUjit_option = cu::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
const LOG_BYTES: usize = 8192;

/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`.
const MAX_THREADS_PER_BLOCK: u32 = 0;

/// Code that is loaded into the context.
pub struct Module {
    raw: cu::CUmodule,
    queue: Arc<Queue>,
}

// SAFETY: modules may be used from any thread on which their context is current; the handle is only a name.
unsafe impl Send for Module {}
// SAFETY: as above; nothing here is changed after it was made.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles PTX for the device and loads it. A failure comes with the compiler's log.
    pub fn new(queue: &Arc<Queue>, ptx: &CStr) -> Result<Self, (Failure, String)> {
        let _current = queue.enter().map_err(|failure| (failure, String::new()))?;
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut raw = ptr::null_mut();
        // SAFETY: the text ends with a zero byte; there are as many options as values, of the types that the options
        // require, and the log buffer has the given length.
        let loaded = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            call!(queue.api().driver, cuModuleLoadDataEx(&raw mut raw, ptx.as_ptr().cast(), 2, options, values))
        };
        match loaded {
            Ok(()) => Ok(Self { raw, queue: queue.clone() }),
            Err(failure) => {
                let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
                Err((failure, String::from_utf8_lossy(&log[..end]).into_owned()))
            }
        }
    }

    /// Returns the entry of this name.
    pub fn function(self: &Arc<Self>, name: &CStr) -> Result<Function, Failure> {
        let _current = self.queue.enter()?;
        let driver = &self.queue.api().driver;
        let (mut raw, mut threads) = (ptr::null_mut(), 0);
        // SAFETY: writes the handle to the given location; the module is live.
        unsafe { call!(driver, cuModuleGetFunction(&raw mut raw, self.raw, name.as_ptr())) }?;
        // SAFETY: writes one number; the function is live.
        unsafe { call!(driver, cuFuncGetAttribute(&raw mut threads, MAX_THREADS_PER_BLOCK, raw)) }?;
        Ok(Function { raw, max_threads: u32::try_from(threads).unwrap_or(1).max(1), module: self.clone() })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Its kernels may still run.
        Failure::log(self.queue.synchronize());
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: loaded once, unloaded once, when none of its kernels runs.
        Failure::log(unsafe { call!(self.queue.api().driver, cuModuleUnload(self.raw)) });
    }
}

/// One entry of a module.
#[derive(Clone)]
pub struct Function {
    raw: cu::CUfunction,
    max_threads: u32,
    module: Arc<Module>,
}

// SAFETY: as for `Module`.
unsafe impl Send for Function {}
// SAFETY: as for `Module`.
unsafe impl Sync for Function {}

impl Function {
    /// Returns the largest number of threads in a block.
    pub fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// Queues the kernel. The caller has compared `params` with the entry's own parameters (`ptx::Entry`).
    pub fn launch(&self, geometry: Geometry, params: &Params) -> Result<(), Failure> {
        let queue = &self.module.queue;
        queue.launched();
        self.launch_in(queue.raw(), geometry, params)
    }

    /// Launches the function in a stream of the same context.
    pub(super) fn launch_in(&self, stream: cu::CUstream, geometry: Geometry, params: &Params) -> Result<(), Failure> {
        let queue = &self.module.queue;
        let _current = queue.enter_held()?;
        // The driver takes values that it only reads through mutable pointers.
        let mut values: Vec<*mut c_void> = params.values().map(|value| value.as_ptr().cast_mut().cast()).collect();
        let ([grid_x, grid_y], [block_x, block_y]) = (geometry.grid, geometry.block);
        // SAFETY: function and stream are live and of one context. The driver copies the values before the call
        // returns; each is as long as the entry's parameter. The author of the kernel's text guarantees its behaviour.
        unsafe {
            let driver = &queue.api().driver;
            let values = values.as_mut_ptr();
            call!(
                driver,
                cuLaunchKernel(self.raw, grid_x, grid_y, 1, block_x, block_y, 1, 0, stream, values, ptr::null_mut())
            )
        }
    }
}
