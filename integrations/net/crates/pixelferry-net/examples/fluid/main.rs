//! Air that flows past a cylinder, computed by workers that each hold a part of it and give each other their edges.
//!
//! ```text
//! fluid run PARTS STEPS WIDTHxHEIGHT picture.ppm [ENDPOINT]   starts a worker for each part, writes the last picture
//! fluid lose PARTS STEPS WIDTHxHEIGHT picture.ppm             the same, and kills a worker half-way
//! fluid worker ENDPOINT PART PARTS WIDTHxHEIGHT               the worker of one part, from any machine
//! fluid alone STEPS WIDTHxHEIGHT picture.ppm                  the last picture, computed by this process
//! ```
//!
//! A worker that dies takes its part's state along. So every worker gives the display its state every 20 steps. The display starts
//! another worker, and a new run, which all begin at the last checkpoint.

mod lattice;
mod parts;
mod worker;

use lattice::{Channel, Part};
use parts::Parts;
use pixelferry::{CpuBackend, Extent, ImageDesc, Link, LinkOptions, MemoryDisplay, PixelFormat, SurfaceDesc};
use pixelferry_net::{Assembly, Error, Halo, Net, Options, Scene, Update};
use std::io::Write as _;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

const SCENE: &str = "fluid";
/// The display's number among the parts.
const KEEPER: u32 = u32::MAX;
/// Steps between two checkpoints.
const CHECKPOINT: u64 = 20;
/// Steps between two pictures.
const PICTURE: u64 = 10;
/// A picture that takes longer gives way to a new run's.
const DEADLINE: Duration = Duration::from_secs(2);
/// Longest wait of the program.
const PATIENCE: Duration = Duration::from_secs(600);

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let any = "tcp/127.0.0.1:0";
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", parts, steps, size, file] => run(parts.parse()?, steps.parse()?, channel(size)?, file, any, false),
        ["run", parts, steps, size, file, at] => run(parts.parse()?, steps.parse()?, channel(size)?, file, at, false),
        ["lose", parts, steps, size, file] => run(parts.parse()?, steps.parse()?, channel(size)?, file, any, true),
        ["worker", at, part, parts, size] => worker::work(at, part.parse()?, channel(size)?, parts.parse()?),
        ["alone", steps, size, file] => alone(steps.parse()?, channel(size)?, file),
        _ => Err("fluid run PARTS STEPS WIDTHxHEIGHT FILE [ENDPOINT] | lose PARTS STEPS WIDTHxHEIGHT FILE | \
                  worker ENDPOINT PART PARTS WIDTHxHEIGHT | alone STEPS WIDTHxHEIGHT FILE"
            .into()),
    }
}

fn channel(size: &str) -> Result<Channel, Failure> {
    let (width, height) = size.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
    let extent = Extent::new(width.parse()?, height.parse()?);
    if extent.width == 0 || extent.height == 0 || extent.pixels() > 1 << 26 {
        return Err("a channel has 1 to 67108864 cells".into());
    }
    Ok(Channel(extent))
}

/// Request of the display: the picture of a step, in a run that begins at another.
struct Moment {
    run: u64,
    start: u64,
    step: u64,
}

impl Moment {
    fn bytes(&self) -> Vec<u8> {
        [self.run, self.start, self.step].map(u64::to_le_bytes).concat()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        let &[run, start, step] = numbers else { return None };
        let [run, start, step] = [run, start, step].map(u64::from_le_bytes);
        Some(Self { run, start, step })
    }
}

/// A worker for each part; they end with the display.
struct Workers {
    children: Vec<Child>,
    endpoint: String,
    size: Extent,
}

impl Workers {
    fn start(&self, part: usize, parts: u32) -> Result<Child, Failure> {
        let words = [self.endpoint.clone(), part.to_string(), parts.to_string(), self.size.to_string()];
        Ok(Command::new(std::env::current_exe()?).arg("worker").args(words).spawn()?)
    }

