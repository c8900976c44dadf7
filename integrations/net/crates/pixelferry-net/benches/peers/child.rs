//! Work of a process in a role.

use crate::floor;
use crate::process::{HUB, Process, Result, now, tell_ready};
use pixelferry_net::{Net, NetOptions};
use std::io::Read as _;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zenoh::Wait as _;

const SHARED: &str = "PIXELFERRY_BENCH_SHARED";
pub const SCENE: &str = "bench";

/// Pictures as a process saw them: when each came, and how old it was, in microseconds.
type PictureTimes = Arc<Mutex<Vec<(u64, u64)>>>;

fn note(seen: &PictureTimes, asked: u64) {
    let now = now();
    seen.lock().unwrap_or_else(PoisonError::into_inner).push((now, now.saturating_sub(asked)));
}

pub fn options(options: NetOptions, shared: bool) -> NetOptions {
    let mut options = options;
    options.shared_memory = shared;
    options.shared_memory_bytes = 96 << 20;
    // What is measured beside us shares memory by Zenoh.
    options.zenoh.push(("transport/shared_memory/enabled".into(), shared.to_string()));
    options
}

/// Runs the role of a started process until its input ends.
pub fn run(role: &str) -> Result<()> {
    let shared = std::env::var_os(SHARED).is_some();
    let net = Net::join(options(NetOptions::through(&std::env::var(HUB)?), shared))?;
    let seen = PictureTimes::default();
    let told = seen.clone();
    let mut held = None;
    match role {
        // Counts messages of a key and reads the time in their headers only.
        "count" | "count-zenoh" => {
            let key = if role == "count" { format!("pixelferry/{SCENE}/view") } else { floor::KEY.into() };
            let take = move |sample: zenoh::sample::Sample| {
                if let Some(asked) = floor::time(&sample.payload().to_bytes()) {
                    note(&told, asked);
                }
            };
            held = Some(net.session().declare_subscriber(key).callback(take).wait().map_err(|e| e.to_string())?);
        }
        "view" => {
            let viewer = net.view(SCENE)?;
            let mut picture = Vec::new();
            std::thread::spawn(move || {
                loop {
                    let Some(pixels) = viewer.next(Duration::from_millis(100)) else { continue };
                    picture.resize(pixels.header().pixel_bytes() as usize, 0);
                    if pixels.copy_to(&mut picture).is_err() {
                        continue;
                    }
                    note(&told, pixels.header().time);
                }
            });
        }
        "work" => {
            let tile = net.tile(SCENE, None)?;
            std::thread::spawn(move || -> pixelferry_net::Result<()> {
                let picture = floor::picture();
                loop {
                    let Some(mut job) = tile.next(Duration::from_millis(100))? else { continue };
                    job.write(&picture)?;
                    tile.publish(job)?;
                }
            });
        }
        "copy-zenoh" => floor::receive(&net, move |asked| note(&told, asked))?,
        "answer-zenoh" => floor::answer(&net, shared)?,
        other => return Err(format!("no role {other}").into()),
    }
    tell_ready()?;
    let mut window = String::new();
    std::io::stdin().read_to_string(&mut window)?;
    let (from, to) = window.trim().split_once(' ').unwrap_or(("0", "0"));
    let (from, to) = (from.parse::<u64>()?, to.parse::<u64>()?);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let within: Vec<u64> = seen.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, age)| *age).collect();
    println!("{}", serde_json::to_string(&within)?);
    drop(held);
    Ok(())
}

/// Starts a process in a role.
pub fn start(role: &str, hub: &str, shared: bool) -> Result<Process> {
    let variables = [(SHARED, "1")];
    Process::start(role, hub, if shared { &variables } else { &[] })
}

/// A part of `websocket.py`, in this Python.
pub fn start_python(python: &str, arguments: &[&str]) -> Result<Process> {
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/websocket.py")).args(arguments);
    Process::spawn(command)
}

/// Lets all end, and gives the ages of the pictures that each saw between two times.
pub fn end(mut all: Vec<Process>, (from, to): (u64, u64)) -> Result<Vec<Vec<u64>>> {
    all.iter_mut().try_for_each(|process| process.tell(&format!("{from} {to}")))?;
    all.into_iter().map(|process| Ok(serde_json::from_str(&process.answer()?)?)).collect()
}
