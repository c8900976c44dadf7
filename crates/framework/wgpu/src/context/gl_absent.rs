//! Stub for the OpenGL objects of a wgpu device: without the feature `gl`, or on a system where wgpu does not use EGL.

use crate::context::caps::SharingCaps;
use crate::context::device_state::DeviceState;
use crate::context::kept_memory::KeptMemory;
use interop_core::{DeviceIdentity, HandleType, Result, SharedHandle, StagingKind};
use std::sync::Arc;

/// Never constructed.
pub(crate) enum Gl {}

/// Never constructed.
pub(crate) enum Memory {}

impl Gl {
    pub(crate) fn of(_: &wgpu::Device, _: &DeviceIdentity) -> Option<Result<Arc<Self>>> {
        None
    }

    pub(crate) fn identify(&self, _: DeviceIdentity) -> DeviceIdentity {
        match *self {}
    }

    pub(crate) fn sharing(&self) -> SharingCaps {
        match *self {}
    }

    pub(crate) fn collect(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn create(
        self: &Arc<Self>,
        _: &DeviceState,
        _: StagingKind,
        _: usize,
    ) -> Result<KeptMemory<Arc<Memory>>> {
        match **self {}
    }
}

impl Memory {
    pub(crate) fn export(&self, _: &Gl, _: HandleType) -> Result<SharedHandle> {
        match *self {}
    }
}
