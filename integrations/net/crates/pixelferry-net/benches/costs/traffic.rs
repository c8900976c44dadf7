//! Messages from one process through a hub to others: processor time of each.

use crate::process::{Process, Result};
use crate::usage::computed_during;
use serde_json::{Value, json};
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(2);
/// Bytes of a message, how many a second, for how many receivers. All far below what this machine can do.
const CASES: [(usize, u32, usize); 11] = [
    (128, 1000, 1),
    (128, 400, 8),
    (128, 200, 32),
    (16 << 10, 500, 1),
    (16 << 10, 200, 8),
    (64 << 10, 300, 1),
    (64 << 10, 100, 8),
    (64 << 10, 30, 32),
    (256 << 10, 100, 1),
    (1 << 20, 40, 1),
    (1 << 20, 10, 8),
];
const ROUNDS: usize = 2;

pub fn measure() -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for round in 0..ROUNDS {
        for (bytes, rate, receivers) in CASES {
            rows.push(once(round, bytes, rate, receivers)?);
        }
    }
    Ok(rows)
}

fn once(round: usize, bytes: usize, rate: u32, receivers: usize) -> Result<Value> {
    let mut hub = Process::start("hub", "", &[])?;
    let endpoint = hub.wait_until_ready()?;
    let start = |_| Process::start("receive", &endpoint, &[]);
    let mut all = (0..receivers).map(start).collect::<Result<Vec<_>>>()?;
    all.iter_mut().try_for_each(|process| process.wait_until_ready().map(drop))?;
    let mut sender = Process::start(&format!("send {bytes} {rate}"), &endpoint, &[])?;
    sender.wait_until_ready()?;
    std::thread::sleep(Duration::from_millis(700));
    let ids: Vec<u32> = [hub.id(), sender.id()].into_iter().chain(all.iter().map(Process::id)).collect();
    let computed = computed_during(&ids, WINDOW)?;
    let sent = f64::from(rate) * WINDOW.as_secs_f64();
    let each = |nanoseconds: u64| nanoseconds as f64 / sent;
    let taken: u64 = computed.iter().skip(2).sum();
    Ok(json!({
        "row": "message", "round": round, "bytes": bytes, "rate": rate, "receivers": receivers,
        "hub_ns": each(computed[0]), "sender_ns": each(computed[1]), "receiver_ns": each(taken) / receivers as f64,
    }))
}
