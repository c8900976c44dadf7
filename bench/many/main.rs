//! `cargo bench -p pixelferry-measure --bench many [-- --counts 1;8;64;256 --sizes WIDTHxHEIGHT --backend NAME --display
//! NAME --displays one|own|both --json FILE]`: measures what many links cost beside one. Each row is a process of its own.
//! It opens that many links, to one display or each to a display of its own; then a frame of every link is computed and
//! drawn, and the device is waited for once; then all are resized, and closed.
//!
//! `memory` is what the process holds more for each link, with all of its frames made; memory of a GPU is not in it.
//! `open` counts links to open devices, with the path remembered from an earlier start; `devices` is the time for the
//! devices. The columns with x compare a row with the row of one link, times the number of links. The last columns
//! are what stays when all links, but no devices, are closed, and what another round of opening and closing adds once
//! drivers have filled their caches.
//!
//! The rows `by hand` are a program without pixelferry: as many pictures are filled by the host, uploaded and drawn.
//!
//! `PIXELFERRY_PATH` restricts the run to one path.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

mod by_hand;

use by_hand::ByHand;
use measure::{Screen, argument, listed, sizes, write_rows};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::select::quantile;
use pixelferry::{
    BackendChoice, ComputeBackend, Display as _, DisplayChoice, DrawOptions, HeadlessDisplay, ImageDesc, Link,
    LinkBuilder, LinkOptions, PixelFormat, Policy, Profiles, Result, SurfaceDesc, Unwritten, command::ApiChoice as _,
};
use pixelferry_testing::Usage;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Rounds of frames before anything is counted: as many as the longest ring has pieces.
const WARM: u32 = 6;
/// Frames of all links together in a row, at least.
const FRAMES: usize = 1024;
const FEWEST_ROUNDS: usize = 12;
/// Name of the rows without pixelferry, instead of a backend.
const BY_HAND: &str = "by hand";

#[derive(Serialize, Deserialize)]
struct ManyRow {
    compute: String,
    display: String,
    path: String,
    size: String,
    own_displays: bool,
    links: usize,
    /// Time for all devices and displays.
    devices_ms: f64,
    /// Time for each link.
    open_ms: Vec<f64>,
    /// Times for a frame of every link, for each of them.
    frame_us: Vec<f64>,
    /// Times for a resize of every link, for each of them.
    resize_ms: Vec<f64>,
    close_ms: f64,
    /// Growth of the process with all links open, what is left of it when they are closed, and what the third round of
    /// opening and closing as many adds to the second.
    open: Growth,
    closed: Growth,
    again: Growth,
}

#[derive(Serialize, Deserialize)]
struct Growth {
    bytes: i64,
    descriptors: i64,
    threads: i64,
}

impl Growth {
    fn since(before: &Usage) -> Self {
        let now = Usage::here().expect("the system reports it");
        Self {
            bytes: now.rss as i64 - before.rss as i64,
            descriptors: now.descriptors as i64 - before.descriptors as i64,
            threads: now.threads as i64 - before.threads as i64,
        }
    }
}

/// A display with the backend of its links.
struct Side {
    backend: Arc<dyn ComputeBackend>,
    screen: HeadlessDisplay,
    /// `None` if the display has no texture to draw into: each frame is drawn in its own size.
    target: Option<Screen>,
}

impl Side {
    fn open(backend: BackendChoice, display: DisplayChoice, size: (u32, u32)) -> Result<Self> {
        let (backend, screen) = LinkBuilder::new(desc(size)).backend(backend).display(display).open_sides()?;
        let target = Screen::of(&screen, size)?;
        Ok(Self { backend, screen, target })
    }

    /// Makes its context current, if it has one.
    fn enter(&self) -> Result<()> {
        self.screen.gl().map_or(Ok(()), |gl| gl.make_current())
    }

    fn finish(&self) -> Result<()> {
        self.enter()?;
        self.screen.display().finish()
    }

    fn link(&self, size: (u32, u32), folder: &Path) -> Result<Link> {
        self.enter()?;
        let policy = Policy::default().with_profiles(Profiles::Folder(folder.to_owned()));
        Link::open(Arc::clone(&self.backend), self.screen.display(), desc(size), LinkOptions::new(policy))
    }

    fn frame(&self, link: &mut Link, size: (u32, u32), nonce: u32) -> Result<()> {
        self.enter()?;
        link.frame(|frame| {
            let target = frame.target()?;
            let pattern = Pattern::flat(&target.view(), nonce);
            self.backend.write_pattern(target, &pattern)
        })?;
        match &self.target {
            Some(target) => target.draw(&link.shown()?, size, DrawOptions::default()),
            None => self.screen.display().draw_offscreen(link.shown()?.surface()),
        }
    }
}

