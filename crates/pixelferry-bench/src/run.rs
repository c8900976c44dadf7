//! Through the grid, cell by cell.

use crate::devices::Devices;
use crate::error::Error;
use crate::grid::{Plan, Spot};
use crate::kernel::ramp;
use crate::machine::{Machine, available_memory};
use crate::measure::{FEWEST_ROUNDS, LEAD_IN, WARM_UP, measure};
use crate::record::{Cell, Method, Record, SCHEMA, SCHEMA_VERSION, Skipped};
use crate::rows::{Rows, Stage};
use crate::verdict::{self, TOLERANCE};
use indicatif::{ProgressBar, ProgressStyle};
use pixelferry::{ComputeBackend, Display, Kernel, PixelFormat};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Variables that stand above what a program asks for.
const OVERRIDES: [&str; 5] =
    ["PIXELFERRY_PATH", "PIXELFERRY_SYNC", "PIXELFERRY_MODE", "PIXELFERRY_CALIBRATE_MS", "PIXELFERRY_PROFILES"];

/// Measures what `plan` asks for. What fails on the way is in the record with its reason.
///
/// # Errors
/// A filter that matches no device; a variable of the environment that would decide what is measured.
pub fn run(plan: &Plan) -> Result<Record, Error> {
    if let Some(name) = OVERRIDES.into_iter().find(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())) {
        return Err(Error::Environment(name));
    }
    let (start, started) = (Instant::now(), SystemTime::now());
    let machine = Machine::this();
    let mut devices = Devices::find(&plan.backends, &plan.displays)?;
    let mut tour = Tour::new(plan, start, devices.backends.len() * devices.displays.len());
    for (display_device, headless, display) in &devices.displays {
        // One context is current at a time.
        if let Some(Err(error)) = headless.gl().map(|gl| gl.make_current()) {
            devices.problems.push(format!("{}: {error}", display_device.label));
            tour.pass(devices.backends.len());
            continue;
        }
        for (compute_device, backend) in &devices.backends {
            tour.pairing(backend, display, &compute_device.label, &display_device.label);
        }
    }
    tour.bar.finish_and_clear();
    Ok(Record {
        schema: SCHEMA.into(),
        schema_version: SCHEMA_VERSION,
        pixelferry: env!("CARGO_PKG_VERSION").into(),
        started: humantime::format_rfc3339_seconds(started).to_string(),
        seconds: (start.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        machine,
        compute: devices.backends.into_iter().map(|(device, _)| device).collect(),
        displays: devices.displays.into_iter().map(|(device, ..)| device).collect(),
        method: method(plan),
        summary: verdict::summary(&tour.cells),
        cells: tour.cells,
        left_out: tour.left_out,
        problems: devices.problems,
    })
}

/// The way through the grid: what was found, and the time that is left.
struct Tour<'a> {
    plan: &'a Plan,
    deadline: Instant,
    /// Weight of the cells still to come.
    ahead: f64,
    cells: Vec<Cell>,
    left_out: Vec<Skipped>,
    bar: ProgressBar,
}

