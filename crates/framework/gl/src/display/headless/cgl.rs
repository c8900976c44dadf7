//! CGL of macOS, which chooses the device itself. This code is compiled but was never run.

use super::headless_options::{HeadlessDevice, HeadlessOptions, on_context};
use crate::api::identity::Origin;
use crate::context::create::core_context;
use crate::context::own::{OwnContext, OwnSurface, driver_error};
use crate::display::contract::GlDisplay;
use glutin::config::{ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{NotCurrentContext, PossiblyCurrentContext};
use glutin::display::{Display, DisplayApiPreference};
use glutin::prelude::GlDisplay as _;
use interop_core::{Error, Result};
use raw_window_handle::{AppKitDisplayHandle, RawDisplayHandle};
use std::sync::Arc;

const NAME: &str = "CGL";

fn unavailable(reason: impl std::fmt::Display) -> Error {
    Error::Unavailable {
        what: "OpenGL without a window (CGL)".into(),
        reason: reason.to_string(),
        hint: "Draw with wgpu, or in plain memory.".into(),
    }
}

pub(super) fn devices() -> Result<Vec<HeadlessDevice>> {
    Ok(vec![HeadlessDevice::the_only()])
}

pub(super) fn open(options: &HeadlessOptions) -> Result<Arc<GlDisplay>> {
    options.check_the_only(NAME)?;
    let handle = RawDisplayHandle::AppKit(AppKitDisplayHandle::new());
    // SAFETY: the handle names no system object.
    let display = unsafe { Display::new(handle, DisplayApiPreference::Cgl) }.map_err(unavailable)?;
    let template = ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty()).build();
    // SAFETY: the template names no window.
    let mut configs = unsafe { display.find_configs(template) }.map_err(|e| driver_error("find_configs", NAME, &e))?;
    let config = configs.next().ok_or_else(|| unavailable("it has no pixel format"))?;
    let NotCurrentContext::Cgl(context) = core_context(&display, &config, None, NAME)?;
    let context = context.make_current_surfaceless().map_err(|e| driver_error("make_current", NAME, &e))?;
    let own = OwnContext::new(OwnSurface::None, PossiblyCurrentContext::Cgl(context), None);
    on_context(own, &display, &Origin::default(), options)
}
