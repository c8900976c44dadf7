//! A whole network of processes on this machine, against which the model is held: frames a second, and the processor time that
//! all had together.

use crate::direct::plasma;
use crate::process::{Process, Result};
use crate::role::SCENE;
use crate::tiles::Screen;
use crate::usage::computed_by;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::Codec;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SIZE: (u32, u32) = (1280, 720);
const WINDOW: Duration = Duration::from_secs(4);
/// Workers, viewers, and a tile's side.
const CASES: [(usize, usize, u32); 6] =
    [(4, 0, 128), (16, 0, 128), (32, 0, 64), (32, 0, 128), (8, 50, 128), (32, 100, 128)];
const ROUNDS: usize = 2;

pub fn measure() -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        for (workers, viewers, side) in CASES {
            rows.push(once(round, workers, viewers, side)?);
        }
    }
    Ok(rows)
}

fn once(round: usize, workers: usize, viewers: usize, side: u32) -> Result<Value> {
    let image = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
    let mut screen = Screen::open(image, side)?;
    let endpoint = screen.endpoint()?;
    let server = screen.net.serve(SCENE)?.with_codec(Codec::Jpeg, 85);
    let pixels = plasma(SIZE.0, SIZE.1);
    // Viewers that take pictures and do not unpack them: on two cores there is no room for more.
    let look = format!("receive pixelferry/{SCENE}/view");
    let roles = std::iter::repeat_n("work", workers).chain(std::iter::repeat_n(look.as_str(), viewers));
    let mut all = roles.map(|role| Process::start(role, &endpoint, &[])).collect::<Result<Vec<_>>>()?;
    all.iter_mut().try_for_each(|process| process.wait_until_ready().map(drop))?;
    screen.wait_for(workers)?;
    std::thread::sleep(Duration::from_millis(500));
    let mut frames = 0u64;
    let mut frame = |screen: &mut Screen| -> Result<()> {
        screen.frame()?;
        frames += 1;
        if viewers > 0 {
            server.publish(image, frames, None, &pixels)?;
        }
        Ok(())
    };
    (0..5).try_for_each(|_| frame(&mut screen))?;
    let ids: Vec<u32> = [std::process::id()].into_iter().chain(all.iter().map(Process::id)).collect();
    let (before, begun) = (computed_by(&ids)?, Instant::now());
    let mut count = 0u64;
    while begun.elapsed() < WINDOW {
        frame(&mut screen)?;
        count += 1;
    }
    let (seconds, after) = (begun.elapsed().as_secs_f64(), computed_by(&ids)?);
    let mut seen = 0;
    for mut viewer in all.split_off(workers) {
        viewer.tell("")?;
        seen += viewer.answer()?.trim().parse::<u64>()?;
    }
    let seen = seen as f64 / (frames * viewers.max(1) as u64) as f64;
    Ok(json!({
        "row": "whole", "round": round, "workers": workers, "viewers": viewers, "side": side,
        "seen": seen, "frames_per_second": count as f64 / seconds, "cores": (after - before) as f64 / 1e9 / seconds,
    }))
}
