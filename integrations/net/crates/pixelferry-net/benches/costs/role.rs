//! What a process in a role does, until its input ends.

use crate::process::{HUB, Result, tell_ready};
use pixelferry_net::{Net, Options, Tile, Viewer};
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zenoh::Wait as _;
use zenoh::qos::CongestionControl;

pub const SCENE: &str = "costs";
pub const KEY: &str = "costs/message";

/// Pixels go through the network, as between machines.
pub fn options(options: Options) -> Options {
    let mut options = options;
    options.shared_memory = false;
    options
}

pub fn run(role: &str) -> Result<()> {
    let words: Vec<&str> = role.split(' ').collect();
    let seen = Arc::new(AtomicU64::new(0));
    let told = seen.clone();
    let through = || Net::join(options(Options::through(&std::env::var(HUB)?))).map_err(Into::into);
    let number = |at: usize| words.get(at).ok_or("a number").map(|word| word.parse::<u64>());
    let mut held: Vec<Box<dyn std::any::Any>> = Vec::new();
    match words[0] {
        "hub" => {
            let net = Net::join(options(Options::hub("tcp/127.0.0.1:0")))?;
            tell_ready(net.endpoints()?.first().ok_or("an endpoint")?)?;
            held.push(Box::new(net));
        }
        "send" => {
            let net: Result<Net> = through();
            let (net, bytes, rate) = (net?, number(1)??, number(2)??);
            std::thread::spawn(move || send(&net, bytes as usize, rate as u32).map_err(|error| error.to_string()));
            tell_ready("")?;
        }
        "receive" => {
            let net: Result<Net> = through();
            let net = net?;
            let take = move |_sample: zenoh::sample::Sample| {
                let _ = told.fetch_add(1, Ordering::Relaxed);
            };
            let key = words.get(1).copied().unwrap_or(KEY).to_owned();
            let subscriber = net.session().declare_subscriber(key).callback(take).wait();
            held.push(Box::new((subscriber.map_err(|error| error.to_string())?, net)));
            tell_ready("")?;
        }
        "work" => {
            let net: Result<Net> = through();
            let tile = net?.tile(SCENE, None)?;
            std::thread::spawn(move || work(&tile, &told));
            tell_ready("")?;
        }
        "view" => {
            let net: Result<Net> = through();
            let viewer = net?.view(SCENE)?;
            std::thread::spawn(move || view(&viewer, &told));
            tell_ready("")?;
        }
        "members" => {
            tell_ready("")?;
            let mut go = [0];
            std::io::stdin().read_exact(&mut go)?;
            for _ in 0..number(1)?? {
                let net: Result<Net> = through();
                held.push(Box::new(net?.tile(SCENE, None)?));
            }
        }
        other => return Err(format!("no role {other}").into()),
    }
    let mut rest = String::new();
    std::io::stdin().read_to_string(&mut rest)?;
    println!("{}", seen.load(Ordering::Relaxed));
    Ok(())
}

/// So many messages a second.
fn send(net: &Net, bytes: usize, rate: u32) -> Result<()> {
    let payload = vec![7u8; bytes];
    let publisher = net.session().declare_publisher(KEY).congestion_control(CongestionControl::Block).express(true);
    let publisher = publisher.wait().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    for sent in 1u32.. {
        publisher.put(payload.clone()).wait().map_err(|error| error.to_string())?;
        std::thread::sleep((Duration::from_secs(1) * sent / rate).saturating_sub(begun.elapsed()));
    }
    Ok(())
}

/// Tiles that cost nothing to compute.
fn work(tile: &Tile, done: &AtomicU64) -> pixelferry_net::Result<()> {
    let mut pixels = Vec::new();
    loop {
        let Some(mut job) = tile.next(Duration::from_millis(500))? else { continue };
        let bytes = job.region().extent().pixels() as usize * job.image().format.bytes_per_pixel();
        pixels.resize(bytes, 99);
        job.write(&pixels)?;
        tile.publish(job)?;
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn view(viewer: &Viewer, seen: &AtomicU64) {
    loop {
        if viewer.next(Duration::from_millis(500)).is_some() {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    }
}
