//! The command `pixelferry-net`: a plasma that workers compute in tiles, a display puts together and serves, and viewers see,
//! in browsers too; and a table of all nodes.

mod plasma;
mod table;
#[cfg(feature = "web")]
mod video;
#[cfg(feature = "web")]
mod web;

use clap::{Args, Parser, Subcommand};
use pixelferry::{
    ComputeBackend as _, CpuBackend, ImageDesc, Link, LinkOptions, MemoryDisplay, PixelFormat, SurfaceDesc, Unwritten,
};
use pixelferry_net::{Net, Options, Packing, Scene, Update};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pictures computed on many nodes and watched from anywhere.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compute tiles of a scene.
    Worker(Worker),
    /// Be the hub: ask for frames, put their tiles together, and serve the pictures.
    Display(Display),
    /// Look at the pictures that a display serves; prints their rate and age.
    View(View),
    /// Show the pictures in browsers, which send mouse and keys back.
    #[cfg(feature = "web")]
    Web(web::Options),
    /// Record the pictures as H.264 into a file.
    #[cfg(feature = "web")]
    Video(video::Options),
    /// List all nodes and what they do.
    Probe(Through),
}

#[derive(Args)]
struct Through {
    /// Endpoint of the hub or router.
    #[arg(long, default_value = "tcp/127.0.0.1:7447")]
    connect: String,
    /// Seconds to wait until somebody listens there.
    #[arg(long, default_value_t = 10)]
    patience: u64,
}

#[derive(Args)]
struct Worker {
    #[command(flatten)]
    through: Through,
    /// Name of the scene.
    #[arg(long, default_value = "plasma")]
    scene: String,
    /// Packing of tiles: none, lz4, jpeg; auto fits the link and is exact, auto-lossy may take jpeg.
    #[arg(long, default_value = "none")]
    codec: Packing,
    /// Seconds without work after which it ends; without this it goes on.
    #[arg(long)]
    idle: Option<u64>,
}

#[derive(Args)]
struct Display {
    /// Endpoint to listen at.
    #[arg(long, default_value = "tcp/127.0.0.1:7447")]
    listen: String,
    /// Name of the scene.
    #[arg(long, default_value = "plasma")]
    scene: String,
    /// Size of the picture.
    #[arg(long, default_value_t = 640)]
    width: u32,
    /// Size of the picture.
    #[arg(long, default_value_t = 360)]
    height: u32,
    /// Packing of pictures for viewers: none, lz4, jpeg; auto fits the link and is exact, auto-lossy may take jpeg.
    #[arg(long, default_value = "jpeg")]
    codec: Packing,
    /// Frames to show; without this it goes on.
    #[arg(long)]
    frames: Option<u64>,
    /// Most frames a second.
    #[arg(long, default_value_t = 60)]
    rate: u32,
}

#[derive(Args)]
struct View {
    #[command(flatten)]
    through: Through,
    /// Name of the scene.
    #[arg(long, default_value = "plasma")]
    scene: String,
    /// Pictures to see; without this it goes on.
    #[arg(long)]
    frames: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Net(#[from] pixelferry_net::Error),
    #[error(transparent)]
    Pixelferry(#[from] pixelferry::Error),
    #[error("frame {0} is late: {1} tiles are missing, and no worker lives; start one")]
    Alone(u64, usize),
    #[cfg(feature = "web")]
    #[error(transparent)]
    Video(#[from] pixelferry_media::video::Error),
    #[cfg(feature = "web")]
    #[error("no picture of {0} came; does anybody serve it?")]
    Unserved(String),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Worker(options) => worker(&options),
        Command::Display(options) => display(&options),
        Command::View(options) => view(&options),
        #[cfg(feature = "web")]
        Command::Web(options) => web::run(&options),
        #[cfg(feature = "web")]
        Command::Video(options) => video::run(&options),
        Command::Probe(through) => probe(&through),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
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

fn worker(options: &Worker) -> Result<(), Failure> {
    let net = join(&options.through)?;
    let backend = CpuBackend::new()?;
    let kernel = backend.build(&plasma::source())?;
    let tile = net.tile(&options.scene, None)?.with_codec(options.codec);
    tile.describe(&backend.device().to_string());
    let idle = options.idle.map_or(Duration::MAX, Duration::from_secs);
    let (mut busy, mut said) = (Instant::now(), None);
    while busy.elapsed() < idle {
        let Some(mut job) = tile.next(Duration::from_millis(500))? else { continue };
        let args = plasma::arguments(job.region(), job.args());
        match job.launch(&backend, kernel.as_ref(), &args).and_then(|()| tile.publish(job)) {
            Ok(()) => busy = Instant::now(),
            Err(error @ pixelferry_net::Error::Zenoh { .. }) => return Err(error.into()),
            // The job is of no plasma, say: whoever sent it may be a stranger, and the next is another's.
            Err(error) => {
                let words = error.to_string();
                if said.as_ref() != Some(&words) {
                    eprintln!("a tile was given up: {words}");
                }
                said = Some(words);
            }
        }
    }
    Ok(())
}

/// A frame may take so long before it is told.
const DEADLINE: Duration = Duration::from_secs(10);

fn display(options: &Display) -> Result<(), Failure> {
    let net = Net::join(Options::hub(&options.listen))?;
    let image = ImageDesc::new(options.width, options.height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let mut assembly = net.assemble(Scene::new(&options.scene, image).with_tile(128, 128), DEADLINE)?;
    let server = net.serve(&options.scene)?.with_codec(options.codec, 85);
    let screen = MemoryDisplay::new();
    let backend = Arc::new(CpuBackend::new()?);
    let mut link = Link::open(backend, screen.clone(), SurfaceDesc::Image(image), LinkOptions::default())?;
    let (begun, pause) = (Instant::now(), Duration::from_secs(1) / options.rate.max(1));
    let (mut shown, mut waves) = (0, plasma::Waves::default());
    let mut last = begun;
    while options.frames.is_none_or(|frames| shown < frames) {
        let frame_begun = Instant::now();
        while let Some(input) = server.input() {
            waves.take(&input);
        }
        assembly.request(&waves.arguments((frame_begun - last).as_secs_f32()))?;
        last = frame_begun;
        loop {
            match assembly.show(&mut link, Duration::from_secs(1))? {
                Update::Tiles(tiles) => {
                    let pixels = screen.pixels_rgba8(link.shown()?.surface())?;
                    let asked = tiles.tiles().first().map(|tile| tile.header().time);
                    server.publish(image, tiles.frame(), asked, &pixels.data)?;
                    break;
                }
                Update::Late(late) if late.workers == 0 => return Err(Failure::Alone(late.frame, late.missing.len())),
                Update::Late(late) => eprintln!("frame {}: {} tiles are late", late.frame, late.missing.len()),
                _ => {}
            }
        }
        shown += 1;
        std::thread::sleep(pause.saturating_sub(frame_begun.elapsed()));
    }
    println!("{shown} frames shown in {:.1} s, {} messages refused", begun.elapsed().as_secs_f32(), assembly.refused());
    Ok(())
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
            println!(
                "frame {}: {extent} {}, {rate:.1} pictures/s, {} ms old",
                header.frame,
                header.codec,
                age.as_millis()
            );
            (begun, last) = (Instant::now(), seen);
        }
    }
    Ok(())
}

fn probe(through: &Through) -> Result<(), Failure> {
    print!("{}", table::text(&join(through)?.probe()?));
    Ok(())
}
