//! Serves a scene of the demo: the pictures are computed here and seen anywhere.

use clap::Parser;
use pixelferry::{BackendChoice, command::Choice as _};
use pixelferry_demo::options::{choices, parse_size};
use pixelferry_net::{Net, Options, Packing};
use remote_demo::{Frames, Shown};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Serve a scene of the demo; `pixelferry-net view --scene demo` shows it.
#[derive(Parser)]
struct Cli {
    /// Scene to compute.
    #[arg(value_enum, default_value = "fluid")]
    shown: Shown,
    /// Endpoint to listen at.
    #[arg(long, default_value = "tcp/127.0.0.1:7447")]
    listen: String,
    /// Name of the scene on the network.
    #[arg(long, default_value = "demo")]
    scene: String,
    /// Size of the picture.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, default_value = "1280x720")]
    size: (u32, u32),
    /// Backend to compute with.
    #[arg(long, value_parser = choices::<BackendChoice>(), default_value = BackendChoice::default().name())]
    backend: BackendChoice,
    /// Packing of pictures: none, lz4, jpeg; auto fits the link and is exact, auto-lossy may take jpeg.
    #[arg(long, default_value = "jpeg")]
    codec: Packing,
    /// JPEG's quality, from 1 to 100.
    #[arg(long, default_value_t = 85, value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: u8,
    /// Most frames a second.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Frames to serve; without this it goes on.
    #[arg(long)]
    frames: Option<u64>,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match serve(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: &Cli) -> Result<(), Failure> {
    let mut frames = Frames::open(options.shown, options.backend, options.size)?;
    let net = Net::join(Options::hub(&options.listen))?;
    let server = net.serve(&options.scene)?.with_codec(options.codec, options.quality);
    for endpoint in net.endpoints()? {
        println!("{} serves {} at {endpoint}", frames.device(), options.scene);
    }
    let pause = Duration::from_secs(1) / options.rate;
    for frame in 1..=options.frames.unwrap_or(u64::MAX) {
        let begun = Instant::now();
        let pixels = frames.compute()?;
        server.publish(frames.image(), frame, None, &pixels)?;
        std::thread::sleep(pause.saturating_sub(begun.elapsed()));
    }
    Ok(())
}
