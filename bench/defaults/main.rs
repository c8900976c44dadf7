//! `cargo bench -p pixelferry-measure --bench defaults [-- --rounds N --works TEXT;... --sizes WxH;... --comparing
//! SECONDS --seed N --json FILE]`: compares the default choice with every backend that can be forced, for kernels and
//! for frames that a closure writes. `arrays.py` next to it does the same for arrays of NumPy and torch.
//!
//! Each cell is a work with a size and a mode. Every backend is opened once before, because otherwise the first one
//! would compile for the others. The default then starts without any remembered measurement: the times of its first 60
//! frames are added, and it continues until every pair is compared, at most 8 s. A backend whose first frames take less
//! than three times as long as those of the best gets the same treatment. Then all start once more, now with remembered
//! measurements, and take turns, so that drift of the machine affects all alike; the relevant ones are reopened every
//! few rounds. A round gives the ratio of the default to the best forced backend. A cell is decided when the 95 %
//! interval of the median of those ratios lies on one side of 1, or within 5 % of it. The output has one line of JSON
//! for each cell, with raw samples.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::{Screen, argument, listed, number};
use pixelferry::driver::select::quantile;
use pixelferry::{
    Arg, AutoLink, BackendChoice, ComputeBackend, ComputeMemory, CpuKernelExt as _, Display, DisplayChoice,
    DrawOptions, Kernel, KernelSource, LinkBuilder, Mode, PixelFormat, Policy, Profiles, Result, Scratch, ShownFrame,
    SurfaceDesc, Unwritten, WriteFrame, command::ApiChoice as _, open_headless,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

/// The number of first frames whose times are added.
const FIRST: u32 = 60;
/// Rounds after which links are reopened: depending on where the driver places the memory of one, and the system its
/// threads, a link is up to 20 % slower.
const AGAIN: usize = 4;
/// The number of frames in a run of the throughput mode; a turn has three runs.
const RUN: u32 = 20;
/// The number of floats in each memory that a kernel reads.
const FLOATS: usize = 4096;
/// A backend that takes this many times as long as the best gets fewer turns, because its frames would delay all
/// others.
const FAR: f64 = 3.0;
/// The time in milliseconds after which the remaining first frames are skipped.
const TOO_LONG_MS: f64 = 2e3;

/// A work: the languages of its kernel, the number of memories that it reads, and the number of sines for each pixel.
/// Without a language the host writes the frame.
struct Work {
    texts: &'static str,
    memories: usize,
    sines: u32,
    /// The host writes a picture into the memory before each frame, as it does with frames of a video.
    is_video: bool,
}

/// The parts that a backend needs.
struct ComputeSide {
    kernels: Vec<Arc<dyn Kernel>>,
    memories: Vec<Box<dyn ComputeMemory>>,
    is_video: bool,
}

impl Work {
    fn name(&self) -> String {
        match (self.texts, self.sines) {
            ("", _) => "closure of the host".into(),
            (texts, _) if self.is_video => format!("video, kernel in {texts}"),
            (texts, 1) => format!("kernel in {texts}, {} memories", self.memories),
            (texts, sines) => format!("kernel in {texts}, {sines} sines"),
        }
    }

    /// Floats of each memory: one per pixel of a video's frame.
    fn floats(&self, width: u32, height: u32) -> usize {
        if self.is_video { (width * height) as usize } else { FLOATS }
    }

    fn kernel(&self, width: u32) -> KernelSource {
        let (sines, names) = (self.sines, (0..self.memories).map(|at| format!("m{at}")).collect::<Vec<_>>());
        let sums = |index: &str| names.iter().map(|name| format!("v += {name}[{index}];")).collect::<String>();
        let pointers =
            |space: &str| names.iter().map(|name| format!(", {space}const float* {name}")).collect::<String>();
        let body = format!(
            "if (x >= out_width || y >= out_height) return;
             float v = t + 0.01f * x; {}
             for (int n = 0; n < {sines}; n++) v = sin(v + 0.013f * y);
             int g = (int)(127.0f + 127.0f * v); PF_STORE(out, x, y, PF_GREY); }}",
            sums(if self.is_video { "y * out_width + x" } else { "(x + y) & 4095" })
        );
        let opencl = format!(
            "kernel void work(PF_IMAGE(uchar4, out), float t{}) {{ int x = get_global_id(0), y = get_global_id(1); {}",
            pointers("global "),
            body.replace("PF_GREY", "(uchar4)(g, g, g, 255)")
        );
        let cuda = format!(
            "__global__ void work(PF_IMAGE(uchar4, out), float t{}) {{
               int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; {}",
            pointers(""),
            body.replace("PF_GREY", "make_uchar4(g, g, g, 255)")
        );
        let bindings: String = names
            .iter()
            .enumerate()
            .map(|(at, name)| format!("@group(1) @binding({at}) var<storage, read> {name}: array<f32>;\n"))
            .collect();
        let wgsl = format!(
            "{bindings} @compute @workgroup_size(16, 16) fn work(@builtin(global_invocation_id) id: vec3<u32>) {{
               var v = pf_arg_f32(0) + 0.01 * f32(id.x); {}
               for (var n = 0; n < {sines}; n++) {{ v = sin(v + 0.013 * f32(id.y)); }}
               pf_store(id.xy, vec4<f32>(vec3(0.5 + 0.5 * v), 1.0)); }}",
            sums(if self.is_video { "id.y * pf_size().x + id.x" } else { "(id.x + id.y) & 4095u" })
        );
        let (memories, pitch) = (self.memories, if self.is_video { width } else { 1 });
        let mut source = KernelSource::new("work");
        if self.texts.contains("WGSL") {
            source = source.wgsl(wgsl);
        }
        if self.texts.contains("CUDA") {
            // SAFETY: each item stores its own pixel inside the target, and reads floats that each memory has.
            source = unsafe { source.cuda_cpp(cuda) };
        }
        if self.texts.contains("OpenCL") {
            // SAFETY: as above.
            source = unsafe { source.opencl_c(opencl) };
        }
        if self.texts.contains("Rust") {
            source = source.cpu_image(move |out, args| {
                let t = args.f32(0)?;
                let tables = (0..memories).map(|at| args.memory::<f32>(at + 1)).collect::<Result<Vec<_>>>()?;
                out.par_pixels(|x, y| {
                    let mut v = t + 0.01 * x as f32;
                    tables.iter().for_each(|table| v += table[(x + pitch * y) as usize % table.len()]);
                    (0..sines).for_each(|_| v = (v + 0.013 * y as f32).sin());
                    let grey = (127.0 + 127.0 * v) as u8;
                    [grey, grey, grey, 255]
                })
            });
        }
        source
    }

    fn builder(&self, desc: SurfaceDesc, (width, height): (u32, u32)) -> LinkBuilder {
        let builder = LinkBuilder::new(desc).work(self.name());
        if self.texts.is_empty() {
            return builder;
        }
        let table = Scratch::Memory(pixelferry::InitialContent::Zeros(self.floats(width, height) * size_of::<f32>()));
        let arguments = [Scratch::F32(0.0)].into_iter().chain((0..self.memories).map(|_| table.clone()));
        builder.launch(&self.kernel(width), arguments)
    }

    fn side(
        (memories, floats, is_video): (usize, usize, bool),
        backend: &Arc<dyn ComputeBackend>,
        kernels: Vec<Arc<dyn Kernel>>,
    ) -> Result<ComputeSide> {
        let memories = (0..memories).map(|_| {
            let mut memory = backend.allocate(floats * size_of::<f32>())?;
            memory.write(0, &vec![0; floats * size_of::<f32>()])?;
            Ok(memory)
        });
        Ok(ComputeSide { kernels, memories: memories.collect::<Result<_>>()?, is_video })
    }
}

