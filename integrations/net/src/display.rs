//! `pixelferry-net display`: the hub, which assembles tiles and serves the pictures.

use crate::failure::Failure;
use crate::join::{Guests, Papers, Through, host, join};
use crate::output::{complain, say};
use crate::{HUB, SCENE, metrics, plasma, stop};
use clap::Args;
use pixelferry::{
    CpuBackend, Extent, ImageDesc, Link, LinkOptions, MemoryDisplay, PixelFormat, SurfaceDesc, Unwritten,
};
use pixelferry_net::{Net, Packing, Scene, Update};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct DisplayOptions {
    /// Endpoint to listen on as the hub; default tcp/127.0.0.1:7447, or none with --connect.
    #[arg(long, value_name = "ENDPOINT")]
    listen: Option<String>,
    /// Endpoint of a hub or router to connect to.
    #[arg(long, value_name = "ENDPOINT")]
    connect: Option<String>,
    /// Seconds to wait until that endpoint can be reached and, with --frames, for workers.
    #[arg(long, default_value_t = 10)]
    patience: u64,
    #[command(flatten)]
    guests: Guests,
    #[command(flatten)]
    papers: Papers,
    #[command(flatten)]
    picture: Picture,
    /// Number of frames to show; by default unlimited.
    #[arg(long)]
    frames: Option<u64>,
}

/// Settings of the shown picture.
#[derive(Args)]
pub struct Picture {
    /// Name of the scene.
    #[arg(long, default_value = SCENE)]
    pub scene: String,
    /// Size of the picture in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360")]
    pub size: Extent,
    /// Codec of pictures for viewers: none, lz4, jpeg; auto adapts to the connection and is lossless, auto-lossy may
    /// use jpeg.
    #[arg(long, default_value = "jpeg")]
    pub codec: Packing,
    /// Maximum frame rate, in frames per second.
    #[arg(long, default_value_t = 60)]
    pub rate: u32,
}

/// A frame that takes longer is reported as late.
const DEADLINE: Duration = Duration::from_secs(10);

/// After this time without workers, the command says that it waits for them.
const ALONE: Duration = Duration::from_secs(1);

/// Shows the requested number of frames.
pub fn run(options: &DisplayOptions) -> Result<(), Failure> {
    let DisplayOptions { listen, connect, patience, papers, .. } = options;
    let net = match (listen, connect) {
        (None, Some(connect)) => {
            join(&Through { connect: connect.clone(), patience: *patience, papers: papers.clone() })?
        }
        (listen, connect) => {
            let listen = listen.as_deref().unwrap_or(HUB).to_owned();
            host(&[listen], connect.as_slice(), papers, &options.guests)?
        }
    };
    show(&net, &options.picture, options.frames, Duration::from_secs(*patience))
}

/// Shows frames on a joined network until asked to stop. Waits for workers; not forever if a number of frames was
/// requested.
pub fn show(net: &Net, options: &Picture, frames: Option<u64>, patience: Duration) -> Result<(), Failure> {
    let Extent { width, height } = options.size;
    let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let mut assembly = net.assemble(Scene::new(&options.scene, image).with_tile(128, 128), DEADLINE)?;
    let server = net.serve(&options.scene)?.with_codec(options.codec, 85);
    let screen = MemoryDisplay::new();
    let backend = Arc::new(CpuBackend::new()?);
    let mut link = Link::open(backend, screen.clone(), SurfaceDesc::Image(image), LinkOptions::default())?;
    let (begun, pause) = (Instant::now(), Duration::from_secs(1) / options.rate.max(1));
    let (mut shown, mut waves) = (0, plasma::Waves::default());
    let mut last = begun;
    let mut is_told = false;
    'frames: while frames.is_none_or(|frames| shown < frames) && !stop::is_asked() {
        let frame_begun = Instant::now();
        while let Some(input) = server.input() {
            waves.take(&input);
        }
        assembly.request(&waves.arguments((frame_begun - last).as_secs_f32()))?;
        last = frame_begun;
        loop {
            metrics::beat();
            match assembly.show(&mut link, stop::LOOK)? {
                Update::Tiles(tiles) => {
                    let pixels = screen.pixels_rgba8(link.shown()?.surface())?;
                    let asked = tiles.tiles().first().map(|tile| tile.header().time);
                    server.publish(image, tiles.frame(), asked, &pixels.data)?;
                    metrics::set("pixelferry_age_seconds", frame_begun.elapsed().as_secs_f64());
                    break;
                }
                Update::Late(late) => {
                    metrics::add("pixelferry_late_tiles_total", late.missing.len());
                    if late.workers > 0 {
                        complain(format_args!("frame {}: {} tiles are late", late.frame, late.missing.len()));
                        late.owing.iter().for_each(|owed| complain(format_args!("{owed}")));
                    }
                }
                _ => {}
            }
            let (workers, waited) = (assembly.workers(), frame_begun.elapsed());
            metrics::set("pixelferry_workers", workers as f64);
            if workers == 0 && waited >= patience && frames.is_some() {
                return Err(Failure::Alone(shown + 1));
            }
            if workers == 0 && waited >= ALONE && !is_told {
                complain(format_args!("waiting for workers of {}", options.scene));
            }
            is_told = workers == 0 && (is_told || waited >= ALONE);
            if stop::is_asked() {
                break 'frames;
            }
        }
        is_told = false;
        shown += 1;
        metrics::add("pixelferry_frames_total", 1);
        metrics::set("pixelferry_workers", assembly.workers() as f64);
        std::thread::sleep(pause.saturating_sub(frame_begun.elapsed()));
    }
    let seconds = begun.elapsed().as_secs_f32();
    say(format_args!("{shown} frames shown in {seconds:.1} s, {} messages refused", assembly.refused()))
}
