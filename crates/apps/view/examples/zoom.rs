//! Frames per second of zooming and moving an 8K array of float32 in 1080p, beside the draw of its picture alone. Needs no screen.

use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::{Display as _, Extent};
use pixelferry_look::{Number, OPTIONS, Request};
use pixelferry_view::{Array, ArrayView};
use std::error::Error;
use std::time::{Duration, Instant};

const IMAGE: (usize, usize) = (7680, 4320);
const WINDOW: Extent = Extent::new(1920, 1080);
const FRAMES: usize = 240;

fn main() -> Result<(), Box<dyn Error>> {
    let (width, height) = IMAGE;
    let numbers: Vec<f32> =
        (0..width * height).map(|n| ((n % width) as f32 / 9.0).sin() * (n / width) as f32).collect();
    let number = Number::of_name("float32").ok_or("no such type")?;
    let array = Array::new("8K", bytemuck::cast_slice(&numbers), vec![height as i64, width as i64], number)?;
    drop(numbers);
    let mut request = Request::default();
    for (name, text) in [("range", "1%,99%"), ("colormap", "viridis")] {
        OPTIONS.iter().find(|option| option.name == name).ok_or("no such option")?.set(&mut request, text)?;
    }
    let display = GlDisplay::headless(HeadlessOptions::default())?;
    let target = display.create_offscreen_target(WINDOW.width, WINDOW.height)?;
    target.bind()?;
    let began = Instant::now();
    let mut view = ArrayView::open(&display, vec![array], request)?;
    println!("{}; open, measured and converted in {:.0?}", display.device().name, began.elapsed());
    // The manner of drawing is found out in the first frames.
    for _ in 0..32 {
        view.draw(WINDOW, 1.0)?;
    }
    let mut times: [Vec<Duration>; 2] = Default::default();
    for frame in 0..FRAMES {
        if frame % 2 == 0 {
            step(&mut view, frame);
        }
        let [all, picture] = &mut times;
        let began = Instant::now();
        match frame % 2 {
            0 => view.draw(WINDOW, 1.0)?,
            _ => view.draw_picture(WINDOW)?,
        }
        display.finish()?;
        if frame % 2 == 0 { all } else { picture }.push(began.elapsed());
    }
    let mut medians = Vec::new();
    for (what, times) in ["zoom and pan", "the draw alone"].into_iter().zip(&mut times) {
        times.sort();
        let [median, p99] = [times.len() / 2, times.len() * 99 / 100].map(|at| times[at].as_secs_f64());
        println!("{what}: median {:.2} ms, p99 {:.2} ms, {:.1} frames/s", median * 1e3, p99 * 1e3, 1.0 / median);
        medians.push(median);
    }
    println!("ratio of medians {:.2}; pictures that were made: {}", medians[0] / medians[1], view.pictures());
    let began = Instant::now();
    view.press('e');
    println!("another exposure in {:.0?}", began.elapsed());
    Ok(())
}

/// In from the whole to 64 window pixels for each of the array's, out again, and to the side all the while.
fn step(view: &mut ArrayView, frame: usize) {
    let factor = if frame % 120 < 60 { 1.15 } else { 1.0 / 1.15 };
    let image = view.image();
    view.camera().zoom(factor, [900.0, 500.0], image, WINDOW);
    view.camera().pan([3.0, -2.0], image, WINDOW);
}
