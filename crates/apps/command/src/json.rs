//! The option `--json` of every command that reports.

use pixelferry::command::check_writable;
use pixelferry_demo::terminal::OutputError;
use serde::Serialize;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Where to write a report as JSON.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct JsonOption {
    /// Write the report as JSON: to FILE besides the printed text, or to standard output instead of it (- or no FILE)
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

/// Wraps a report that has no schema fields of its own.
#[derive(Serialize)]
pub struct MarkedReport<T> {
    /// Name of the report's format.
    pub schema: &'static str,
    /// Increases when older readers would misread the report.
    pub schema_version: u32,
    #[serde(flatten)]
    pub report: T,
}

impl JsonOption {
    /// Returns the output file, if one is given (`-` is standard output).
    pub fn file(&self) -> Option<&PathBuf> {
        self.json.as_ref().filter(|file| file.as_os_str() != "-")
    }

    /// Checks that the file can be written before the work starts.
    pub fn check(&self) -> Result<(), String> {
        self.file().map_or(Ok(()), |file| {
            check_writable(file).map_err(|reason| format!("cannot write {}: {reason}", file.display()))
        })
    }

    /// Writes the report as JSON if `--json` asks for it, and as text unless JSON goes to standard output.
    pub fn write(
        &self,
        out: &mut dyn Write,
        report: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Box<dyn Error>> {
        let json = || serde_json::to_string_pretty(report).map(|json| json + "\n");
        match (&self.json, self.file()) {
            // Write the file first: a result that took minutes to measure survives a failure of standard output.
            (_, Some(file)) => {
                fs::write(file, json()?).map_err(|reason| format!("cannot write {}: {reason}", file.display()))?;
                print(out, &text())
            }
            (Some(_), None) => print(out, &json()?),
            (None, None) => print(out, &text()),
        }
    }
}

/// Writes a text to standard output, or to what tests use instead.
pub fn print(out: &mut dyn Write, text: &str) -> Result<(), Box<dyn Error>> {
    Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(OutputError::from)?)
}
