//! `pixelferry-net display`: the hub, which puts tiles together and serves the pictures.

use crate::failure::Failure;
use crate::output::{complain, say};
use crate::{HUB, SCENE, plasma};
use clap::Args;
use pixelferry::{
    CpuBackend, Extent, ImageDesc, Link, LinkOptions, MemoryDisplay, PixelFormat, SurfaceDesc, Unwritten,
};
use pixelferry_net::{Assembly, Net, Packing, Scene, Update};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Options {
    /// Endpoint to listen at.
    #[arg(long, default_value = HUB)]
    pub listen: String,
    #[command(flatten)]
    pub picture: Picture,
    /// Frames to show; without this it goes on.
    #[arg(long)]
    pub frames: Option<u64>,
}

/// The picture that is shown.
#[derive(Args)]
pub struct Picture {
    /// Name of the scene.
    #[arg(long, default_value = SCENE)]
    pub scene: String,
    /// Size of the picture in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360")]
    pub size: Extent,
    /// Packing of pictures for viewers: none, lz4, jpeg; auto fits the link and is exact, auto-lossy may take jpeg.
    #[arg(long, default_value = "jpeg")]
    pub codec: Packing,
    /// Most frames a second.
    #[arg(long, default_value_t = 60)]
    pub rate: u32,
}

/// A frame may take so long before it is told.
const DEADLINE: Duration = Duration::from_secs(10);

/// Shows frames until so many were shown.
pub fn run(options: &Options) -> Result<(), Failure> {
    show(&Net::join(pixelferry_net::Options::hub(&options.listen))?, &options.picture, options.frames)
}

/// Shows frames on a network that was joined as its hub.
pub fn show(net: &Net, options: &Picture, frames: Option<u64>) -> Result<(), Failure> {
    let Extent { width, height } = options.size;
    let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let mut assembly = net.assemble(Scene::new(&options.scene, image).with_tile(128, 128), DEADLINE)?;
    let server = net.serve(&options.scene)?.with_codec(options.codec, 85);
    let screen = MemoryDisplay::new();
    let backend = Arc::new(CpuBackend::new()?);
    let mut link = Link::open(backend, screen.clone(), SurfaceDesc::Image(image), LinkOptions::default())?;
    let (begun, pause) = (Instant::now(), Duration::from_secs(1) / options.rate.max(1));
    let (mut shown, mut waves) = (0, plasma::Waves::default());
    let (mut last, mut blamed) = (begun, Vec::new());
    while frames.is_none_or(|frames| shown < frames) {
        let frame_begun = Instant::now();
        while let Some(input) = server.input() {
            waves.take(&input);
        }
        assembly.request(&waves.arguments((frame_begun - last).as_secs_f32()))?;
        last = frame_begun;
        loop {
            let update = assembly.show(&mut link, Duration::from_secs(1))?;
            blame(&assembly, &mut blamed);
            match update {
                Update::Tiles(tiles) => {
                    let pixels = screen.pixels_rgba8(link.shown()?.surface())?;
                    let asked = tiles.tiles().first().map(|tile| tile.header().time);
                    server.publish(image, tiles.frame(), asked, &pixels.data)?;
                    break;
                }
                Update::Late(late) if late.workers == 0 => return Err(Failure::Alone(late.frame, late.missing.len())),
                Update::Late(late) => {
                    complain(format_args!("frame {}: {} tiles are late", late.frame, late.missing.len()))
                }
                _ => {}
            }
        }
        shown += 1;
        std::thread::sleep(pause.saturating_sub(frame_begun.elapsed()));
    }
    let seconds = begun.elapsed().as_secs_f32();
    say(format_args!("{shown} frames shown in {seconds:.1} s, {} messages refused", assembly.refused()))
}

/// Names workers that are passed over, each once until it is well again.
fn blame(assembly: &Assembly, blamed: &mut Vec<u64>) {
    let owed = assembly.passed_over();
    for worker in owed.iter().filter(|worker| !blamed.contains(&worker.node)) {
        complain(format_args!("{worker}"));
    }
    *blamed = owed.iter().map(|worker| worker.node).collect();
}
