//! `cargo bench -p clgl-layer [-- --rounds N --only TEXT --json FILE]`: what acquire and release cost together with the layer, beside a
//! program without it that makes the same copies and waits by direct calls of OpenCL and OpenGL.
//!
//! The two programs run at the same time and take turns, ten at a time, so that both meet the same load. The program
//! without the layer makes its copies in two ways: into mapped memory of OpenCL, and through memory of its own. The last
//! column compares the layer with the quicker one. On a busy machine, the 10th percentile says most.

#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a benchmark that cannot run says so and stops
#![allow(dead_code)] // the tests use more of these

#[path = "../../tests/suite/calls.rs"]
mod calls;
mod copies;
#[path = "../../tests/suite/rig.rs"]
mod rig;
mod turns;

use pixelferry_testing::{Need, sharing_layer};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The object that a row is about. Both programs read it as words.
#[derive(Clone, Copy, PartialEq)]
pub struct Case {
    pub is_texture: bool,
    pub size: (usize, usize),
    /// `CL_MEM_READ_WRITE` or `CL_MEM_READ_ONLY`. The layer treats `CL_MEM_WRITE_ONLY` as the first.
    pub flags: u64,
}

/// How a turn is made.
#[derive(Clone, Copy, PartialEq)]
pub enum Method {
    Layer,
    /// By hand, into and out of mapped memory.
    Mapped,
    /// By hand, through memory of the program.
    Staged,
}

const METHODS: [(&str, Method); 3] = [("layer", Method::Layer), ("mapped", Method::Mapped), ("staged", Method::Staged)];
const SIZES: [(&str, (usize, usize)); 2] = [("1080p", (1920, 1080)), ("4K", (3840, 2160))];
/// Turns of one program before the other's.
const TURNS: usize = 10;

/// One of the two programs.
struct Program {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    fn start(driver: Need, with_layer: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg("--child").envs(driver.row().environment.iter().copied());
        command.env("PIXELFERRY_TEST_DRIVER", driver.name()).env_remove("DISPLAY");
        if with_layer {
            command.envs(sharing_layer(true));
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a child");
        let (orders, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, orders, answers }
    }

    /// Microseconds of some turns; `None` if the driver is missing.
    fn turns(&mut self, case: &Case, method: &str) -> Option<Vec<f64>> {
        let Case { is_texture, size: (width, height), flags } = case;
        writeln!(self.orders, "{method} {is_texture} {width} {height} {flags}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        let samples: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        (samples.len() == TURNS).then_some(samples)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// The value below which that share of the samples is.
fn quantile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn main() {
    if std::env::args().any(|argument| argument == "--child") {
        return turns::answer();
    }
    let rounds: usize = argument("--rounds").map_or(12, |text| text.parse().expect("a number"));
    let only = argument("--only").unwrap_or_default();
    let mut file = argument("--json").map(|name| std::fs::File::create(name).expect("--json"));
    println!(
        "Milliseconds of acquire and release: 10th percentile, median, 99th percentile. Ratio of the first two.\n"
    );
    println!("| driver | object | layer | by hand, mapped | by hand, staged | layer / by hand |");
    println!("|---|---|---|---|---|---|");
    for driver in [Need::Pocl, Need::Rusticl] {
        let (mut with, mut without) = (Program::start(driver, true), Program::start(driver, false));
        for (is_texture, (label, size), flags) in cases() {
            let case = Case { is_texture, size, flags };
            let object = format!(
                "{label} {}{}",
                if is_texture { "texture" } else { "buffer" },
                if flags == rig::READ_ONLY { ", read only" } else { "" }
            );
            if !format!("{} {object}", driver.name()).contains(&only) {
                continue;
            }
            let mut samples: [Vec<f64>; 3] = Default::default();
            for round in 0..=rounds {
                for turn in 0..METHODS.len() {
                    let at = (turn + round) % METHODS.len();
                    let (name, method) = METHODS[at];
                    let program = if method == Method::Layer { &mut with } else { &mut without };
                    let Some(made) = program.turns(&case, name) else {
                        return println!("SKIPPED: {} cannot run here", driver.name());
                    };
                    // The first round finds the objects' memory untouched.
                    if round > 0 {
                        samples[at].extend(made);
                    }
                }
            }
            let shown = |samples: &[f64]| {
                let [low, median, high] = [0.1, 0.5, 0.99].map(|share| quantile(samples, share) / 1e3);
                format!("{low:.2} {median:.2} {high:.2}")
            };
            let ratio = |share| {
                let [layer, mapped, staged] = [0, 1, 2].map(|at| quantile(&samples[at], share));
                layer / mapped.min(staged)
            };
            let [layer, mapped, staged] = [0, 1, 2].map(|at| shown(&samples[at]));
            let (low, median, driver) = (ratio(0.1), ratio(0.5), driver.name());
            println!("| {driver} | {object} | {layer} | {mapped} | {staged} | {low:.2} {median:.2} |");
            if let Some(file) = &mut file {
                for ((name, _), us) in METHODS.iter().zip(&samples) {
                    let us: Vec<String> = us.iter().map(|us| format!("{us:.1}")).collect();
                    let us = us.join(",");
                    writeln!(file, r#"{{"driver":"{driver}","object":"{object}","method":"{name}","us":[{us}]}}"#)
                        .expect("--json");
                }
            }
        }
    }
}

fn cases() -> impl Iterator<Item = (bool, (&'static str, (usize, usize)), u64)> {
    let flags = [rig::READ_WRITE, rig::READ_ONLY];
    [true, false].into_iter().flat_map(move |is_texture| {
        SIZES.into_iter().flat_map(move |size| flags.into_iter().map(move |flags| (is_texture, size, flags)))
    })
}
