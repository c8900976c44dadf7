//! Workers and viewers in Python for Rust, and the reverse; and the recipe for Ray. Needs `eclipse-zenoh`, `lz4`, `pillow`,
//! `numpy` and `ray` in the Python that `PIXELFERRY_NET_PYTHON` names, else `python3`: `cargo test --test python -- --ignored`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod common;

use common::*;
use pixelferry::{ImageDesc, PixelFormat, Region};
use pixelferry_net::{Codec, Scene};
use pixelferry_testing::wait_until;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

const NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn interpreter() -> String {
    std::env::var("PIXELFERRY_NET_PYTHON").unwrap_or_else(|_| "python3".into())
}

fn python(part: &str, hub: &str) -> Command {
    let mut command = Command::new(interpreter());
    command.arg(format!("{NET}/python/peer.py")).args([part, hub]).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// What `rows` in `peer.py` gives.
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

#[test]
#[ignore = "needs eclipse-zenoh, lz4 and pillow in Python"]
fn viewers_in_python_see_what_rust_serves() {
    let (net, endpoint) = hub();
    for (codec, format) in [
        (Codec::None, PixelFormat::Rgba16F),
        (Codec::Lz4, PixelFormat::Rgba8),
        (Codec::Jpeg, PixelFormat::R8),
        (Codec::Jpeg, PixelFormat::Rgba8),
        (Codec::Jpeg, PixelFormat::Bgra8),
    ] {
        let image = ImageDesc::new(61, 37, format);
        let pixels = match codec {
            Codec::Jpeg => [200, 100, 30, 255][..format.bytes_per_pixel()].repeat(61 * 37),
            _ => rows(&image, image.extent.full(), 7),
        };
        let server = net.serve("python").unwrap().with_codec(codec, 90);
        let mut viewer = python("view", &endpoint).stdout(Stdio::piped()).spawn().unwrap();
        let mut frame = 0;
        while viewer.try_wait().unwrap().is_none() {
            frame += 1;
            server.publish(image, frame, None, &pixels).unwrap();
            std::thread::sleep(LOOK);
        }
        let ended = viewer.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stdout == b"the same bytes\n", "{codec} {format}: {ended:?}");
        assert_eq!(server.input().as_deref(), Some(&b"seen"[..]));
    }
}

#[test]
#[ignore = "needs eclipse-zenoh in Python"]
fn a_program_in_python_ends_whatever_it_still_holds() {
    let (_net, endpoint) = hub();
    let mut program = Running(python("ends", &endpoint).spawn().unwrap());
    wait_until("it ends", || program.0.try_wait().unwrap().is_some());
    assert!(program.0.try_wait().unwrap().unwrap().success());
}

/// In a network of its own where the system lets us make one: Ray opens many ports.
#[test]
#[ignore = "needs ray, numpy and eclipse-zenoh in Python"]
fn ray_starts_killed_workers_again_and_every_frame_is_that_of_one_process() {
    let alone = ["--user", "--map-root-user", "--net"];
    let is_allowed = Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success());
    // Of one worker there is nobody to take over: only the one that Ray started again can go on.
    for workers in ["1", "2"] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut ran = Command::new(if is_allowed { "unshare" } else { "bash" });
        ran.args(is_allowed.then_some(alone).into_iter().flatten()).args(is_allowed.then_some("bash"));
        let up = if is_allowed { "ip link set lo up;" } else { "" };
        ran.arg("-euc").arg(format!("{up} exec \"$@\"")).arg("bash").arg(interpreter());
        ran.arg(format!("{NET}/recipes/ray_tiles.py")).args(["--kill", "--frames", "12", "--workers", workers]);
        ran.arg("--listen").arg(format!("tcp/127.0.0.1:{port}"));
        let ran = ran.env("PYTHONPATH", format!("{NET}/python")).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success() && out.contains("every frame is that of one process"), "{out}{err}");
    }
}
