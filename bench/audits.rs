//! `cargo bench -p pixelferry-measure --bench audits [-- --rounds N --sizes WIDTHxHEIGHT;... --backend NAME --display NAME
//! --json FILE]`: compares what frames cost with audits and without. In every frame a kernel writes all pixels, and the
//! display draws them. Three links to one display take turns, each with a block of 60 frames: without audits, with the
//! automatic ones, and with an audit of every frame. A block with automatic audits has one.
//!
//! `latency` waits for the device after every frame, `throughput` only after a block. The table shows the median time of
//! a frame without audits, and the ratios of the others to it, each of blocks that followed each other: the median, and
//! the 95 % interval of it. `processor` is the same for the processor time of the process. A pair or path that cannot be
//! audited is SKIPPED with the reason.
//!
//! `PIXELFERRY_PATH` restricts the run to one path.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::{block_ratio, listed, number, sizes, write_rows};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::select::quantile;
use pixelferry::{
    Audit, BackendChoice, ComputeBackend, DisplayChoice, HeadlessDisplay, Link, LinkBuilder, LinkCore, LinkOptions,
    PixelFormat, Policy, Profiles, Result, SurfaceDesc, Trials, command::ApiChoice as _,
};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [(u32, u32); 2] = [(1920, 1080), (3840, 2160)];
/// Frames of a block: as many as from one automatic audit to the next.
const BLOCK: u32 = 60;
const AUDITS: [(&str, Audit); 3] =
    [("off", Audit::Off), ("auto", Audit::Auto), ("every frame", Audit::Every(NonZero::<u32>::MIN))];

#[derive(Serialize)]
struct AuditRow {
    compute: String,
    display: String,
    path: String,
    size: String,
    wait: &'static str,
    audit: &'static str,
    audited: u64,
    skipped: u64,
    /// Time of each block, in microseconds a frame.
    frame_us: Vec<f64>,
    /// Processor time of each block, in microseconds a frame.
    processor_us: Vec<f64>,
}

struct Side {
    backend: Arc<dyn ComputeBackend>,
    screen: HeadlessDisplay,
    nonce: u32,
}

/// Returns the processor time of the process, in microseconds.
fn processor_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

impl Side {
    fn open(&self, size: (u32, u32), audit: Audit, prefer: Option<&LinkCore>) -> Result<Link> {
        let policy = Policy::default()
            .with_profiles(Profiles::Off)
            .with_trials(Trials::Off)
            .with_audit(audit)
            .with_prefer(prefer.map(|link| link.path()));
        let desc = SurfaceDesc::image(size.0, size.1, PixelFormat::Rgba8);
        Link::open(Arc::clone(&self.backend), self.screen.display(), desc, LinkOptions::new(policy))
    }

    /// Computes and draws a block of frames. Returns the time and the processor time of a frame.
    fn block(&mut self, link: &mut LinkCore, waits: bool) -> Result<[f64; 2]> {
        let (start, processor) = (Instant::now(), processor_us());
        for _ in 0..BLOCK {
            self.nonce += 1;
            let (backend, nonce) = (&self.backend, self.nonce);
            link.frame(|frame| {
                let target = frame.target()?;
                let pattern = Pattern::flat(&target.view(), nonce);
                backend.write_pattern(target, &pattern)
            })?;
            self.screen.display().draw_offscreen(link.shown()?.surface())?;
            if waits {
                self.screen.display().finish()?;
            }
        }
        self.screen.display().finish()?;
        let frames = f64::from(BLOCK);
        Ok([start.elapsed().as_secs_f64() * 1e6 / frames, (processor_us() - processor) / frames])
    }

