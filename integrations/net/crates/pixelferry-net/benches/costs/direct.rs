//! What needs no second process: who computes which tile, and packing pictures.

use crate::process::Result;
use crate::role::{SCENE, options};
use crate::usage::{computed, median};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Codec, Net, Options, Weights};
use serde_json::{Value, json};
use std::time::Instant;

const ROUNDS: usize = 9;
const TILES: u32 = 1024;

pub fn measure() -> Result<Vec<Value>> {
    let mut rows = hashing();
    rows.extend(packing()?);
    Ok(rows)
}

/// Nanoseconds for each pair of a node and a tile.
fn hashing() -> Vec<Value> {
    let mut rows = Vec::new();
    for nodes in [10u64, 100, 1000] {
        let known: Vec<(u64, u32)> = (0..nodes).map(|node| (node * 0x9E37_79B9_7F4A_7C15, 900 + node as u32)).collect();
        for (name, weights) in [("hash", Weights::default()), ("hash by weight", Weights::new(known.clone()))] {
            let once = |_| {
                let begun = Instant::now();
                let owner = |tile| weights.owner(known.iter().map(|row| row.0), tile).unwrap_or_default();
                let sum = (0..TILES).fold(0u64, |sum, tile| sum ^ owner(tile));
                std::hint::black_box(sum);
                begun.elapsed().as_nanos() as f64 / (nodes as f64 * f64::from(TILES))
            };
            let samples: Vec<f64> = (0..ROUNDS).map(once).collect();
            rows.push(
                json!({ "row": name, "nodes": nodes, "tiles": TILES, "ns": median(&samples), "samples": samples }),
            );
        }
    }
    rows
}

/// Nanoseconds of processor time for each picture that is packed, and its bytes.
fn packing() -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    let net = Net::join(options(Options::hub("tcp/127.0.0.1:0")))?;
    for (width, height) in [(640, 360), (1280, 720), (1920, 1080)] {
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8);
        let server = net.serve(SCENE)?.with_codec(Codec::Jpeg, 85);
        let pixels = plasma(width, height);
        let mut samples = Vec::new();
        for frame in 1..=ROUNDS as u64 * 3 {
            let before = computed(std::process::id())?;
            server.publish(image, frame, None, &pixels)?;
            samples.push((computed(std::process::id())? - before) as f64);
        }
        let viewer = net.view(SCENE)?;
        let seen = viewer.next(std::time::Duration::from_secs(10)).ok_or("no picture came")?;
        let (pixels, bytes) = (u64::from(width) * u64::from(height), seen.header().payload);
        rows.push(
            json!({ "row": "pack", "pixels": pixels, "bytes": bytes, "ns": median(&samples), "samples": samples }),
        );
    }
    Ok(rows)
}

/// A picture with edges and soft places.
pub fn plasma(width: u32, height: u32) -> Vec<u8> {
    let pixel = |x: u32, y: u32| {
        let (x, y) = (x as f32 / 40.0, y as f32 / 40.0);
        let wave = x.sin() + y.cos() + (x * x + y * y).sqrt().sin();
        let channel = |shift: f32| (127.5 + 127.5 * (wave + shift).sin()) as u8;
        [channel(0.0), channel(2.1), channel(4.2), 255]
    };
    (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect()
}
