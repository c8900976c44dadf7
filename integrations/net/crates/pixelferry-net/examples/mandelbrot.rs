//! A zoom into the Mandelbrot set, far beyond the digits of an f64, computed by any number of workers.
//!
//! ```text
//! mandelbrot zoom WORKERS FRAMES picture.ppm [ENDPOINT]   starts so many workers, zooms, writes the last frame
//! mandelbrot worker ENDPOINT                              one more worker, from any machine
//! mandelbrot alone FRAMES picture.ppm                     the last frame, computed by this process
//! ```
//!
//! Pixels are computed as distances from the orbit of the point i, which is exact: 0, i, -1+i, -i, -1+i, -i, ... So an f64
//! suffices at every depth.

use pixelferry::{
    Arg, ComputeBackend as _, CpuBackend, CpuKernelExt as _, Extent, ImageDesc, KernelSource, Link, LinkOptions,
    MemoryDisplay, PixelFormat, Region, SurfaceDesc,
};
use pixelferry_net::{Net, Options, Scene, Update};
use std::io::Write as _;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const SCENE: &str = "mandelbrot";
const SIZE: Extent = Extent::new(640, 360);
/// The last frame is so many doublings deep: 10^90 times nearer than the first.
const DEEPEST: f64 = 300.0;
const MOST_STEPS: u32 = 2000;
/// A frame may take so long.
const DEADLINE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["zoom", workers, frames, file] => zoom(workers.parse()?, frames.parse()?, file, "tcp/127.0.0.1:0"),
        ["zoom", workers, frames, file, endpoint] => zoom(workers.parse()?, frames.parse()?, file, endpoint),
        ["worker", endpoint] => worker(endpoint),
        ["alone", frames, file] => alone(frames.parse()?, file),
        _ => Err("mandelbrot zoom WORKERS FRAMES FILE [ENDPOINT] | worker ENDPOINT | alone FRAMES FILE".into()),
    }
}

fn image() -> ImageDesc {
    ImageDesc::new(SIZE.width, SIZE.height, PixelFormat::Rgba8)
}

/// Doublings at a frame.
fn depth(frame: u32, frames: u32) -> f64 {
    DEEPEST * f64::from(frame) / f64::from(frames.saturating_sub(1).max(1))
}

/// Point `n` of the orbit of i.
fn orbit(n: u32) -> (f64, f64) {
    match n {
        0 => (0.0, 0.0),
        1 => (0.0, 1.0),
        n if n % 2 == 0 => (-1.0, 1.0),
        _ => (0.0, -1.0),
    }
}

/// Steps until the point i + c leaves, with a fraction; `None` where it stays.
fn steps(c: (f64, f64)) -> Option<f64> {
    let (mut d, mut n) = ((0.0, 0.0), 0);
    for step in 0..MOST_STEPS {
        let z = orbit(n);
        // (z + d)^2 - z^2 + c, without the large terms.
        let (re, im) = (2.0 * z.0 + d.0, 2.0 * z.1 + d.1);
        d = (re * d.0 - im * d.1 + c.0, re * d.1 + im * d.0 + c.1);
        n += 1;
        let z = orbit(n);
        let whole = (z.0 + d.0, z.1 + d.1);
        let square = whole.0 * whole.0 + whole.1 * whole.1;
        if square > 1e4 {
            return Some(f64::from(step) + 1.0 - (square.ln() / 2.0 / 100f64.ln()).log2());
        }
        // Nearer to 0 than to the orbit: from here the distance is counted from its beginning.
        if square < d.0 * d.0 + d.1 * d.1 {
            (d, n) = (whole, 0);
        }
    }
    None
}

