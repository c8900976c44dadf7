//! A window with its own context: X11 (GLX or EGL), Wayland (EGL), Windows (WGL).

use crate::api::identity::Origin;
use crate::api::raw::RawFns;
use crate::context::context_state::{ContextState, Ownership};
use crate::context::create::core_context;
use crate::context::own::{OwnContext, OwnSurface, driver_error};
use crate::context::window_surface::{NAME, has_visual, pick_config, unavailable, window_surface};
#[cfg(all(unix, not(target_vendor = "apple")))]
use crate::context::xlib_errors;
use crate::context::{NativeContext, load_gl};
use crate::display::contract::GlDisplay;
use glutin::context::PossiblyCurrentContext;
use glutin::display::{Display, DisplayApiPreference};
use glutin::prelude::{GlDisplay as _, *};
use glutin::surface::{Surface, SwapInterval, WindowSurface};
use glutin_winit::finalize_window;
use interop_core::describe::process::enter;
use interop_core::{Extent, Result};
use raw_window_handle::{HasDisplayHandle as _, HasWindowHandle as _, RawDisplayHandle, RawWindowHandle};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use winit::dpi::PhysicalSize;
use winit::event_loop::ActiveEventLoop;
use winit::window::{Window, WindowAttributes};

/// Options of a window.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WindowOptions {
    /// Initial title of the window; [`GlWindow::set_title`] changes it.
    pub title: String,
    /// Size of the drawable area in pixels. A size larger than the screen is reduced to fit, in the same proportions;
    /// window managers may override it.
    pub size: Extent,
    /// Whether [`GlWindow::present`] waits for the screen, where the driver supports it; [`GlWindow::vsync`] returns
    /// the driver's answer.
    pub vsync: bool,
    /// [`crate::run_window`] ends after this many frames. `None`: when the window is closed.
    pub max_frames: Option<u64>,
    /// The display uses no features above this OpenGL version and no extensions. `None` uses everything that the driver
    /// has.
    pub version_limit: Option<(u32, u32)>,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            title: "pixelferry".into(),
            size: Extent::new(1280, 720),
            vsync: true,
            max_frames: None,
            version_limit: None,
        }
    }
}

interop_core::setters!(WindowOptions {
    /// Sets the window's title.
    with_title(title: impl Into<String>);
    /// Sets the size of the drawable area in pixels.
    with_size(size: Extent);
    /// Sets whether frames wait for the screen, where the driver supports it.
    with_vsync(vsync: bool);
    /// Ends [`crate::run_window`] after this many frames; `None`: when the window is closed.
    with_max_frames(max_frames: impl Into<Option<u64>>);
    /// Limits the display to this OpenGL version without extensions; `None` uses everything that the driver has.
    with_version_limit(version_limit: impl Into<Option<(u32, u32)>>);
});

/// The driver's answer to [`WindowOptions::vsync`].
///
/// Whether frames really wait shows only on a real screen: a virtual one has no refresh rate, and some drivers accept
/// the setting without applying it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vsync {
    /// The driver accepted to wait for the screen.
    On,
    /// The driver accepted not to wait for the screen.
    Off,
    /// The driver rejected the setting, and applies its own rule.
    Refused {
        /// True where frames should have waited.
        wished: bool,
        /// The driver's error.
        reason: String,
    },
}

impl fmt::Display for Vsync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::On => f.pad("on"),
            Self::Off => f.pad("off"),
            Self::Refused { wished, reason } => {
                write!(f, "the driver refused to switch it {}: {reason}", if *wished { "on" } else { "off" })
            }
        }
    }
}

/// A window and the display that draws in it. It stays on the event loop's thread.
pub struct GlWindow {
    display: Arc<GlDisplay>,
    window: Arc<Window>,
    vsync: Vsync,
}

#[cfg(windows)]
fn preference(_: bool, _: RawDisplayHandle, window: Option<RawWindowHandle>) -> DisplayApiPreference {
    DisplayApiPreference::WglThenEgl(window)
}

#[cfg(all(unix, not(target_vendor = "apple")))]
fn preference(prefer_egl: bool, display: RawDisplayHandle, _: Option<RawWindowHandle>) -> DisplayApiPreference {
    xlib_errors::keep_from_winit(display);
    let hook = xlib_errors::registrar(display);
    if prefer_egl { DisplayApiPreference::EglThenGlx(hook) } else { DisplayApiPreference::GlxThenEgl(hook) }
}

