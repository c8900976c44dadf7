//! Workers that join, one after the other: processor time of the hub and of the workers, whose tokens all see each other.

use crate::process::{Process, Result};
use crate::role::{SCENE, options};
use crate::usage::computed;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Net, Options, Scene};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ROUNDS: usize = 2;

pub fn measure() -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        for count in [8, 16, 32, 64, 128] {
            rows.push(once(round, count)?);
        }
    }
    Ok(rows)
}

fn once(round: usize, count: usize) -> Result<Value> {
    let mut hub = Process::start("hub", "", &[])?;
    let endpoint = hub.wait_until_ready()?;
    let net = Net::join(options(Options::through(&endpoint)))?;
    let image = ImageDesc::new(64, 64, PixelFormat::R8);
    let assembly = net.assemble(Scene::new(SCENE, image), Duration::from_secs(60))?;
    let mut members = Process::start(&format!("members {count}"), &endpoint, &[])?;
    members.wait_until_ready()?;
    let (hub_before, before, begun) = (computed(hub.id())?, computed(members.id())?, Instant::now());
    members.nudge()?;
    while assembly.workers() < count {
        if begun.elapsed() > Duration::from_secs(300) {
            return Err(format!("{} of {count} members came", assembly.workers()).into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let wall = begun.elapsed();
    // The others hear of the last one.
    std::thread::sleep(Duration::from_millis(500));
    let each = |before: u64, after: u64| (after - before) as f64 / count as f64;
    Ok(json!({
        "row": "join", "round": round, "members": count, "hub_ns": each(hub_before, computed(hub.id())?),
        "member_ns": each(before, computed(members.id())?), "wall_ms": wall.as_millis() as u64,
    }))
}
