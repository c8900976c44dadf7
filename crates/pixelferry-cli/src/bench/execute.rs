//! The command `pixelferry bench`.

use crate::bench::compare::{Comparison, read};
use crate::bench::devices::Devices;
use crate::bench::error::Error;
use crate::bench::grid::Plan;
use crate::bench::options::BenchOptions;
use crate::bench::report;
use crate::bench::run::run;
use crate::json::print;
use pixelferry::PathId;
use std::io::Write;

/// Does what the options say; tables go to `out`, progress to standard error.
///
/// # Errors
/// Wrong options, files that cannot be read or written (found before anything is measured), and what [`run()`] reports.
pub fn execute(options: &BenchOptions, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    if let [a, b] = options.compare.as_slice() {
        let comparison = Comparison::of(&read(a)?, &read(b)?);
        return print(out, &report::comparison(&comparison));
    }
    let plan = options.plan();
    if options.list {
        return print(out, &list(&plan)?);
    }
    options.json.check()?;
    let record = run(&plan)?;
    options.json.write(out, &record, || report::text(&record))
}

/// Returns what would be measured.
fn list(plan: &Plan) -> Result<String, Error> {
    let devices = Devices::find(plan)?;
    let mut text = String::from("Compute\n");
    for (device, _) in &devices.backends {
        text += &format!("  {} ({})\n", device.label, device.driver);
    }
    text += "Display\n";
    for (device, ..) in &devices.displays {
        text += &format!("  {} ({})\n", device.label, device.driver);
    }
    for problem in &devices.problems {
        text += &format!("note: {problem}\n");
    }
    text += "Cells of each pairing\n";
    for spot in plan.cells() {
        text += &format!("  {spot}: {} of {} bytes\n", spot.size.extent, spot.bytes());
    }
    let paths = plan.known.iter().map(|spec| spec.id).filter(|path| plan.wants(*path));
    text += &format!("Paths\n  {}\n", paths.map(PathId::name).collect::<Vec<_>>().join(", "));
    let cells = plan.cells().count() * devices.backends.len() * devices.displays.len();
    text += &format!("cells: {cells}; for each row frames: {}, seconds: {}\n", plan.frames, plan.budget.as_secs());
    Ok(text)
}
