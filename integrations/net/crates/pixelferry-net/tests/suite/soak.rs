//! Workers on two routers that are killed, stopped and raise at random: every frame stays right, and nothing is left.

use crate::common::*;
use crate::peer::{RunningPeer, joined, part};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Net, NetOptions, Scene, Update};
use pixelferry_testing::{Dice, Level, Patience, Usage, by_level, from};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SCENE: &str = "soak";
const WORKERS: usize = 5;
/// A worker raises in one tile of so many, and gives up as many.
const RARE: usize = 400;

#[test]
#[ignore = "run by the test below in processes of their own"]
fn router_process() {
    let Ok(other) = std::env::var("PIXELFERRY_TEST_OTHER") else { return };
    let mut options = NetOptions::hub("tcp/127.0.0.1:0");
    options.connect = Some(other).filter(|other| !other.is_empty()).into_iter().collect();
    let net = Net::join(options).unwrap();
    println!("listens at {}", net.endpoints().unwrap()[0]);
    loop {
        std::thread::park();
    }
}

/// A router that knows another, and where it listens.
fn router(other: &str) -> (RunningPeer, String) {
    let mut command = part("soak::router_process", "", "");
    let mut router =
        command.env("PIXELFERRY_TEST_OTHER", other).arg("--nocapture").stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(router.stdout.take().unwrap());
    let mut lines = output.by_ref().lines().map_while(Result::ok);
    let endpoint = lines.find_map(|line| Some(line.split_once("listens at ")?.1.to_owned())).unwrap();
    // What it says later ends it where nobody could read it.
    router.stdout = Some(output.into_inner());
    (RunningPeer(router), endpoint)
}

#[test]
#[ignore = "run by the test below in processes of their own"]
fn worker_process() {
    let Some((net, scene)) = joined() else { return };
    let mut dice = Dice(u64::from(std::process::id()));
    loop {
        let tile = net.tile(&scene, None).unwrap();
        let seed = dice.below(usize::MAX) as u64;
        let work = move || {
            let mut dice = Dice(seed);
            loop {
                let Some(mut job) = tile.next(LOOK).unwrap() else { continue };
                compute(&mut job);
                match dice.below(RARE) {
                    0 => panic!("a user's mistake"),
                    1 => continue,
                    _ => tile.publish(job).unwrap(),
                }
            }
        };
        // Only the thread ends.
        let _ = std::thread::spawn(work).join();
        std::thread::sleep(Duration::from_millis(dice.below(2000) as u64));
    }
}

/// What the display has, and the routers.
fn usage(routers: &[(RunningPeer, String); 2]) -> Vec<Usage> {
    let routers = routers.iter().map(|(router, _)| Usage::of(router.0.id()).unwrap());
    [Usage::here().unwrap()].into_iter().chain(routers).collect()
}

/// Files of Zenoh's or ours in /dev/shm.
fn files() -> usize {
    let names = std::fs::read_dir("/dev/shm").unwrap().flatten().map(|file| file.file_name());
    names.filter(|name| ["zenoh", "pixelferry"].iter().any(|of| name.to_string_lossy().contains(of))).count()
}

/// What is done to workers, until it is over; how often each.
fn harm(endpoints: &[&str; 2], is_over: &AtomicBool) -> BTreeMap<&'static str, u32> {
    let start = |number: usize| {
        let worker = part("soak::worker_process", endpoints[number % 2], SCENE).spawn().unwrap();
        (RunningPeer(worker), None::<Instant>)
    };
    let signal = |worker: &RunningPeer, signal: &str| {
        let sent = Command::new("kill").args([signal, &worker.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    };
    let (mut dice, mut counts) = (Dice(1), BTreeMap::new());
    let mut workers: Vec<_> = (0..WORKERS).map(start).collect();
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(200 + dice.below(1500) as u64));
        for (worker, until) in &mut workers {
            if until.take_if(|until| Instant::now() >= *until).is_some() {
                signal(worker, "-CONT");
            }
        }
        let number = dice.below(WORKERS);
        let way = *dice.pick(&["-KILL", "-TERM", "-STOP"]);
        *counts.entry(way).or_default() += 1;
        let (worker, until) = &mut workers[number];
        signal(worker, way);
        if way == "-STOP" {
            until.get_or_insert(Instant::now() + Duration::from_millis(dice.below(5000) as u64));
        } else {
            // One that is stopped ends only by force.
            workers[number] = start(number);
        }
    }
    counts
}

