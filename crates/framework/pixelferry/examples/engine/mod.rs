//! Parts shared by the small render engines: the computed data, the camera, and the command line.

// Each engine uses some of them.
#![allow(dead_code, unused_imports)]

mod camera;
mod engine_options;
mod kernels;
pub mod output;

pub use camera::View;
pub use engine_options::{EngineOptions, Failure};
pub use kernels::{Kernels, SEA_INDICES, SEA_SIDE, planet_desc, radar_desc, sea_desc, sea_indices, sources};
