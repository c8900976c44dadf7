//! Stub for the Vulkan objects of a wgpu device on systems other than Linux and Windows.

use crate::context::caps::SharingCaps;
#[cfg(feature = "compute")]
use crate::context::device::WgpuDevice;
use crate::context::device_extension::DeviceExtension;
use crate::context::device_state::DeviceState;
use crate::context::kept_memory::KeptMemory;
#[cfg(feature = "compute")]
use interop_core::{ComputeSemaphore, MemoryCap, MemoryHandle, SemaphoreCap, SemaphoreHandle};
use interop_core::{DeviceIdentity, DeviceLuid, DeviceUuid, RawMemory, Result, SharedHandle, StagingKind};

/// Never constructed.
pub(crate) enum Vulkan {}

/// Never constructed.
pub(crate) enum ExportedMemory {}

/// Never constructed.
#[cfg(feature = "compute")]
pub(crate) enum Opener {}

pub(crate) fn ids(_: &wgpu::Adapter) -> (Option<DeviceUuid>, Option<DeviceLuid>) {
    (None, None)
}

pub(crate) fn extensions(_: &wgpu::Adapter, _: &DeviceIdentity) -> Option<Result<Vec<DeviceExtension>>> {
    None
}

pub(crate) fn raw_buffer(_: &wgpu::Device, _: &wgpu::Buffer) -> Option<RawMemory> {
    None
}

pub(crate) fn open(
    _: &wgpu::Adapter,
    _: &DeviceIdentity,
    _: &wgpu::DeviceDescriptor<'_>,
) -> Option<Result<(wgpu::Device, wgpu::Queue)>> {
    None
}

impl Vulkan {
    pub(crate) const ABSENT: &str = "memory is shared only on Linux and Windows";

    pub(crate) fn of(_: &wgpu::Device, _: &DeviceIdentity) -> Option<Self> {
        None
    }

    pub(crate) fn sharing(&self) -> SharingDevice {
        match *self {}
    }

    pub(crate) fn create(&self, _: &DeviceState, _: StagingKind, _: usize) -> Result<KeptMemory<ExportedMemory>> {
        match *self {}
    }

    pub(crate) fn show_host(&self, _: &mut wgpu::CommandEncoder) {
        match *self {}
    }

    pub(crate) fn take_back(&self, _: impl FnOnce() -> Result<()>) {
        match *self {}
    }
}

impl ExportedMemory {
    pub(crate) fn handle(&self, _: &DeviceState) -> Result<SharedHandle> {
        match *self {}
    }
}

#[cfg(feature = "compute")]
impl Opener {
    pub(crate) fn of(_: &WgpuDevice) -> Option<Self> {
        None
    }

    pub(crate) fn caps(&self) -> (Vec<MemoryCap>, Vec<SemaphoreCap>) {
        match *self {}
    }

    pub(crate) fn buffer(&self, _: &WgpuDevice, _: MemoryHandle, _: usize) -> Result<wgpu::Buffer> {
        match *self {}
    }

    pub(crate) fn semaphore(&self, _: &WgpuDevice, _: SemaphoreHandle) -> Result<Box<dyn ComputeSemaphore>> {
        match *self {}
    }
}
