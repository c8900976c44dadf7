//! Tiles that workers send and a display shows, and pictures that viewers unpack: processor time of each.

use crate::direct::plasma;
use crate::process::{Process, Result};
use crate::role::{SCENE, options};
use crate::usage::{computed, computed_by};
use pixelferry::{CpuBackend, ImageDesc, Link, LinkOptions, MemoryDisplay, PixelFormat, SurfaceDesc};
use pixelferry_net::{Assembly, Codec, Net, Options, Scene, Update};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

const WORKERS: usize = 2;
const WINDOW: Duration = Duration::from_secs(2);
const ROUNDS: usize = 2;

pub fn measure() -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        for side in [32, 64, 128, 256] {
            rows.push(tiles(round, side)?);
        }
        for (width, height) in [(640, 360), (1280, 720)] {
            rows.push(pictures(round, width, height)?);
        }
    }
    Ok(rows)
}

/// A display in this process, which is also the hub.
pub struct Screen {
    pub net: Net,
    pub assembly: Assembly,
    pub link: Link,
}

impl Screen {
    pub fn open(image: ImageDesc, side: u32) -> Result<Self> {
        let net = Net::join(options(Options::hub("tcp/127.0.0.1:0")))?;
        let assembly = net.assemble(Scene::new(SCENE, image).with_tile(side, side), Duration::from_secs(60))?;
        let backend = Arc::new(CpuBackend::new()?);
        let link = Link::open(backend, MemoryDisplay::new(), SurfaceDesc::Image(image), LinkOptions::default())?;
        Ok(Self { net, assembly, link })
    }

    pub fn endpoint(&self) -> Result<String> {
        Ok(self.net.endpoints()?.first().ok_or("an endpoint")?.clone())
    }

    pub fn wait_for(&self, workers: usize) -> Result<()> {
        let begun = Instant::now();
        while self.assembly.workers() < workers {
            if begun.elapsed() > Duration::from_secs(60) {
                return Err(format!("{} of {workers} workers came", self.assembly.workers()).into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    pub fn frame(&mut self) -> Result<()> {
        self.assembly.request(&[])?;
        let begun = Instant::now();
        while !matches!(self.assembly.show(&mut self.link, Duration::from_secs(1))?, Update::Tiles(_)) {
            if begun.elapsed() > Duration::from_secs(60) {
                return Err("no frame came".into());
            }
        }
        Ok(())
    }
}

fn tiles(round: usize, side: u32) -> Result<Value> {
    let image = ImageDesc::new(1024, 512, PixelFormat::Rgba8);
    let count = image.extent.pixels() / u64::from(side * side);
    let mut screen = Screen::open(image, side)?;
    let endpoint = screen.endpoint()?;
    let start = |_| Process::start("work", &endpoint, &[]);
    let workers = (0..WORKERS).map(start).collect::<Result<Vec<_>>>()?;
    screen.wait_for(WORKERS)?;
    (0..5).try_for_each(|_| screen.frame())?;
    let ids: Vec<u32> = workers.iter().map(Process::id).collect();
    let (display, theirs, begun) = (computed(std::process::id())?, computed_by(&ids)?, Instant::now());
    let mut frames = 0u64;
    while begun.elapsed() < WINDOW {
        screen.frame()?;
        frames += 1;
    }
    let each = |nanoseconds: u64| nanoseconds as f64 / (frames * count) as f64;
    let (display, theirs) = (computed(std::process::id())? - display, computed_by(&ids)? - theirs);
    Ok(json!({
        "row": "tile", "round": round, "bytes": side * side * 4, "tiles": count, "frames": frames,
        "display_ns": each(display), "worker_ns": each(theirs),
    }))
}

/// A viewer that unpacks JPEG.
fn pictures(round: usize, width: u32, height: u32) -> Result<Value> {
    let image = ImageDesc::new(width, height, PixelFormat::Rgba8);
    let net = Net::join(options(Options::hub("tcp/127.0.0.1:0")))?;
    let server = net.serve(SCENE)?.with_codec(Codec::Jpeg, 85);
    let endpoint = net.endpoints()?.first().ok_or("an endpoint")?.clone();
    let mut viewer = Process::start("view", &endpoint, &[])?;
    viewer.wait_until_ready()?;
    let pixels = plasma(width, height);
    server.publish(image, 1, None, &pixels)?;
    std::thread::sleep(Duration::from_millis(500));
    let before = computed(viewer.id())?;
    for frame in 2..=41 {
        server.publish(image, frame, None, &pixels)?;
        std::thread::sleep(Duration::from_millis(40));
    }
    let after = computed(viewer.id())?;
    viewer.tell("")?;
    let seen: u64 = viewer.answer()?.trim().parse()?;
    let ns = (after - before) as f64 / seen.saturating_sub(1).max(1) as f64;
    Ok(json!({ "row": "unpack", "round": round, "pixels": width * height, "seen": seen, "ns": ns }))
}
