//! Workers that are killed in the midst of a frame, viewers that do not read, and what thousands of frames leave behind.

use crate::common::*;
use crate::peer::{RunningPeer, joined, part};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Codec, Net, NetOptions, Scene, Update};
use pixelferry_testing::{Need, Patience, Usage, by_level, need, wait_until};
use std::process::Command;
use std::time::{Duration, Instant};

const SCENE: &str = "killed";

/// The worker that other tests kill: it computes a row, waits, and computes the next, so that it dies within a tile.
#[test]
#[ignore = "run by the other tests in processes of their own"]
fn worker_process() {
    let Some((net, scene)) = joined() else { return };
    let tile = net.tile(&scene, None).unwrap();
    loop {
        let Some(mut job) = tile.next(LOOK).unwrap() else { continue };
        let seed = u32::from_le_bytes(*job.args().first_chunk().unwrap());
        let (image, region) = (job.image(), job.region());
        let rows = expected(&image, region, seed);
        let half = rows.len() / 2;
        job.pixels()[..half].copy_from_slice(&rows[..half]);
        std::thread::sleep(Duration::from_millis(3));
        job.pixels()[half..].copy_from_slice(&rows[half..]);
        tile.publish(job).unwrap();
    }
}

fn worker(hub: &str) -> RunningPeer {
    RunningPeer(part("lasting::worker_process", hub, SCENE).spawn().unwrap())
}

#[test]
fn a_worker_that_is_killed_tears_no_frame_and_its_tiles_come_back() {
    alone();
    let (net, endpoint) = hub();
    let image = ImageDesc::new(96, 64, PixelFormat::Rgba8);
    let mut assembly = net.assemble(Scene::new(SCENE, image).with_tile(16, 16), NEVER).unwrap();
    let mut link = link(image);
    let mut workers: Vec<_> = (0..2).map(|_| worker(&endpoint)).collect();
    wait_for_workers(&assembly, 2);
    let (mut usual, mut slowest) = (Duration::ZERO, Duration::ZERO);
    for round in 0..by_level(2, 6, 6u32) {
        for _ in 0..3 {
            let begun = Instant::now();
            assembly.request(&(round * 10 + 1).to_le_bytes()).unwrap();
            show(&mut assembly, &mut link);
            usual = usual.max(begun.elapsed());
        }
        let before = bytes(&mut link);
        assert!(before == expected(&image, image.extent.full(), round * 10 + 1));
        let seed = round * 10 + 2;
        let frame = assembly.request(&seed.to_le_bytes()).unwrap();
        // Some tiles are there, and one of the workers is within another.
        std::thread::sleep(Duration::from_millis(10));
        drop(workers.remove(0));
        let killed = Instant::now();
        assert!(bytes(&mut link) == before, "the last complete frame stays");
        let shown = show(&mut assembly, &mut link);
        slowest = slowest.max(killed.elapsed());
        assert_eq!(shown.frame(), frame);
        assert!(bytes(&mut link) == expected(&image, image.extent.full(), seed), "a torn frame, or a black one");
        wait_for_workers(&assembly, 1);
        workers.push(worker(&endpoint));
        wait_for_workers(&assembly, 2);
    }
    println!("the slowest frame came in {usual:?}, after a kill in {slowest:?}");
    // Sooner than a session is taken for gone, except for what a machine with much else to do adds to every frame.
    assert!(slowest < Duration::from_secs(2) + 10 * usual, "{slowest:?}, else {usual:?}");
    assert_eq!(assembly.refused(), 0);
    drop(workers);
}

/// Shared memory that a process has mapped: lent to others or by them, and in /dev/shm.
fn mapped(process: &str) -> [usize; 2] {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    ["/memfd:pixelferry", "/dev/shm/"].map(|of| maps.lines().filter(|line| line.contains(of)).count())
}

