//! What every example understands on the command line.

use clap::{Args, ValueEnum};
use pixelferry::select::MAX_FRAMES_LATE;
use pixelferry::{BackendChoice, DisplayChoice, LinkOptions, Mode, PathId, Policy};
use std::path::PathBuf;

/// Options of every example.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Open no window; draw off screen and save the last frame.
    #[arg(long)]
    pub headless: bool,
    /// Where to save the picture, with no window; the ending says the format (.png, .jpg).
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Size of the picture or window in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    pub size: Option<(u32, u32)>,
    /// Stop after so many frames. [default: 30 headless, else endless]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Where to compute.
    #[arg(long, value_enum, default_value_t)]
    pub backend: Backend,
    /// What to draw with when there is no window.
    #[arg(long, value_enum, default_value_t, requires = "headless")]
    pub display: Display,
    /// Take this path from compute to display, or fail and say which others work.
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    pub path: Option<PathId>,
    /// Show the frame finished so many frames before the last, so that compute and display overlap; `auto` measures
    /// how many are worth it. [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_mode)]
    pub frames_late: Option<Mode>,
    /// Write what host and devices did, frame by frame, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
}

/// Where to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Backend {
    /// The best there is.
    #[default]
    Auto,
    /// CUDA.
    Cuda,
    /// OpenCL.
    Opencl,
    /// Threads.
    Cpu,
}

impl From<Backend> for BackendChoice {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Auto => Self::Auto,
            Backend::Cuda => Self::Cuda,
            Backend::Opencl => Self::OpenCl,
            Backend::Cpu => Self::Cpu,
        }
    }
}

/// What to draw with when there is no window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Display {
    /// OpenGL, else memory.
    #[default]
    Auto,
    /// OpenGL.
    Gl,
    /// wgpu, where it was built in (feature `wgpu`).
    Wgpu,
    /// Plain memory.
    Memory,
}

impl Options {
    /// Whether there is to be no window.
    pub fn is_headless(&self) -> bool {
        self.headless || self.out.is_some()
    }

    /// Size asked for, or the scene's own.
    pub fn size_or(&self, width: u32, height: u32) -> (u32, u32) {
        self.size.unwrap_or((width, height))
    }

    /// The backend asked for.
    pub fn backend_choice(&self) -> BackendChoice {
        self.backend.into()
    }

    /// The display asked for.
    pub fn display_choice(&self) -> DisplayChoice {
        match self.display {
            Display::Auto => DisplayChoice::Auto,
            Display::Gl => DisplayChoice::Gl,
            Display::Wgpu => DisplayChoice::Wgpu,
            Display::Memory => DisplayChoice::Memory,
        }
    }

    /// How links are opened.
    pub fn link_options(&self) -> LinkOptions {
        LinkOptions {
            policy: Policy { force: self.path, mode: self.frames_late.unwrap_or_default(), ..Policy::default() },
        }
    }
}

/// Reads `WIDTHxHEIGHT`, in pixels.
pub fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once(['x', 'X']).ok_or("give it as WIDTHxHEIGHT, e.g. 1920x1080")?;
    let side = |s: &str| match s.parse::<u32>() {
        Ok(0) => Err("a side is 0; give at least 1x1".to_owned()),
        Ok(n) => Ok(n),
        Err(e) => Err(format!("'{s}' is no number of pixels: {e}")),
    };
    Ok((side(width)?, side(height)?))
}

/// Reads a number of frames, or `auto`.
pub fn parse_mode(text: &str) -> Result<Mode, String> {
    const ASKED: &str = "give a number of frames or auto";
    match text {
        "auto" => Ok(Mode::Throughput { most: MAX_FRAMES_LATE }),
        number => match number.parse().map_err(|e| format!("{ASKED}: {e}"))? {
            0 => Ok(Mode::Latency),
            late if late <= MAX_FRAMES_LATE => Ok(Mode::FramesLate(late)),
            late => Err(format!("{late} frames late are too many; give at most {MAX_FRAMES_LATE}, or auto")),
        },
    }
}

fn parse_path(text: &str) -> Result<PathId, String> {
    text.parse().map_err(|e: pixelferry::Error| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_read_or_refused_with_a_reason() {
        assert_eq!(parse_mode("0"), Ok(Mode::Latency));
        assert_eq!(parse_mode("16"), Ok(Mode::FramesLate(16)));
        assert_eq!(parse_mode("auto"), Ok(Mode::Throughput { most: MAX_FRAMES_LATE }));
        for wrong in ["", "17", "-1", "soon", "1.5", "99999999999999999999"] {
            let reason = parse_mode(wrong).unwrap_err();
            assert!(reason.contains("auto"), "{wrong}: {reason}");
        }
    }

    #[test]
    fn sizes_are_read_or_refused_with_a_reason() {
        assert_eq!(parse_size("1920x1080"), Ok((1920, 1080)));
        for wrong in ["", "1920", "0x4", "4x0", "x", "-1x3", "99999999999x1", "3x4x5"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
