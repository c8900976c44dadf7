//! The kernels' texts: complete, and found out where they mistake a format.

use crate::apart::Apart;
use crate::backends;
use compute_display::ComputeDisplay;
use interop_core::{ComputeBackend, Display, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc};
use pixelferry_testing::{Level, Need, from, given};
use std::sync::Arc;

const TEXT: &str = include_str!("../../kernels/draw.cu");
const PTX: &str = include_str!("../../src/ptx/draw.ptx");

/// The line that gives a format its number.
fn number_of(format: PixelFormat) -> String {
    format!("#define PF_{} {}\n", format.name(), format.info().shader_id)
}

/// The bytes arrive on every path; what a program would see of them is another matter.
#[test]
fn a_format_that_is_drawn_wrong_is_no_proved_path() {
    if !from(Level::All) {
        return;
    }
    // Once, and not by each driver: it is the text that is tested.
    let Some(backend) = backends().into_iter().next().filter(|_| given() == Need::OpenCl) else { return };
    // Formats of 4 bytes each, as a text takes unknown ones to be: others would be read outside of their pixel.
    use PixelFormat as F;
    let formats = [F::Bgra8, F::Rgb10A2, F::R32F, F::Rg16F];
    for (format, path) in formats.into_iter().zip(PathId::ALL) {
        let open = |draws: Arc<dyn ComputeBackend>, path: PathId| {
            let display: Arc<dyn Display> = ComputeDisplay::on(draws)?;
            let options = LinkOptions::new(Policy::default().with_force(path));
            Link::open(Arc::clone(&backend), display, SurfaceDesc::image(37, 9, format), options).map(drop)
        };
        let path = if open(Arc::clone(&backend), path).is_ok() { path } else { PathId::HOST_ROUND_TRIP };
        open(Arc::clone(&backend), path).unwrap();
        let wrong = (number_of(format), format!("#define PF_{} 99\n", format.name()));
        let error = open(Apart::with_text(Arc::clone(&backend), wrong), path).unwrap_err().to_string();
        assert!(error.contains("verification found wrong pixels"), "{format}, {path}: {error}");
    }
}

/// A format without its number in the text would be drawn as RGBA8.
#[test]
fn every_format_has_its_number_in_the_text() {
    assert!(PixelFormat::ALL.into_iter().all(|format| TEXT.contains(&number_of(format))));
}

#[test]
fn the_ptx_has_every_kernel() {
    // Each kernel is loaded alone, with what stands before the first.
    assert!([".func", ".global .", ".const ."].iter().all(|shared| !PTX.lines().any(|l| l.starts_with(shared))));
    let mut parts = PTX.split(".visible .entry ");
    let header = parts.next().unwrap();
    assert!(header.starts_with("// ") && header.contains(".address_size 64"));
    let kernels: Vec<_> = parts.map(|part| (part.split('(').next().unwrap(), part.trim_end().ends_with('}'))).collect();
    assert_eq!(kernels, ["pf_draw", "pf_copy", "pf_clear"].map(|name| (name, true)));
}
