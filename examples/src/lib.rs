//! The examples' scenes, and the loop that shows any of them in a window or saves it as a picture.

mod convert;
pub mod engine;
mod gl_program;
pub mod look;
pub mod options;
pub mod overlap;
pub mod pixels;
pub mod runner;
pub mod scene;
pub mod scenes;
pub mod video;

pub use look::LookOptions;
pub use options::Options;
pub use pixels::PixelOptions;
pub use runner::run;
pub use scene::{Scene, SceneError};