#[cfg(target_vendor = "apple")]
fn preference(_: bool, _: RawDisplayHandle, _: Option<RawWindowHandle>) -> DisplayApiPreference {
    DisplayApiPreference::Cgl
}

/// Mesa's GLX reads sizes from uninitialised memory when a window is gone (`XGetGeometry` fails in `drisw_glx.c`), and
/// llvmpipe then writes out of bounds. Its EGL uses 0.
#[cfg(all(unix, not(target_vendor = "apple")))]
fn is_mesa_glx(display: &Display) -> bool {
    use glutin::display::GetDisplayExtensions as _;
    matches!(display, Display::Glx(glx) if glx.extensions().iter().any(|name| name.starts_with("GLX_MESA_")))
}

#[cfg(not(all(unix, not(target_vendor = "apple"))))]
fn is_mesa_glx(_: &Display) -> bool {
    false
}

fn raw_handle(window: &Window) -> Result<RawWindowHandle> {
    Ok(window.window_handle().map_err(unavailable)?.as_raw())
}

impl GlWindow {
    /// Opens a window and makes its context current.
    ///
    /// # Errors
    /// [`Unavailable`](interop_core::Error::Unavailable) or [`Driver`](interop_core::Error::Driver) where the window
    /// system has no OpenGL 3.3.
    pub fn new(event_loop: &ActiveEventLoop, options: &WindowOptions) -> Result<Self> {
        let monitor = event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
        // Without a screen of a known size, a window may have any.
        let most = monitor.map(|monitor| monitor.size()).filter(|most| most.width > 0 && most.height > 0);
        let most = most.unwrap_or(PhysicalSize::new(u32::MAX, u32::MAX));
        let Extent { width, height } = options.size;
        let part = |most: u32, side: u32| f64::from(most) / f64::from(side.max(1));
        let shrink = part(most.width, width).min(part(most.height, height)).min(1.0);
        let [width, height] = [width, height].map(|side| ((f64::from(side) * shrink) as u32).max(1));
        let size = PhysicalSize::new(width, height);
        let attributes = WindowAttributes::default().with_title(options.title.clone()).with_inner_size(size);
        Self::with_attributes(event_loop, attributes, options)
    }

    /// Opens a window with additional winit attributes, which override the title and size of `options`.
    pub fn with_attributes(
        event_loop: &ActiveEventLoop,
        attributes: WindowAttributes,
        options: &WindowOptions,
    ) -> Result<Self> {
        let _entered = enter("OpenGL")?;
        let create = || event_loop.create_window(attributes.clone()).map_err(unavailable);
        // WGL finds its functions through a window.
        let early = if cfg!(windows) { Some(create()?) } else { None };
        let early_handle = early.as_ref().map(raw_handle).transpose()?;
        let display_handle = event_loop.display_handle().map_err(unavailable)?.as_raw();
        let open = |prefer_egl| {
            // SAFETY: the handle is the running event loop's, which the window keeps alive.
            unsafe { Display::new(display_handle, preference(prefer_egl, display_handle, early_handle)) }
                .map_err(unavailable)
        };
        let mut display = open(false)?;
        if is_mesa_glx(&display) {
            display = open(true)?;
        }
        let window = early.map_or_else(create, Ok)?;
        let config = pick_config(&display, raw_handle(&window)?)?;
        // X11 windows with an explicit visual are the exception: winit creates a colour map for each, and leaves it in
        // the server.
        let window = match has_visual(raw_handle(&window)?, &config) {
            true => window,
            false => {
                drop(window);
                finalize_window(event_loop, attributes, &config).map_err(unavailable)?
            }
        };
        let window = Arc::new(window);
        let handle = raw_handle(&window)?;
        let context = core_context(&display, &config, Some(handle), NAME)?;
        let surface = window_surface(&display, &config, handle, window.inner_size().into())?;
        let context = context.make_current(&surface).map_err(|e| driver_error("make_current", NAME, &e))?;
        let vsync = switch_vsync(options.vsync, |interval| surface.set_swap_interval(&context, interval));
        let own = OwnContext::new(OwnSurface::Window(surface), context, Some(window.clone()));
        let mut load = |symbol: &std::ffi::CStr| display.get_proc_address(symbol);
        // SAFETY: the context was just made current, and the loader is its display's.
        let shared = unsafe {
            let gl = load_gl(&mut load)?.into();
            let raw = RawFns::load(&mut load);
            let native = NativeContext::current(Some(&mut load));
            ContextState::new(gl, raw, (Ownership::Own(own), native), &Origin::default(), options.version_limit)?
        };
        Ok(Self { display: GlDisplay::from_shared(shared), window, vsync })
    }

