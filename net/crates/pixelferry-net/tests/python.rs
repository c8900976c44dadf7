//! Workers in Python for a display in Rust, and the reverse. Needs `eclipse-zenoh` and `lz4` in the Python that
//! `PIXELFERRY_NET_PYTHON` names, else `python3`: `cargo test --test python -- --ignored`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod common;

use common::*;
use pixelferry::{ImageDesc, PixelFormat, Region};
use pixelferry_net::{Codec, Scene};
use std::process::{Child, Command, Stdio};

fn python(part: &str, hub: &str) -> Command {
    let mut command = Command::new(std::env::var("PIXELFERRY_NET_PYTHON").unwrap_or_else(|_| "python3".into()));
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/peer.py")).args([part, hub]);
    command
}

/// As `rows` in `peer.py`.
fn rows(image: &ImageDesc, region: Region, seed: u8) -> Vec<u8> {
    let pixel = image.format.bytes_per_pixel() as u32;
    let bytes = region.x * pixel..(region.x + region.width) * pixel;
    let row = |y: u32| bytes.clone().map(move |byte| (3 * byte + 5 * y + u32::from(seed)) as u8 | 1);
    (region.y..region.y + region.height).flat_map(row).collect()
}

/// Ended when it goes.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[ignore = "needs eclipse-zenoh in Python"]
fn workers_in_python_compute_for_a_display_in_rust() {
    let (net, endpoint) = hub();
    let workers: Vec<_> = (0..2).map(|_| Running(python("worker", &endpoint).spawn().unwrap())).collect();
    for format in PixelFormat::ALL {
        let image = ImageDesc::new(61, 37, format);
        let scene = Scene::new("python", image).with_tile(16, 16).with_balance(true);
        let mut assembly = net.assemble(scene, NEVER).unwrap();
        wait_for_workers(&assembly, 2);
        let mut link = link(image);
        for seed in [7, 9] {
            assembly.request(&[seed]).unwrap();
            let tiles = show(&mut assembly, &mut link);
            assert!(bytes(&mut link) == rows(&image, image.extent.full(), seed), "{format}");
            let senders: std::collections::BTreeSet<_> =
                tiles.tiles().iter().map(|tile| tile.header().sender).collect();
            assert_eq!(senders.len(), 2, "both compute");
        }
        assert_eq!(assembly.refused(), 0);
    }
    drop(workers);
}

#[test]
#[ignore = "needs eclipse-zenoh in Python"]
fn workers_in_rust_compute_for_a_display_in_python() {
    let (net, endpoint) = hub();
    for codec in [Codec::None, Codec::Lz4] {
        let tile = net.tile("python", None).unwrap().with_codec(codec);
        let mut display = python("display", &endpoint).stdout(Stdio::piped()).spawn().unwrap();
        while display.try_wait().unwrap().is_none() {
            if let Some(mut job) = tile.next(LOOK).unwrap() {
                let (image, region, seed) = (job.image(), job.region(), job.args()[0]);
                job.pixels().copy_from_slice(&rows(&image, region, seed));
                tile.publish(job).unwrap();
            }
        }
        let ended = display.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stdout == b"the same bytes\n", "{codec}: {ended:?}");
    }
}