impl<'a> Tour<'a> {
    fn new(plan: &'a Plan, start: Instant, pairings: usize) -> Self {
        let of_one: f64 = plan.cells().map(|spot| spot.weight()).sum();
        let bar = ProgressBar::new((plan.cells().count() * pairings) as u64);
        if let Ok(style) = ProgressStyle::with_template("[{elapsed_precise}] {bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        let deadline = start + plan.budget;
        Self { plan, deadline, ahead: of_one * pairings as f64, cells: Vec::new(), left_out: Vec::new(), bar }
    }

    /// Leaves out so many pairings.
    fn pass(&mut self, pairings: usize) {
        for spot in self.plan.cells() {
            self.ahead -= spot.weight() * pairings as f64;
            self.bar.inc(pairings as u64);
        }
    }

    fn pairing(&mut self, backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>, compute: &str, shown_by: &str) {
        let mut kernels: Vec<(PixelFormat, Result<Arc<dyn Kernel>, String>)> = Vec::new();
        for spot in self.plan.cells() {
            self.bar.set_message(format!("{compute} -> {shown_by}, {spot}"));
            // What earlier cells did not use is for those to come; what they took too much, too.
            let left = self.deadline.saturating_duration_since(Instant::now());
            let share = left.mul_f64((spot.weight() / self.ahead.max(spot.weight())).clamp(0.0, 1.0));
            self.ahead -= spot.weight();
            if !kernels.iter().any(|(format, _)| *format == spot.format) {
                kernels.push((spot.format, build(backend, spot.format)));
            }
            let kernel = kernels.iter().find(|(format, _)| *format == spot.format).map(|(_, kernel)| kernel);
            let done = match kernel {
                _ if left.is_zero() => Err(format!("the budget of {} s was spent", self.plan.budget.as_secs())),
                Some(Ok(kernel)) => self.cell(&Stage { backend, display, kernel: kernel.as_ref(), spot }, share),
                Some(Err(reason)) => Err(reason.clone()),
                None => Err("there is no kernel for this format".into()),
            };
            match done {
                Ok(cell) => self.cells.push(Cell { compute: compute.into(), display: shown_by.into(), ..cell }),
                Err(reason) => {
                    let what = format!("{compute} -> {shown_by}, {spot}");
                    self.bar.suspend(|| eprintln!("SKIPPED {what}: {reason}"));
                    self.left_out.push(Skipped { what, reason });
                }
            }
            self.bar.inc(1);
        }
    }

    fn cell(&self, stage: &Stage<'_>, share: Duration) -> Result<Cell, String> {
        let spot: Spot = stage.spot;
        if let Some(free) = available_memory()
            && spot.memory() > free / 2
        {
            let mib = |bytes: u64| bytes >> 20;
            return Err(format!("it takes some {} MiB, {} MiB are free", mib(spot.memory()), mib(free)));
        }
        let start = Instant::now();
        let mut rows = Rows::open(stage, self.plan);
        let measured = measure(stage, &mut rows, self.plan.frames, share.saturating_sub(start.elapsed()));
        let extent = spot.size.extent;
        Ok(Cell {
            compute: String::new(),
            display: String::new(),
            size: spot.size.to_string(),
            width: extent.width,
            height: extent.height,
            format: spot.format.name().into(),
            mode: spot.mode,
            frame_bytes: spot.bytes(),
            frames_per_sample: measured.frames_per_sample,
            verdict: verdict::of(&measured.rows),
            rows: measured.rows,
            skipped: rows.skipped,
        })
    }
}

fn build(backend: &Arc<dyn ComputeBackend>, format: PixelFormat) -> Result<Arc<dyn Kernel>, String> {
    let source = ramp(format).ok_or_else(|| format!("there is no kernel for {format}"))?;
    backend.build(&source).map_err(|error| error.to_string())
}

fn method(plan: &Plan) -> Method {
    let description = [
        "A frame is a kernel that writes every pixel, the hand-over by the path, and a draw that reads every pixel to \
         where nobody looks."
            .into(),
        "latency: every frame is waited for by the display before the next begins. throughput: a sample is a run of \
         frames with one wait at its end, divided by their number; paths that can show frames late do."
            .into(),
        format!(
            "After {WARM_UP} frames each, rows take turns in blocks, every other round in the reverse order; the first \
             {LEAD_IN} frames of a block do not count. At least {FEWEST_ROUNDS} rounds, more as the time allows."
        ),
        "Every link is proved by pixels when it is opened; a path that does not open is listed with its reason.".into(),
        "automatic is a link with the default policy and no memory of earlier runs: what the library takes by itself. \
         Its distance to the best is the median over the rounds of the ratio of both rows' medians, so that drift \
         counts for both."
            .into(),
        format!("An automatic choice at most {:.0} % slower than the best counts as right.", TOLERANCE * 100.0),
    ];
    Method {
        description: description.into(),
        frames: plan.frames,
        budget_seconds: plan.budget.as_secs_f64(),
        tolerance: TOLERANCE,
    }
}
