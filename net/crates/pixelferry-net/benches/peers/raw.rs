//! Raw 1080p from one process to another, with and without shared memory.

use crate::Result;
use crate::child::{Process, SCENE, now, options};
use crate::floor;
use crate::table::Row;
use pixelferry::{CpuBackend, Link, LinkOptions, MemoryDisplay, SurfaceDesc};
use pixelferry_net::{Net, Options, Scene, Update};
use std::sync::Arc;
use std::time::Duration;

const ROUNDS: usize = 3;
/// Microseconds before the measured time, and of it.
const WARMING: u64 = 700_000;
const MEASURED: u64 = 2_500_000;

type Way = fn(&Net, &str, bool) -> Result<Vec<u64>>;

/// What is measured beside what: the floor first.
const WAYS: [(&str, Way); 4] = [
    ("Zenoh, put and subscribe", zenoh_stream),
    ("pixelferry, serve and view", stream),
    ("Zenoh, ask and answer", zenoh_asked),
    ("pixelferry, tile and show", asked),
];

/// All ways take turns, so that drift affects all equally.
pub fn measure() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for shared in [false, true] {
        let name = |name: &str| format!("{name}, {}", if shared { "shared memory" } else { "TCP" });
        let mut ways: Vec<_> = WAYS.iter().map(|(label, _)| Row::new("raw 1080p", &name(label), 1)).collect();
        for round in 0..ROUNDS {
            for turn in 0..WAYS.len() {
                let at = (turn + round) % WAYS.len();
                let net = Net::join(options(Options::hub("tcp/127.0.0.1:0"), shared))?;
                let hub = net.endpoints()?.first().ok_or("an endpoint")?.clone();
                if let (Some((_, way)), Some(row)) = (WAYS.get(at), ways.get_mut(at)) {
                    row.add(vec![way(&net, &hub, shared)?], MEASURED);
                }
                net.leave()?;
            }
        }
        rows.extend(ways);
    }
    Ok(rows)
}

fn window() -> (u64, u64) {
    let from = now() + WARMING;
    (from, from + MEASURED)
}

fn start(role: &str, hub: &str, shared: bool) -> Result<Process> {
    let mut process = Process::start(role, hub, shared)?;
    process.wait_until_ready()?;
    // Until the hub knows of the other's keys.
    std::thread::sleep(Duration::from_millis(300));
    Ok(process)
}

fn one(process: Process, window: (u64, u64)) -> Result<Vec<u64>> {
    Ok(Process::end(vec![process], window)?.into_iter().next().unwrap_or_default())
}

fn zenoh_stream(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    let process = start("copy-zenoh", hub, shared)?;
    let window = window();
    floor::send(net, shared, window.1)?;
    one(process, window)
}

fn stream(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    let server = net.serve(SCENE)?;
    let process = start("view", hub, shared)?;
    let (window, picture) = (window(), floor::picture());
    let mut frame = 0;
    while now() < window.1 {
        frame += 1;
        server.publish(floor::image(), frame, None, &picture)?;
    }
    one(process, window)
}

fn zenoh_asked(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    let _process = start("answer-zenoh", hub, shared)?;
    floor::ask(net, window())
}

fn asked(net: &Net, hub: &str, shared: bool) -> Result<Vec<u64>> {
    let image = floor::image();
    let mut assembly = net.assemble(Scene::new(SCENE, image).with_tile(1920, 1080), Duration::from_secs(5))?;
    let backend = Arc::new(CpuBackend::new()?);
    let mut link = Link::open(backend, MemoryDisplay::new(), SurfaceDesc::Image(image), LinkOptions::default())?;
    let _process = start("work", hub, shared)?;
    let (from, until) = window();
    let mut took = Vec::new();
    while now() < until {
        let begun = now();
        assembly.request(&[])?;
        while !matches!(assembly.show(&mut link, Duration::from_secs(1))?, Update::Tiles(_)) {
            if now() > until + 10_000_000 {
                return Err("no picture came".into());
            }
        }
        if begun >= from {
            took.push(now() - begun);
        }
    }
    Ok(took)
}
