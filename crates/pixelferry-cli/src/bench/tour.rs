//! The way through the grid: which cell comes when, and how much time it gets.

use crate::bench::grid::{Mode, Plan, Spot};
use crate::bench::kernel::ramp;
use crate::bench::machine::{Device, available_memory};
use crate::bench::measure::measure;
use crate::bench::record::{Cell, Skipped};
use crate::bench::rows::{Rows, Stage};
use crate::bench::verdict;
use indicatif::{ProgressBar, ProgressStyle};
use pixelferry::driver::backend_in;
use pixelferry::{ComputeBackend, Display, Headless, Kernel, PixelFormat};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A kernel, or why there is none.
type Built = Result<Arc<dyn Kernel>, String>;

/// Two sides, and what is known of them so far.
pub(crate) struct Pairing<'a> {
    pub compute: &'a Device,
    pub backend: Arc<dyn ComputeBackend>,
    pub shown_by: &'a Device,
    pub headless: &'a Headless,
    pub display: &'a Rc<dyn Display>,
    kernels: Vec<(PixelFormat, Built)>,
    /// Time that the fewest rounds of each mode's latest cell took.
    least: Vec<(Mode, u64, Duration)>,
}

impl<'a> Pairing<'a> {
    /// The backend is opened inside the display where that opens paths.
    pub fn new(
        (compute, backend): (&'a Device, &Arc<dyn ComputeBackend>),
        (shown_by, headless, display): (&'a Device, &'a Headless, &'a Rc<dyn Display>),
    ) -> Self {
        let reached = headless.gl().is_none_or(|gl| gl.make_current().is_ok());
        let backend = if reached { backend_in(backend, display.as_ref()) } else { Arc::clone(backend) };
        Self { compute, backend, shown_by, headless, display, kernels: Vec::new(), least: Vec::new() }
    }

    fn kernel(&mut self, format: PixelFormat) -> Built {
        if let Some((_, kernel)) = self.kernels.iter().find(|(f, _)| *f == format) {
            return kernel.clone();
        }
        let kernel = self.backend.build(&ramp(format)).map_err(|error| error.to_string());
        self.kernels.push((format, kernel.clone()));
        kernel
    }

    /// Returns what a cell takes at least, judged by the one before; nothing where there was none.
    fn expected(&self, spot: Spot) -> Duration {
        let before = self.least.iter().rev().find(|(mode, ..)| *mode == spot.mode);
        // Time grows with bytes, but not from nothing: opening a path has its price at any size.
        before.map_or(Duration::ZERO, |(_, bytes, took)| {
            took.mul_f64((spot.bytes() as f64 / (*bytes).max(4 << 20) as f64).max(1.0))
        })
    }
}

/// Returns the reason if there is no time for a cell.
fn no_time(expected: Duration, left: Duration) -> Option<String> {
    let [takes, rest] = [expected, left].map(|time| time.as_secs_f64().ceil());
    if left.is_zero() {
        return Some("no time: nothing is left of --budget".into());
    }
    (expected > left).then(|| format!("no time: it takes about {takes:.0} s, {rest:.0} s of --budget are left"))
}

/// Results so far, and the time that is left.
pub(crate) struct Tour<'a> {
    plan: &'a Plan,
    deadline: Instant,
    /// Weight of the cells still to come.
    ahead: f64,
    bar: ProgressBar,
    pub cells: Vec<Cell>,
    pub left_out: Vec<Skipped>,
}

impl<'a> Tour<'a> {
    /// Visits every cell, cheap ones of all pairings first: where time is short, no pairing is without any.
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

    /// Back into the order in which things were asked for.
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
            Err(reason) => self.left_out.push(Skipped { what, reason }),
        }
        self.bar.inc(1);
    }

    fn cell(&mut self, pairing: &mut Pairing<'_>, spot: Spot) -> Result<Cell, String> {
        let start = Instant::now();
        // Time that earlier cells did not use is for those to come; time that they took too much is missing there.
        let left = self.deadline.saturating_duration_since(start);
        let share = left.mul_f64((spot.weight() / self.ahead.max(spot.weight())).clamp(0.0, 1.0));
        self.ahead -= spot.weight();
        let expected = pairing.expected(spot);
        if let Some(reason) = no_time(expected, left) {
            return Err(reason);
        }
        if let Some(free) = available_memory()
            && spot.memory() > free / 2
        {
            let [takes, free] = [spot.memory(), free].map(|bytes| bytes >> 20);
            return Err(format!("no memory: it takes some {takes} MiB of {free} MiB that are free"));
        }
        // One context is current at a time.
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
        assert_eq!(no_time(none, none).as_deref(), Some("no time: nothing is left of --budget"));
        assert_eq!(no_time(long, short).unwrap(), "no time: it takes about 5 s, 2 s of --budget are left");
    }
}
