//! Compares draws by kernels with the same draws in plain memory, in turns: the median of a draw with its wait, and the
//! time for each draw in a row of draws with one wait at the end. Runs on every OpenCL device and, with
//! `PIXELFERRY_GPU=1`, on CUDA.

// A benchmark fails with a panic.
#![allow(clippy::unwrap_used)]

use compute_display::ComputeDisplay;
use cpu_fallback::MemoryDisplay;
use cuda_backend::CudaBackend;
use interop_core::select::quantile;
use interop_core::{
    AlphaMode, ComputeBackend, Display, DrawOptions, Encoding, Extent, Filter, Fit, ImageDesc, ImageView, PixelFormat,
    Region, Surface, SurfaceDesc, SurfacePart, ToneMap, View,
};
use opencl_backend::{OpenClBackend, devices};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of draws for each figure.
const ROUNDS: usize = 30;

/// Returns the draws into RGBA8 that are measured.
fn draws() -> [(&'static str, PixelFormat, Encoding, AlphaMode, u32, DrawOptions); 5] {
    let plain = DrawOptions::default();
    let shown = plain.with_tone_map(ToneMap::AcesHill).with_exposure(0.5);
    let scaled = plain.with_filter(Filter::Linear).with_fit(Fit::Contain).with_background([0.0; 3]);
    use {AlphaMode::*, Encoding::*, PixelFormat::*};
    [
        ("bytes as they are", Rgba8, Unmanaged, Stored, 1, plain),
        ("light of RGBA16F, encoded", Rgba16F, Linear, Opaque, 1, plain),
        ("light of RGBA16F, exposed, ACES, encoded", Rgba16F, Linear, Opaque, 1, shown),
        ("sRGB bytes, blended", Rgba8, Srgb, Premultiplied, 1, plain),
        ("sRGB bytes of half the size, weighed as light", Rgba8, Srgb, Stored, 2, scaled),
    ]
}

fn surface(display: &dyn Display, image: &ImageDesc) -> Surface {
    let desc = SurfaceDesc::Image(*image);
    let mut surface = display.create_surface(&desc).unwrap();
    let view = ImageView::packed(image.extent, image.format, 1, 0, false).unwrap();
    // Halves of at most 1 are needed, too.
    let bytes: Vec<u8> =
        (0..view.span().end).map(|i| (i as u32).wrapping_mul(0x9E37_79B1).to_be_bytes()[0] & 0x3b).collect();
    surface.upload(&SurfacePart::full(&desc), &bytes, &View::Image(view)).unwrap();
    surface
}

fn median(times: &[Duration]) -> f64 {
    quantile(&times.iter().map(|time| time.as_secs_f64() * 1e6).collect::<Vec<_>>(), 0.5)
}

fn main() {
    measure::options(&[]);
    let mut backends: Vec<Arc<dyn ComputeBackend>> = Vec::new();
    for device in devices().unwrap_or_default() {
        backends.push(Arc::new(OpenClBackend::open(&device).unwrap()));
    }
    if std::env::var("PIXELFERRY_GPU").is_ok_and(|value| value == "1") {
        backends.push(Arc::new(CudaBackend::open_best().unwrap()));
    }
    let memory = MemoryDisplay::new();
    for backend in backends {
        println!(
            "{} ({})\nus: each draw waited for / in a row / in plain memory",
            backend.device(),
            backend.device().driver
        );
        let display = ComputeDisplay::on(backend).unwrap();
        for (size, extent) in [("1080p", Extent::new(1920, 1080)), ("4K", Extent::new(3840, 2160))] {
            for (name, format, encoding, alpha, part, options) in draws() {
                let image = ImageDesc::new(extent.width / part, extent.height / part, format);
                let image = image.with_encoding(encoding).with_alpha(alpha);
                let [ours, theirs] = [display.as_ref() as &dyn Display, memory.as_ref()].map(|d| surface(d, &image));
                let mut target = display.create_offscreen_target(extent.width, extent.height).unwrap();
                let mut in_memory = memory.create_offscreen_target(extent.width, extent.height).unwrap();
                let all: Region = extent.full();
                let mut draw = || display.draw(&ours, &mut target, all, options).unwrap();
                // Builds the kernels.
                draw();
                display.finish().unwrap();
                let (mut waited, mut reference) = (Vec::new(), Vec::new());
                for round in 0..ROUNDS {
                    let start = Instant::now();
                    draw();
                    display.finish().unwrap();
                    waited.push(start.elapsed());
                    // Plain memory is slow, and takes equally long every time.
                    if round % 10 == 0 {
                        let start = Instant::now();
                        memory.draw(&theirs, &mut in_memory, all, options).unwrap();
                        reference.push(start.elapsed());
                    }
                }
                let start = Instant::now();
                (0..ROUNDS).for_each(|_| draw());
                display.finish().unwrap();
                let row = start.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64;
                println!("{size:>6}  {name:<48} {:>9.0} / {row:>9.0} / {:>9.0}", median(&waited), median(&reference));
            }
        }
    }
}
