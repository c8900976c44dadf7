//! Paths, backends and displays from outside are chosen, refused, left and reported as the built-in ones are.

mod choice;
mod panics;
mod refusals;
mod trouble;

use interop_core::{
    ComputeBackend, Display, KernelSource, Link, LinkCore, LinkOptions, PathState, Paths, PixelFormat, Policy,
    ProbeReport, Profiles, Result, SurfaceDesc,
};
use pixelferry_tests::plugged::{Board, PIXEL_FUNCTION, PixelFunction, Worker, changed_rows, page_flip};
use std::sync::Arc;
use std::time::Duration;

fn desc() -> SurfaceDesc {
    SurfaceDesc::image(24, 10, PixelFormat::Rgba8)
}

fn paths() -> Paths {
    Paths::default().with(changed_rows()).unwrap().with(page_flip()).unwrap()
}

fn worker() -> Arc<dyn ComputeBackend> {
    Arc::new(Worker::new().unwrap())
}

fn board() -> Arc<dyn Display> {
    Board::new(Duration::ZERO)
}

/// Nothing is measured and nothing remembered.
fn at_once(paths: Paths) -> Policy {
    Policy::default().with_paths(paths).with_budget(Duration::ZERO).with_profiles(Profiles::Off)
}

fn open(policy: Policy) -> Result<Link> {
    Link::open(worker(), board(), desc(), LinkOptions::new(policy))
}

fn state(report: &ProbeReport, path: &str) -> PathState {
    report.paths.iter().find(|row| row.id.name() == path).unwrap().state.clone()
}

/// Shows one frame of a value, by a kernel, and checks every byte of it.
fn show(link: &mut LinkCore, value: u8) -> Result<()> {
    let function = PixelFunction(Arc::new(move |_, _, _, pixel: &mut [u8]| pixel.fill(value)));
    let source = KernelSource::new("fill").with_native(PIXEL_FUNCTION, Arc::new(function));
    let kernel = link.backend().build(&source)?;
    link.frame(|frame| frame.launch(kernel.as_ref(), &[]))?;
    assert_eq!(link.read_back()?, vec![value; 24 * 10 * 4]);
    Ok(())
}
