//! Raw 1080p from one process to another, with and without shared memory.

use crate::child::{self, SCENE, options};
use crate::floor;
use crate::is_wanted;
use crate::process::{Process, Result, now};
use crate::table::PeersRow;
use pixelferry::{CpuBackend, ImageAccess, Link, LinkOptions, MemoryDisplay, PathId, Policy, SurfaceDesc, Unwritten};
use pixelferry_net::{Net, NetOptions, Scene, Update};
use std::sync::Arc;
use std::time::Duration;

const ROUNDS: usize = 3;
/// Microseconds before the measured time, and of it.
const WARMING: u64 = 700_000;
const MEASURED: u64 = 2_500_000;

type RawRun = fn(&Net, &str, bool) -> Result<Vec<u64>>;

/// Ways that are measured beside each other: the floor first.
const WAYS: [(&str, RawRun); 6] = [
    ("Zenoh, put and subscribe", zenoh_stream),
    ("pixelferry, serve and view", stream),
    ("Zenoh, ask and answer", zenoh_asked),
    ("pixelferry, tile and show", asked),
    ("Zenoh, ask ahead and answer", zenoh_asked_ahead),
    ("pixelferry, ask ahead and show", asked_ahead),
];

/// Ways for many viewers.
type Stream = fn(&Net, &str, bool, usize) -> Result<Vec<Vec<u64>>>;

const STREAMS: [(&str, Stream); 2] =
    [("Zenoh, put and subscribe", zenoh_streams), ("pixelferry, serve and view", streams)];

/// Pictures as fast as they go to many viewers, each a process.
pub fn measure_many(counts: &[usize]) -> Result<Vec<PeersRow>> {
    let mut rows = Vec::new();
    for &count in counts.iter().filter(|&&count| count > 1) {
        for (shared, way) in [(false, "TCP"), (true, "shared memory")] {
            for (label, stream) in STREAMS.iter().filter(|(label, _)| is_wanted(label)) {
                let net = Net::join(options(NetOptions::hub("tcp/127.0.0.1:0"), shared))?;
                let hub = net.endpoints()?.first().ok_or("an endpoint")?.clone();
                let mut row = PeersRow::new("raw 1080p", &format!("{label}, {way}"), count);
                row.add(stream(&net, &hub, shared, count)?, MEASURED);
                rows.push(row);
                net.leave()?;
            }
        }
    }
    Ok(rows)
}

/// All ways take turns, so that drift affects all equally.
pub fn measure() -> Result<Vec<PeersRow>> {
    let mut rows = Vec::new();
    for shared in [false, true] {
        let name = |name: &str| format!("{name}, {}", if shared { "shared memory" } else { "TCP" });
        let mut ways: Vec<_> = WAYS.iter().map(|(label, _)| PeersRow::new("raw 1080p", &name(label), 1)).collect();
        for round in 0..ROUNDS {
            for turn in 0..WAYS.len() {
                let at = (turn + round) % WAYS.len();
                if !WAYS.get(at).is_some_and(|(label, _)| is_wanted(label)) {
                    continue;
                }
                let net = Net::join(options(NetOptions::hub("tcp/127.0.0.1:0"), shared))?;
                let hub = net.endpoints()?.first().ok_or("an endpoint")?.clone();
                if let (Some((_, way)), Some(row)) = (WAYS.get(at), ways.get_mut(at)) {
                    row.add(vec![way(&net, &hub, shared)?], MEASURED);
                }
                net.leave()?;
            }
        }
        rows.extend(ways.into_iter().filter(PeersRow::is_measured));
    }
    Ok(rows)
}

fn window() -> (u64, u64) {
    let from = now() + WARMING;
    (from, from + MEASURED)
}

fn start(role: &str, hub: &str, shared: bool) -> Result<Process> {
    let mut process = child::start(role, hub, shared)?;
    process.wait_until_ready()?;
    // Until the hub knows of the other's keys.
    std::thread::sleep(Duration::from_millis(300));
    Ok(process)
}

fn start_many(role: &str, hub: &str, shared: bool, count: usize) -> Result<Vec<Process>> {
    (0..count).map(|_| start(role, hub, shared)).collect()
}

fn zenoh_streams(net: &Net, hub: &str, shared: bool, count: usize) -> Result<Vec<Vec<u64>>> {
    let processes = start_many("copy-zenoh", hub, shared, count)?;
    let window = window();
    floor::send(net, shared, window.1)?;
    child::end(processes, window)
}

fn streams(net: &Net, hub: &str, shared: bool, count: usize) -> Result<Vec<Vec<u64>>> {
    let server = net.serve(SCENE)?;
    let processes = start_many("view", hub, shared, count)?;
    let (window, picture) = (window(), floor::picture());
    let mut frame = 0;
    while now() < window.1 {
        frame += 1;
        // Zenoh's own sender waits in the same way: for the line, not for the viewer.
        server.wait_until_free(Duration::from_millis(100))?;
        server.publish(floor::image(), frame, None, &picture)?;
    }
    child::end(processes, window)
}

fn zenoh_stream(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    Ok(zenoh_streams(net, hub, shared, 1)?.concat())
}

fn stream(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    Ok(streams(net, hub, shared, 1)?.concat())
}

fn zenoh_asked(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    let _process = start("answer-zenoh", hub, shared)?;
    floor::ask(net, window(), false)
}

fn zenoh_asked_ahead(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    let _process = start("answer-zenoh", hub, shared)?;
    floor::ask(net, window(), true)
}

fn asked(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    shown(net, hub, shared, false)
}

fn asked_ahead(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    shown(net, hub, shared, true)
}

/// Tells how long each picture took from asking until it lay in a link's memory. `ahead` has the next arguments ready: the display
/// asks for the next frame when one is complete, before it shows that one.
fn shown(net: &Net, hub: &str, shared: bool, ahead: bool) -> Result<Vec<u64>> {
    // Every pixel is written, so nothing of the frame before is copied.
    let image = floor::image().with_unwritten(Unwritten::Overwrite).with_access(ImageAccess::Any);
    let mut assembly = net.assemble(Scene::new(SCENE, image).with_tile(1920, 1080), Duration::from_secs(5))?;
    let backend = Arc::new(CpuBackend::new()?);
    // One copy, as the floor's: memory that the display shows where it lies.
    let in_place = LinkOptions::new(Policy::default().with_force(Some(PathId::PINNED_IN_PLACE)));
    let mut link = Link::open(backend, MemoryDisplay::new(), SurfaceDesc::Image(image), in_place)?;
    let _process = start("work", hub, shared)?;
    let (from, until) = window();
    let mut took = Vec::new();
    if ahead {
        assembly.request(&[])?;
    }
    while now() < until {
        assembly.request(&[])?;
        let tiles = loop {
            match assembly.show(&mut link, Duration::from_secs(1))? {
                Update::Tiles(tiles) => break tiles,
                _ if now() > until + 10_000_000 => return Err("no picture came".into()),
                _ => {}
            }
        };
        let asked = tiles.tiles().first().map_or(0, |tile| tile.header().time);
        if asked >= from {
            took.push(now() - asked);
        }
    }
    println!("{} frames shown by {}", took.len(), link.path());
    Ok(took)
}
