//! Helpers shared by the programs that measure: `cargo bench -p pixelferry-measure --bench NAME [-- OPTIONS]`.
//!
//! | program | measures |
//! |---|---|
//! | `queue` | kernels and draws in one queue, beside OpenGL and Vulkan by hand; the gate for changes of a frame's calls |
//! | `engine` | a frame to an engine's own Vulkan image, beside a program by hand |
//! | `layer` | what a link costs above the path that it took |
//! | `defaults` | the default choice beside every backend that can be forced |
//! | `start` | what choosing a path costs when a link is opened |
//! | `resize` | what a resize costs beside a frame |
//! | `many` | many links beside one |
//! | `stream` | frames from one process to another, beside the same within one |
//! | `look` | what it costs to look closely at an array |
//! | `record` | what a film costs its program |
//! | `audits` | what frames cost with audits and without |
//! | `isolated` | frames of a child process beside those of the program |
//! | `draws` | what the compute device's draws cost |
//! | `bandwidth` | arrays beside what memory carries |
//!
//! Each prints a table; with `--json FILE` those with samples write them. Paths and their floors are measured by the command:
//! `cargo xtask bench`. `reference` holds programs by hand in other languages, `samples` what was measured.

#![allow(clippy::expect_used, clippy::print_stderr, clippy::exit)] // a benchmark that cannot run says so and stops

use glow::HasContext as _;
use pixelferry::api::gl::{self, GlDisplay, glow};
use pixelferry::api::wgpu::{self, WgpuDisplay};
use pixelferry::driver::select::quantile;
use pixelferry::{Display as _, DrawOptions, HeadlessDisplay, LinkCore, Result, ShowOutcome, ShownFrame, WriteFrame};
use serde::Serialize;
use std::env;
use std::str::FromStr;
use std::sync::Arc;

/// Ends the program and lists its options if the command line has another one, such as `--help`.
pub fn options(known: &[&str]) {
    let is_unknown = |option: &String| option.starts_with("--") && !known.contains(&option.as_str());
    // Cargo adds `--bench`.
    if let Some(unknown) = env::args().filter(|option| option != "--bench").find(is_unknown) {
        eprintln!("{unknown} is no option; the options are {}; see the first lines of the program", known.join(", "));
        std::process::exit(2);
    }
}

/// Returns the argument that follows `name` on the command line.
pub fn argument(name: &str) -> Option<String> {
    let all: Vec<String> = env::args().collect();
    all.iter().position(|a| a == name).and_then(|i| all.get(i + 1).cloned())
}

/// Returns true if `name` is on the command line.
pub fn flag(name: &str) -> bool {
    env::args().any(|argument| argument == name)
}

/// Returns the number after `name`, or `default` if it is missing.
pub fn number<T: FromStr>(name: &str, default: T) -> T {
    argument(name).map_or(default, |text| text.parse().ok().expect("a number"))
}

/// Returns true if `what` contains one of the texts after `name`, which are separated by `;`, or if there are no such
/// texts.
pub fn listed(name: &str, what: &str) -> bool {
    argument(name).is_none_or(|texts| texts.split(';').any(|text| what.contains(text)))
}

/// Returns the sizes after `--sizes`, such as `1920x1080;3840x2160`, or `usual`.
pub fn sizes(usual: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let Some(texts) = argument("--sizes") else { return usual.to_vec() };
    let size = |text: &str| {
        let (width, height) = text.split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    };
    texts.split(';').map(|text| size(text).expect("sizes such as 1920x1080;3840x2160")).collect()
}

/// Returns the median of the ratios of blocks that followed each other, with the 95 % interval of the median.
pub fn block_ratio(with: &[f64], without: &[f64], digits: usize) -> String {
    let ratios: Vec<f64> = with.iter().zip(without).map(|(with, without)| with / without).collect();
    // By the normal approximation of ranks.
    let half = 0.98 / (ratios.len().max(1) as f64).sqrt();
    let [low, median, high] = [0.5 - half, 0.5, 0.5 + half].map(|at| quantile(&ratios, at.clamp(0.0, 1.0)));
    format!("{median:.digits$} ({low:.digits$} to {high:.digits$})")
}

