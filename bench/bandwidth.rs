//! `cargo bench -p pixelferry-measure --bench bandwidth [-- --json FILE --samples N --batch N --exponent N --only
//! DEVICE --operation NAME]`: compares the bandwidth of reductions, scans and elementwise kernels over 2^26 floats with
//! that of a plain copy, on every backend of this machine.
//!
//! The baseline is measured in the same run, in turns with the rest: the device's own copy, and on the CPU a copy by
//! all threads, in the chunk size that suits it best. Bytes counted: copy and scan `8 n`, reduction `4 n`, dot `8 n`,
//! axpy (`y = a x + y`) `12 n`. A sample is a batch of launches and one wait. The output has one JSON object on each
//! line.

#![allow(missing_docs, clippy::expect_used, clippy::unwrap_used, clippy::panic)] // a benchmark that cannot run stops

use compute_arrays::{Array, Arrays, Monoid, Philox, Scan};
use cpu_fallback::CpuBackend;
use cuda_backend::CudaBackend;
use interop_core::select::quantile;
use interop_core::{Api, ComputeBackend, ComputeMemory};
use measure::{argument, number, write_rows};
use opencl_backend::OpenClBackend;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// The measurements of one operation on one device.
#[derive(Serialize)]
struct BandwidthRow {
    device: String,
    driver: String,
    operation: &'static str,
    elements: usize,
    bytes: usize,
    median_us: f64,
    p99_us: f64,
    gigabytes_per_second: f64,
    /// The ratio to the rate of the fastest copy.
    ratio: f64,
    samples_us: Vec<f64>,
}

/// Copies on the host by all threads, in chunks of so many bytes.
const PIECES: [(&str, usize); 3] = [("copy 256K", 1 << 18), ("copy 2M", 1 << 21), ("copy by thread", 0)];

fn main() {
    measure::options(&["--batch", "--exponent", "--json", "--only", "--operation", "--samples"]);
    let (samples, batch) = (number("--samples", 30), number("--batch", 10));
    let len = 1usize << number("--exponent", 26);
    let only = argument("--only");
    let mut backends: Vec<Arc<dyn ComputeBackend>> = vec![Arc::new(CpuBackend::new().expect("threads"))];
    match opencl_backend::devices() {
        Ok(all) => backends.extend(all.iter().filter_map(|d| {
            let backend = OpenClBackend::open(d).map_err(|e| eprintln!("left out: {e}")).ok()?;
            Some(Arc::new(backend) as Arc<dyn ComputeBackend>)
        })),
        Err(error) => eprintln!("no OpenCL: {error}"),
    }
    match CudaBackend::open_best() {
        Ok(cuda) => backends.push(Arc::new(cuda)),
        Err(error) => eprintln!("no CUDA: {error}"),
    }
    let mut all = Vec::new();
    for backend in backends {
        let device = backend.device().to_string();
        if only.as_ref().is_some_and(|only| !device.contains(only)) {
            continue;
        }
        let rows = measure(&backend, len, samples, batch);
        println!("{device} ({}), {len} floats", backend.device().driver);
        for row in &rows {
            println!(
                "  {:<20} {:>10.1} us  p99 {:>10.1} us  {:>8.1} GB/s  {:>5.1} % of copy",
                row.operation,
                row.median_us,
                row.p99_us,
                row.gigabytes_per_second,
                100.0 * row.ratio
            );
        }
        all.extend(rows);
    }
    write_rows(&all);
}

/// The measured operations and their arrays.
struct Subjects {
    x: Array<f32>,
    y: Array<f32>,
    out: Array<f32>,
    one: Array<f32>,
    random: Philox,
    /// Source and destination in the device's own memory.
    device: Option<(Box<dyn ComputeMemory>, Box<dyn ComputeMemory>)>,
    /// Source and destination for the CPU.
    host: (Vec<f32>, Vec<f32>),
}