    /// Returns the display of this window's context.
    pub fn display(&self) -> &Arc<GlDisplay> {
        &self.display
    }

    /// Returns the winit window.
    pub fn window(&self) -> &Arc<Window> {
        &self.window
    }

    /// Returns the driver's answer to the vsync setting.
    pub fn vsync(&self) -> &Vsync {
        &self.vsync
    }

    /// Returns the size of the drawable area in pixels; a side is 0 while the window is minimised.
    pub fn size(&self) -> Extent {
        let size = self.window.inner_size();
        Extent::new(size.width, size.height)
    }

    /// Sets the title.
    pub fn set_title(&self, title: &str) {
        self.window.set_title(title);
    }

    /// Makes the window's context current.
    pub fn make_current(&self) -> Result<()> {
        self.display.make_current()
    }

    /// Fits the back buffer to a new size. Call it when winit reports a resize. Sizes with a side of 0 change nothing.
    pub fn resize(&self, size: Extent) -> Result<()> {
        let (Some(width), Some(height)) = (NonZeroU32::new(size.width), NonZeroU32::new(size.height)) else {
            return Ok(());
        };
        self.with_surface("resize", |surface, context| {
            surface.resize(context, width, height);
            Ok(())
        })
    }

    /// Presents the drawn frame.
    pub fn present(&self) -> Result<()> {
        self.with_surface("present", |surface, context| surface.swap_buffers(context))
    }

    /// Requests a redraw event from winit.
    pub fn request_redraw(&self) {
        self.window.request_redraw();
    }

    fn with_surface(
        &self,
        operation: &'static str,
        f: impl FnOnce(&Surface<WindowSurface>, &PossiblyCurrentContext) -> glutin::error::Result<()>,
    ) -> Result<()> {
        let shared = self.display.shared();
        shared.enter()?;
        let Some((surface, context)) = shared.own().and_then(OwnContext::window_surface) else {
            return Err(shared.unsupported("the context has no window".into()));
        };
        f(surface, context).map_err(|e| driver_error(operation, &shared.device.name, &e))
    }
}

/// Sets the swap interval, where possible: some drivers have no swap control, and users may forbid it.
fn switch_vsync(wished: bool, set: impl FnOnce(SwapInterval) -> glutin::error::Result<()>) -> Vsync {
    let (interval, taken) = match wished {
        true => (SwapInterval::Wait(NonZeroU32::MIN), Vsync::On),
        false => (SwapInterval::DontWait, Vsync::Off),
    };
    let Err(error) = set(interval) else { return taken };
    let vsync = Vsync::Refused { wished, reason: error.to_string() };
    tracing::warn!("vsync: {vsync}");
    vsync
}

#[cfg(test)]
mod tests {
    use super::*;
    use glutin::error::ErrorKind;

    #[test]
    fn the_driver_is_asked_and_its_answer_is_kept() {
        let asked = |wished, answer: Result<(), ErrorKind>| {
            let mut interval = None;
            let vsync = switch_vsync(wished, |value| {
                interval = Some(value);
                answer.map_err(Into::into)
            });
            (vsync, interval)
        };
        assert_eq!(asked(true, Ok(())), (Vsync::On, Some(SwapInterval::Wait(NonZeroU32::MIN))));
        assert_eq!(asked(false, Ok(())), (Vsync::Off, Some(SwapInterval::DontWait)));
        for wished in [true, false] {
            let (vsync, interval) = asked(wished, Err(ErrorKind::NotSupported("no swap control")));
            assert!(interval.is_some() && matches!(vsync, Vsync::Refused { wished: of, .. } if of == wished));
            let word = if wished { "on" } else { "off" };
            assert!(vsync.to_string().starts_with(&format!("the driver refused to switch it {word}: ")), "{vsync}");
            assert!(vsync.to_string().contains("no swap control"), "{vsync}");
        }
    }
}
