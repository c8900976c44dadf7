//! Pictures a second in a headless Chromium, and the time from a key to the picture that answers it: by the gateway, and by a
//! bare page that gets ready-made bytes of the same size over a loopback WebSocket.
//! `cargo bench --bench browser -- samples.jsonl` prints a table and writes the raw samples.

#[allow(dead_code)] // what only tests call
#[path = "../../tests/suite/browser/chromium.rs"]
mod chromium;
mod floor;
mod ours;
mod page;
mod scene;

use chromium::Chromium;
use page::Sample;
use serde_json::json;
use std::io::Write as _;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Codec in which pictures reach the page.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PictureCodec {
    Raw,
    Lz4,
    Jpeg,
    H264,
}

const ROUNDS: usize = 3;
const WAYS: [(PictureCodec, &str); 4] = [
    (PictureCodec::Raw, "raw"),
    (PictureCodec::Lz4, "LZ4"),
    (PictureCodec::Jpeg, "JPEG"),
    (PictureCodec::H264, "H.264"),
];

struct CodecRow {
    label: String,
    samples: Vec<Sample>,
}

fn main() -> Result<()> {
    // `cargo bench` adds options of its own harness.
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let program = pixelferry_testing::chromium()?;
    let scene = scene::Scene::new()?;
    let mut rows: Vec<CodecRow> = Vec::new();
    for (_, name) in WAYS {
        for who in ["bare page", "gateway"] {
            rows.push(CodecRow { label: format!("{name}, {who}"), samples: Vec::new() });
        }
    }
    // All in turns, so that the load of the machine is the same for all.
    for round in 0..ROUNDS {
        for (at, (way, name)) in WAYS.into_iter().enumerate() {
            eprintln!("round {round}: {name}");
            let mut browser = Chromium::start(&program, &[])?;
            rows[2 * at].samples.push(floor::measure(&mut browser, &scene, way)?);
            let mut browser = Chromium::start(&program, &[])?;
            rows[2 * at + 1].samples.push(ours::measure(&mut browser, &scene, way)?);
        }
    }
    println!("| what | bytes a picture | pictures/s | slowest round | median ms | p99 ms |\n|---|---|---|---|---|---|");
    rows.iter().for_each(|row| println!("{}", row.text()));
    if let Some(file) = file {
        let mut file = std::fs::File::create(file)?;
        for row in &rows {
            for sample in &row.samples {
                let Sample { bytes, rate, ms } = sample;
                writeln!(file, "{}", json!({ "what": row.label, "bytes": bytes, "rate": rate, "ms": ms }))?;
            }
        }
    }
    Ok(())
}

impl CodecRow {
    fn text(&self) -> String {
        let sorted = |values: &mut dyn Iterator<Item = f64>| {
            let mut values: Vec<f64> = values.collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let part =
            |values: &[f64], part: f64| values.get(((values.len() as f64 - 1.0) * part).round() as usize).copied();
        let rates = sorted(&mut self.samples.iter().map(|sample| sample.rate));
        let times = sorted(&mut self.samples.iter().flat_map(|sample| sample.ms.iter().copied()));
        let bytes = sorted(&mut self.samples.iter().map(|sample| sample.bytes));
        let [rate, least, median, most] = [part(&rates, 0.5), part(&rates, 0.0), part(&times, 0.5), part(&times, 0.99)]
            .map(Option::unwrap_or_default);
        let bytes = part(&bytes, 0.5).unwrap_or_default();
        format!("| {} | {bytes:.0} | {rate:.1} | {least:.1} | {median:.1} | {most:.1} |", self.label)
    }
}