impl Subjects {
    fn new(backend: &Arc<dyn ComputeBackend>, arrays: &Arrays, len: usize) -> Self {
        let empty = |shape: &[usize]| arrays.empty::<f32>(shape).expect("memory");
        let (mut x, mut y) = (empty(&[len]), empty(&[len]));
        Philox::new(1).uniform(&mut x).expect("random numbers");
        Philox::new(2).uniform(&mut y).expect("random numbers");
        let host = backend.device().api == Api::Cpu;
        let device = (!host).then(|| {
            let mut from = backend.allocate(4 * len).expect("memory");
            from.write(0, &vec![1; 4 * len]).expect("a copy");
            (from, backend.allocate(4 * len).expect("memory"))
        });
        let host = if host { (vec![1.0; len], vec![0.0; len]) } else { (Vec::new(), Vec::new()) };
        Self { x, y, out: empty(&[len]), one: empty(&[]), random: Philox::new(3), device, host }
    }

    /// Queues one launch.
    fn run(&mut self, operation: &str, arrays: &Arrays) {
        let Self { x, y, out, one, random, device, host } = self;
        let done = match operation {
            "copy" => {
                let (from, to) = device.as_mut().expect("a device");
                let bytes = from.len();
                arrays.backend().copy(from.as_ref(), to.as_mut(), 0..bytes)
            }
            "sum" => x.expr().reduce_into(&Monoid::sum(), one),
            "max" => x.expr().reduce_into(&Monoid::max(), one),
            "dot" => (&*x * &*y).reduce_into(&Monoid::sum(), one),
            "scan" => x.expr().scan_into(&Monoid::sum(), Scan::Inclusive, out),
            "axpy" => y.update(|y| &*x * 0.5 + y),
            "uniform" => random.uniform(out),
            "normal" => random.normal(out),
            copy => {
                let piece = PIECES.iter().find(|(name, _)| *name == copy).expect("an operation").1 / 4;
                let piece = if piece == 0 { host.0.len().div_ceil(rayon::current_num_threads()) } else { piece };
                host.1
                    .par_chunks_mut(piece)
                    .zip(host.0.par_chunks(piece))
                    .for_each(|(to, from)| to.copy_from_slice(from));
                Ok(())
            }
        };
        done.unwrap_or_else(|error| panic!("{operation}: {error}"));
    }
}

fn measure(backend: &Arc<dyn ComputeBackend>, len: usize, samples: usize, batch: usize) -> Vec<BandwidthRow> {
    let arrays = Arrays::new(Arc::clone(backend)).expect("a language for arrays");
    let mut subjects = Subjects::new(backend, &arrays, len);
    let mut operations: Vec<(&'static str, usize)> = match backend.device().api {
        Api::Cpu => PIECES.map(|(name, _)| (name, 8)).to_vec(),
        _ => vec![("copy", 8)],
    };
    let copies = operations.len();
    let wanted = argument("--operation");
    operations.extend([("sum", 4), ("max", 4), ("dot", 8), ("scan", 8), ("axpy", 12), ("uniform", 4), ("normal", 4)]);
    if let Some(wanted) = wanted {
        operations.retain(|(name, _)| name.starts_with("copy") || *name == wanted);
    }
    let mut taken = vec![Vec::new(); operations.len()];
    for round in 0..samples + 2 {
        for ((operation, _), taken) in operations.iter().zip(&mut taken) {
            arrays.finish().expect("a wait");
            let start = Instant::now();
            (0..batch).for_each(|_| subjects.run(operation, &arrays));
            arrays.finish().expect("a wait");
            let each = start.elapsed().as_secs_f64() * 1e6 / batch as f64;
            // The first rounds compile and warm up.
            if round >= 2 {
                taken.push(each);
            }
        }
    }
    let mut rows: Vec<BandwidthRow> = operations
        .into_iter()
        .zip(taken)
        .map(|((operation, bytes), samples_us)| {
            let (median_us, bytes) = (quantile(&samples_us, 0.5), bytes * len);
            BandwidthRow {
                device: backend.device().to_string(),
                driver: backend.device().driver.clone(),
                operation,
                elements: len,
                bytes,
                median_us,
                p99_us: quantile(&samples_us, 0.99),
                gigabytes_per_second: bytes as f64 / median_us / 1e3,
                ratio: 0.0,
                samples_us,
            }
        })
        .collect();
    let floor = rows[..copies].iter().map(|row| row.gigabytes_per_second).fold(0.0, f64::max);
    rows.iter_mut().for_each(|row| row.ratio = row.gigabytes_per_second / floor);
    rows
}
