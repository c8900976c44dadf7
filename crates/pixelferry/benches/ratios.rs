//! `cargo bench -p pixelferry --bench ratios [-- --json FILE]`: the same subjects, taken in turns frame by frame, so
//! that whatever the machine does hits all alike. Prints medians, p99 and ratios; `--json` keeps every sample.
//!
//! Two modes: `hand-over` (kernel excluded; the floor is the memcpy of a frame) and `frame` (a kernel that writes every
//! pixel, then the hand-over).

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

mod arguments;
mod subjects;

use arguments::argument;
use pixelferry::driver::select::quantile;
use serde::Serialize;
use std::time::Instant;
use subjects::{Machine, Memcpy, Pair, SIZES, Subject, pairs};

const ROUNDS: usize = 300;
const WARM_UP: usize = 20;

#[derive(Serialize)]
struct Row {
    mode: &'static str,
    size: &'static str,
    backend: &'static str,
    path: String,
    /// Microseconds of each round.
    memcpy_us: Vec<f64>,
    framework_us: Vec<f64>,
    by_hand_us: Vec<f64>,
}

fn time(subject: &mut impl Subject) -> f64 {
    let start = Instant::now();
    subject.frame();
    start.elapsed().as_secs_f64() * 1e6
}

fn measure(mode: &'static str, size: &'static str, memcpy: &mut Memcpy, pair: &mut Pair) -> Row {
    let (backend, path) = (pair.backend, pair.path.to_string());
    let mut row = Row { mode, size, backend, path, memcpy_us: vec![], framework_us: vec![], by_hand_us: vec![] };
    for round in 0..WARM_UP + ROUNDS {
        let floor = time(memcpy);
        // Who goes first changes from round to round.
        let (framework, hand) = if round % 2 == 0 {
            let framework = time(&mut pair.framework);
            (framework, pair.by_hand.as_mut().map(time))
        } else {
            let hand = pair.by_hand.as_mut().map(time);
            (time(&mut pair.framework), hand)
        };
        if round >= WARM_UP {
            row.memcpy_us.push(floor);
            row.framework_us.push(framework);
            row.by_hand_us.extend(hand);
        }
    }
    row
}

fn print(row: &Row) {
    let median = |s: &[f64]| quantile(s, 0.5);
    let (memcpy, framework) = (median(&row.memcpy_us), median(&row.framework_us));
    let against_hand = if row.by_hand_us.is_empty() {
        format!("{:>9} {:>7}", "-", "-")
    } else {
        // Of pairs taken one right after the other, so that drift cancels.
        let ratios: Vec<f64> = row.framework_us.iter().zip(&row.by_hand_us).map(|(f, h)| f / h).collect();
        format!("{:>9.1} {:>7.3}", median(&row.by_hand_us), median(&ratios))
    };
    println!(
        "{:<10} {:<6} {:<7} {:<22} {memcpy:>9.1} {framework:>9.1} {:>9.1} {:>7.3} {against_hand}",
        row.mode,
        row.size,
        row.backend,
        row.path,
        quantile(&row.framework_us, 0.99),
        framework / memcpy,
    );
}

fn main() {
    let json = argument("--json");
    let machine = Machine::open();
    println!(
        "{:<10} {:<6} {:<7} {:<22} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7}",
        "mode", "size", "compute", "path", "memcpy us", "median us", "p99 us", "/memcpy", "hand us", "/hand"
    );
    let mut rows = Vec::new();
    for (mode, with_kernel) in [("hand-over", false), ("frame", true)] {
        for (size, width, height) in SIZES {
            let mut memcpy = Memcpy::new(width, height);
            for mut pair in pairs(&machine, width, height, with_kernel) {
                let row = measure(mode, size, &mut memcpy, &mut pair);
                print(&row);
                rows.push(row);
            }
        }
    }
    if let Some(path) = json {
        let file = std::fs::File::create(&path).expect("a file to write to");
        serde_json::to_writer(file, &rows).expect("samples written");
        println!("samples in {path}");
    }
}
