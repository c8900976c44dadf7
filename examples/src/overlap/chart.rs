//! The timelines as a picture.

use super::pipeline::{Run, Stage};
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 90.0;
const LANE: f64 = 26.0;
const HEAD: f64 = 34.0;

const fn colour(stage: Stage) -> &'static str {
    match stage {
        Stage::Upload => "#3b7dd8",
        Stage::Kernel => "#e08a1e",
        Stage::ReadBack => "#3f9b4f",
    }
}

const BLOCK: f64 = HEAD + 3.0 * LANE + 14.0;

/// An SVG picture of named runs, those of a device on one scale. Each has a lane for each stage.
pub fn svg(devices: &[Vec<(String, Run)>]) -> String {
    let height = BLOCK * devices.iter().map(Vec::len).sum::<usize>() as f64 + 40.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let scaled = devices.iter().flat_map(|runs| {
        let longest = runs.iter().map(|(_, run)| run.total).max().unwrap_or(1).max(1) as f64;
        runs.iter().map(move |(name, run)| (name, run, longest))
    });
    for (index, (name, run, longest)) in scaled.enumerate() {
        let x = |t: u64| MARGIN + t as f64 / longest * (WIDTH - MARGIN - 20.0);
        let top = BLOCK * index as f64;
        // Writing into a string does not fail.
        let _ = writeln!(
            out,
            "<text x=\"10\" y=\"{}\" font-weight=\"bold\">{}: {:.2} ms</text>",
            top + 22.0,
            escaped(name),
            run.total as f64 / 1e6
        );
        for (lane, stage) in Stage::ALL.into_iter().enumerate() {
            let y = top + HEAD + lane as f64 * LANE;
            let _ = writeln!(out, "<text x=\"10\" y=\"{}\">{}</text>", y + 16.0, stage.name());
            for bar in run.bars.iter().filter(|b| b.stage == stage) {
                let (left, right) = (x(bar.started), x(bar.ended));
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{}\" fill=\"{}\" stroke=\"white\" \
                     stroke-width=\"0.5\"/>",
                    y + 2.0,
                    (right - left).max(0.5),
                    LANE - 5.0,
                    colour(stage)
                );
                if right - left > 18.0 {
                    let _ = writeln!(
                        out,
                        "<text x=\"{:.2}\" y=\"{:.1}\" fill=\"white\" text-anchor=\"middle\">{}</text>",
                        (left + right) / 2.0,
                        y + 17.0,
                        bar.batch
                    );
                }
            }
        }
        let end = x(run.total);
        let _ = writeln!(
            out,
            "<line x1=\"{end:.2}\" x2=\"{end:.2}\" y1=\"{}\" y2=\"{}\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>",
            top + HEAD - 4.0,
            top + BLOCK - 14.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"{}\" fill=\"#555\">each device on a scale of its own; numbers are batches; dashed: the \
         last bytes are there</text></svg>",
        height - 14.0
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
