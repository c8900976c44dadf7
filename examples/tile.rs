//! A texture of 4x4 pixels on a tilted quad; each frame a kernel writes 2x2 of them, and the others stay.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::tile::Tile;
use pixelferry_demo::{Options, run};
use std::process::ExitCode;

/// Write a moving part of a 4x4 texture each frame and draw it on a quad.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let options = Cli::parse().options;
    let size = options.size_or(720, 720);
    let link = options.link_options();
    run(&options, size, &Tile::sources(), |backend, display| Ok(Box::new(Tile::new(backend, display, link)?)))
}
