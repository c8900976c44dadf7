//! A fountain of particles, computed into an OpenGL vertex buffer and drawn as points.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::fountain::{Fountain, MAX_DROPS};
use pixelferry_demo::{Options, run};
use std::process::ExitCode;

/// Compute a fountain of particles into a vertex buffer and draw it.
#[derive(Parser)]
struct Cli {
    /// Number of drops.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DROPS)))]
    drops: u32,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Cli { drops, options } = Cli::parse();
    let size = options.size_or(1280, 720);
    let link = options.link_options();
    run(&options, size, &Fountain::sources(drops), |backend, display| {
        Ok(Box::new(Fountain::new(backend, display, drops, link)?))
    })
}
