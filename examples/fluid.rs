//! A fluid that three jets of dye stir: advection, pressure projection and dye, all on the device.

use clap::Parser;
use pixelferry_examples::scenes::fluid::Fluid;
use pixelferry_examples::scenes::plasma::Format;
use pixelferry_examples::{Options, run};
use std::process::ExitCode;

/// Compute a fluid and the dye that it carries, and show it.
#[derive(Parser)]
struct Cli {
    /// How a pixel is stored.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Cli { format, options } = Cli::parse();
    let size = options.size_or(1280, 720);
    let link = options.link_options();
    run(&options, size, &Fluid::sources(format), |backend, display| {
        Ok(Box::new(Fluid::new(backend, display, size, format, link)?))
    })
}