#[test]
fn workers_on_two_routers_end_stop_and_raise_and_every_frame_is_right() {
    if !from(Level::All) {
        return;
    }
    alone();
    let time = Duration::from_secs(by_level(20, 60, 30 * 60));
    let first = router("");
    let second = router(&first.1);
    let routers = [first, second];
    let endpoints = [routers[0].1.as_str(), routers[1].1.as_str()];
    // Large enough for viewers to get it in pieces.
    let image = ImageDesc::new(640, 360, PixelFormat::Rgba8);
    let net = Net::join(NetOptions::through(endpoints[0])).unwrap();
    let mut assembly = net.assemble(Scene::new(SCENE, image).with_tile(64, 64), NEVER).unwrap();
    let server = net.serve(SCENE).unwrap().with_codec(pixelferry_net::Codec::None, 0);
    let mut far = NetOptions::through(endpoints[1]);
    far.shared_memory = false;
    let viewer = Net::join(far).unwrap().view(SCENE).unwrap();
    let mut link = link(image);
    let (is_over, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let picture = |frame: u64| expected(&image, image.extent.full(), frame as u32);
    std::thread::scope(|scope| {
        let harm = scope.spawn(|| harm(&endpoints, &is_over));
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let Some(shown) = viewer.next(LOOK) else { continue };
                assert!(*shown.to_bytes().unwrap() == picture(shown.header().frame), "a viewer's picture is wrong");
                seen.fetch_add(1, Ordering::Relaxed);
            }
        });
        // However it ends, so do the others.
        let over = Over(&is_over);
        let (begun, mut slowest, mut frames, mut late) = (Instant::now(), Duration::ZERO, 0, 0);
        let (mut settled, mut told) = (None, Instant::now());
        while begun.elapsed() < time {
            let asked = Instant::now();
            let frame = assembly.request(&(frames as u32 + 1).to_le_bytes()).unwrap();
            let mut patience = Patience::new();
            while !matches!(assembly.show(&mut link, LOOK).unwrap(), Update::Tiles(_)) {
                assert!(!patience.is_over(), "frame {frame} did not come");
            }
            frames += 1;
            let took = asked.elapsed();
            late += u32::from(took > Duration::from_secs(1));
            slowest = slowest.max(took);
            let shown = bytes(&mut link);
            assert!(frame == frames && shown == picture(frame), "frame {frame} is wrong");
            server.publish(image, frame, None, &shown).unwrap();
            if begun.elapsed() > time / 4 {
                settled.get_or_insert_with(|| (usage(&routers), files()));
            }
            if told.elapsed() > time / 20 {
                told = Instant::now();
                println!("{:.0?}: {frames} frames, {:?}, {} files", begun.elapsed(), usage(&routers), files());
            }
            std::thread::sleep(Duration::from_millis(20).saturating_sub(took));
        }
        drop(over);
        let (before, files_before) = settled.unwrap();
        let (after, files_after) = (usage(&routers), files());
        let harmed = harm.join().unwrap();
        println!(
            "{frames} frames in {time:?}, {} of them by a viewer: all right; the slowest took {slowest:?}, {late} more than a second; {harmed:?}; {} refused; {before:?}, {files_before} files, later {after:?}, {files_after} files",
            seen.load(Ordering::Relaxed),
            assembly.refused()
        );
        assert_eq!(assembly.refused(), 0);
        assert!(files_after <= files_before, "files stay in /dev/shm");
        for (before, after) in before.iter().zip(&after) {
            assert!(after.rss < before.rss + (24 << 20), "memory grows");
            assert!(after.descriptors <= before.descriptors + 2 * WORKERS + 4, "descriptors stay");
            assert!(after.threads <= before.threads + 4, "threads stay");
        }
    });
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