/// Writes rows to the file after `--json`, one JSON object on each line.
pub fn write_rows(rows: &[impl Serialize]) {
    let Some(file) = argument("--json") else { return };
    let lines: String = rows.iter().map(|row| serde_json::to_string(row).expect("plain data") + "\n").collect();
    std::fs::write(file, lines).expect("the file after --json");
}

/// Links a program by hand, in this display's context, which stays current.
pub fn gl_program(display: &GlDisplay, shaders: &[(u32, &str)]) -> glow::Program {
    display.make_current().expect("the context");
    let gl: &glow::Context = display.gl();
    // SAFETY: the context is current on this thread; the names are of it.
    unsafe {
        let program = gl.create_program().expect("a program");
        for (kind, text) in shaders {
            let shader = gl.create_shader(*kind).expect("a shader");
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        assert!(gl.get_program_link_status(program), "{}", gl.get_program_info_log(program));
        program
    }
}

/// A display's own texture, into which frames are drawn.
pub enum Screen {
    /// A texture on OpenGL.
    Gl(Arc<GlDisplay>, gl::OffscreenTarget),
    /// A texture on wgpu.
    Wgpu(Arc<WgpuDisplay>, wgpu::OffscreenTarget),
}

impl Screen {
    /// Creates a texture of this size in pixels; `None` if the display has none.
    pub fn of(display: &HeadlessDisplay, size: (u32, u32)) -> Result<Option<Self>> {
        match (display.gl(), display.downcast_ref::<WgpuDisplay>()) {
            (Some(gl), _) => Self::gl(gl, size).map(Some),
            (_, Some(wgpu)) => Self::wgpu(wgpu, size).map(Some),
            _ => Ok(None),
        }
    }

    /// Creates a texture of this size in pixels on OpenGL.
    pub fn gl(display: &Arc<GlDisplay>, (width, height): (u32, u32)) -> Result<Self> {
        Ok(Self::Gl(Arc::clone(display), display.create_offscreen_target(width, height)?))
    }

    /// Creates a texture of this size in pixels on wgpu.
    pub fn wgpu(display: &Arc<WgpuDisplay>, (width, height): (u32, u32)) -> Result<Self> {
        Ok(Self::Wgpu(Arc::clone(display), display.create_offscreen_target(width, height)?))
    }

    /// Draws a frame of this size into the corner of the texture.
    pub fn draw(&self, shown: &ShownFrame<'_>, (width, height): (u32, u32), options: DrawOptions) -> Result<()> {
        match self {
            Self::Gl(display, target) => {
                target.bind()?;
                display.draw(shown.surface(), gl::Viewport::full(width, height), options)
            }
            Self::Wgpu(display, target) => {
                let (viewport, format) = (wgpu::Viewport::full(width, height), target.texture().format());
                display.draw_to(shown.surface(), target.view(), format, None, viewport, options)
            }
        }
    }

    /// Computes a frame of this size and shows it in the corner of the texture.
    pub fn show(
        &self,
        link: &mut LinkCore,
        (width, height): (u32, u32),
        options: DrawOptions,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<ShowOutcome> {
        match self {
            Self::Gl(display, target) => {
                target.bind()?;
                let mut place = display.bound_target(gl::Viewport::full(width, height));
                link.show(&mut place, options, compute)
            }
            Self::Wgpu(display, target) => {
                let (viewport, format) = (wgpu::Viewport::full(width, height), target.texture().format());
                let mut place = display.view_target(target.view(), format, viewport);
                link.show(&mut place, options, compute)
            }
        }
    }

    /// Waits until the device has finished all work.
    pub fn finish(&self) -> Result<()> {
        match self {
            Self::Gl(display, _) => display.finish(),
            Self::Wgpu(display, _) => display.finish(),
        }
    }

    /// Returns the texture's pixels.
    pub fn pixels(&self) -> Result<Vec<u8>> {
        match self {
            Self::Gl(_, target) => target.read_pixels(),
            Self::Wgpu(_, target) => target.read_pixels(),
        }
    }
}
