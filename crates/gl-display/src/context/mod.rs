//! Where the context comes from: made here without a window, made here with one, or an engine's.

mod create;
mod engine;
mod headless;
mod own;
mod runner;
mod window;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod xlib_errors;

pub(crate) use engine::EngineContext;
pub(crate) use own::OwnContext;

pub use engine::EngineOptions;
pub use headless::{HeadlessDevice, HeadlessOptions, headless_devices};
pub use runner::{Flow, WindowApp, run_window};
pub use window::{GlWindow, WindowOptions};