    /// Measures one size in one mode; `None` where frames are not audited.
    fn measure(&mut self, size: (u32, u32), waits: bool, rounds: usize) -> Result<Vec<AuditRow>, String> {
        let text = |error: pixelferry::Error| error.to_string();
        // All three prefer its path, so that none of them has timed how to hand frames over.
        let fastest = self.open(size, AUDITS[0].1, None).map_err(text)?;
        let mut links = Vec::new();
        for (_, audit) in &AUDITS {
            links.push(self.open(size, *audit, Some(&fastest)).map_err(text)?);
        }
        drop(fastest);
        for link in &mut links {
            self.block(link, waits).map_err(text)?;
            self.block(link, waits).map_err(text)?;
        }
        if let Some(reason) = links.iter_mut().skip(1).find_map(|link| link.audits().absent.clone()) {
            return Err(reason);
        }
        let mut rows: Vec<_> =
            links.iter().zip(AUDITS).map(|(link, (audit, _))| self.row(link, size, waits, audit)).collect();
        let count = links.len();
        for round in 0..rounds {
            // Each of them comes first in turn.
            for at in (0..count).map(|at| (at + round) % count) {
                let [frame, processor] = self.block(&mut links[at], waits).map_err(text)?;
                rows[at].frame_us.push(frame);
                rows[at].processor_us.push(processor);
            }
        }
        for (row, link) in rows.iter_mut().zip(&mut links) {
            let report = link.audits();
            if report.wrong > 0 {
                return Err(format!("an audit found a wrong frame: {report}"));
            }
            (row.audited, row.skipped) = (report.right, report.skipped);
        }
        Ok(rows)
    }

    fn row(&self, link: &LinkCore, (width, height): (u32, u32), waits: bool, audit: &'static str) -> AuditRow {
        AuditRow {
            compute: self.backend.device().to_string(),
            display: self.screen.display().device().to_string(),
            path: link.path().to_string(),
            size: format!("{width}x{height}"),
            wait: if waits { "latency" } else { "throughput" },
            audit,
            audited: 0,
            skipped: 0,
            frame_us: Vec::new(),
            processor_us: Vec::new(),
        }
    }
}

fn print(rows: &[AuditRow]) {
    let [off, others @ ..] = rows else { return };
    for row in others {
        println!(
            "| {} -> {} | {} | {} | {} | {} | {:.0} | {} | {} | {} | {} |",
            row.compute,
            row.display,
            row.path,
            row.size,
            row.wait,
            row.audit,
            quantile(&off.frame_us, 0.5),
            block_ratio(&row.frame_us, &off.frame_us, 3),
            block_ratio(&row.processor_us, &off.processor_us, 3),
            row.audited,
            row.skipped,
        );
    }
}

fn main() {
    measure::options(&["--backend", "--display", "--json", "--rounds", "--sizes"]);
    let rounds = number("--rounds", 40);
    let mut all = Vec::new();
    println!(
        "| pair | path | size | wait | audits | frame without, us | time | processor | audited | skipped |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    let backends = BackendChoice::all().filter(|row| row.choice.api().is_some() && listed("--backend", row.name));
    for backend in backends {
        for display in DisplayChoice::all().filter(|row| listed("--display", row.name)) {
            let desc = SurfaceDesc::image(1, 1, PixelFormat::Rgba8);
            let sides = LinkBuilder::new(desc).backend(backend.choice).display(display.choice).open_sides();
            let pair = format!("{} -> {}", backend.name, display.name);
            let (backend, screen) = match sides {
                Ok(sides) => sides,
                Err(error) => {
                    println!("SKIPPED {pair}: {error}");
                    continue;
                }
            };
            let mut side = Side { backend, screen, nonce: 0 };
            for (size, waits) in sizes(&SIZES).into_iter().flat_map(|size| [(size, true), (size, false)]) {
                match side.measure(size, waits, rounds) {
                    Ok(rows) => {
                        print(&rows);
                        all.extend(rows);
                    }
                    Err(reason) => println!("SKIPPED {pair}, {size:?}: {reason}"),
                }
            }
        }
    }
    write_rows(&all);
}