/// A link that shows the frames of a cell.
struct Subject {
    link: AutoLink<ComputeSide>,
    screen: Screen,
    size: (u32, u32),
    /// A frame written by the host.
    pixels: Vec<u8>,
    n: u32,
    first_ms: f64,
    /// The samples by round.
    samples_us: BTreeMap<usize, f64>,
}

impl Subject {
    fn open(
        work: &Work,
        (desc, mode): (SurfaceDesc, Mode),
        size: (u32, u32),
        shown_by: &Arc<dyn Display>,
        (backend, profiles): (BackendChoice, Profiles),
    ) -> Result<Self> {
        let screen = open_gl(shown_by, size)?;
        let policy = Policy::default().with_profiles(profiles).with_mode(mode);
        let memories = (work.memories, work.floats(size.0, size.1), work.is_video);
        let builder = work.builder(desc, size).backend(backend).shown_by(shown_by).policy(policy);
        let link = builder.open_auto(move |backend, kernels| Work::side(memories, backend, kernels))?;
        let pixels = vec![0; (size.0 * size.1 * 4) as usize];
        let mut shown = Self { link, screen, size, pixels, n: 0, first_ms: 0.0, samples_us: BTreeMap::new() };
        for n in 1..=FIRST {
            shown.first_ms += shown.timed(1)? / 1e3;
            if shown.first_ms > TOO_LONG_MS {
                shown.first_ms *= f64::from(FIRST) / f64::from(n);
                break;
            }
        }
        Ok(shown)
    }

