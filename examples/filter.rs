//! A picture or a video, filtered on the device.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry_demo::scenes::filter::{Filter, FilterScene};
use pixelferry_demo::{DrawArgs, Options, Scene as _, run};
use std::path::PathBuf;
use std::process::ExitCode;

/// Filter a picture (PNG, JPEG) or a video (Y4M) on the device and show it.
#[derive(Parser)]
struct Cli {
    /// The file; without one, the sample picture.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/pixelferry-demo/assets/lake.jpg"))]
    file: PathBuf,
    /// What to do with it.
    #[arg(long, value_enum, default_value_t)]
    filter: Filter,
    #[command(flatten)]
    draw_args: DrawArgs,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (size, link) = (cli.options.size_or(1280, 720), cli.options.link_options());
    run(&cli.options, size, &FilterScene::sources(), |backend, display| {
        let mut scene = FilterScene::open(backend, display, &cli.file, cli.filter, link)?;
        scene.set_draw_options(&cli.draw_args);
        Ok(Box::new(scene))
    })
}
