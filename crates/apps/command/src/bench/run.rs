//! Runs a plan and returns its result.

use crate::bench::devices::Devices;
use crate::bench::error::Error;
use crate::bench::grid::Plan;
use crate::bench::machine::Machine;
use crate::bench::measure::{FEWEST_ROUNDS, LEAD_IN, WARM_UP};
use crate::bench::record::{Method, Record, SCHEMA, SCHEMA_VERSION};
use crate::bench::tour::{Pairing, Tour};
use crate::bench::verdict::{self, TOLERANCE};
use pixelferry::driver::select::environment::VARIABLES;
use std::time::{Instant, SystemTime};

/// Measures what `plan` describes. The record lists failures with their reasons.
///
/// # Errors
/// A filter that matches no device; an environment variable that would override what is measured.
pub fn run(plan: &Plan) -> Result<Record, Error> {
    if let Some(name) = VARIABLES.into_iter().find(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())) {
        return Err(Error::Environment(name));
    }
    let (start, started) = (Instant::now(), SystemTime::now());
    let machine = Machine::this();
    let devices = Devices::find(plan)?;
    let mut pairings = Vec::new();
    for (shown_by, headless, display) in &devices.displays {
        for (compute, backend) in &devices.backends {
            pairings.push(Pairing::new((compute, backend), (shown_by, headless, display)));
        }
    }
    let Tour { cells, left_out, .. } = Tour::make(plan, start, &mut pairings);
    drop(pairings);
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
        summary: verdict::summary(&cells),
        cells,
        left_out,
        problems: devices.problems,
    })
}

fn method(plan: &Plan) -> Method {
    let description = [
        "A frame is a kernel that writes every pixel, the hand-over by the path, and a draw that reads every pixel \
         into an offscreen target."
            .into(),
        "Unwritten pixels are set to overwrite: nothing is copied or cleared."
            .into(),
        "latency: the display waits for every frame before the next begins. throughput: a sample is a run of frames \
         with one wait at its end, divided by their number; paths that can show older frames do."
            .into(),
        format!(
            "After {WARM_UP} frames each, rows take turns in blocks, in another order every round; the first frames of \
             a block, at most {LEAD_IN}, do not count. There are at least {FEWEST_ROUNDS} rounds, more if time \
             allows."
        ),
        "Every link proves its path by pixels when it opens; a path that does not open is listed with its \
         reason.".into(),
        "automatic is a link with the default policy and no memory of earlier runs: what the library chooses \
         automatically after comparing paths for as long as it would in a program's first minute. Its distance from \
         the best is the median over the rounds of the ratio of both rows' medians, so that drift affects both; ± is a \
         95 % interval."
            .into(),
        "If the rounds leave open whether the automatic choice is within the tolerance, it and the best path take more \
         turns alone, and these count: the best of many rows is partly the luckiest."
            .into(),
        format!(
            "An automatic choice at most {:.0} % slower than the best counts as right. One whose slowdown is within \
             its uncertainty is too close to call.",
            TOLERANCE * 100.0
        ),
    ];
    Method {
        description: description.into(),
        frames: plan.frames,
        budget_seconds: plan.budget.as_secs_f64(),
        tolerance: TOLERANCE,
    }
}
