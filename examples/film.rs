//! Runs a custom kernel over a film: the edges of each frame become another film. It needs no GPU.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry::{BackendChoice, Extent};
use pixelferry_demo::values::choices;
use pixelferry_examples::film::{made, record};
use pixelferry_media::film::Source;
use pixelferry_media::record::Output;
use std::io::{Cursor, Write as _, stderr, stdin};
use std::path::PathBuf;

/// Find the edges in a film.
#[derive(Parser)]
struct Cli {
    /// Y4M, or a file that GStreamer decodes; - for Y4M on standard input. Without it a film is made.
    film: Option<PathBuf>,
    /// File to write: .y4m, .mp4, frames/%05d.png, or - for Y4M on standard output.
    #[arg(long, value_parser = |name: &str| Output::named(name), default_value = "edges.y4m")]
    out: Output,
    /// Backend to compute with.
    #[arg(long, value_parser = choices::<BackendChoice>(), default_value = "auto")]
    backend: BackendChoice,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Cli { film, out, backend } = Cli::parse();
    let source = match film {
        None => Source::y4m(Cursor::new(made(Extent::new(320, 180), 50)))?,
        Some(file) if file.as_os_str() == "-" => Source::y4m(stdin())?,
        Some(file) => Source::video(file)?,
    };
    let name = out.name();
    let recorded = record(source, backend, out)?;
    Ok(writeln!(stderr(), "{} frames in {name}", recorded.frames)?)
}
