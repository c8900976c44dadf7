//! Kernels in PTX in the queue of a wgpu device.

use crate::context::device::WgpuDevice;
use crate::context::ptx_grid::PtxGrid;
use crate::context::vulkan::{Loaded, PtxSide};
use interop_core::{Error, Result, Support};
use std::sync::Arc;

/// An entry of a PTX text on one device: [`WgpuDevice::ptx_function`].
#[derive(Clone)]
pub(crate) struct PtxFunction(Arc<Entry>);

struct Entry {
    /// `None` only while it is dropped.
    loaded: Option<Loaded>,
    device: WgpuDevice,
}

impl Drop for Entry {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Launches of it may be recorded, or run.
        if let Err(error) = self.device.wait(None) {
            tracing::warn!(%error, "the device could not be waited for");
        }
        self.loaded = None;
    }
}

impl WgpuDevice {
    /// Tells whether kernels in PTX run in its queue: with NVIDIA's Vulkan (`VK_NVX_binary_import`), on a device that was opened for
    /// it ([`crate::WgpuOptions::ptx`], [`crate::open_device_for_ptx`]).
    pub fn takes_ptx(&self) -> Support {
        match self.ptx.as_ref() {
            Ok(_) => Support::Yes,
            Err(reason) => Support::No(reason.clone()),
        }
    }

    /// Compiles PTX for this device (`vkCreateCuModuleNVX`) and takes its entry of that name. The driver gives no log.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device takes none; [`Error::InvalidInput`] for a zero byte; [`Error::KernelBuild`]
    /// where the driver refuses the text.
    pub(crate) fn ptx_function(&self, ptx: &str, entry: &str) -> Result<PtxFunction> {
        let side = self.ptx_side()?;
        // SAFETY: `Entry` waits for the device before it drops the function.
        let loaded = unsafe { side.load(ptx, entry) }?;
        Ok(PtxFunction(Arc::new(Entry { loaded: Some(loaded), device: self.clone() })))
    }

    /// Records a launch as [`WgpuDevice::record`] does, with barriers before and after it. `values`: each parameter where it
    /// lies, in 64-bit words.
    ///
    /// # Errors
    /// [`Error::Foreign`] where the function is of another device; what wgpu refuses.
    ///
    /// # Safety
    /// There are as many values as the entry has parameters, each at least as long as its own. What addresses among them name
    /// stays until the device has passed the launch ([`WgpuDevice::keep`]). The author of the text vouches for what it does
    /// there.
    pub(crate) unsafe fn record_ptx(&self, function: &PtxFunction, at: PtxGrid, values: &[&[u64]]) -> Result<()> {
        let side = self.ptx_side()?;
        let Some(entry) = function.0.loaded.as_ref().filter(|_| function.0.device.is(self)) else {
            return Err(Error::Foreign { operation: "", object: "kernel", device: self.identity.to_string() });
        };
        // SAFETY: `record_apart` gives a new encoder; the function waits for the device before it goes. The rest is the caller's
        // promise.
        let recorded = self.record_apart(|encoder| unsafe { side.launch(encoder, entry, at, values) })??;
        if recorded { Ok(()) } else { Err(self.unsupported("its commands are not Vulkan's")) }
    }

    /// Keeps a buffer until the device has passed all that was recorded and submitted so far, of which wgpu may know nothing.
    pub(crate) fn keep(&self, buffer: wgpu::Buffer) {
        // Later submissions cannot use it: its owner is gone.
        if let Err(error) = self.submit_recorded() {
            tracing::warn!(%error, "what was recorded could not be submitted");
        }
        self.queue.on_submitted_work_done(move || drop(buffer));
    }

    fn ptx_side(&self) -> Result<&PtxSide> {
        self.ptx.as_ref().as_ref().map_err(|reason| self.unsupported(reason.clone()))
    }
}
