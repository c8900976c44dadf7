//! Vulkan's end of a wgpu device where there is none: systems other than Linux and Windows.

use crate::caps::Sharing;
use crate::shared::Shared;
use crate::staging::Made;
use interop_core::{
    DeviceIdentity, DeviceLuid, DeviceUuid, DisplaySemaphore, Result, SharedHandle, StagingKind, SyncKind,
};
use std::rc::Rc;

/// Never made.
pub(crate) enum Vulkan {}

/// Never made.
pub(crate) enum Exported {}

pub(crate) fn ids(_: &wgpu::Adapter) -> (Option<DeviceUuid>, Option<DeviceLuid>) {
    (None, None)
}

pub(crate) fn open(
    _: &wgpu::Adapter,
    _: &DeviceIdentity,
    _: &wgpu::DeviceDescriptor<'_>,
) -> Option<Result<(wgpu::Device, wgpu::Queue)>> {
    None
}

impl Vulkan {
    pub(crate) const ABSENT: &str = "memory is shared on Linux and Windows only";

    pub(crate) fn of(_: &wgpu::Device, _: &DeviceIdentity) -> Option<Self> {
        None
    }

    pub(crate) fn sharing(&self) -> Sharing {
        match *self {}
    }

    pub(crate) fn create(&self, _: &Shared, _: StagingKind, _: usize) -> Result<Made> {
        match *self {}
    }

    pub(crate) fn semaphore(&self, _: &Rc<Shared>, _: SyncKind) -> Result<(Box<dyn DisplaySemaphore>, SharedHandle)> {
        match *self {}
    }

    pub(crate) fn take_back(&self, _: impl FnOnce() -> Result<()>) {
        match *self {}
    }
}

impl Exported {
    pub(crate) fn handle(&self, _: &Shared) -> Result<SharedHandle> {
        match *self {}
    }
}