/// Arguments: the tile's corner in the picture, and the doublings.
fn source() -> KernelSource {
    KernelSource::new("mandelbrot").cpu_image(|out, args| {
        let (left, top, depth) = (args.u32(0)?, args.u32(1)?, args.f64(2)?);
        let pixel = 3.0 / f64::from(SIZE.width) * (-depth).exp2();
        out.par_pixels(|x, y| {
            let c = |at: u32, side: u32| (f64::from(at) + 0.5 - f64::from(side) / 2.0) * pixel;
            let Some(steps) = steps((c(x + left, SIZE.width), c(y + top, SIZE.height))) else { return [0, 0, 0, 255] };
            let channel = |shift: f64| (127.5 + 127.5 * (steps * 0.15 + shift).cos()) as u8;
            [channel(3.0), channel(3.6), channel(4.2), 255]
        })
    })
}

fn args(region: Region, depth: f64) -> [Arg<'static>; 3] {
    [Arg::U32(region.x), Arg::U32(region.y), Arg::F64(depth)]
}

fn worker(endpoint: &str) -> Result<(), Failure> {
    let tile = Net::join(Options::through(endpoint))?.tile(SCENE, None)?;
    let backend = CpuBackend::new()?;
    let kernel = backend.build(&source())?;
    loop {
        let Some(mut job) = tile.next(Duration::from_secs(1))? else { continue };
        let depth = f64::from_le_bytes(*job.args().first_chunk().ok_or("a job without its depth")?);
        let args = args(job.region(), depth);
        job.launch(&backend, kernel.as_ref(), &args)?;
        tile.publish(job)?;
    }
}

/// Workers that end with the zoom.
struct Workers(Vec<Child>);

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            // One that ended by itself is not there any more.
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

fn zoom(workers: usize, frames: u32, file: &str, endpoint: &str) -> Result<(), Failure> {
    let net = Net::join(Options::hub(endpoint))?;
    let endpoint = net.endpoints()?.first().ok_or("no endpoint to listen at")?.clone();
    println!("more workers: mandelbrot worker {endpoint}");
    let mut assembly = net.assemble(Scene::new(SCENE, image()).with_tile(64, 64).with_balance(true), DEADLINE)?;
    let mut started = Workers(Vec::new());
    for _ in 0..workers {
        started.0.push(Command::new(std::env::current_exe()?).args(["worker", &endpoint]).spawn()?);
    }
    let until = Instant::now() + DEADLINE;
    while assembly.workers() < workers.max(1) {
        if Instant::now() > until {
            return Err(format!("{} of {workers} workers came", assembly.workers()).into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let display = MemoryDisplay::new();
    let backend = Arc::new(CpuBackend::new()?);
    let mut link = Link::open(backend, display.clone(), SurfaceDesc::Image(image()), LinkOptions::default())?;
    let begun = Instant::now();
    for frame in 0..frames {
        assembly.request(&depth(frame, frames).to_le_bytes())?;
        loop {
            match assembly.show(&mut link, Duration::from_secs(1))? {
                Update::Tiles(_) => break,
                Update::Late(late) => {
                    return Err(format!("{} tiles of frame {frame} are late", late.missing.len()).into());
                }
                _ => {}
            }
        }
    }
    println!("{frames} frames by {} workers in {:.2} s", assembly.workers(), begun.elapsed().as_secs_f64());
    write(file, &display.pixels_rgba8(link.shown()?.surface())?.data)
}

fn alone(frames: u32, file: &str) -> Result<(), Failure> {
    let display = MemoryDisplay::new();
    let backend = Arc::new(CpuBackend::new()?);
    let mut link = Link::open(backend.clone(), display.clone(), SurfaceDesc::Image(image()), LinkOptions::default())?;
    let kernel = backend.build(&source())?;
    let args = args(image().extent.full(), depth(frames.saturating_sub(1), frames));
    link.frame(|frame| frame.launch(kernel.as_ref(), &args))?;
    write(file, &display.pixels_rgba8(link.shown()?.surface())?.data)
}

/// A picture as PPM.
fn write(file: &str, pixels: &[u8]) -> Result<(), Failure> {
    let mut bytes = format!("P6\n{} {}\n255\n", SIZE.width, SIZE.height).into_bytes();
    bytes.extend(pixels.chunks_exact(4).flat_map(|pixel| pixel.iter().take(3)));
    Ok(std::fs::File::create(file)?.write_all(&bytes)?)
}
