//! A scene that goes on while strangers send a thousand hostile messages of each kind: nobody ends, and nobody's memory grows.

use crate::common::*;
use crate::hostile;
use crate::peer::{RunningPeer, joined, part, python, rows};
use pixelferry::{ImageDesc, Link, PixelFormat};
use pixelferry_net::wire::{Header, MessageKind};
use pixelferry_net::{Assembly, Net, NetOptions, Scene, Server};
use pixelferry_testing::{Usage, by_level};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zenoh::Wait as _;

/// Memory may grow by this: an allocator's share, not a message's.
const GROWN: u64 = 48 << 20;

const WORKER: &str = "strangers::worker_process";

/// Messages of each kind.
fn many() -> usize {
    by_level(100, 1000, 1000)
}

#[test]
#[ignore = "run by the other tests in processes of their own"]
fn worker_process() {
    let Some((net, scene)) = joined() else { return };
    let tile = net.tile(&scene, None).unwrap();
    loop {
        let Some(mut job) = tile.next(LOOK).unwrap() else { continue };
        let (image, region, seed) = (job.image(), job.region(), job.args().first().copied());
        if let Some(seed) = seed.filter(|_| job.pixels().len() < 1 << 16) {
            job.pixels().copy_from_slice(&rows(&image, region, seed));
        }
        tile.publish(job).unwrap();
    }
}

struct Stage {
    image: ImageDesc,
    assembly: Assembly,
    link: Link,
    server: Server,
    seed: u8,
}

impl Stage {
    /// Some frames, each of them as it should be.
    fn frames(&mut self) {
        for _ in 0..4 {
            self.seed = self.seed % 200 + 1;
            self.assembly.request(&[self.seed]).unwrap();
            let shown = show(&mut self.assembly, &mut self.link);
            let pixels = bytes(&mut self.link);
            assert!(pixels == rows(&self.image, self.image.extent.full(), self.seed));
            self.server.publish(self.image, shown.frame(), None, &pixels).unwrap();
        }
    }
}

/// Messages that strangers send to a kind's keys; [`many`] of each, and as many tokens.
fn storm(hub: &str, stage: &mut Stage) {
    let stranger = Net::join(NetOptions::through(hub)).unwrap();
    let session = stranger.session();
    let mut runner = TestRunner::deterministic();
    for kind in hostile::KINDS {
        let keys: &[&str] = match kind {
            MessageKind::Job => &["job"],
            MessageKind::Tile => &["tile/0000000000000001"],
            MessageKind::Picture => &["view"],
            MessageKind::Input => &["input"],
            MessageKind::Mark => &["view/mark", "tile/0000000000000001/mark"],
            MessageKind::Report => &["view/report", "tile/0000000000000001/report"],
            other => panic!("no key of {other:?}"),
        };
        let messages = hostile::message(kind);
        for at in 0..many() {
            let message = messages.new_tree(&mut runner).unwrap().current();
            for key in keys {
                let put = session.put(format!("pixelferry/python/{key}"), message.clone());
                put.congestion_control(zenoh::qos::CongestionControl::Block).wait().unwrap();
            }
            if at % (many() / 4) == 0 {
                stage.frames();
            }
        }
    }
    let token = |at: usize| {
        let node = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = ["0_0_0_0", "1_2_3", "0_0_0_0_0", "x", "0_0_99999999999_1", "0_0_4294967295_4294967295"][at % 6];
        session.liveliness().declare_token(format!("pixelferry/python/worker/{node:016x}/{place}")).wait().unwrap()
    };
    let ghosts: Vec<_> = (0..many()).map(token).collect();
    stage.frames();
    drop(ghosts);
    stage.frames();
}

/// A stranger who sends a job and a picture of the greatest epoch every second and a half keeps workers from no display.
fn lockout(hub: &str, stage: &mut Stage) {
    let stranger = Net::join(NetOptions::through(hub)).unwrap();
    let image = ImageDesc::new(1, 1, PixelFormat::R8);
    let send = |kind, key: &str, payload: &[u8]| {
        let new = Header::new(kind, image, image.extent.full());
        let header = Header { epoch: u64::MAX, frame: 1, payload: payload.len() as u64, ..new };
        let message = [&header.to_bytes()[..], payload].concat();
        stranger.session().put(format!("pixelferry/python/{key}"), message).wait().unwrap();
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                send(MessageKind::Picture, "view", &[0]);
                send(MessageKind::Job, "job", &[1u32, 1, 0, 0, 0, 0].map(u32::to_le_bytes).concat());
                std::thread::sleep(Duration::from_millis(1500));
            }
        });
        for _ in 0..6 {
            stage.frames();
            std::thread::sleep(Duration::from_secs(1));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Runs a scene of these programs under two storms, and holds what they have after each against the other.
fn survive(workers: usize, programs: impl Fn(&str) -> Vec<(&'static str, Command)>) {
    // This process is a part of the scene, and its memory is measured.
    alone();
    let (net, endpoint) = hub();
    let image = ImageDesc::new(61, 37, PixelFormat::Rgba8);
    let assembly = net.assemble(Scene::new("python", image).with_tile(16, 16), NEVER).unwrap();
    let server = net.serve("python").unwrap();
    let mut running: Vec<_> = programs(&endpoint)
        .into_iter()
        .map(|(name, mut command)| (name, RunningPeer(command.spawn().unwrap())))
        .collect();
    let mut stage = Stage { image, assembly, link: link(image), server, seed: 0 };
    wait_for_workers(&stage.assembly, workers);
    stage.frames();
    let mut before: Vec<Usage> = Vec::new();
    for round in 0..2 {
        storm(&endpoint, &mut stage);
        let mut now = vec![Usage::here().unwrap()];
        for (name, program) in &mut running {
            assert!(program.0.try_wait().unwrap().is_none(), "{name} has ended");
            now.push(Usage::of(program.0.id()).unwrap());
        }
        let names = ["display"].into_iter().chain(running.iter().map(|row| row.0));
        for (at, name) in names.enumerate().filter(|_| round > 0) {
            println!("{name}: {} MiB, then {} MiB", before[at].rss >> 20, now[at].rss >> 20);
            assert!(now[at].rss < before[at].rss + GROWN, "{name} grows: {:?}, {:?}", before[at], now[at]);
        }
        before = now;
    }
    lockout(&endpoint, &mut stage);
    println!("{} messages refused by the display", stage.assembly.refused());
    assert!(stage.assembly.refused() > many() as u64);
}

#[test]
fn strangers_end_nobody() {
    survive(2, |hub| {
        let of = |test| part(test, hub, "python");
        vec![("worker", of(WORKER)), ("another worker", of(WORKER)), ("viewer", of("peer::viewer_process"))]
    });
}

#[test]
#[ignore = "needs eclipse-zenoh, lz4 and pillow in Python"]
fn strangers_end_nobody_in_python_either() {
    survive(3, |hub| {
        let mut programs = vec![("worker in Rust", part(WORKER, hub, "python"))];
        let parts = [("worker in Python", "worker"), ("another in Python", "worker"), ("viewer in Python", "looks")];
        programs.extend(parts.map(|(name, part)| (name, python(part, hub))));
        programs
    });
}
