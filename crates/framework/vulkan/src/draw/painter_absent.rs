//! The painter without the feature `compute`: no shader compiler is built in.

use crate::context::device_state::DeviceState;
use crate::queue::commands::CopyImage;
use crate::surface::surface_content::SurfaceContent;
use ash::vk;
use interop_core::draw::{Obstacle, Plan};
use interop_core::{ImageDesc, Region, Result};
use std::sync::Arc;

pub(crate) struct Painter;

#[derive(Default)]
pub(crate) struct OwnView(());

/// Target of a draw.
#[expect(dead_code)]
pub(crate) struct Canvas<'a> {
    pub place: CopyImage,
    pub desc: ImageDesc,
    pub usage: vk::ImageUsageFlags,
    pub region: Region,
    /// The engine keeps the image while its owner lives.
    pub alive: &'a Arc<()>,
    pub view: &'a OwnView,
}

pub(crate) enum Ready {}

impl Painter {
    pub(crate) fn new(_: &Arc<DeviceState>) -> Self {
        Self
    }

    pub(crate) fn ready(&self, _: &Canvas<'_>, _: &Plan, _: SurfaceContent) -> Result<Ready, Obstacle> {
        Err(Obstacle::NoShader("pixelferry-vulkan was built without the feature compute".into()))
    }

    pub(crate) unsafe fn draw(&self, _: &Canvas<'_>, _: &Plan, ready: Ready) -> Result<()> {
        match ready {}
    }
}

impl Ready {
    pub(crate) fn is_straight(&self) -> bool {
        match *self {}
    }
}
