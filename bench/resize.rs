//! `cargo bench -p pixelferry-measure --bench resize [-- --steps N] [--room yes|no|both] [--backend NAME] [--display
//! NAME] [--json FILE]`: compares the cost of a resize with that of a frame. A window is dragged from 640x400 to
//! 1900x1060 and back. At each step the link is resized; then frames are computed, drawn into the corner of one target,
//! and waited for. The first is the frame of the new size. Later ones allocate the memory that a path has postponed,
//! and the last shows what a frame alone costs there. `room` reserves sizes up to 1920x1080 beforehand
//! (`Link::resize_within`). The last column is for a link of 1080p that is reopened.
//!
//! `PIXELFERRY_PATH` restricts the run to one path. If a pairing lacks a row, the row is SKIPPED with its reason.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::{Screen, argument, number, write_rows};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::select::quantile;
use pixelferry::{
    BackendChoice, ComputeBackend, DisplayChoice, DrawOptions, HeadlessDisplay, ImageAccess, ImageDesc, Link,
    LinkBuilder, LinkCore, LinkOptions, PixelFormat, Policy, Profiles, Result, SurfaceDesc, Trials, Unwritten,
    command::ApiChoice as _,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const LARGEST: (u32, u32) = (1920, 1080);
const FROM: (u32, u32) = (640, 400);
const TO: (u32, u32) = (1900, 1060);
const ROUNDS_OF_OPENING: usize = 7;
/// As many frames as the longest ring has pieces, at each size.
const FRAMES: usize = 6;

#[derive(Serialize)]
struct ResizeRow {
    compute: String,
    display: String,
    access: &'static str,
    rule: &'static str,
    room: bool,
    path: String,
    resize_ms: Vec<f64>,
    first_ms: Vec<f64>,
    second_ms: Vec<f64>,
    alone_ms: Vec<f64>,
    open_ms: Vec<f64>,
}

/// The sizes of a window while it is dragged, this many steps each way.
fn drag(steps: u32) -> impl Iterator<Item = (u32, u32)> {
    let at = move |n: u32| {
        let side = |from: u32, to: u32| from + (to - from) * n / steps;
        (side(FROM.0, TO.0), side(FROM.1, TO.1))
    };
    (1..=steps).chain((0..steps).rev()).map(at)
}

struct Bench {
    backend: Arc<dyn ComputeBackend>,
    screen: HeadlessDisplay,
    /// `None` if the display has no texture to draw into: each frame is drawn in its own size.
    target: Option<Screen>,
    nonce: u32,
}

impl Bench {
    fn frame(&mut self, link: &mut LinkCore) -> Result<f64> {
        let start = Instant::now();
        self.nonce += 1;
        let nonce = self.nonce;
        link.frame(|frame| {
            let target = frame.target()?;
            let pattern = Pattern::for_view(&target.view(), nonce);
            self.backend.write_pattern(target, &pattern)
        })?;
        let shown = link.shown()?;
        match (&self.target, shown.desc()) {
            (Some(target), SurfaceDesc::Image(image)) => {
                target.draw(&shown, (image.extent.width, image.extent.height), DrawOptions::default())?;
            }
            _ => self.screen.display().draw_offscreen(shown.surface())?,
        }
        self.screen.display().finish()?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn open(&self, desc: SurfaceDesc) -> Result<(Link, f64)> {
        let start = Instant::now();
        let policy = Policy::default().with_profiles(Profiles::Off).with_trials(Trials::Off);
        let link = Link::open(Arc::clone(&self.backend), self.screen.display(), desc, LinkOptions::new(policy))?;
        Ok((link, start.elapsed().as_secs_f64() * 1e3))
    }

    fn measure(&mut self, access: ImageAccess, rule: Unwritten, room: bool, steps: u32) -> Result<ResizeRow> {
        let desc = |(width, height)| {
            let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(access);
            SurfaceDesc::Image(image.with_unwritten(rule))
        };
        let (mut link, _) = self.open(desc(FROM))?;
        let chosen = link.path();
        if room {
            link.resize_within(desc(LARGEST), desc(FROM))?;
        }
        for _ in 0..16 {
            self.frame(&mut link)?;
        }
        let [mut resize_ms, mut first_ms, mut second_ms, mut alone_ms] = [const { Vec::new() }; 4];
        for size in drag(steps) {
            let start = Instant::now();
            link.resize(desc(size))?;
            resize_ms.push(start.elapsed().as_secs_f64() * 1e3);
            first_ms.push(self.frame(&mut link)?);
            second_ms.push(self.frame(&mut link)?);
            for _ in 3..FRAMES {
                self.frame(&mut link)?;
            }
            alone_ms.push(self.frame(&mut link)?);
        }
        let path = if link.path() == chosen { chosen.to_string() } else { format!("{chosen}, then {}", link.path()) };
        drop(link);
        // Profiles would spare the comparison, so they are off and the path is preferred.
        let policy = Policy::default().with_profiles(Profiles::Off).with_prefer(chosen);
        let mut open_ms = Vec::new();
        for _ in 0..ROUNDS_OF_OPENING {
            let start = Instant::now();
            let options = LinkOptions::new(policy.clone());
            let link = Link::open(Arc::clone(&self.backend), self.screen.display(), desc(LARGEST), options)?;
            open_ms.push(start.elapsed().as_secs_f64() * 1e3);
            drop(link);
        }
        let (compute, display) = (self.backend.device().to_string(), self.screen.display().device().to_string());
        let access = if access == ImageAccess::Any { "any" } else { "texture" };
        let rule = rule.name();
        Ok(ResizeRow { compute, display, access, rule, room, path, resize_ms, first_ms, second_ms, alone_ms, open_ms })
    }
}

fn print(row: &ResizeRow) {
    let q = |samples: &[f64], at| quantile(samples, at);
    // Each step next to a frame of its own size.
    let ratios: Vec<f64> =
        row.resize_ms.iter().zip(&row.first_ms).zip(&row.alone_ms).map(|((r, f), a)| (r + f) / a).collect();
    println!(
        "| {} -> {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} |",
        row.compute,
        row.display,
        row.access,
        row.rule,
        row.path,
        if row.room { "made before" } else { "grows" },
        q(&row.resize_ms, 0.5),
        q(&row.resize_ms, 0.99),
        row.resize_ms.iter().copied().fold(0.0, f64::max),
        q(&row.first_ms, 0.5),
        q(&row.second_ms, 0.5),
        q(&row.alone_ms, 0.5),
        q(&ratios, 0.5),
        q(&row.open_ms, 0.5),
    );
}

fn main() {
    measure::options(&["--backend", "--display", "--json", "--room", "--steps"]);
    let steps = number("--steps", 75);
    let rooms: &[bool] = match argument("--room").as_deref() {
        Some("yes") => &[true],
        Some("no") => &[false],
        _ => &[true, false],
    };
    let backends: Vec<BackendChoice> = match argument("--backend") {
        Some(name) => vec![BackendChoice::parse(&name).expect("a backend's name")],
        None => BackendChoice::all().map(|row| row.choice).filter(|choice| choice.api().is_some()).collect(),
    };
    let displays: Vec<DisplayChoice> = match argument("--display") {
        Some(name) => vec![DisplayChoice::parse(&name).expect("a display's name")],
        None => ["gl", "wgpu"].into_iter().filter_map(|name| DisplayChoice::parse(name).ok()).collect(),
    };
    let mut rows = Vec::new();
    let mut skipped = BTreeMap::new();
    println!(
        "| pairing | access | unwritten | path | room | resize ms | p99 | worst | first frame | second | frame alone | \
         (resize + frame) / frame | open again |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (backend, display) in backends.iter().flat_map(|backend| displays.iter().map(move |display| (backend, display)))
    {
        let mut run = || -> Result<()> {
            let desc = SurfaceDesc::image(FROM.0, FROM.1, PixelFormat::Rgba8);
            let (backend, screen) = LinkBuilder::new(desc).backend(*backend).display(*display).open_sides()?;
            let target = Screen::of(&screen, LARGEST)?;
            let mut bench = Bench { backend, screen, target, nonce: 0 };
            for access in [ImageAccess::Texture, ImageAccess::Any] {
                for room in rooms {
                    let row = bench.measure(access, Unwritten::Overwrite, *room, steps)?;
                    print(&row);
                    rows.push(row);
                }
            }
            let row = bench.measure(ImageAccess::Texture, Unwritten::Keep, true, steps)?;
            print(&row);
            rows.push(row);
            Ok(())
        };
        if let Err(error) = run() {
            skipped.insert(format!("{backend:?} -> {display:?}"), error.to_string());
        }
    }
    for (pairing, why) in skipped {
        println!("SKIPPED {pairing}: {why}");
    }
    write_rows(&rows);
}
