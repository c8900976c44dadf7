//! Visits the cells of the grid: in which order, and with how much time.

use crate::bench::grid::{Mode, Plan, Spot};
use crate::bench::kernel::ramp;
use crate::bench::machine::Device;
use crate::bench::measure::measure;
use crate::bench::record::{Cell, SkippedItem};
use crate::bench::rows::{Rows, Stage};
use crate::bench::verdict;
use indicatif::{ProgressBar, ProgressStyle};
use pixelferry::driver::backend_in;
use pixelferry::driver::compute::system_memory;
use pixelferry::{ComputeBackend, Display, HeadlessDisplay, Kernel, PixelFormat};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A kernel, or why it did not build.
type KernelResult = Result<Arc<dyn Kernel>, String>;

/// A pair of devices and what was measured about it so far.
pub(crate) struct Pairing<'a> {
    pub compute: &'a Device,
    pub backend: Arc<dyn ComputeBackend>,
    pub shown_by: &'a Device,
    pub headless: &'a HeadlessDisplay,
    pub display: &'a Arc<dyn Display>,
    kernels: Vec<(PixelFormat, KernelResult)>,
    /// For each mode, bytes of the latest cell and the duration of its minimum rounds.
    least: Vec<(Mode, u64, Duration)>,
}

impl<'a> Pairing<'a> {
    /// Opens the backend inside the display if that enables more paths.
    pub fn new(
        (compute, backend): (&'a Device, &Arc<dyn ComputeBackend>),
        (shown_by, headless, display): (&'a Device, &'a HeadlessDisplay, &'a Arc<dyn Display>),
    ) -> Self {
        let reached = headless.gl().is_none_or(|gl| gl.make_current().is_ok());
        let backend = if reached { backend_in(backend, display.as_ref()) } else { Arc::clone(backend) };
        Self { compute, backend, shown_by, headless, display, kernels: Vec::new(), least: Vec::new() }
    }

    fn kernel(&mut self, format: PixelFormat) -> KernelResult {
        if let Some((_, kernel)) = self.kernels.iter().find(|(f, _)| *f == format) {
            return kernel.clone();
        }
        let kernel = self.backend.build(&ramp(format)).map_err(|error| error.to_string());
        self.kernels.push((format, kernel.clone()));
        kernel
    }

    /// Estimates a cell's minimum duration from the previous one; zero without one.
    fn expected(&self, spot: Spot) -> Duration {
        let before = self.least.iter().rev().find(|(mode, ..)| *mode == spot.mode);
        // Time grows with bytes from a fixed cost: opening a path takes time at any size.
        before.map_or(Duration::ZERO, |(_, bytes, took)| {
            took.mul_f64((spot.bytes() as f64 / (*bytes).max(4 << 20) as f64).max(1.0))
        })
    }
}

/// Returns the reason if time is too short for a cell.
fn no_time(expected: Duration, left: Duration) -> Option<String> {
    let [takes, rest] = [expected, left].map(|time| time.as_secs_f64().ceil());
    if left.is_zero() {
        return Some("no time: --budget is used up".into());
    }
    (expected > left).then(|| {
        format!("no time: this measurement takes about {takes:.0} s, but only {rest:.0} s of --budget are left")
    })
}

/// Results so far, and the remaining time.
pub(crate) struct Tour<'a> {
    plan: &'a Plan,
    deadline: Instant,
    /// Weight of the remaining cells.
    ahead: f64,
    bar: ProgressBar,
    pub cells: Vec<Cell>,
    pub left_out: Vec<SkippedItem>,
}

impl<'a> Tour<'a> {
    /// Visits every cell, starting with the cheap ones of all pairings, so that every pairing has a result even when
    /// time is short.
    pub fn make(plan: &'a Plan, start: Instant, pairings: &mut [Pairing<'_>]) -> Self {
        let mut spots: Vec<Spot> = plan.cells().collect();
        spots.sort_by(|a, b| a.weight().total_cmp(&b.weight()));
        let bar = ProgressBar::new((spots.len() * pairings.len()) as u64);
        if let Ok(style) = ProgressStyle::with_template("[{elapsed_precise}] {bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        let ahead = spots.iter().map(Spot::weight).sum::<f64>() * pairings.len() as f64;
        let (cells, left_out) = (Vec::new(), Vec::new());
        let mut tour = Self { plan, deadline: start + plan.budget, ahead, bar, cells, left_out };
        for spot in spots {
            for pairing in &mut *pairings {
                tour.visit(pairing, spot);
            }
        }
        tour.bar.finish_and_clear();
        tour.sort(pairings);
        tour
    }

    /// Restores the order in which the options named things.
    fn sort(&mut self, pairings: &[Pairing<'_>]) {
        let spots: Vec<Spot> = self.plan.cells().collect();
        self.cells.sort_by_key(|cell| {
            let pairing =
                pairings.iter().position(|p| p.compute.label == cell.compute && p.shown_by.label == cell.display);
            let spot =
                spots.iter().position(|s| format!("{} {}", s.size, s.format) == cell.picture() && s.mode == cell.mode);
            (pairing, spot)
        });
    }

    fn visit(&mut self, pairing: &mut Pairing<'_>, spot: Spot) {
        let what = format!("{} -> {}, {spot}", pairing.compute.label, pairing.shown_by.label);
        self.bar.set_message(what.clone());
        match self.cell(pairing, spot) {
            Ok(cell) => self.cells.push(cell),
            Err(reason) => self.left_out.push(SkippedItem { what, reason }),
        }
        self.bar.inc(1);
    }

    fn cell(&mut self, pairing: &mut Pairing<'_>, spot: Spot) -> Result<Cell, String> {
        let start = Instant::now();
        // Time that earlier cells left over, or overran, changes what later cells get.
        let left = self.deadline.saturating_duration_since(start);
        let share = left.mul_f64((spot.weight() / self.ahead.max(spot.weight())).clamp(0.0, 1.0));
        self.ahead -= spot.weight();
        let expected = pairing.expected(spot);
        if let Some(reason) = no_time(expected, left) {
            return Err(reason);
        }
        if let Some(free) = system_memory("MemAvailable")
            && spot.memory() > free / 2
        {
            let [takes, free] = [spot.memory(), free].map(|bytes| bytes >> 20);
            return Err(format!(
                "not enough memory: this measurement needs about {takes} MiB, and may use only half of the {free} MiB that are free"
            ));
        }
        // Only one context is current at a time.
        if let Some(gl) = pairing.headless.gl() {
            gl.make_current().map_err(|error| error.to_string())?;
        }
        let kernel = pairing.kernel(spot.format)?;
        let (backend, display) = (&pairing.backend, pairing.display);
        let stage = Stage { backend, display, kernel: kernel.as_ref(), spot };
        let mut rows = Rows::open(&stage);
        let opened = start.elapsed();
        let measured = measure(&stage, &mut rows, self.plan.frames, share.saturating_sub(opened));
        pairing.least.push((spot.mode, spot.bytes(), opened + measured.least));
        Ok(Cell {
            compute: pairing.compute.label.clone(),
            display: pairing.shown_by.label.clone(),
            size: spot.size.to_string(),
            width: spot.size.extent.width,
            height: spot.size.extent.height,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_without_time_says_what_is_left() {
        let [none, short, long] = [0, 2, 5].map(Duration::from_secs);
        assert_eq!(no_time(short, long), None);
        assert_eq!(no_time(none, none).as_deref(), Some("no time: --budget is used up"));
        assert_eq!(
            no_time(long, short).unwrap(),
            "no time: this measurement takes about 5 s, but only 2 s of --budget are left"
        );
    }
}
