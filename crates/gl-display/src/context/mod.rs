//! Where the context comes from: made here without a window, made here with one, or an engine's.

mod create;
mod engine;
mod glow_functions;
mod headless;
mod held;
mod loader;
mod native;
mod own;
mod runner;
mod window;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod xlib_errors;

pub(crate) use held::Held;
pub(crate) use loader::{Loader, load_gl};
pub(crate) use native::NativeContext;
pub(crate) use own::OwnContext;

pub use engine::EngineOptions;
pub use glow_functions::GlFunctions;
pub use headless::{HeadlessDevice, HeadlessOptions, headless_devices};
pub use runner::{Flow, WindowApp, run_window};
pub use window::{GlWindow, WindowOptions};
