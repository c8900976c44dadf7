//! WGL of Windows creates contexts only for windows, and on the device that shows the desktop; a hidden window serves
//! for that.

use super::headless_options::{HeadlessDevice, HeadlessOptions, on_context};
use super::hidden_window::HiddenWindow;
use crate::api::identity::Origin;
use crate::context::create::core_context;
use crate::context::own::{OwnContext, OwnSurface, driver_error};
use crate::context::window_surface::{pick_config, window_surface};
use crate::display::contract::GlDisplay;
use glutin::display::{Display, DisplayApiPreference};
use glutin::prelude::*;
use interop_core::{Error, Result};
use raw_window_handle::{RawDisplayHandle, WindowsDisplayHandle};
use std::sync::Arc;

const NAME: &str = "WGL";

pub(super) fn devices() -> Result<Vec<HeadlessDevice>> {
    Ok(vec![HeadlessDevice::the_only()])
}

pub(super) fn open(options: &HeadlessOptions) -> Result<Arc<GlDisplay>> {
    options.check_the_only(NAME)?;
    let window = Arc::new(HiddenWindow::open()?);
    let handle = window.handle();
    let preference = DisplayApiPreference::Wgl(Some(handle));
    // SAFETY: the window lives as long as the context, which keeps it.
    let display = unsafe { Display::new(RawDisplayHandle::Windows(WindowsDisplayHandle::new()), preference) };
    let display = display.map_err(|e| Error::Unavailable {
        what: "OpenGL without a window (WGL)".into(),
        reason: e.to_string(),
        hint: "Install the GPU's driver, or draw with wgpu or in plain memory.".into(),
    })?;
    let config = pick_config(&display, handle)?;
    let context = core_context(&display, &config, Some(handle), NAME)?;
    let surface = window_surface(&display, &config, handle, (1, 1))?;
    let context = context.make_current(&surface).map_err(|e| driver_error("make_current", NAME, &e))?;
    let own = OwnContext::new(OwnSurface::Window(surface), context, Some(window));
    on_context(own, &display, &Origin::default(), options)
}
