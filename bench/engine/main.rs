//! `cargo bench -p pixelferry-measure --bench engine [-- --cuda --frames N --device NAME]`: a frame from the compute
//! device to an engine's own image, by pixelferry and by a program written by hand that does nothing else.
//!
//! A kernel writes every pixel, the engine's submission copies the frame into its own image, and the host waits for
//! that: this is the latency. With `--cuda` a GPU's memory is shared, and semaphores order the two devices. Otherwise
//! threads write memory that stays mapped, and the host orders the two. Both rows make the same calls on the compute
//! side, take turns in one run, and their pixels are compared before anything is timed.

#![allow(missing_docs, clippy::expect_used, clippy::panic)] // a benchmark that cannot run says so and stops

mod by_hand;
mod engine;
mod ours;

use by_hand::ByHand;
use cpu_fallback::CpuBackend;
use cuda_backend::CudaBackend;
use engine::Engine;
use interop_core::select::quantile;
use interop_core::{ComputeBackend, Extent};
use measure::{argument, flag, number};
use ours::Ours;
use pixelferry_vulkan::{VulkanDisplay, VulkanOptions};
use std::sync::Arc;
use std::time::Instant;

const SIZES: [(&str, Extent); 4] = [
    ("64x64", Extent::new(64, 64)),
    ("1080p", Extent::new(1920, 1080)),
    ("4K", Extent::new(3840, 2160)),
    ("8K", Extent::new(7680, 4320)),
];
/// The number of frames of one row before the other takes its turn.
const RUN: usize = 50;

/// One of the two rows.
pub trait Subject {
    fn name(&self) -> &'static str;
    /// Computes frame `n`, and returns when it is in the engine's image.
    fn frame(&mut self, n: u32);
    /// Returns the pixels of the engine's image.
    fn pixels(&self) -> Vec<u8>;
}

fn main() {
    measure::options(&["--cuda", "--device", "--frames"]);
    let frames: usize = number("--frames", 200);
    let backend: Arc<dyn ComputeBackend> = match flag("--cuda") {
        true => Arc::new(CudaBackend::open_best().expect("CUDA")),
        false => Arc::new(CpuBackend::new().expect("threads")),
    };
    let same_device_as = Some(backend.device().clone());
    let options = VulkanOptions::default().with_same_device_as(same_device_as);
    let options = match argument("--device") {
        Some(name) => options.with_name(name),
        None => options,
    };
    let display = VulkanDisplay::headless(&options).expect("Vulkan");
    println!("{:<6} {:<12} {:>10} {:>10} {:>5}", "size", "row", "median us", "p99 us", "n");
    for (size, extent) in SIZES {
        let engine = || Arc::new(Engine::new(&display, extent));
        let ours = match Ours::new(&backend, &display, engine()) {
            Ok(ours) => ours,
            Err(error) => {
                println!("SKIPPED {size}: {error}");
                continue;
            }
        };
        let mut rows: Vec<Box<dyn Subject>> = vec![Box::new(ours), Box::new(ByHand::new(&backend, &display, engine()))];
        let pixels: Vec<_> = rows
            .iter_mut()
            .map(|row| {
                (1..8).for_each(|n| row.frame(n));
                row.pixels()
            })
            .collect();
        assert!(pixels[0] == pixels[1], "the rows show other pixels");
        let mut samples = vec![Vec::new(); rows.len()];
        for block in 0..=frames.div_ceil(RUN) {
            for (row, samples) in rows.iter_mut().zip(&mut samples) {
                for n in 0..RUN {
                    let start = Instant::now();
                    row.frame((block * RUN + n) as u32);
                    // The first block, and the first frames of each block, are still affected by what ran before.
                    if block > 0 && n >= 3 {
                        samples.push(start.elapsed().as_secs_f64() * 1e6);
                    }
                }
            }
        }
        let mut medians = Vec::new();
        for (row, samples) in rows.iter().zip(&samples) {
            let at = |part: f64| quantile(samples, part);
            println!("{size:<6} {:<12} {:>10.1} {:>10.1} {:>5}", row.name(), at(0.5), at(0.99), samples.len());
            medians.push(at(0.5));
        }
        println!("{size:<6} {:<12} {:>10.3}", "ratio", medians[0] / medians[1]);
    }
}
