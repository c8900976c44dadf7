//! Measures rows in turns, and reports the results.

use crate::Subject;
use pixelferry::driver::select::quantile;
use serde::Serialize;
use std::time::Instant;

const WARM_UP: usize = 30;
/// The number of frames of one row before the next takes its turn, and between two waits when throughput is measured.
const RUN: usize = 50;

#[derive(Serialize)]
pub struct QueueRow {
    row: String,
    size: String,
    mode: &'static str,
    median_us: f64,
    p99_us: f64,
    n: usize,
    samples: Vec<f64>,
}

/// The report of the measured rows.
pub struct Report(pub Vec<QueueRow>);

impl Report {
    pub fn new() -> Self {
        println!("{:<6} {:<11} {:<60} {:>10} {:>10} {:>5}", "size", "mode", "row", "median us", "p99 us", "n");
        Self(Vec::new())
    }

    fn tell(&mut self, row: String, size: &str, mode: &'static str, samples: Vec<f64>) {
        let (median_us, p99_us) = (quantile(&samples, 0.5), quantile(&samples, 0.99));
        let n = samples.len();
        println!("{size:<6} {mode:<11} {row:<60} {median_us:>10.1} {p99_us:>10.1} {n:>5}");
        self.0.push(QueueRow { row, size: size.to_owned(), mode, median_us, p99_us, n, samples });
    }
}

/// Times this many frames of each row, in turns.
pub fn measure(subjects: &mut [Box<dyn Subject>], size: &str, frames: usize, report: &mut Report) {
    let mut latency: Vec<Vec<f64>> = vec![Vec::new(); subjects.len()];
    let (mut throughput, mut call) = (latency.clone(), latency.clone());
    let mut n = 0;
    for block in 0..=frames.div_ceil(RUN) {
        for (i, subject) in subjects.iter_mut().enumerate() {
            subject.begin();
            for k in 0..if block == 0 { WARM_UP } else { RUN } {
                n += 1;
                let start = Instant::now();
                subject.frame(n);
                let called = start.elapsed();
                subject.finish();
                // The first frames of a block are still affected by the row before.
                if block > 0 && k >= 3 {
                    latency[i].push(start.elapsed().as_secs_f64() * 1e6);
                    call[i].push(called.as_secs_f64() * 1e6);
                }
            }
            let start = Instant::now();
            for _ in 0..RUN {
                n += 1;
                subject.frame(n);
            }
            subject.finish();
            if block > 0 {
                throughput[i].push(start.elapsed().as_secs_f64() * 1e6 / RUN as f64);
            }
        }
    }
    for (mode, all) in [("latency", latency), ("call", call), ("throughput", throughput)] {
        for (subject, samples) in subjects.iter().zip(all) {
            report.tell(subject.name(), size, mode, samples);
        }
    }
}