    /// Shows frames until every pair is compared, and returns the microseconds of each.
    fn compare(&mut self) -> Result<Vec<f64>> {
        let (begun, longest, mut frames) = (Instant::now(), number("--comparing", 8.0), Vec::new());
        while !self.link.is_decided()
            && self.link.link().frames_behind() == 0
            && begun.elapsed().as_secs_f64() < longest
        {
            frames.push(self.timed(1)?);
        }
        Ok(frames)
    }

    /// Returns the microseconds of a frame, measured in one turn.
    fn turn(&mut self, mode: Mode) -> Result<f64> {
        // Threads that slept in the meantime wake up.
        self.timed(1)?;
        self.timed(2)?;
        let (samples, frames) = if mode == Mode::Latency { (15, 1) } else { (3, RUN) };
        Ok(quantile(&(0..samples).map(|_| self.timed(frames)).collect::<Result<Vec<_>>>()?, 0.5))
    }

    /// Computes and draws this many frames, waits for them, and returns the microseconds of each.
    fn timed(&mut self, frames: u32) -> Result<f64> {
        let begun = Instant::now();
        for _ in 0..frames {
            self.n += 1;
            let (n, pixels, screen) = (self.n, &mut self.pixels, &self.screen);
            let draw = |shown: &ShownFrame<'_>| screen.draw(shown, self.size, DrawOptions::default());
            self.link.frame_and_draw(|next, side| frame(n, pixels, next, side), draw)?;
        }
        self.link.display().finish()?;
        Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(frames))
    }
}

fn frame(n: u32, pixels: &mut [u8], next: &mut WriteFrame<'_>, side: &mut ComputeSide) -> Result<()> {
    let Some(kernel) = side.kernels.first() else {
        pixels.fill(n as u8);
        return next.write(pixels);
    };
    if side.is_video {
        // Bytes of small numbers: a float of them is nearly 0.
        pixels.fill((n % 16) as u8);
        side.memories[0].write(0, pixels)?;
    }
    let memories = side.memories.iter().map(|memory| Arg::Memory(memory.as_ref()));
    let args: Vec<_> = [Arg::F32(0.01 * n as f32)].into_iter().chain(memories).collect();
    next.launch(kernel.as_ref(), &args)
}

fn open_gl(display: &Arc<dyn Display>, size: (u32, u32)) -> Result<Screen> {
    let gl = (Arc::clone(display) as Arc<dyn std::any::Any + Send + Sync>).downcast().expect("a display of OpenGL");
    Screen::gl(&gl, size)
}

#[derive(Serialize)]
struct SubjectTimes {
    median_us: f64,
    p99_us: f64,
    first_ms: f64,
    path: String,
    samples_us: Vec<f64>,
}

#[derive(Serialize)]
struct Cell {
    work: String,
    width: u32,
    height: u32,
    mode: &'static str,
    rows: BTreeMap<String, SubjectTimes>,
    errors: BTreeMap<String, String>,
    best: String,
    ratio: f64,
    interval: [f64; 2],
    /// The sum of the first frames of a start without remembered measurements, divided by that of the best backend.
    first_ratio: f64,
    /// The median of its frames until every pair was compared, divided by that of the best backend.
    comparing_ratio: Option<f64>,
    comparing_s: f64,
    /// What the link had measured by then.
    fresh: String,
    decided: bool,
    explain: String,
}

/// The 95 % interval of the median, from ranks of the binomial distribution.
fn interval(samples: &[f64]) -> [f64; 2] {
    let mut ordered = samples.to_vec();
    ordered.sort_by(f64::total_cmp);
    let (count, last) = (ordered.len() as f64, ordered.len().saturating_sub(1));
    let reach = 1.96 * count.sqrt() / 2.0;
    let at = |rank: f64| ordered[(rank.max(0.0) as usize).min(last)];
    [at(count / 2.0 - reach), at(count / 2.0 + reach)]
}

