//! Settings of the controls, and the values to choose from.

use crate::demo::catalog::{Recipe, SceneName};
use clap::ValueEnum;
use pixelferry::driver::describe::words::counted;
use pixelferry::driver::select::MAX_FRAMES_BEHIND;
use pixelferry::{BackendChoice, Mode, PathId, Policy};
use pixelferry_demo::pixels::Pixels;
use pixelferry_demo::scenes::filter::Filter;

/// One state of the controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    pub scene: SceneName,
    pub backend: BackendChoice,
    /// Size of the picture in pixels.
    pub size: (u32, u32),
    pub filter: Filter,
    pub pixels: Pixels,
    /// The forced path; `None` takes the best.
    pub path: Option<PathId>,
    pub mode: Mode,
}

/// Picture sizes to choose from.
pub const SIZES: [(u32, u32); 5] = [(640, 360), (1280, 720), (1920, 1080), (2560, 1440), (3840, 2160)];
/// Modes to choose from; a mode selects which frame is shown.
pub const MODES: [Mode; 5] = [
    Mode::Latency,
    Mode::FramesBehind(1),
    Mode::FramesBehind(2),
    Mode::FramesBehind(4),
    Mode::Throughput { most: MAX_FRAMES_BEHIND },
];

pub fn mode_name(mode: Mode) -> String {
    match mode {
        Mode::Latency => "latency".into(),
        Mode::FramesBehind(n) => format!("{} behind", counted(n, "frame")),
        Mode::Throughput { .. } => "throughput".into(),
        other => format!("{other:?}"),
    }
}

/// Returns a value's name on the command line.
pub fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default()
}

impl Setup {
    /// Tells how a path is to be chosen.
    pub fn policy(&self) -> Policy {
        Policy::default().with_force(self.path).with_mode(self.mode)
    }

    pub fn recipe(&self) -> Recipe {
        let Self { scene, size, filter, pixels, .. } = *self;
        Recipe { scene, size, filter, pixels }
    }

    /// Returns whether only the link differs, so that the scene can continue.
    pub fn keeps_scene(&self, before: &Self) -> bool {
        Self { path: before.path, mode: before.mode, ..*self } == *before
    }

    /// Returns whether the scene computes pictures of any size and storage format.
    pub fn has_free_size(&self) -> bool {
        matches!(self.scene, SceneName::Plasma | SceneName::Fluid)
    }
}

#[cfg(test)]
impl Setup {
    /// A small scene on CPU threads, for tests.
    pub fn small() -> Self {
        Self {
            scene: SceneName::Plasma,
            backend: BackendChoice::Cpu,
            size: (64, 36),
            filter: Filter::default(),
            pixels: Pixels::default(),
            path: None,
            mode: Mode::Latency,
        }
    }
}