#[test]
fn nothing_is_left_of_workers_that_ended() {
    alone();
    let rounds: usize = by_level(12, 50, 1000);
    for (shared_memory, signal) in [(true, "-KILL"), (true, "-TERM"), (false, "-KILL"), (false, "-TERM")] {
        let mut options = NetOptions::hub("tcp/127.0.0.1:0");
        options.shared_memory = shared_memory;
        let net = Net::join(options).unwrap();
        assert_eq!(net.own_status()().memory == "copied: switched off", !shared_memory);
        let endpoint = net.endpoints().unwrap()[0].clone();
        let image = ImageDesc::new(256, 256, PixelFormat::Rgba8);
        let mut assembly = net.assemble(Scene::new(SCENE, image).with_tile(256, 256), NEVER).unwrap();
        let mut link = link(image);
        let mut after = Vec::new();
        for round in 0..rounds {
            let mut worker = worker(&endpoint);
            wait_for_workers(&assembly, 1);
            assembly.request(&(round as u32).to_le_bytes()).unwrap();
            let tiles = show(&mut assembly, &mut link);
            assert_eq!(tiles.tiles()[0].is_shared(), shared_memory);
            drop(tiles);
            let id = worker.0.id().to_string();
            assert_eq!(mapped(&id)[1], 0, "files would stay");
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            worker.0.wait().unwrap();
            wait_for_workers(&assembly, 0);
            after.push((Usage::here().unwrap(), mapped("self")));
        }
        let ((first, mapped_first), (last, mapped_last)) = (&after[rounds / 2], &after[rounds - 1]);
        println!("shared memory {shared_memory}, {signal}: {first:?}, later {last:?}; {mapped_last:?} mapped");
        assert!(last.descriptors <= first.descriptors + 3, "{after:?}");
        assert!(mapped_last <= mapped_first, "{after:?}");
        let grown = last.rss.saturating_sub(first.rss);
        assert!(grown < (4 << 20) + (rounds as u64) * (64 << 10), "{grown} bytes more: {after:?}");
    }
}

/// A small /dev/shm, as containers have, is neither needed nor filled.
#[test]
fn a_small_dev_shm_changes_nothing() {
    const INSIDE: &str = "PIXELFERRY_TEST_SMALL";
    let own = "mount -t tmpfs -o size=8m tmpfs /dev/shm && exec \"$@\"";
    let mut unshare = Command::new("unshare");
    unshare.args(["-Urm", "sh", "-c", own, "sh"]);
    if std::env::var_os(INSIDE).is_none() {
        let tried = Command::new("unshare").args(["-Urm", "sh", "-c", own, "sh", "true"]).output();
        let tried = tried.map_err(|error| error.to_string()).and_then(|tried| match tried.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&tried.stderr).into_owned()),
        });
        if need(Need::Namespaces, tried).is_none() {
            return;
        }
        let here = std::env::current_exe().unwrap();
        unshare.arg(here).args(["--exact", "lasting::a_small_dev_shm_changes_nothing"]).env(INSIDE, "1");
        assert!(unshare.status().unwrap().success());
        return;
    }
    let (net, endpoint) = hub();
    let image = ImageDesc::new(1024, 1024, PixelFormat::Rgba8);
    let mut assembly = net.assemble(Scene::new("small", image).with_tile(1024, 1024), NEVER).unwrap();
    let crew = Crew::start(2, &endpoint, "small", Codec::None);
    wait_for_workers(&assembly, 2);
    let mut link = link(image);
    for seed in 0..10u32 {
        assembly.request(&seed.to_le_bytes()).unwrap();
        assert!(show(&mut assembly, &mut link).tiles()[0].is_shared());
        assert!(bytes(&mut link) == expected(&image, image.extent.full(), seed));
    }
    assert_eq!(std::fs::read_dir("/dev/shm").unwrap().count(), 0);
    crew.stop();
}

/// Parts of a run after each of which it is looked what the process has.
const PARTS: u32 = 5;
#[test]
fn thousands_of_frames_leave_nothing_behind() {
    alone();
    // Bytes a frame, of which a tile has 1920: what is kept of each shows in every part of a run; queues that a busy machine fills
    // once show in some. Zenoh notes each message in shared memory until that is full, after 30 000.
    let (frames, kept): (u32, u64) = by_level((2_000, 512), (10_000, 512), (100_000, 64));
    let (net, endpoint) = hub();
    let image = ImageDesc::new(40, 24, PixelFormat::Rgba8);
    let mut assembly = net.assemble(Scene::new("long", image).with_tile(20, 24), NEVER).unwrap();
    let crew = Crew::start(2, &endpoint, "long", Codec::None);
    wait_for_workers(&assembly, 2);
    let server = net.serve("long").unwrap();
    let viewer = Net::join(NetOptions::through(&endpoint)).unwrap().view("long").unwrap();
    let mut link = link(image);
    let mut patience = Patience::new();
    let mut after = Vec::new();
    for seed in 0..frames {
        assembly.request(&seed.to_le_bytes()).unwrap();
        loop {
            match assembly.show(&mut link, Duration::from_secs(1)).unwrap() {
                Update::Tiles(tiles) => break server.publish(image, tiles.frame(), None, &bytes(&mut link)).unwrap(),
                _ => assert!(!patience.is_over(), "frame {seed} did not come"),
            }
        }
        patience.renew();
        let _ = viewer.next(Duration::ZERO);
        if (seed + 1) % (frames / PARTS) == 0 {
            after.push((Usage::here().unwrap(), mapped("self")));
        }
    }
    assert!(bytes(&mut link) == expected(&image, image.extent.full(), frames - 1));
    println!("after each part of {frames} frames: {after:?}");
    let least = after.windows(2).map(|pair| pair[1].0.rss.saturating_sub(pair[0].0.rss)).min().unwrap();
    assert!(least <= u64::from(frames / PARTS) * kept, "memory grows with every frame: {after:?}");
    let ((first, segments), (last, now)) = (&after[0], &after[after.len() - 1]);
    assert!(last.rss < first.rss + (32 << 20), "memory grows: {after:?}");
    assert!(now <= segments, "{after:?}");
    // A connection that was made again closes the one before it in time.
    wait_until("few descriptors", || Usage::here().unwrap().descriptors <= first.descriptors + 2);
    crew.stop();
}

