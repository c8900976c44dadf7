//! Kernels outside of pixelferry write its frames: cudarc's on CUDA, opencl3's on OpenCL, or a function on the host.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry::{Extent, Link, LinkCore, LinkOptions, PixelFormat, Policy, SurfaceDesc};
use pixelferry_demo::scene::FrameTarget;
use pixelferry_demo::{Scene, SceneError, SceneOptions, run};
use pixelferry_examples::own_kernels::OwnKernels;
use std::process::ExitCode;
use std::sync::Arc;

/// Write frames by cudarc, opencl3 or a pointer of the host's (`--backend cuda`, `opencl`, `cpu`).
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: SceneOptions,
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

    fn advance_in(&mut self, seconds: f32, _: &mut FrameTarget<'_>) -> Result<bool, SceneError> {
        let Self { kernels, link } = self;
        link.frame(|frame| kernels.write(frame, (seconds * 60.0) as u32))?;
        Ok(true)
    }

    fn link(&mut self) -> &mut LinkCore {
        &mut self.link
    }

    fn set_policy(&mut self, policy: Policy) -> pixelferry::Result<()> {
        let (backend, display) = (Arc::clone(self.link.backend()), Arc::clone(self.link.display()));
        self.link = Link::open(backend, display, *self.link.desc(), LinkOptions::new(policy))?;
        Ok(())
    }
}

fn main() -> ExitCode {
    let options = Cli::parse().options;
    let size = options.size_or(720, 480);
    run(&options, size, |wanted| {
        let (backend, screen) = wanted.open_sides()?;
        let Extent { width, height } = Extent::new(size.0, size.1);
        let desc = SurfaceDesc::image(width, height, PixelFormat::Rgba8);
        let link = Link::open(backend, screen.display(), desc, LinkOptions::new(options.policy()))?;
        Ok(Box::new(Own { kernels: OwnKernels::default(), link }))
    })
}
