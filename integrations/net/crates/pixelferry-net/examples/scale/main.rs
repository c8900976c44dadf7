//! What 1 000 workers and 1 000 viewers need: discrete events with costs that were measured. The page `net/docs/scale.md` explains it.
//!
//! ```text
//! scale [CHART.svg]
//! ```
//!
//! It prints the costs, the model beside real runs, and what large networks do, as tables.

mod chart;
mod costs;
mod engine;
mod network;

use chart::{Chart, Line};
use costs::Costs;
use network::{Outcome, Setting, gigabits, run};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

/// One run of `cargo bench --bench costs`.
const SAMPLES: &str = include_str!("../../../../benches/samples/costs-2cores.jsonl");
/// Machines may be so many times as fast or as slow as the one that was measured: this is the range that is told.
const RANGE: [f64; 3] = [2.0, 1.0, 0.5];

fn main() -> Result<(), Failure> {
    let costs = Costs::read(SAMPLES)?;
    println!("## Costs\n\n{}", costs.text());
    println!("## Model beside runs\n\n{}", held_against_runs(&costs)?);
    println!("## 1000 workers, 1000 viewers\n\n{}", large(&costs));
    println!("## Tiles\n\n{}", tiles(&costs));
    println!("## Joining\n\n{}", joining(&costs));
    if let Some(file) = std::env::args().nth(1) {
        std::fs::write(&file, chart::svg(&[by_workers(&costs), by_viewers(&costs)]))?;
    }
    Ok(())
}

/// Routers in two levels, with as many threads as Zenoh takes unless it is told.
const LARGE: Setting = Setting {
    size: (3840, 2160),
    side: 128,
    workers: 1000,
    viewers: 1000,
    leaves: 16,
    pixel: 1000.0,
    card: gigabits(25.0),
    threads: 2,
    shared: None,
    most_rate: 60.0,
    frames: 40,
};

fn held_against_runs(costs: &Costs) -> Result<String, Failure> {
    let mut text =
        "| workers | viewers | tile | cores | frames/s, run | model | error |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut errors = Vec::new();
    for line in SAMPLES.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["row"] != "whole" {
            continue;
        }
        let number = |name: &str| row[name].as_f64().ok_or(format!("a run without {name}"));
        let (workers, viewers, side) = (number("workers")?, number("viewers")?, number("side")?);
        let (measured, cores) = (number("frames_per_second")?, number("cores")?);
        let setting = Setting {
            size: (1280, 720),
            side: side as u64,
            workers: workers as usize,
            viewers: viewers as usize,
            leaves: 0,
            pixel: 0.0,
            shared: Some(cores / 2.0),
            most_rate: 1e6,
            ..LARGE
        };
        let modelled = run(&setting, costs).frames_per_second;
        let error = modelled / measured - 1.0;
        errors.push(error.abs());
        text += &format!(
            "| {workers} | {viewers} | {side} | {cores:.2} | {measured:.1} | {modelled:.1} | {:+.0} % |\n",
            error * 100.0
        );
    }
    let (mean, most) = (errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().fold(0f64, |a, &b| a.max(b)));
    Ok(text + &format!("\nError: {:.0} % on average, {:.0} % at most.\n", mean * 100.0, most * 100.0))
}

fn of_range(setting: &Setting, costs: &Costs) -> [Outcome; 3] {
    RANGE.map(|factor| run(setting, &costs.times(factor)))
}

fn range(outcomes: &[Outcome; 3], of: fn(&Outcome) -> f64) -> String {
    let [slow, usual, fast] = outcomes.each_ref().map(of);
    format!("{usual:.1} ({:.1} to {:.1})", slow.min(fast), slow.max(fast))
}

