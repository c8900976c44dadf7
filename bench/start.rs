//! `cargo bench -p pixelferry-measure --bench start [-- --rounds N --sizes TEXT;... --json FILE]`: measures what
//! choosing a path costs when a link is opened on open devices. Three modes take turns: *static* (a budget of zero: the
//! first path of the static order that works), *warm* (the measurements of an earlier start are remembered) and *cold*
//! (nothing is remembered). The very first link of a pairing, for which drivers compile, is listed separately.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::{listed, number, write_rows};
use pixelferry::driver::select::quantile;
use pixelferry::{
    BackendChoice, ComputeBackend, Display, ImageAccess, ImageDesc, Link, LinkBuilder, LinkOptions, Mode, PixelFormat,
    Policy, Profiles, SurfaceDesc, Unwritten, command::ApiChoice as _,
};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [(&str, u32, u32); 3] = [("720p", 1280, 720), ("1080p", 1920, 1080), ("4K", 3840, 2160)];
const MODES: [(&str, Mode); 2] = [("latency", Mode::Latency), ("throughput", Mode::Throughput { most: 16 })];

#[derive(Serialize)]
struct StartRow {
    compute: String,
    display: String,
    size: &'static str,
    mode: &'static str,
    first_ms: f64,
    static_ms: Vec<f64>,
    warm_ms: Vec<f64>,
    cold_ms: Vec<f64>,
}

fn open(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>, desc: &SurfaceDesc, policy: Policy) -> f64 {
    let start = Instant::now();
    let link = Link::open(Arc::clone(backend), Arc::clone(display), *desc, LinkOptions::new(policy)).expect("a link");
    let took = start.elapsed().as_secs_f64() * 1e3;
    drop(link);
    display.finish().expect("the display goes on");
    took
}

fn measure(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    (size, width, height): (&'static str, u32, u32),
    (name, mode): (&'static str, Mode),
    (rounds, folder): (usize, &Path),
) -> StartRow {
    let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let image = image.with_unwritten(Unwritten::Overwrite);
    let desc = SurfaceDesc::Image(image);
    let policy = |profiles| Policy::default().with_mode(mode).with_profiles(profiles);
    let fixed = || policy(Profiles::Off).with_budget(Duration::ZERO);
    let first_ms = open(backend, display, &desc, fixed());
    let remembered = || policy(Profiles::Folder(folder.to_owned()));
    open(backend, display, &desc, remembered());
    let (compute, shown) = (backend.device().to_string(), display.device().to_string());
    let mut row = StartRow {
        compute,
        display: shown,
        size,
        mode: name,
        first_ms,
        static_ms: Vec::new(),
        warm_ms: Vec::new(),
        cold_ms: Vec::new(),
    };
    for _ in 0..rounds {
        row.static_ms.push(open(backend, display, &desc, fixed()));
        row.warm_ms.push(open(backend, display, &desc, remembered()));
        row.cold_ms.push(open(backend, display, &desc, policy(Profiles::Off)));
    }
    row
}

fn main() {
    measure::options(&["--json", "--rounds", "--sizes"]);
    let rounds = number("--rounds", 15);
    let folder = std::env::temp_dir().join(format!("pixelferry-start-{}", std::process::id()));
    let mut rows = Vec::new();
    println!("| pairing | size | mode | first | static | warm | warm - static | cold | cold p99 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for choice in BackendChoice::all().map(|row| row.choice).filter(|choice| choice.api().is_some()) {
        let desc = SurfaceDesc::image(1920, 1080, PixelFormat::Rgba8);
        let (backend, screen) = match LinkBuilder::new(desc).backend(choice).open_sides() {
            Ok(pair) => pair,
            Err(error) => {
                println!("SKIPPED: {error}");
                continue;
            }
        };
        let display = screen.display();
        for size in SIZES.into_iter().filter(|(name, ..)| listed("--sizes", name)) {
            for mode in MODES {
                let row = measure(&backend, &display, size, mode, (rounds, &folder));
                let median = |samples: &[f64]| quantile(samples, 0.5);
                let more: Vec<f64> = row.warm_ms.iter().zip(&row.static_ms).map(|(warm, fixed)| warm - fixed).collect();
                println!(
                    "| {} -> {} | {} | {} | {:.0} | {:.1} | {:.1} | {:+.1} | {:.0} | {:.0} |",
                    row.compute,
                    row.display,
                    row.size,
                    row.mode,
                    row.first_ms,
                    median(&row.static_ms),
                    median(&row.warm_ms),
                    median(&more),
                    median(&row.cold_ms),
                    quantile(&row.cold_ms, 0.99),
                );
                rows.push(row);
            }
        }
    }
    // Best effort: the folder holds a few small files in the system's temporary folder.
    let _ = std::fs::remove_dir_all(&folder);
    write_rows(&rows);
}
