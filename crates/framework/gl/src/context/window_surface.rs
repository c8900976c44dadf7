//! Surfaces that draw to a window, whoever created it.

use super::own::driver_error;
use glutin::config::{Config, ConfigTemplateBuilder};
use glutin::display::Display;
#[cfg(all(unix, not(target_vendor = "apple")))]
use glutin::platform::x11::X11GlConfigExt as _;
use glutin::prelude::{GlDisplay as _, *};
use glutin::surface::{Surface, SurfaceAttributesBuilder, WindowSurface};
use interop_core::{Error, Result};
use raw_window_handle::RawWindowHandle;
use std::num::NonZeroU32;

pub(crate) const NAME: &str = "the window system's OpenGL";

pub(crate) fn unavailable(reason: impl std::fmt::Display) -> Error {
    Error::Unavailable {
        what: "a window with OpenGL".into(),
        reason: reason.to_string(),
        hint: "Install the display server's OpenGL driver (Debian and Ubuntu: libgl1-mesa-dri libglx-mesa0 \
               libegl1)."
            .into(),
    }
}

/// Picks the configuration with the fewest samples, because frames are shown pixel by pixel. Configurations with the
/// window's own visual come first.
pub(crate) fn pick_config(display: &Display, window: RawWindowHandle) -> Result<Config> {
    // Alpha is not requested: a compositor would let the content below the window show through.
    let mut template = ConfigTemplateBuilder::new().with_alpha_size(0);
    if cfg!(windows) {
        template = template.compatible_with_native_window(window);
    }
    // SAFETY: the window handle is of a live window.
    let configs =
        unsafe { display.find_configs(template.build()) }.map_err(|e| driver_error("find_configs", NAME, &e))?;
    let merit = |config: &Config| (!has_visual(window, config), config.num_samples());
    configs.min_by_key(merit).ok_or_else(|| unavailable("it has no configuration for windows"))
}

/// True where a window has a configuration's visual, and where there are no visuals.
#[cfg(all(unix, not(target_vendor = "apple")))]
pub(crate) fn has_visual(window: RawWindowHandle, config: &Config) -> bool {
    let own = match window {
        RawWindowHandle::Xlib(window) => window.visual_id,
        RawWindowHandle::Xcb(window) => window.visual_id.map_or(0, |id| id.get().into()),
        _ => return true,
    };
    config.x11_visual().is_some_and(|visual| visual.visual_id() == own)
}

#[cfg(not(all(unix, not(target_vendor = "apple"))))]
pub(crate) const fn has_visual(_: RawWindowHandle, _: &Config) -> bool {
    true
}

pub(crate) fn window_surface(
    display: &Display,
    config: &Config,
    handle: RawWindowHandle,
    (width, height): (u32, u32),
) -> Result<Surface<WindowSurface>> {
    let side = |n: u32| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
    let attributes = SurfaceAttributesBuilder::<WindowSurface>::new().build(handle, side(width), side(height));
    // SAFETY: the handle is of a live window, which the context's owner keeps alive.
    let surface = unsafe { display.create_window_surface(config, &attributes) };
    surface.map_err(|e| driver_error("create_window_surface", NAME, &e))
}
