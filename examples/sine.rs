//! 10 000 points of a sine, computed into an OpenGL vertex buffer and drawn as a line strip.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::sine::Sine;
use pixelferry_demo::{Options, run};
use std::process::ExitCode;

/// Compute a sine into a vertex buffer and draw it as a line strip.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let options = Cli::parse().options;
    let size = options.size_or(1280, 720);
    let link = options.link_options();
    run(&options, size, &Sine::sources(), |backend, display| Ok(Box::new(Sine::new(backend, display, link)?)))
}
