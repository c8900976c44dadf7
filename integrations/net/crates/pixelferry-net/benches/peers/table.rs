//! Rows of figures, and their samples.

use serde_json::json;

/// One way, at so many viewers.
pub struct PeersRow {
    part: &'static str,
    name: String,
    viewers: usize,
    /// Pictures a second at each viewer and in each round.
    rates: Vec<f64>,
    /// Microseconds of every picture: from asking for it, or sending it, until somebody had it.
    samples: Vec<u64>,
}

impl PeersRow {
    pub fn new(part: &'static str, name: &str, viewers: usize) -> Self {
        Self { part, name: name.into(), viewers, rates: Vec::new(), samples: Vec::new() }
    }

    /// Adds the pictures of each viewer in one measured time.
    pub fn add(&mut self, seen: Vec<Vec<u64>>, microseconds: u64) {
        for ages in seen {
            self.rates.push(ages.len() as f64 * 1e6 / microseconds as f64);
            self.samples.extend(ages);
        }
    }

    /// True where there is anything to tell.
    pub fn is_measured(&self) -> bool {
        !self.rates.is_empty()
    }

    fn rate(&self, part: f64) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        at(&rates, part)
    }

    fn milliseconds(&self, part: f64) -> f64 {
        let mut samples = self.samples.clone();
        samples.sort_unstable();
        at(&samples, part) as f64 / 1e3
    }

    pub fn json(&self) -> serde_json::Value {
        let (median, p99) = (self.milliseconds(0.5), self.milliseconds(0.99));
        json!({
            "part": self.part, "row": self.name, "viewers": self.viewers, "rates": self.rates,
            "median_ms": median, "p99_ms": p99, "samples_us": self.samples,
        })
    }
}

fn at<T: Copy + Default>(sorted: &[T], part: f64) -> T {
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * part).round() as usize).copied().unwrap_or_default()
}

pub fn text(rows: &[PeersRow]) -> String {
    let mut text =
        "| what | viewers | pictures/s | slowest viewer or round | median ms | p99 ms |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for row in rows {
        text += &format!(
            "| {}: {} | {} | {:.1} | {:.1} | {:.1} | {:.1} |\n",
            row.part,
            row.name,
            row.viewers,
            row.rate(0.5),
            row.rate(0.0),
            row.milliseconds(0.5),
            row.milliseconds(0.99)
        );
    }
    text
}
