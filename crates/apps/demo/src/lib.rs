//! The scenes of `pixelferry demo` and of the examples, and the loop that shows a scene in a window or saves it as a
//! picture.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic on a closed pipe

pub mod convert;
pub mod draw_args;
pub mod pixels;
pub mod record_args;
pub mod runner;
pub mod scene;
pub mod scene_options;
pub mod scenes;
pub mod terminal;
pub mod trace;
pub mod values;
pub mod video;

pub use draw_args::DrawArgs;
pub use pixels::PixelOptions;
pub use record_args::{FilmArgs, RecordArgs};
pub use runner::run;
pub use scene::{Scene, SceneError};
pub use scene_options::SceneOptions;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_demo;
