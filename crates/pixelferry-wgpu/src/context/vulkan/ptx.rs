//! Kernels in PTX in wgpu's queue, where NVIDIA's Vulkan drives the device.

use super::Api;
use crate::context::format::whole_words;
use crate::context::ptx_grid::PtxGrid;
use ash::vk;
use interop_core::{DeviceIdentity, Result, Support};
use pixelferry_vulkan::sharing::{
    ADDRESS_EXTENSION, Allocation, CU_EXTENSION, CuDevice, CuFunction, CuGrid, Sharing, enabled,
};
use std::sync::Arc;

/// Parts of a device that take PTX.
pub(crate) struct PtxSide {
    sharing: Sharing,
    cu: CuDevice,
}

/// An entry of a text that is loaded.
pub(crate) struct Loaded(CuFunction);

impl PtxSide {
    /// Returns these parts of a device, or the reason why it takes none.
    pub(crate) fn of(device: &wgpu::Device, identity: &DeviceIdentity) -> Result<Self, String> {
        let absent = || "the device is not driven by Vulkan".to_owned();
        // SAFETY: nothing of the guard's is destroyed; the copies of function tables are used while the device is kept.
        let hal = unsafe { device.as_hal::<Api>() }.ok_or_else(absent)?;
        let listed = hal.enabled_device_extensions();
        for wanted in [CU_EXTENSION, ADDRESS_EXTENSION] {
            if let Support::No(reason) = enabled(listed.contains(&wanted), wanted) {
                return Err(reason);
            }
        }
        let (raw, physical) = (hal.raw_device().clone(), hal.raw_physical_device());
        let instance = hal.shared_instance().raw_instance().clone();
        let name = identity.to_string();
        // SAFETY: all belong together and live as long as the `wgpu::Device`, which whoever has this keeps. Devices have the
        // extension for addresses only with its feature: wgpu-hal and `open` here switch on both.
        unsafe {
            let cu = CuDevice::new(&instance, raw.clone(), &name);
            let cu = cu.ok_or_else(|| "the driver lists an extension whose functions it does not have".to_owned())?;
            Ok(Self { sharing: Sharing::new(instance, physical, raw, |_| false, false, name), cu })
        }
    }

    /// Memory that launches reach by its address, as a buffer of wgpu's.
    pub(crate) fn buffer(
        &self,
        device: &wgpu::Device,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<(wgpu::Buffer, u64)> {
        use vk::BufferUsageFlags as Raw;
        let size = whole_words(bytes);
        let raw = Raw::STORAGE_BUFFER | Raw::VERTEX_BUFFER | Raw::TRANSFER_SRC | Raw::TRANSFER_DST;
        // SAFETY: `of` has seen that the device has the extension.
        let made = Arc::new(unsafe { self.sharing.addressed_buffer(size, raw) }?);
        let buffer = made.buffer()?;
        // SAFETY: made of this device, with an address.
        let address = unsafe { self.address(buffer) };
        let kept: Arc<Allocation> = Arc::clone(&made);
        let descriptor =
            wgpu::BufferDescriptor { label: Some("pixelferry shared"), size, usage, mapped_at_creation: false };
        // SAFETY: the buffer was made of this device with these usages, so large and with memory bound; it lives until wgpu
        // lets go of `kept`, and wgpu does not map it.
        let buffer = unsafe {
            let hal = wgpu::hal::vulkan::Buffer::from_raw_externally_owned(buffer, Box::new(move || drop(kept)));
            device.create_buffer_from_hal::<Api>(hal, &descriptor)
        };
        Ok((buffer, address))
    }

    /// The address of a buffer as kernels see it.
    ///
    /// # Safety
    /// The buffer is of this device and was made to have an address.
    pub(super) unsafe fn address(&self, buffer: vk::Buffer) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.cu.address(buffer) }
    }

    /// Compiles PTX and takes its entry of that name.
    ///
    /// # Safety
    /// No launch of it is left on the device when it is dropped.
    pub(crate) unsafe fn load(&self, ptx: &str, entry: &str) -> Result<Loaded> {
        // SAFETY: the caller's promise.
        unsafe { self.cu.function(ptx, entry) }.map(Loaded)
    }

    /// Records a launch and nothing else into a new encoder; false where it is not Vulkan's.
    ///
    /// # Safety
    /// The conditions of [`CuDevice::launch`] hold but for the commands, which this makes.
    pub(crate) unsafe fn launch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        entry: &Loaded,
        at: PtxGrid,
        values: &[&[u64]],
    ) -> Result<bool> {
        let PtxGrid { grid, block } = at;
        // SAFETY: the encoder is new, so that it records and no pass is open; its handle is used in the callback only. The rest
        // is the caller's promise.
        unsafe {
            encoder.as_hal_mut::<Api, _, _>(|hal| match hal {
                Some(hal) => self.cu.launch(hal.raw_handle(), &entry.0, CuGrid { grid, block }, values).map(|()| true),
                None => Ok(false),
            })
        }
    }
}
