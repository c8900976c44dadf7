//! `pixelferry doctor`.

use crate::exit::Exit;
use crate::json::{JsonOption, MarkedReport};
use crate::table::diagnosis;
use pixelferry::doctor::{Facts, causes, examine, gather};
use pixelferry::report::Diagnosis;
use pixelferry_demo::terminal::Output;
use serde::Serialize;
use std::error::Error;

#[derive(clap::Args)]
pub struct DoctorOptions {
    #[command(flatten)]
    json: JsonOption,
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    found: Vec<Diagnosis>,
    facts: Facts,
}

pub fn run(options: &DoctorOptions) -> Result<Exit, Box<dyn Error>> {
    options.json.check()?;
    let facts = gather();
    let report = Report { version: env!("CARGO_PKG_VERSION"), found: examine(&facts), facts };
    let marked = MarkedReport { schema: "pixelferry-doctor", schema_version: 1, report: &report };
    options.json.write(&mut Output, &marked, || text(&report.found))?;
    Ok(if report.found.is_empty() { Exit::Done } else { Exit::Causes })
}

/// Formats each cause with the command that fixes it.
pub fn text(found: &[Diagnosis]) -> String {
    if found.is_empty() {
        return format!("no problem found; looked for {}\n", causes().collect::<Vec<_>>().join(", "));
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = found.iter().try_for_each(|cause| diagnosis(&mut text, "", cause));
    text
}
