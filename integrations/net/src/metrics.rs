//! Metrics for Prometheus, as text over plain HTTP, and at `/live` whether the command makes progress.

use crate::failure::Failure;
use pixelferry_net::{Net, NodeStatus};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A command whose loop has not run for this long hangs, for example in a kernel that never ends.
const HANGS: Duration = Duration::from_secs(60);
/// Time limit for a request, and for reading the answer.
const PATIENCE: Duration = Duration::from_secs(2);

struct Numbers {
    /// Values by name; a value whose name ends with `_total` only grows.
    values: BTreeMap<&'static str, f64>,
    nodes: Vec<Box<dyn Fn() -> NodeStatus + Send>>,
    beat: Option<Instant>,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { values: BTreeMap::new(), nodes: Vec::new(), beat: None });

fn numbers() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn set(name: &'static str, value: f64) {
    numbers().values.insert(name, value);
}

pub fn add(name: &'static str, more: usize) {
    *numbers().values.entry(name).or_default() += more as f64;
}

/// Records that the command's loop runs.
pub fn beat() {
    numbers().beat = Some(Instant::now());
}

/// Adds what this program does on a network, as in `probe`.
pub fn watch(net: &Net) {
    numbers().nodes.push(Box::new(net.own_status()));
}

/// Serves requests until the program ends.
pub fn serve(address: SocketAddr) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).map_err(|reason| Failure::Metrics { address, reason })?;
    let answers = move || listener.incoming().flatten().for_each(answer);
    thread::Builder::new().name("metrics".into()).spawn(answers).map(drop).map_err(Failure::Thread)
}

/// Serves one request at a time: a scraper sends one every few seconds. A broken connection is ignored.
fn answer(mut stream: TcpStream) {
    let timed = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    let (begun, mut head, mut length) = (Instant::now(), [0; 4096], 0);
    // Read the whole request: unread data would reset the connection before the answer is read.
    while timed.is_ok() && begun.elapsed() < PATIENCE && !head[..length].ends_with(b"\r\n\r\n") {
        match stream.read(&mut head[length..]) {
            Ok(more @ 1..) => length += more,
            _ => return,
        }
    }
    let is_live = head[..length].starts_with(b"GET /live ");
    let hangs = is_live && numbers().beat.is_some_and(|beat| beat.elapsed() > HANGS);
    let (status, body) = match (hangs, is_live) {
        (true, _) => ("503 Service Unavailable", format!("no progress for {HANGS:?}\n")),
        (false, true) => ("200 OK", "making progress\n".into()),
        (false, false) => ("200 OK", text()),
    };
    let kind = "Content-Type: text/plain; version=0.0.4\r\nConnection: close";
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
}

fn text() -> String {
    let numbers = numbers();
    let mut rows: BTreeMap<String, Vec<(String, f64)>> =
        numbers.values.iter().map(|(name, value)| ((*name).into(), vec![(String::new(), *value)])).collect();
    let mut sums = BTreeMap::<_, f64>::new();
    for role in numbers.nodes.iter().flat_map(|status| status().roles) {
        for (name, value) in [("messages", role.messages), ("refused", role.refused)] {
            *sums.entry((name, role.role.clone(), role.scene.clone())).or_default() += value as f64;
        }
    }
    for ((name, role, scene), value) in sums {
        let labels = format!("{{role=\"{role}\",scene=\"{scene}\"}}");
        rows.entry(format!("pixelferry_{name}_total")).or_default().push((labels, value));
    }
    let mut text = String::new();
    for (name, values) in rows {
        let _ = writeln!(text, "# TYPE {name} {}", if name.ends_with("_total") { "counter" } else { "gauge" });
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    text
}
