//! Processes of their own: the program starts itself in a role.

use crate::{Result, floor};
use pixelferry_net::{Net, Options};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zenoh::Wait as _;

pub const ROLE: &str = "PIXELFERRY_BENCH_ROLE";
const HUB: &str = "PIXELFERRY_BENCH_HUB";
const SHARED: &str = "PIXELFERRY_BENCH_SHARED";
pub const SCENE: &str = "bench";

/// Microseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// Pictures as a process saw them: when each came, and how old it was, in microseconds.
type Seen = Arc<Mutex<Vec<(u64, u64)>>>;

fn note(seen: &Seen, asked: u64) {
    let now = now();
    seen.lock().unwrap_or_else(PoisonError::into_inner).push((now, now.saturating_sub(asked)));
}

pub fn options(options: Options, shared: bool) -> Options {
    let mut options = options;
    options.shared_memory = shared;
    options.shared_memory_bytes = 96 << 20;
    options
}

/// What a started process does until its input ends.
pub fn run(role: &str) -> Result<()> {
    let shared = std::env::var_os(SHARED).is_some();
    let net = Net::join(options(Options::through(&std::env::var(HUB)?), shared))?;
    let seen = Seen::default();
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
                    let Ok(bytes) = pixels.to_bytes() else { continue };
                    picture.clear();
                    picture.extend_from_slice(&bytes);
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
    println!("ready");
    std::io::stdout().flush()?;
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

/// A process in a role. It ends with its input.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    pub fn start(role: &str, hub: &str, shared: bool) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(ROLE, role).env(HUB, hub).stdin(Stdio::piped()).stdout(Stdio::piped());
        if shared {
            command.env(SHARED, "1");
        }
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("a pipe")?);
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    pub fn wait_until_ready(&mut self) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.trim() == "ready" { Ok(()) } else { Err("a process did not start".into()) }
    }

    /// Lets all end, and gives the ages of the pictures that each saw between two times.
    pub fn end(mut all: Vec<Self>, (from, to): (u64, u64)) -> Result<Vec<Vec<u64>>> {
        for process in &mut all {
            if let Some(mut input) = process.input.take() {
                write!(input, "{from} {to}")?;
            }
        }
        let ages = |mut process: Self| {
            let mut line = String::new();
            process.output.read_line(&mut line)?;
            process.child.wait()?;
            Ok(serde_json::from_str(&line)?)
        };
        all.into_iter().map(ages).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