    /// Starts those again that ended; how many.
    fn mend(&mut self) -> Result<usize, Failure> {
        let mut ended = Vec::new();
        for (part, child) in self.children.iter_mut().enumerate() {
            if child.try_wait()?.is_some() {
                ended.push(part);
            }
        }
        let parts = self.children.len() as u32;
        for &part in &ended {
            self.children[part] = self.start(part, parts)?;
        }
        Ok(ended.len())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.children {
            // One that ended by itself is not there any more.
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

/// State of a simulation that the display holds: its last checkpoint.
struct Keeper {
    net: Net,
    parts: Parts,
    run: u64,
    start: u64,
    states: Vec<Vec<u8>>,
    halo: Halo,
}

impl Keeper {
    fn new(net: &Net, parts: Parts) -> Result<Self, Failure> {
        let numbers: Vec<u32> = parts.all().collect();
        // Nothing is taken of another run of this program.
        let run = net.session().zid().to_le_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)) | 1;
        let halo = net.halo(SCENE, run, KEEPER, &numbers)?;
        Ok(Self { net: net.clone(), parts, run, start: 0, states: Vec::new(), halo })
    }

    fn moment(&self, step: u64) -> Moment {
        Moment { run: self.run, start: self.start, step }
    }

    /// Takes the parts' states, of a step whose picture is there. A worker that died meanwhile leaves the ones before.
    fn keep(&mut self, step: u64) -> Result<(), Failure> {
        let taken: Result<Vec<_>, _> = self.parts.all().map(|part| self.halo.take(step, part, DEADLINE)).collect();
        match taken {
            Ok(states) => (self.start, self.states) = (step, states),
            Err(Error::NoEdge { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// A new run, from the last checkpoint on.
    fn restart(&mut self) -> Result<(), Failure> {
        let numbers: Vec<u32> = self.parts.all().collect();
        self.run = self.run.wrapping_add(1);
        self.halo = self.net.halo(SCENE, self.run, KEEPER, &numbers)?;
        for (part, state) in numbers.into_iter().zip(&self.states) {
            self.halo.put(self.start, part, state)?;
        }
        Ok(())
    }
}

fn run(parts: u32, steps: u64, channel: Channel, file: &str, endpoint: &str, loses: bool) -> Result<(), Failure> {
    let net = Net::join(Options::hub(endpoint))?;
    let endpoint = net.endpoints()?.first().ok_or("no endpoint to listen at")?.clone();
    let image = image(channel);
    let split = Parts::new(channel.0, parts)?;
    let tile = split.tile();
    let mut assembly = net.assemble(Scene::new(SCENE, image).with_tile(tile.width, tile.height), DEADLINE)?;
    let mut keeper = Keeper::new(&net, split)?;
    let mut workers = Workers { children: Vec::new(), endpoint, size: channel.0 };
    for part in 0..parts as usize {
        let worker = workers.start(part, parts)?;
        workers.children.push(worker);
    }
    wait_for(&assembly, parts)?;
    let (display, backend) = (MemoryDisplay::new(), Arc::new(CpuBackend::new()?));
    let mut link = Link::open(backend, display.clone(), SurfaceDesc::Image(image), LinkOptions::default())?;
    let (begun, mut step, mut to_lose) = (Instant::now(), 0, loses);
    loop {
        let wanted = assembly.request(&keeper.moment(step).bytes())?;
        if to_lose && step * 2 > steps {
            to_lose = false;
            workers.children.last_mut().ok_or("no worker")?.kill()?;
        }
        if !is_shown(&mut assembly, &mut link, wanted, &mut workers)? {
            wait_for(&assembly, parts)?;
            keeper.restart()?;
            println!("a worker died before step {step}; another goes on from step {}", keeper.start);
            step = keeper.start;
            continue;
        }
        if step.is_multiple_of(CHECKPOINT) && step > keeper.start {
            keeper.keep(step)?;
        }
        if step == steps {
            break;
        }
        step = steps.min(step + PICTURE);
    }
    println!("{steps} steps of {} by {parts} workers in {:.2} s", channel.0, begun.elapsed().as_secs_f64());
    write(file, channel.0, &display.pixels_rgba8(link.shown()?.surface())?.data)
}

/// Shows a frame. `false` where a worker died meanwhile.
fn is_shown(assembly: &mut Assembly, link: &mut Link, frame: u64, workers: &mut Workers) -> Result<bool, Failure> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if workers.mend()? > 0 {
            return Ok(false);
        }
        match assembly.show(link, Duration::from_millis(100))? {
            Update::Tiles(tiles) if tiles.frame() == frame => return Ok(true),
            _ => {}
        }
    }
    Err(format!("frame {frame} does not come").into())
}

fn wait_for(assembly: &Assembly, workers: u32) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    while assembly.workers() != workers as usize {
        if Instant::now() > until {
            return Err(format!("{} of {workers} workers live", assembly.workers()).into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn image(channel: Channel) -> ImageDesc {
    ImageDesc::new(channel.0.width, channel.0.height, PixelFormat::Rgba8)
}

fn alone(steps: u64, channel: Channel, file: &str) -> Result<(), Failure> {
    let mut part = Part::new(channel, channel.0.full());
    (0..steps).for_each(|_| part.advance());
    let mut pixels = vec![0; channel.0.pixels() as usize * 4];
    part.draw(&mut pixels);
    write(file, channel.0, &pixels)
}

/// A picture as PPM.
fn write(file: &str, size: Extent, pixels: &[u8]) -> Result<(), Failure> {
    let mut bytes = format!("P6\n{} {}\n255\n", size.width, size.height).into_bytes();
    bytes.extend(pixels.chunks_exact(4).flat_map(|pixel| pixel.iter().take(3)));
    Ok(std::fs::File::create(file)?.write_all(&bytes)?)
}
