//! Host closures as commands.

use super::{Buffer, Event, ExecCapabilities, Queue};
#[cfg(doc)]
use super::{HostBuffer, MemFlags};
use crate::ffi;
use interop_core::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A host closure in a queue (`clEnqueueNativeKernel`).
pub struct NativeKernel {
    event: Event,
    failed: Arc<AtomicBool>,
}

impl NativeKernel {
    /// For wait lists: its `cl_event`.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Blocks until it is done (`clWaitForEvents`).
    ///
    /// # Errors
    /// [`Error::KernelFailed`] where the closure panicked; OpenCL itself has no word for that, and what waits for the event
    /// goes on.
    pub fn wait(&self) -> Result<()> {
        self.event.wait()?;
        if self.failed.load(Ordering::Acquire) {
            return Err(Error::KernelFailed {
                kernel: "a host closure".into(),
                device: self.event.context.name().to_owned(),
                reason: "it panicked; see the log".into(),
            });
        }
        Ok(())
    }
}

impl Queue {
    /// Runs `f` as a command, with the bytes of `buffers` in their order (`clEnqueueNativeKernel`). Does not block.
    ///
    /// It runs after every command that uses these buffers, of any queue, and what is enqueued later for them waits for
    /// it. Where others have the host memory of a [`HostBuffer`], too, this waits for their commands. Their use of
    /// these bytes before `f` has run is refused. The buffers are mapped for it (`clEnqueueMapBuffer`), so that those
    /// made with [`MemFlags::HOST_NO_ACCESS`] are refused by the driver.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where `CL_DEVICE_EXECUTION_CAPABILITIES` does not list `CL_EXEC_NATIVE_KERNEL`,
    /// [`Error::InvalidInput`] where the buffers overlap or are mapped, or somebody else has a slice of their host memory.
    pub fn native(
        &self,
        buffers: &[&Buffer],
        f: impl FnOnce(Vec<&mut [u8]>) + Send + 'static,
        wait: &[Event],
    ) -> Result<NativeKernel> {
        const OP: &str = "clEnqueueNativeKernel";
        let listed = self.device().execution_capabilities()?;
        if !listed.contains(ExecCapabilities::NATIVE_KERNEL) {
            let reason = format!("CL_DEVICE_EXECUTION_CAPABILITIES lists {listed}, not NATIVE_KERNEL");
            return Err(self.device().unsupported(OP, reason));
        }
        for buffer in buffers {
            self.context().check_same(&buffer.context, OP, "buffer")?;
        }
        let mems: Vec<_> = buffers.iter().map(|buffer| (&*buffer.raw, buffer.len())).collect();
        let ffi::NativeLaunch { event, failed } =
            self.enqueue(OP, wait, |queue, wait| queue.native(&mems, Box::new(f), wait))?;
        Ok(NativeKernel { event: Event::of(event, self.context()), failed })
    }
}
