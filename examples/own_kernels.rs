//! Kernels outside of pixelferry write its frames: cudarc's on CUDA, opencl3's on OpenCL, or a function on the host.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::{DrawOptions, Extent, Link, PixelFormat, SurfaceDesc};
use pixelferry_demo::{Options, Scene, SceneError, run};
use pixelferry_examples::own_kernels::OwnKernels;
use std::process::ExitCode;

/// Write frames by cudarc, opencl3 or a pointer of the host's (`--backend cuda`, `opencl`, `cpu`).
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

struct Own {
    // Dropped before the link, which keeps the device.
    kernels: OwnKernels,
    link: Link,
}

impl Scene for Own {
    fn name(&self) -> &'static str {
        "own kernels"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        let Self { kernels, link } = self;
        link.frame(|frame| kernels.write(frame, (seconds * 60.0) as u32))?;
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        Ok(gl.draw(self.link.shown()?.surface(), viewport, DrawOptions::default())?)
    }
}

fn main() -> ExitCode {
    let options = Cli::parse().options;
    let size = options.size_or(720, 480);
    let link = options.link_options();
    run(&options, size, &[], |backend, display| {
        let Extent { width, height } = Extent::new(size.0, size.1);
        let desc = SurfaceDesc::image(width, height, PixelFormat::Rgba8);
        Ok(Box::new(Own { kernels: OwnKernels::default(), link: Link::open(backend, display, desc, link)? }))
    })
}
