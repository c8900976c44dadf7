//! `cargo bench -p pixelferry-measure --bench look [-- --backend NAME --rounds N --json FILE]`: measures the cost of
//! viewing an array of float32 on its own device, on OpenGL. The rows take turns: a copy of the array on the device,
//! its numbers unchanged, its numbers through a range and a colormap, the range from minimum to maximum and from
//! percentiles (without a frame), and a draw of a larger array at a zoom. Then, on CUDA, it measures pictures as JPEG
//! by nvJPEG next to a copy to the host that is compressed there.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::{Screen, argument, number, write_rows};
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::driver::select::quantile;
use pixelferry::{
    BackendChoice, ComputeBackend, ComputeMemory, Display, DrawOptions, Extent, Fit, ImageAccess, ImageDesc, Kernel,
    Link, LinkOptions, PixelFormat, Placement, Policy, Profiles, Result, RowOrder, SurfaceDesc, Unwritten,
    command::ApiChoice as _, open_backend,
};
use pixelferry_look::{Colormap, End, Gauge, Layout, Look, MemoryLocation, Number, Plane, Range, Raw};
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, MessageKind};
use pixelferry_media::{GpuJpeg, mean_square};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u32, u32) = (3840, 2160);
const LARGE: (u32, u32) = (7680, 4320);
const WINDOW: (u32, u32) = (1920, 1080);
/// Qualities of the JPEGs: one with colours at half resolution, and one with colours at the picture's.
const QUALITIES: [u8; 2] = [80, 90];

#[derive(Serialize)]
struct LookRow {
    compute: String,
    display: String,
    row: &'static str,
    microseconds: Vec<f64>,
}

/// An array on the device, and the link that shows it.
struct ShownArray {
    link: Link,
    kernel: Arc<dyn Kernel>,
    memory: Box<dyn ComputeMemory>,
    table: Option<Box<dyn ComputeMemory>>,
    plane: Plane,
}

fn plane((width, height): (u32, u32), look: &Look) -> Plane {
    let raw = Raw {
        address: 4096,
        shape: vec![i64::from(height), i64::from(width)],
        strides: None,
        number: Number::of_letter('f', 4, false),
        place: MemoryLocation::Host,
    };
    Plane::new(&raw, Layout::named("HW").expect("a layout"), PixelFormat::Rgba8, look).expect("a picture")
}

/// Numbers from 0 to 1, with a few far outside.
fn numbers((width, height): (u32, u32)) -> Vec<u8> {
    let far = |n: u32| if n.is_multiple_of(100_003) { 9.0 } else { 0.0 };
    (0..width * height)
        .flat_map(|n| (n.wrapping_mul(2_654_435_761) as f32 / u32::MAX as f32 + far(n)).to_ne_bytes())
        .collect()
}

