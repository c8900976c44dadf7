//! One cell as a bar chart, and its figures as a table below.

use super::esc;
use crate::record::{Cell, Row, RowKind};
use crate::report::{percent, time};
use std::fmt::{Result, Write as _};

const WIDTH: f64 = 700.0;
/// Where bars begin; names stand to the left.
const LEFT: f64 = 272.0;
/// Kept for the figure behind the longest bar.
const RIGHT: f64 = 84.0;
const TOP: f64 = 24.0;
const PITCH: f64 = 21.0;
const BAR: f64 = 13.0;
/// A whisker longer than this many times the longest bar is cut, so that one bad frame does not flatten all bars.
const LONGEST_WHISKER: f64 = 1.25;

pub(super) fn cell(out: &mut String, cell: &Cell) -> Result {
    let rows = ordered(cell);
    let longest = rows.iter().map(|r| r.stats.median_us).fold(1e-3, f64::max);
    let whisker = rows.iter().map(|r| r.stats.p99_us).fold(longest, f64::max);
    let scale = Scale { per_us: (WIDTH - LEFT - RIGHT) / whisker.min(longest * LONGEST_WHISKER) };
    let height = TOP + PITCH * rows.len() as f64 + 6.0;
    writeln!(out, "<figure><figcaption><b>{}</b> {}</figcaption>", esc(&cell.picture()), badge(cell))?;
    let label = esc(&format!("Time of a frame by row: {}", cell.key()));
    writeln!(out, "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{label}\">")?;
    for (i, row) in rows.iter().enumerate() {
        bar(out, cell, row, TOP + PITCH * i as f64, &scale)?;
    }
    if let Some(floor) = cell.floor() {
        let x = scale.x(floor.stats.median_us);
        let text = esc(&format!("floor: {}", time(floor.stats.median_us)));
        writeln!(out, "<line class=\"floor-line\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"16\" y2=\"{:.1}\"/>", height - 3.0)?;
        let anchor = if x > WIDTH - 120.0 { "end" } else { "middle" };
        writeln!(out, "<text class=\"floor-text\" x=\"{x:.1}\" y=\"11\" text-anchor=\"{anchor}\">{text}</text>")?;
    }
    writeln!(out, "</svg>")?;
    figures(out, cell, &rows)?;
    writeln!(out, "</figure>")
}

struct Scale {
    per_us: f64,
}

impl Scale {
    fn x(&self, us: f64) -> f64 {
        (LEFT + us * self.per_us).min(WIDTH - RIGHT)
    }

    fn cuts(&self, us: f64) -> bool {
        LEFT + us * self.per_us > WIDTH - RIGHT + 0.5
    }
}

/// Floors, then the automatic choice, then paths from the quickest on.
fn ordered(cell: &Cell) -> Vec<&Row> {
    let mut rows: Vec<&Row> = cell.rows.iter().collect();
    rows.sort_by(|a, b| {
        let rank = |row: &Row| match row.info.kind {
            RowKind::Floor => 0,
            RowKind::Automatic => 1,
            RowKind::Path => 2,
        };
        let by_time = || match a.info.kind {
            // In the order in which they build on each other.
            RowKind::Floor => std::cmp::Ordering::Equal,
            _ => a.stats.median_us.total_cmp(&b.stats.median_us),
        };
        rank(a).cmp(&rank(b)).then_with(by_time)
    });
    rows
}

/// The row's name; of the automatic choice also what it was.
fn name(row: &Row) -> String {
    match (row.info.kind, &row.info.path) {
        (RowKind::Automatic, Some(path)) if row.info.frames_behind > 0 => {
            format!("{} ({path}, {} late)", row.info.row, row.info.frames_behind)
        }
        (RowKind::Automatic, Some(path)) => format!("{} ({path})", row.info.row),
        _ => row.info.row.clone(),
    }
}

fn class(cell: &Cell, row: &Row) -> &'static str {
    match row.info.kind {
        RowKind::Floor => "floor",
        RowKind::Automatic => "automatic",
        RowKind::Path if cell.verdict.as_ref().is_some_and(|v| v.best == row.info.row) => "best",
        RowKind::Path => "path",
    }
}

fn bar(out: &mut String, cell: &Cell, row: &Row, y: f64, scale: &Scale) -> Result {
    let s = &row.stats;
    let (end, middle) = (scale.x(s.median_us), y + BAR / 2.0);
    let (name, text) = (esc(&name(row)), time(s.median_us));
    let tip = format!(
        "{}: median {}, quartiles {} to {}, p99 {}, {} samples",
        row.info.row,
        time(s.median_us),
        time(s.q1_us),
        time(s.q3_us),
        time(s.p99_us),
        s.n
    );
    writeln!(out, "<g class=\"{}\"><title>{}</title>", class(cell, row), esc(&tip))?;
    writeln!(
        out,
        "<text class=\"row-name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
        LEFT - 8.0,
        y + 10.5
    )?;
    let width = (end - LEFT).max(1.0);
    writeln!(out, "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"2\"/>")?;
    let tail = scale.x(s.p99_us);
    write!(out, "<path class=\"whisker\" d=\"M{end:.1} {middle:.1}H{tail:.1}")?;
    if !scale.cuts(s.p99_us) {
        write!(out, "M{tail:.1} {:.1}v7", middle - 3.5)?;
    } else {
        // An arrow: it goes on.
        write!(out, "m-4 -3.5l4 3.5l-4 3.5")?;
    }
    writeln!(out, "\"/>")?;
    writeln!(out, "<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{text}</text></g>", tail + 6.0, y + 10.5)
}

/// Whether the automatic choice was right, in a word or two.
fn badge(cell: &Cell) -> String {
    let Some(v) = &cell.verdict else { return "<span class=\"badge none\">no verdict</span>".into() };
    let (class, text) = match (v.within, v.clear) {
        (true, _) => ("good", "automatic is right".to_owned()),
        (false, false) => ("close", format!("automatic {}, too close to call", percent(v.ratio.distance()))),
        (false, true) => ("bad", format!("automatic {}", percent(v.ratio.distance()))),
    };
    format!("<span class=\"badge {class}\">{}</span>", esc(&text))
}

fn figures(out: &mut String, cell: &Cell, rows: &[&Row]) -> Result {
    writeln!(out, "<details><summary>figures</summary><div class=\"wide\"><table class=\"figures\"><thead><tr>")?;
    let floor = cell.floor().map(|row| row.stats.median_us).filter(|us| *us > 0.0);
    for head in ["row", "median", "quartiles", "p99", "/ floor", "samples", "late", "opened", "sync"] {
        write!(out, "<th>{head}</th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in rows {
        let s = &row.stats;
        let over = floor.map(|us| format!("{:.2}", s.median_us / us)).unwrap_or_default();
        let opened = row.info.opened_ms.map(|ms| format!("{ms:.0} ms")).unwrap_or_default();
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{} – {}</td><td>{}</td><td>{over}</td><td>{}</td><td>{}</td><td>{opened}</td>\
             <td>{}</td></tr>",
            esc(&name(row)),
            time(s.median_us),
            time(s.q1_us),
            time(s.q3_us),
            time(s.p99_us),
            s.n,
            row.info.frames_behind,
            esc(row.info.sync.as_deref().unwrap_or_default())
        )?;
    }
    writeln!(out, "</tbody></table></div></details>")
}
