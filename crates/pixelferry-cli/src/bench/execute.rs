//! The command `pixelferry bench`.

use crate::bench::options::BenchOptions;
use crate::bench::report;
use crate::bench::run::run;
use std::io::Write;

/// Does what the options say; tables go to `out`, progress to standard error.
///
/// # Errors
/// Wrong options, a file that cannot be written (found before anything is measured), and what [`run()`] reports.
pub fn execute(options: &BenchOptions, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    options.json.check()?;
    let record = run(&options.plan())?;
    options.json.write(out, &record, || report::text(&record))
}
