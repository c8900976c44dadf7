//! An animated float32 image, turned into colours on the device.

use clap::Parser;
use pixelferry::Fit;
use pixelferry_examples::scenes::plasma::{Format, Plasma, Tone};
use pixelferry_examples::{LookOptions, Options, run};
use std::process::ExitCode;

/// Compute an animated float image, colour it on the device and show it.
#[derive(Parser)]
struct Cli {
    /// From the float colours to what is shown.
    #[arg(long, value_enum, default_value_t)]
    tone: Tone,
    /// How a pixel is stored.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    look: LookOptions,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Cli { tone, format, look, options } = Cli::parse();
    let size = options.size_or(1280, 720);
    let link = options.link_options();
    run(&options, size, &Plasma::sources(tone, format), |backend, display| {
        let plasma = Plasma::new(backend, display, size, (tone, format), link)?;
        Ok(Box::new(plasma.with_look(look.draw_options(Fit::Stretch))))
    })
}
