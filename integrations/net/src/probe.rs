//! `pixelferry-net probe`: the nodes and what they do, for people and as data.

use crate::failure::Failure;
use crate::join::{Through, join};
use crate::output::print;
use crate::table;
use clap::Args;
use pixelferry_net::NodeStatus;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

#[derive(Args)]
pub struct ProbeOptions {
    #[command(flatten)]
    through: Through,
    /// Write the report as JSON: to FILE besides the printed table, or to standard output instead of it (- or no FILE).
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

/// The report. The number increases when older readers would misread it.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    nodes: Vec<NodeStatus>,
}

pub fn run(options: &ProbeOptions) -> Result<(), Failure> {
    let nodes = join(&options.through)?.probe()?;
    let version = env!("CARGO_PKG_VERSION");
    let report = Report { schema: "pixelferry-net-probe", schema_version: 1, version, nodes };
    let json = || serde_json::to_string_pretty(&report).map(|json| json + "\n");
    match &options.json {
        Some(file) if file.as_os_str() == "-" => print(&json()?),
        Some(file) => {
            fs::write(file, json()?).map_err(|reason| Failure::File { file: file.clone(), reason })?;
            print(&table::text(&report.nodes))
        }
        None => print(&table::text(&report.nodes)),
    }
}
