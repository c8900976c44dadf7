//! From a plan to a result.

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

/// Measures what `plan` asks for. What fails on the way is in the record with its reason.
///
/// # Errors
/// A filter that matches no device; a variable of the environment that would decide what is measured.
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
        "A frame is a kernel that writes every pixel, the hand-over by the path, and a draw that reads every pixel to \
         where nobody looks."
            .into(),
        "What pixels would be that a frame does not write is overwrite: nothing is copied or cleared."
            .into(),
        "latency: every frame is waited for by the display before the next begins. throughput: a sample is a run of \
         frames with one wait at its end, divided by their number; paths that can show frames behind do."
            .into(),
        format!(
            "After {WARM_UP} frames each, rows take turns in blocks, in another order every round; the first frames of a \
             block, {LEAD_IN} at most, do not count. At least {FEWEST_ROUNDS} rounds, more as the time allows."
        ),
        "Every link is proved by pixels when it is opened; a path that does not open is listed with its reason.".into(),
        "automatic is a link with the default policy and no memory of earlier runs: what the library chooses automatically, once \
         it has compared paths for as long as a program's first minute lets it. \
         Its distance to the best is the median over the rounds of the ratio of both rows' medians, so that drift \
         counts for both; ± is a 95 % interval of it."
            .into(),
        "Where the rounds leave open whether the automatic choice is within the tolerance, it and the best path take more \
         turns alone, and these count: the best of many rows is partly the luckiest."
            .into(),
        format!(
            "An automatic choice at most {:.0} % slower than the best counts as right. One that is slower by less than \
             the interval allows for is too close to call.",
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
