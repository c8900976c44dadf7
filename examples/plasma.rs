//! An animated float32 image, turned into colours on the device.

use clap::Parser;
use pixelferry_examples::scenes::plasma::Plasma;
use pixelferry_examples::{Options, run};
use std::process::ExitCode;

/// Compute an animated float image, colour it on the device and show it.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let options = Cli::parse().options;
    let size = options.size_or(1280, 720);
    let link = options.link_options();
    run(&options, size, &Plasma::sources(), |backend, display| Ok(Box::new(Plasma::new(backend, display, size, link)?)))
}