impl ShownArray {
    fn new(
        backend: &Arc<dyn ComputeBackend>,
        display: &Arc<dyn Display>,
        size: (u32, u32),
        look: &Look,
        bytes: &[u8],
    ) -> Result<Self> {
        let image = ImageDesc::new(size.0, size.1, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let plane = plane(size, look);
        let upload = |bytes: &[u8]| {
            let mut memory = backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            Ok::<_, pixelferry::Error>(memory)
        };
        let options = LinkOptions::new(Policy::default().with_profiles(Profiles::Off));
        Ok(Self {
            link: Link::open(Arc::clone(backend), Arc::clone(display), desc, options)?,
            kernel: backend.build(&Plane::source(&desc))?,
            memory: upload(bytes)?,
            table: plane.table().map(upload).transpose()?,
            plane,
        })
    }

    fn frame(&mut self) -> Result<()> {
        let Self { link, kernel, memory, table, plane } = self;
        let arguments = plane.arguments(memory.as_ref(), table.as_deref());
        link.frame(|frame| frame.launch(kernel.as_ref(), &arguments))
    }
}

/// Returns the microseconds that a call takes, including the work that it queued on the devices.
fn timed(both: (&dyn ComputeBackend, &dyn Display), call: impl FnOnce() -> Result<()>) -> f64 {
    let start = Instant::now();
    call().and_then(|()| both.0.finish()).and_then(|()| both.1.finish()).expect("the devices go on");
    start.elapsed().as_secs_f64() * 1e6
}

fn main() {
    measure::options(&["--backend", "--json", "--rounds"]);
    let choice = argument("--backend").unwrap_or_else(|| "auto".into());
    let choice = BackendChoice::parse(&choice).expect("--backend");
    let opened = open_backend(choice, &[]).and_then(|backend| {
        let options = HeadlessOptions::default().with_same_device_as(backend.device().clone());
        let display = GlDisplay::headless(options)?;
        Ok((backend, Screen::gl(&display, WINDOW)?, display))
    });
    let (backend, screen, display) = match opened {
        Ok(opened) => opened,
        Err(error) => return println!("SKIPPED: {error}"),
    };
    let display: Arc<dyn Display> = display;
    let both = (backend.as_ref(), display.as_ref());
    let mapped = Look {
        range: Range::Between(End::Value(0.1), End::Value(0.8)),
        colormap: Some(Colormap::Viridis),
        ..Look::default()
    };
    let ranges = [(0.0, 100.0), (1.0, 99.0)]
        .map(|(low, high)| Look { range: Range::Between(End::Percent(low), End::Percent(high)), ..Look::default() });
    let (bytes, large) = (numbers(SIZE), numbers(LARGE));
    let shown =
        |size, look: &Look, bytes: &[u8]| ShownArray::new(&backend, &display, size, look, bytes).expect("a link");
    let mut looks = [shown(SIZE, &Look::default(), &bytes), shown(SIZE, &mapped, &bytes)];
    let mut zoomed = shown(LARGE, &mapped, &large);
    zoomed.frame().expect("a frame");
    let mut gauge = Gauge::new(backend.as_ref()).ok();
    let mut copy = backend.allocate(bytes.len()).expect("memory");
    let names = [
        "copy of the array",
        "numbers as they are",
        "range and colormap",
        "minimum to maximum",
        "percentiles",
        "draw, zoomed",
    ];
    let mut rows = names.map(|row| LookRow {
        compute: backend.device().to_string(),
        display: display.device().to_string(),
        row,
        microseconds: Vec::new(),
    });
    for round in 0..number("--rounds", 60_u32) {
        let [plain, _] = &looks;
        let taken = timed(both, || backend.copy(plain.memory.as_ref(), copy.as_mut(), 0..bytes.len()));
        rows[0].microseconds.push(taken);
        for (row, shown) in rows[1..].iter_mut().zip(&mut looks) {
            row.microseconds.push(timed(both, || shown.frame()));
        }
        if let Some(gauge) = &mut gauge {
            for (row, look) in rows[3..].iter_mut().zip(&ranges) {
                let mut measured = || gauge.measure(plane(SIZE, look), backend.as_ref(), looks[0].memory.as_ref());
                row.microseconds.push(timed(both, || measured().map(drop)));
            }
        }
        // Each frame has another position, as while the picture is dragged.
        let (scale, at) = (1 + round % 7, round.cast_signed());
        let place = Placement { x: -5 * at, y: -3 * at, width: WINDOW.0 * scale, height: WINDOW.1 * scale };
        let options = DrawOptions::default().with_fit(Fit::At(place));
        let draw = || screen.draw(&zoomed.link.shown()?, WINDOW, options);
        rows[5].microseconds.push(timed(both, draw));
    }
    println!("{} -> {}, microseconds", rows[0].compute, rows[0].display);
    println!("| row | median | p99 | of the copy | of the numbers as they are |\n|---|---|---|---|---|");
    let median = |row: &LookRow| quantile(&row.microseconds, 0.5);
    for row in rows.iter().filter(|row| !row.microseconds.is_empty()) {
        let (us, p99) = (median(row), quantile(&row.microseconds, 0.99));
        println!("| {} | {us:.0} | {p99:.0} | {:.2} | {:.2} |", row.row, us / median(&rows[0]), us / median(&rows[1]));
    }
    write_rows(&rows);
    println!("| JPEG | by | median us | bytes | PSNR |\n|---|---|---|---|---|");
    let all = [WINDOW, SIZE].into_iter().flat_map(|size| QUALITIES.map(|quality| (size, quality)));
    for (size, quality) in all {
        if let Err(error) = jpegs(&backend, size, quality) {
            return println!("SKIPPED: {error}");
        }
    }
}

/// Colours of slow and quick waves, with sharp edges.
fn colours((width, height): (u32, u32)) -> Vec<u8> {
    let wave = |x: u32, y: u32, at: f32| ((x as f32 / (31.0 - at) + at).sin() + (y as f32 / (9.0 + at)).cos()) * 60.0;
    let pixel = |x, y| {
        let edge = if (x / 64 + y / 64) % 5 == 0 { 60.0 } else { 0.0 };
        [0.0, 7.0, 13.0].map(|at| (127.0 + wave(x, y, at) - edge) as u8)
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    places.flat_map(|(x, y)| pixel(x, y).into_iter().chain([255])).collect()
}

/// Compresses one picture on the GPU and on the host.
fn jpegs(
    backend: &Arc<dyn ComputeBackend>,
    (width, height): (u32, u32),
    quality: u8,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let extent = Extent::new(width, height);
    let mut encoder = GpuJpeg::open(Arc::clone(backend), extent, quality)?;
    let pixels = colours((width, height));
    let mut memory = backend.allocate(pixels.len())?;
    memory.write(0, &pixels)?;
    let header = Header::new(MessageKind::Picture, ImageDesc::new(width, height, PixelFormat::Rgba8), extent.full());
    let header = Header { codec: Codec::Jpeg, ..header };
    let mut copy = vec![0; pixels.len()];
    let (mut packed, mut times) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..number("--rounds", 60_u32) {
        let start = Instant::now();
        packed[0] = encoder.pack(memory.as_ref(), RowOrder::TopDown)?;
        times[0].push(start.elapsed().as_secs_f64() * 1e6);
        let start = Instant::now();
        memory.read(0, &mut copy)?;
        packed[1] = header.pack(Codec::Jpeg, &copy, quality)?.split_off(HEADER_BYTES);
        times[1].push(start.elapsed().as_secs_f64() * 1e6);
    }
    for ((by, packed), times) in [encoder.name(), "copy and host".into()].iter().zip(&packed).zip(&times) {
        let error = mean_square(&header.unpack(packed)?, &pixels);
        let (us, psnr) = (quantile(times, 0.5), 10.0 * (255.0 * 255.0 / error).log10());
        println!("| {width}x{height}, quality {quality} | {by} | {us:.0} | {} | {psnr:.2} |", packed.len());
    }
    Ok(())
}
