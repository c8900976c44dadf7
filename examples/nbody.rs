//! Two galaxies of bodies that all attract each other, computed into an OpenGL vertex buffer and drawn as points.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::nbody::{MAX_BODIES, NBody};
use pixelferry_demo::{Options, run};
use std::process::ExitCode;

/// Compute the gravity between all pairs of bodies and draw them as points.
#[derive(Parser)]
struct Cli {
    /// Number of bodies; a step computes its square. [default: 65536 on a GPU, 4096 on a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BODIES)))]
    bodies: Option<u32>,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Cli { bodies, options } = Cli::parse();
    let size = options.size_or(1280, 720);
    let link = options.link_options();
    run(&options, size, &NBody::sources(), |backend, display| Ok(Box::new(NBody::new(backend, display, bodies, link)?)))
}
