//! Sharing by handles without the feature `exports`: nothing allocates memory that other APIs can open.

use interop_core::{DeviceIdentity, Error, ImageDesc, MemoryHandle, Result, SemaphoreHandle, Support, SyncKind};
use std::sync::Arc;

const REASON: &str = "this program was built without the feature 'exports' of pixelferry-gl";

pub(crate) enum VulkanDevice {}

pub(crate) enum VulkanMemory {}

pub(crate) enum VulkanSemaphore {}

pub(crate) fn loader_support() -> Support {
    Support::No(REASON.into())
}

impl VulkanDevice {
    pub(crate) fn open(gl: &DeviceIdentity) -> Result<Arc<Self>> {
        Err(Error::unsupported(gl, REASON))
    }
}

impl VulkanMemory {
    pub(crate) fn buffer(device: &Arc<VulkanDevice>, _bytes: usize) -> Result<Self> {
        match **device {}
    }

    pub(crate) fn image(device: &Arc<VulkanDevice>, _desc: &ImageDesc) -> Result<Self> {
        match **device {}
    }

    pub(crate) fn export(&self) -> Result<MemoryHandle> {
        match *self {}
    }
}

impl VulkanSemaphore {
    pub(crate) fn new(device: &Arc<VulkanDevice>, _kind: SyncKind) -> Result<Self> {
        match **device {}
    }

    pub(crate) fn export(&self) -> Result<SemaphoreHandle> {
        match *self {}
    }
}