fn desc((width, height): (u32, u32)) -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(width, height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite))
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Measures pictures without pixelferry, in this process.
fn measured_by_hand(size: (u32, u32), count: usize) -> Result<ManyRow> {
    // The driver's own memory stays.
    ByHand::new(1, size)?.frames(0);
    let before = Usage::here().expect("the system reports it");
    let start = Instant::now();
    let mut pictures = ByHand::new(count, size)?;
    let devices_ms = ms(start);
    for nonce in 0..WARM {
        pictures.frames(nonce);
        pictures.check(nonce);
    }
    let rounds = (FRAMES / count).max(FEWEST_ROUNDS) as u32;
    let frame_us = (0..rounds).map(|nonce| pictures.frames(nonce) * 1e3 / count as f64).collect();
    let nothing = || Growth { bytes: 0, descriptors: 0, threads: 0 };
    Ok(ManyRow {
        compute: BY_HAND.into(),
        display: pictures.context.device().to_string(),
        path: "glTexSubImage2D".into(),
        size: format!("{}x{}", size.0, size.1),
        own_displays: false,
        links: count,
        devices_ms,
        open_ms: Vec::new(),
        frame_us,
        resize_ms: Vec::new(),
        close_ms: 0.0,
        open: Growth::since(&before),
        closed: nothing(),
        again: nothing(),
    })
}

/// Measures in this process.
fn measured(side: [&str; 2], size: (u32, u32), own: bool, count: usize, folder: &Path) -> Result<ManyRow> {
    if side[0] == BY_HAND {
        return measured_by_hand(size, count);
    }
    let backend = BackendChoice::parse(side[0]).expect("a backend's name");
    let display = DisplayChoice::parse(side[1]).expect("a display's name");
    let start = Instant::now();
    let sides: Vec<Side> =
        (0..if own { count } else { 1 }).map(|_| Side::open(backend, display, size)).collect::<Result<_>>()?;
    let devices_ms = ms(start);
    let side = |at: usize| &sides[at % sides.len()];
    let frames = |links: &mut [Link], size: (u32, u32), nonce: u32| -> Result<f64> {
        let start = Instant::now();
        for (at, link) in links.iter_mut().enumerate() {
            side(at).frame(link, size, nonce)?;
        }
        sides.iter().try_for_each(Side::finish)?;
        Ok(ms(start))
    };
    let close = |links: Vec<Link>| -> Result<()> {
        for (at, link) in links.into_iter().enumerate() {
            side(at).enter()?;
            drop(link);
        }
        sides.iter().try_for_each(Side::finish)
    };
    // Drivers compile for the first link of a device.
    for side in &sides {
        let mut first = side.link(size, folder)?;
        for nonce in 0..WARM {
            side.frame(&mut first, size, nonce)?;
        }
        side.finish()?;
    }
    let before = Usage::here().expect("the system reports it");
    let (mut links, mut open_ms) = (Vec::new(), Vec::new());
    for at in 0..count {
        let start = Instant::now();
        links.push(side(at).link(size, folder)?);
        open_ms.push(ms(start));
    }
    for nonce in 0..WARM {
        frames(&mut links, size, nonce)?;
    }
    // One time alone says little.
    while open_ms.len() < FEWEST_ROUNDS {
        let start = Instant::now();
        let more = side(0).link(size, folder)?;
        open_ms.push(ms(start));
        drop(more);
    }
    let rounds = (FRAMES / count).max(FEWEST_ROUNDS) as u32;
    let each = |ms: f64| ms / count as f64;
    let frame_us =
        (0..rounds).map(|nonce| Ok(each(frames(&mut links, size, nonce)? * 1e3))).collect::<Result<Vec<f64>>>()?;
    let open = Growth::since(&before);
    let mut resize_ms = Vec::new();
    for step in 0..FEWEST_ROUNDS as u32 {
        // It shrinks, and grows to what it was.
        let to = (size.0 - step % 2 * 16, size.1);
        let start = Instant::now();
        for (at, link) in links.iter_mut().enumerate() {
            side(at).enter()?;
            link.resize(desc(to))?;
        }
        resize_ms.push(each(ms(start)));
        frames(&mut links, to, step)?;
    }
    let path = links[0].path().to_string();
    let start = Instant::now();
    close(links)?;
    let close_ms = ms(start);
    let closed = Growth::since(&before);
    let reopened = || -> Result<Usage> {
        let mut links = (0..count).map(|at| side(at).link(size, folder)).collect::<Result<Vec<_>>>()?;
        for nonce in 0..WARM {
            frames(&mut links, size, nonce)?;
        }
        close(links)?;
        Ok(Usage::here().expect("the system reports it"))
    };
    let once = reopened()?;
    reopened()?;
    Ok(ManyRow {
        compute: sides[0].backend.device().to_string(),
        display: sides[0].screen.display().device().to_string(),
        path,
        size: format!("{}x{}", size.0, size.1),
        own_displays: own,
        links: count,
        devices_ms,
        open_ms,
        frame_us,
        resize_ms,
        close_ms,
        open,
        closed,
        again: Growth::since(&once),
    })
}

