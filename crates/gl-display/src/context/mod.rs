//! Where the context comes from: made here without a window, made here with one, or an engine's.

mod create;
mod engine;
mod glow_functions;
mod headless;
mod held;
mod loader;
mod native;
mod own;
#[cfg(feature = "window")]
mod runner;
#[cfg(feature = "window")]
mod window;
#[cfg(any(feature = "window", windows))]
mod window_surface;
#[cfg(all(feature = "window", unix, not(target_vendor = "apple")))]
mod xlib_errors;

pub(crate) use held::Held;
pub(crate) use loader::{Loader, load_es, load_gl};
pub(crate) use native::NativeContext;
pub(crate) use own::OwnContext;

pub use engine::EngineOptions;
pub use glow_functions::GlFunctions;
pub use headless::{EsContext, HeadlessDevice, HeadlessOptions, headless_devices};
#[cfg(feature = "window")]
pub use runner::{Flow, WindowApp, run_window};
#[cfg(feature = "window")]
pub use window::{GlWindow, Vsync, WindowOptions};
