//! `pixelferry streams`: streams that processes of this user publish.

use crate::exit::Exit;
use crate::json::{JsonOption, MarkedReport};
use pixelferry::stream::{StreamEntry, streams};
use pixelferry_demo::terminal::Output;
use serde::Serialize;
use std::error::Error;

#[derive(clap::Args)]
pub struct StreamsOptions {
    #[command(flatten)]
    json: JsonOption,
}

#[derive(Serialize)]
struct Report {
    streams: Vec<StreamEntry>,
}

pub fn run(options: &StreamsOptions) -> Result<Exit, Box<dyn Error>> {
    options.json.check()?;
    let report = Report { streams: streams()? };
    let marked = MarkedReport { schema: "pixelferry-streams", schema_version: 1, report: &report };
    options.json.write(&mut Output, &marked, || text(&report.streams))?;
    Ok(if report.streams.is_empty() { Exit::NoStream } else { Exit::Done })
}

fn text(streams: &[StreamEntry]) -> String {
    if streams.is_empty() {
        return "no stream is published; to publish one, run: pixelferry demo --publish NAME\n".into();
    }
    let wide = streams.iter().map(|stream| stream.name.len()).max().unwrap_or(0);
    let line = |StreamEntry { name, process, program, .. }: &StreamEntry| {
        format!("{name:wide$}  process {process} ({program})\n")
    };
    streams.iter().map(line).collect()
}
