//! `cargo bench -p pixelferry-measure --bench record [-- --backend NAME --output FILE --size WIDTHxHEIGHT --rate N
//! --seconds N --json FILE]`: measures what recording costs a program, on OpenGL. Frames come at the film's rate and
//! are drawn off screen, with and without a recording in turn. `work` is the time from the frame's beginning until the
//! device has drawn it, and `interval` the time from frame to frame. A film that goes to another program or into memory
//! shows the cost of the reads alone: `--output /dev/shm/film.y4m`.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use interop_core::describe::pattern::Pattern;
use measure::{Screen, argument, number, write_rows};
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::command::ApiChoice as _;
use pixelferry::driver::select::quantile;
use pixelferry::{
    BackendChoice, Display, DrawOptions, Extent, ImageDesc, Link, LinkOptions, PixelFormat, SurfaceDesc, Unwritten,
    open_backend,
};
use pixelferry_media::record::{Output, RecordOptions, Recorder};
use serde::Serialize;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct RecordRow {
    row: &'static str,
    what: &'static str,
    us: Vec<f64>,
}

fn main() {
    measure::options(&["--backend", "--json", "--output", "--rate", "--seconds", "--size"]);
    let choice = argument("--backend").unwrap_or_else(|| "auto".into());
    let backend = open_backend(BackendChoice::parse(&choice).expect("--backend"), &[]);
    let size: Extent = argument("--size").map_or(Extent::new(1920, 1080), |size| size.parse().expect("--size"));
    let (rate, seconds) = (number("--rate", 60_u32), number("--seconds", 4_u32));
    let name = argument("--output").unwrap_or_else(|| "/dev/shm/film.y4m".into());
    let opened = backend.and_then(|backend| {
        let display = GlDisplay::headless(HeadlessOptions::default().with_same_device_as(backend.device().clone()))?;
        let screen = Screen::gl(&display, (size.width, size.height))?;
        let image = ImageDesc::new(size.width, size.height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
        let shown_by: Arc<dyn Display> = display.clone();
        let link = Link::open(backend.clone(), shown_by, SurfaceDesc::Image(image), LinkOptions::default())?;
        Ok((backend, display, screen, link))
    });
    let (backend, display, screen, mut link) = match opened {
        Ok(opened) => opened,
        Err(error) => return println!("SKIPPED: {error}"),
    };
    println!("{} -> {}, {size}, {rate} a second, {name}", backend.device(), display.device());
    let mut rows = [("no film", "work"), ("no film", "interval"), ("a film", "work"), ("a film", "interval")]
        .map(|(row, what)| RecordRow { row, what, us: Vec::new() });
    let period = Duration::from_secs(1) / rate;
    for turn in 0..4 {
        let is_film = turn % 2;
        let options = RecordOptions::default().with_rate(rate);
        let mut recorder =
            (is_film == 1).then(|| Recorder::create(Output::named(&name).expect("--output"), options).expect("a film"));
        let (mut due, mut before) = (Instant::now(), None::<Instant>);
        for frame in 0..rate * seconds {
            sleep(due.saturating_duration_since(Instant::now()));
            due = (due + period).max(Instant::now());
            let start = Instant::now();
            link.frame(|next| {
                let target = next.target()?;
                let pattern = Pattern::flat(&target.view(), frame);
                backend.write_pattern(target, &pattern)
            })
            .expect("a frame");
            screen
                .draw(&link.shown().expect("shown"), (size.width, size.height), DrawOptions::default())
                .expect("drawn");
            if let Some(recorder) = &mut recorder {
                recorder.frame(&display, size).expect("recorded");
            }
            screen.finish().expect("drawn");
            // The first frame includes the start of the encoder.
            if frame > 0 {
                rows[2 * is_film].us.push(start.elapsed().as_secs_f64() * 1e6);
                rows[2 * is_film + 1].us.extend(before.map(|before| (start - before).as_secs_f64() * 1e6));
                before = Some(start);
            } else {
                due = Instant::now();
            }
        }
        if let Some(recorder) = recorder {
            let recorded = recorder.finish().expect("a film");
            println!("{} frames of {} drawn, {} dropped", recorded.frames, rate * seconds, recorded.dropped);
        }
    }
    println!("| | us | median | p99 | of no film |\n|---|---|---|---|---|");
    let median = |at: usize| quantile(&rows[at].us, 0.5);
    for (at, row) in rows.iter().enumerate() {
        let (us, p99) = (median(at), quantile(&row.us, 0.99));
        println!("| {} | {} | {us:.0} | {p99:.0} | {:.3} |", row.row, row.what, us / median(at % 2));
    }
    write_rows(&rows);
}
