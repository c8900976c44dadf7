//! `pixelferry bench`.

use crate::bench::bench_options::BenchOptions;
use crate::bench::report;
use crate::bench::run::run;
use std::io::Write;

/// Runs the benchmark. Tables go to `out`, progress to standard error.
///
/// # Errors
/// Invalid options, a file that cannot be written (checked before measuring), and the errors of [`run()`].
pub fn execute(options: &BenchOptions, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    options.json.check()?;
    let record = run(&options.plan())?;
    options.json.write(out, &record, || report::text(&record))
}