/// Measures in a process of its own.
fn row(side: [&str; 2], size: (u32, u32), own: bool, count: usize, folder: &Path) -> Result<ManyRow, String> {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--cell", &format!("{};{}", side[0], side[1]), "--sizes", &format!("{}x{}", size.0, size.1)])
        .args(["--counts", &count.to_string(), "--displays", if own { "own" } else { "one" }])
        .arg("--folder")
        .arg(folder)
        // What is freed goes back to the system, so that it is not counted for the next link.
        .env("MALLOC_MMAP_THRESHOLD_", "65536")
        .env("MALLOC_TRIM_THRESHOLD_", "65536")
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&child.stdout);
    match text.lines().find_map(|line| line.strip_prefix("row ")) {
        Some(row) => serde_json::from_str(row).map_err(|error| error.to_string()),
        None => {
            let reason = text.lines().last().map(str::to_owned);
            Err(reason.unwrap_or_else(|| format!("{}: {}", child.status, String::from_utf8_lossy(&child.stderr))))
        }
    }
}

fn print(row: &ManyRow, one: Option<&ManyRow>) {
    let median = |samples: &[f64]| quantile(samples, 0.5);
    let links = row.links as f64;
    let opened = |row: &ManyRow| row.open_ms.iter().fold(0.0, |sum, ms| sum + ms) / row.open_ms.len().max(1) as f64;
    let times = |value: f64, one: Option<f64>| {
        one.filter(|one| *one > 0.0).map_or("-".into(), |one| format!("{:.2}", value / one))
    };
    println!(
        "| {} -> {} | {} | {} | {} | {} | {:.0} | {:.2} | {} | {:.0} | {} | {:.0} | {:.0} | {} | {:.2} | {} | {:.1} | {} | {} | {}, {} KiB | {}, {} | {}, {} |",
        row.compute,
        row.display,
        row.path,
        row.size,
        if row.own_displays { "own" } else { "one" },
        row.links,
        row.devices_ms,
        opened(row),
        times(opened(row), one.map(opened)),
        row.open.bytes as f64 / links / 1024.0,
        times(row.open.bytes as f64 / links, one.map(|one| one.open.bytes as f64)),
        median(&row.frame_us),
        quantile(&row.frame_us, 0.99),
        times(median(&row.frame_us), one.map(|one| median(&one.frame_us))),
        median(&row.resize_ms),
        times(median(&row.resize_ms), one.map(|one| median(&one.resize_ms))),
        row.close_ms / links,
        row.open.descriptors,
        row.open.threads,
        row.closed.bytes / 1024,
        row.again.bytes / 1024,
        row.closed.descriptors,
        row.again.descriptors,
        row.closed.threads,
        row.again.threads,
    );
}

fn main() {
    let known = ["--backend", "--cell", "--counts", "--display", "--displays", "--folder", "--json", "--sizes"];
    measure::options(&known);
    let counts: Vec<usize> = match argument("--counts") {
        Some(texts) => texts.split(';').map(|text| text.parse().expect("counts such as 1;8")).collect(),
        None => vec![1, 8, 64, 256],
    };
    let size = sizes(&[(256, 256)])[0];
    let owns: &[bool] = match argument("--displays").as_deref() {
        Some("one") => &[false],
        Some("own") => &[true],
        _ => &[false, true],
    };
    if let (Some(cell), Some(folder)) = (argument("--cell"), argument("--folder")) {
        let (backend, display) = cell.split_once(';').expect("both sides");
        return match measured([backend, display], size, owns[0], counts[0], Path::new(&folder)) {
            Ok(row) => println!("row {}", serde_json::to_string(&row).expect("plain data")),
            Err(error) => println!("{error}"),
        };
    }
    let folder = std::env::temp_dir().join(format!("pixelferry-many-{}", std::process::id()));
    let mut rows = Vec::new();
    println!(
        "| pair | path | size | displays | links | devices ms | open ms/link | x | memory KiB/link | x | frame us/link | p99 | x \
         | resize ms/link | x | close ms/link | descriptors | threads | memory left | descriptors left | threads left |"
    );
    println!("{}|", "|---".repeat(21));
    let backends = BackendChoice::all().filter(|row| row.choice.api().is_some()).map(|row| row.name);
    for backend in [BY_HAND].into_iter().chain(backends).filter(|name| listed("--backend", name)) {
        for display in DisplayChoice::all().filter(|row| listed("--display", row.name)) {
            let side = [backend, display.name];
            if backend == BY_HAND && display.name != "gl" {
                continue;
            }
            // Chooses the path for all rows.
            if let Err(error) = row(side, size, false, 1, &folder) {
                println!("SKIPPED {} -> {}: {error}", side[0], side[1]);
                continue;
            }
            for own in owns.iter().filter(|own| backend != BY_HAND || !**own) {
                let mut one = None;
                for count in &counts {
                    match row(side, size, *own, *count, &folder) {
                        Ok(row) => {
                            print(&row, one.as_ref());
                            match (&one, *count) {
                                (None, 1) => one = Some(row),
                                _ => rows.push(row),
                            }
                        }
                        Err(error) => println!("SKIPPED {} -> {}, {count} links: {error}", side[0], side[1]),
                    }
                }
                rows.extend(one);
            }
        }
    }
    // Best effort: the folder holds a few small files in the system's temporary folder.
    let _ = std::fs::remove_dir_all(&folder);
    write_rows(&rows);
}