fn large(costs: &Costs) -> String {
    let mut text = "| picture | card, Gbit/s | leaf routers | threads | frames/s | pictures/s at a viewer | age ms, median | busiest | then |\n\
                    |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let hd = Setting { size: (1920, 1080), ..LARGE };
    for (size, setting) in [("1080p", hd), ("2160p", LARGE)] {
        for (card, leaves, threads) in
            [(1.0, 16, 2), (10.0, 4, 2), (10.0, 16, 2), (10.0, 64, 2), (25.0, 16, 8), (25.0, 64, 8), (100.0, 64, 8)]
        {
            let outcomes = of_range(&Setting { card: gigabits(card), leaves, threads, ..setting }, costs);
            let part = |at: usize| {
                let (name, load) = outcomes[1].loads[at];
                format!("{name} {:.0} %", load * 100.0)
            };
            text += &format!(
                "| {size} | {card} | {leaves} | {threads} | {} | {} | {} | {} | {} |\n",
                range(&outcomes, |outcome| outcome.frames_per_second),
                range(&outcomes, |outcome| outcome.pictures_per_second),
                range(&outcomes, |outcome| outcome.age.0),
                part(0),
                part(1)
            );
        }
    }
    text
}

/// Small tiles share out better, and cost more messages.
fn tiles(costs: &Costs) -> String {
    let mut text = "| tile | tiles | frames/s | busiest | then |\n|---|---|---|---|---|\n".to_owned();
    for side in [32, 64, 128, 256] {
        let setting = Setting { side, viewers: 0, pixel: 3000.0, card: gigabits(100.0), ..LARGE };
        let outcomes = of_range(&setting, costs);
        let count = setting.size.0.div_ceil(side) * setting.size.1.div_ceil(side);
        let part = |at: usize| {
            let (name, load) = outcomes[1].loads[at];
            format!("{name} {:.0} %", load * 100.0)
        };
        text += &format!(
            "| {side} | {count} | {} | {} | {} |\n",
            range(&outcomes, |outcome| outcome.frames_per_second),
            part(0),
            part(1)
        );
    }
    text
}

/// Seconds of a processor that the members of a network take to learn of each other.
fn joining(costs: &Costs) -> String {
    let mut text = "| workers | the hub, s | each worker, s | who computes 510 tiles, ms | with weights, ms |\n|---|---|---|---|---|\n".to_owned();
    for count in [10.0, 100.0, 1000.0, 4000.0] {
        // Each that joins costs more than the one before.
        let sum = |cost: costs::Cost| (cost.each * count + cost.byte * count * count / 2.0) / 1e9;
        let hash = |cost: f64| cost * count * 510.0 / 1e6;
        text += &format!(
            "| {count} | {:.2} | {:.3} | {:.2} | {:.2} |\n",
            sum(costs.join_hub),
            sum(costs.join_members) / count,
            hash(costs.hash),
            hash(costs.weighted_hash)
        );
    }
    text
}

fn points(
    values: &[usize],
    costs: &Costs,
    of: impl Fn(usize) -> Setting,
    y: fn(&Outcome) -> f64,
) -> Vec<(f64, [f64; 3])> {
    let point = |&value: &usize| (value as f64, of_range(&of(value), costs).each_ref().map(y));
    values.iter().map(point).collect()
}

const COUNTS: [usize; 13] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 4000];

fn by_workers(costs: &Costs) -> Chart {
    let line = |card: f64| Line {
        name: format!("{card} Gbit/s"),
        points: points(
            &COUNTS,
            costs,
            |workers| Setting { workers, viewers: 0, card: gigabits(card), frames: 12, most_rate: 1e6, ..LARGE },
            |outcome| outcome.frames_per_second,
        ),
    };
    Chart {
        title: "2160p, 1 us a pixel: frames/s by workers",
        x: "workers",
        y: "frames/s at the display",
        lines: [1.0, 10.0, 25.0, 100.0].map(line).into(),
    }
}

fn by_viewers(costs: &Costs) -> Chart {
    let line = |leaves: usize| Line {
        name: format!("{leaves} routers"),
        points: points(
            &COUNTS,
            costs,
            |viewers| {
                let (size, card) = ((1920, 1080), gigabits(10.0));
                Setting { size, viewers, workers: 256, leaves, card, pixel: 100.0, frames: 30, ..LARGE }
            },
            |outcome| outcome.pictures_per_second,
        ),
    };
    Chart {
        title: "1080p JPEG, 10 Gbit/s: pictures/s by viewers",
        x: "viewers",
        y: "pictures/s at the median viewer",
        lines: [1, 4, 16, 64].map(line).into(),
    }
}
