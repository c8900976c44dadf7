//! The command `pixelferry-net`: a plasma that workers compute in tiles, a display puts together and serves, and viewers see,
//! in browsers too; and a table of all nodes.

#[cfg(feature = "web")]
mod demo;
mod display;
mod failure;
mod output;
mod plasma;
mod probe;
mod table;
#[cfg(feature = "web")]
mod video;
#[cfg(feature = "web")]
mod web;
mod worker;

use clap::{Args, Parser, Subcommand};
use failure::Failure;
use output::{complain, say};
use pixelferry_net::{Net, Options};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The version, the commit where it was built from a clone, and the features.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("PIXELFERRY_COMMIT").map(|commit| format!("commit {commit}, ")).unwrap_or_default();
    let features = if cfg!(feature = "web") { "features web" } else { "no features" };
    format!("{} ({commit}{features})", env!("CARGO_PKG_VERSION"))
});

/// Pictures computed on many nodes and watched from anywhere.
#[derive(Parser)]
#[command(name = "pixelferry-net", version = VERSION.as_str(), arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a picture in browsers: a display, workers and the page in one process, until Ctrl-C.
    #[cfg(feature = "web")]
    Demo(demo::Options),
    /// Compute tiles of a scene.
    Worker(worker::Options),
    /// Be the hub: ask for frames, put their tiles together, and serve the pictures.
    Display(display::Options),
    /// Look at the pictures that a display serves; prints their rate and age.
    View(View),
    /// Show the pictures in browsers, which send mouse and keys back.
    #[cfg(feature = "web")]
    Web(web::Options),
    /// Record the pictures as H.264 into a file.
    #[cfg(feature = "web")]
    Video(video::Options),
    /// List all nodes and what they do.
    Probe(probe::Options),
}

#[derive(Args)]
struct Through {
    /// Endpoint of the hub or router.
    #[arg(long, default_value = HUB)]
    connect: String,
    /// Seconds to wait until somebody listens there.
    #[arg(long, default_value_t = 10)]
    patience: u64,
}

/// Endpoint of the hub where none is named.
const HUB: &str = "tcp/127.0.0.1:7447";
/// Name of the scene where none is given.
const SCENE: &str = "plasma";

#[derive(Args)]
struct View {
    #[command(flatten)]
    through: Through,
    /// Name of the scene.
    #[arg(long, default_value = SCENE)]
    scene: String,
    /// Pictures to see; without this it goes on.
    #[arg(long)]
    frames: Option<u64>,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        #[cfg(feature = "web")]
        Command::Demo(options) => demo::run(&options),
        Command::Worker(options) => worker::run(&options),
        Command::Display(options) => display::run(&options),
        Command::View(options) => view(&options),
        #[cfg(feature = "web")]
        Command::Web(options) => web::run(&options),
        #[cfg(feature = "web")]
        Command::Video(options) => video::run(&options),
        Command::Probe(options) => probe::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(format_args!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

/// Joins as soon as somebody listens.
fn join(through: &Through) -> Result<Net, Failure> {
    let until = Instant::now() + Duration::from_secs(through.patience);
    loop {
        match Net::join(Options::through(&through.connect)) {
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(100)),
            joined => return Ok(joined?),
        }
    }
}

fn view(options: &View) -> Result<(), Failure> {
    let net = join(&options.through)?;
    let viewer = net.view(&options.scene)?;
    let (mut begun, mut seen, mut last) = (Instant::now(), 0, 0);
    while options.frames.is_none_or(|frames| seen < frames) {
        let Some(picture) = viewer.next(Duration::from_millis(500)) else { continue };
        seen += 1;
        let is_done = options.frames == Some(seen);
        if begun.elapsed() >= Duration::from_secs(1) || is_done {
            let (header, age) = (picture.header(), picture.age());
            let rate = (seen - last) as f32 / begun.elapsed().as_secs_f32();
            let extent = header.image.extent;
            let age = age.as_millis();
            say(format_args!("frame {}: {extent} {}, {rate:.1} pictures/s, {age} ms old", header.frame, header.codec))?;
            (begun, last) = (Instant::now(), seen);
        }
    }
    Ok(())
}