fn measure(
    work: &Work,
    (width, height): (u32, u32),
    display: &Arc<dyn Display>,
    rounds: usize,
    mode: Mode,
) -> Option<Cell> {
    let image = SurfaceDesc::image(width, height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let folder = std::env::temp_dir().join(format!("pixelferry-defaults-{}", std::process::id()));
    let profiles = |choice: BackendChoice| Profiles::Folder(folder.join(choice.name()));
    let open = |choice, profiles| Subject::open(work, (image, mode), (width, height), display, (choice, profiles));
    let (mut all, mut errors, mut firsts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let choices = || BackendChoice::all().map(|row| row.choice);
    for choice in choices() {
        drop(open(choice, Profiles::Off));
    }
    // Frames until every pair is compared: the first ones, those until then, and what the link had measured.
    let settle = |choice| {
        let begun = Instant::now();
        let mut fresh = open(choice, profiles(choice))?;
        let comparing = fresh.compare()?;
        Ok::<_, pixelferry::Error>((fresh.first_ms, comparing, begun.elapsed(), fresh.link.report().to_string()))
    };
    let (first_ms, comparing, took, fresh) = settle(BackendChoice::Auto).ok()?;
    for choice in choices().filter(|choice| *choice != BackendChoice::Auto) {
        match open(choice, Profiles::Off) {
            Ok(shown) => drop(firsts.insert(choice.name(), shown.first_ms)),
            Err(error) => {
                drop(errors.insert(choice.name().to_owned(), error.to_string().lines().next().unwrap_or("").to_owned()))
            }
        }
    }
    let first = firsts.values().copied().fold(f64::INFINITY, f64::min);
    let is_near = |name: &str| firsts.get(name).is_none_or(|own| *own <= FAR * first);
    for choice in choices().filter(|choice| *choice != BackendChoice::Auto && firsts.contains_key(choice.name())) {
        if is_near(choice.name()) {
            settle(choice).expect("a start like that before");
        }
    }
    for choice in choices().filter(|choice| !errors.contains_key(choice.name())) {
        let Ok(shown) = open(choice, profiles(choice)) else { continue };
        all.push((if choice == BackendChoice::Auto { "default" } else { choice.name() }, choice, shown));
    }
    for round in 0..rounds {
        let (count, mut order) = (all.len(), (0..all.len()).collect::<Vec<_>>());
        order.rotate_left(round % count.max(1));
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let (name, choice, shown) = &mut all[at];
            let every = if firsts.get(*name).is_some_and(|own| *own > 10.0 * FAR * first) { rounds } else { 8 };
            if !is_near(name) && round % every > 0 {
                continue;
            }
            if is_near(name) && round % AGAIN == 0 && round > 0 {
                let samples_us = std::mem::take(&mut shown.samples_us);
                *shown = Subject { samples_us, ..open(*choice, profiles(*choice)).expect("a start like that before") };
            }
            let took = shown.turn(mode).expect("a frame like those before");
            shown.samples_us.insert(round, took);
        }
    }
    let values = |shown: &Subject| shown.samples_us.values().copied().collect::<Vec<_>>();
    let median = |shown: &Subject| quantile(&values(shown), 0.5);
    let (forced, default) = (all.iter().skip(1), &all.first().filter(|(name, ..)| *name == "default")?.2);
    let (best, _, quickest) = forced.min_by(|a, b| median(&a.2).total_cmp(&median(&b.2)))?;
    let both = default.samples_us.iter().filter_map(|(round, own)| Some(own / quickest.samples_us.get(round)?));
    let ratios: Vec<_> = both.collect();
    let (between, ratio) = (interval(&ratios), quantile(&ratios, 0.5));
    let row = |shown: &Subject| SubjectTimes {
        median_us: median(shown),
        p99_us: quantile(&values(shown), 0.99),
        first_ms: shown.first_ms,
        path: shown.link.link().path().to_string(),
        samples_us: shown.samples_us.values().map(|us| (us * 10.0).round() / 10.0).collect(),
    };
    // A missing folder holds no remembered measurement either.
    drop(std::fs::remove_dir_all(&folder));
    Some(Cell {
        work: work.name(),
        width,
        height,
        mode: if mode == Mode::Latency { "latency" } else { "throughput" },
        rows: all.iter().map(|(name, _, shown)| ((*name).to_owned(), row(shown))).collect(),
        errors,
        best: (*best).to_owned(),
        ratio,
        interval: between,
        first_ratio: first_ms / first,
        comparing_ratio: (!comparing.is_empty()).then(|| quantile(&comparing, 0.5) / median(quickest)),
        comparing_s: took.as_secs_f64(),
        decided: between[0] > 1.0 || between[1] < 1.0 || (between[0] > 0.95 && between[1] < 1.05),
        fresh,
        explain: default.link.report().to_string(),
    })
}

/// The kernels' languages.
const TEXTS: [&str; 4] = ["WGSL", "CUDA C++", "OpenCL C", "WGSL, CUDA C++, OpenCL C and Rust"];

fn works() -> Vec<Work> {
    let kernels = TEXTS
        .into_iter()
        .flat_map(|texts| [0, 1, 3].map(|memories| Work { texts, memories, sines: 1, is_video: false }));
    let heavy = Work { texts: TEXTS[3], memories: 0, sines: 200, is_video: false };
    let video = Work { texts: TEXTS[3], memories: 1, sines: 1, is_video: true };
    kernels.chain([heavy, video, Work { texts: "", memories: 0, sines: 1, is_video: false }]).collect()
}

/// The sizes of the command line, or those drawn from a seed.
fn sizes() -> Vec<(u32, u32)> {
    if let Some(seed) = argument("--seed") {
        let mut drawn = seed.parse::<u64>().expect("a number").wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |from: u64, to: u64| {
            drawn ^= drawn << 13;
            drawn ^= drawn >> 7;
            drawn ^= drawn << 17;
            (from + drawn % (to - from)) as u32
        };
        return [(600, 1400), (1800, 3800)].map(|(from, to)| (draw(from, to), draw(from / 2, to / 2))).to_vec();
    }
    let side = |text: &str| text.parse().expect("a side in pixels");
    let size = |text: &str| text.split_once('x').map(|(width, height)| (side(width), side(height)));
    let given = argument("--sizes").unwrap_or_else(|| "1920x1080;3840x2160".into());
    given.split(';').map(|text| size(text).expect("WIDTHxHEIGHT")).collect()
}

fn main() {
    measure::options(&["--comparing", "--json", "--rounds", "--seed", "--sizes", "--works"]);
    let rounds = number("--rounds", 24);
    let screen = open_headless(DisplayChoice::Gl).expect("a display of OpenGL");
    let mut file = argument("--json").map(|name| std::fs::File::create(name).expect("the file after --json"));
    let (mut decided, mut near, mut worst, mut first, mut all, mut untold) = (0, 0, 0.0_f64, 0.0_f64, 0, 0);
    for work in works().iter().filter(|work| listed("--works", &work.name())) {
        for size in sizes() {
            let modes = [Mode::Latency, Mode::Throughput { most: 16 }];
            for cell in modes.into_iter().filter_map(|mode| measure(work, size, &screen.display(), rounds, mode)) {
                first = first.max(cell.first_ratio);
                (all, untold) = (all + 1, untold + u32::from(cell.explain.contains("not tried")));
                if cell.decided {
                    (decided, near) = (decided + 1, near + u32::from(cell.ratio <= 1.05));
                    worst = worst.max(cell.ratio);
                }
                let medians: Vec<_> =
                    cell.rows.iter().map(|(name, row)| format!("{name} {:.0}", row.median_us)).collect();
                println!(
                    "{} {}x{} {}: {:.2} ({:.2} to {:.2}) of {}, first {:.2}, comparing {:.2} for {:.1} s: {}",
                    cell.work,
                    size.0,
                    size.1,
                    cell.mode,
                    cell.ratio,
                    cell.interval[0],
                    cell.interval[1],
                    cell.best,
                    cell.first_ratio,
                    cell.comparing_ratio.unwrap_or(f64::NAN),
                    cell.comparing_s,
                    medians.join(", ")
                );
                if let Some(file) = &mut file {
                    writeln!(file, "{}", serde_json::to_string(&cell).expect("plain data")).expect("the file");
                }
            }
        }
    }
    println!(
        "{all} cells, {decided} decided, {near} of those within 1.05 of the best, worst {worst:.2}; first frames at most {first:.2}; \
         {untold} not told of all pairs"
    );
}