/// Nobody looks for others by multicast, and nobody listens where nobody asked it to.
#[test]
fn nothing_listens_unless_it_is_asked_to() {
    let silent = Net::join(NetOptions::default()).unwrap();
    assert!(silent.endpoints().unwrap().is_empty());
    let (net, endpoint) = hub();
    let endpoints = net.endpoints().unwrap();
    assert!(endpoints.iter().all(|endpoint| endpoint.starts_with("tcp/127.0.0.1:")), "{endpoints:?}");
    let through = Net::join(NetOptions::through(&endpoint)).unwrap();
    assert!(through.endpoints().unwrap().is_empty());
    assert!(Net::join(NetOptions::through("tcp/127.0.0.1:1")).is_err());
}

/// A viewer that takes nothing from its socket: the others get their pictures all the same.
#[test]
fn a_viewer_that_never_reads_slows_nobody() {
    alone();
    let (net, endpoint) = hub();
    let image = ImageDesc::new(320, 240, PixelFormat::Rgba8);
    let server = net.serve("busy").unwrap().with_codec(Codec::Lz4, 0);
    // Pixels that LZ4 does not shrink: 300 kB a frame fill any socket soon.
    let pixels = expected(&image, image.extent.full(), 3);
    let stopped = RunningPeer(part("peer::viewer_process", &endpoint, "busy").spawn().unwrap());
    wait_until("the viewer", || server.is_viewed().unwrap());
    let stop = Command::new("kill").args(["-STOP", &stopped.0.id().to_string()]).status().unwrap();
    assert!(stop.success());
    let viewer = Net::join(NetOptions::through(&endpoint)).unwrap().view("busy").unwrap();
    let mut before = 0;
    let begun = Instant::now();
    let mut seen = 0;
    for frame in 1..=200 {
        if frame == 100 {
            before = Usage::here().unwrap().rss;
        }
        server.publish(image, frame, None, &pixels).unwrap();
        if let Some(picture) = viewer.next(Duration::from_secs(1)) {
            assert!(*picture.to_bytes().unwrap() == pixels);
            seen += 1;
        }
    }
    let grown = Usage::here().unwrap().rss.saturating_sub(before);
    println!(
        "{seen} of 200 pictures in {} ms beside a viewer that stands still; {grown} bytes more",
        begun.elapsed().as_millis()
    );
    assert!(seen >= 150, "{seen} of 200 pictures came");
    assert!(grown < 16 << 20, "{grown} bytes wait for who does not read");
}

#[test]
fn viewers_get_pictures_by_every_codec_and_the_one_of_before_they_came() {
    let (net, endpoint) = hub();
    for (codec, format) in
        [(Codec::None, PixelFormat::Rgba32F), (Codec::Lz4, PixelFormat::Rgb10A2), (Codec::Jpeg, PixelFormat::Bgra8)]
    {
        let server = net.serve("seen").unwrap().with_codec(codec, 95);
        let image = ImageDesc::new(301, 200, format);
        // One colour, which JPEG keeps nearly.
        let pixels = [200, 100, 40, 255].repeat(301 * 200 * format.bytes_per_pixel() / 4);
        server.publish(image, 1, None, &pixels).unwrap();
        let viewer = Net::join(NetOptions::through(&endpoint)).unwrap().view("seen").unwrap();
        let mut picture = None;
        wait_until("the picture of before", || {
            picture = viewer.next(LOOK);
            picture.is_some()
        });
        let picture = picture.unwrap();
        assert_eq!((picture.header().frame, picture.header().image), (1, image));
        let close = picture.to_bytes().unwrap().iter().zip(&pixels).all(|(a, b)| a.abs_diff(*b) <= 4);
        assert!(close && (!codec.is_exact() || *picture.to_bytes().unwrap() == pixels), "{codec}");
        viewer.send(b"key w").unwrap();
        let mut input = None;
        wait_until("the key", || {
            input = input.take().or_else(|| server.input());
            input.is_some()
        });
        assert_eq!(input.unwrap(), b"key w");
        assert_eq!(viewer.refused(), 0);
    }
}
