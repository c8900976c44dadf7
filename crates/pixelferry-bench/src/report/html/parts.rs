//! Everything of the report that is no chart.

use super::esc;
use crate::grid::Mode;
use crate::machine::Device;
use crate::record::{Cell, Record};
use crate::report::terminal::{misses as missed, pairings, skipped as skipped_rows};
use crate::report::{distinct, percent, time};
use std::fmt::{Result, Write as _};

pub(super) fn head(out: &mut String, record: &Record) -> Result {
    let s = record.summary;
    writeln!(out, "<header><h1>Which sharing path is fastest on this machine?</h1>")?;
    let m = &record.machine;
    let memory = m.memory_bytes.map(|b| format!(", {} GiB", (b + (1 << 29)) >> 30)).unwrap_or_default();
    let about = format!(
        "pixelferry {} · {} · {}, {} threads{memory} · {}",
        record.pixelferry,
        record.started.replace('T', " ").replace('Z', " UTC"),
        m.cpu.as_deref().unwrap_or("processor unknown"),
        m.threads,
        m.system
    );
    writeln!(out, "<p class=\"about\">{}</p><div class=\"tiles\">", esc(&about))?;
    let tolerance = format!("{:.0} %", record.method.tolerance * 100.0);
    if s.cells == 0 {
        tile(out, "close", "–", "no cell has both an automatic choice and a path to compare it with")?;
    } else {
        let class = if s.clear_misses == 0 { "good" } else { "bad" };
        let text = format!("cells where the automatic choice is within {tolerance} of the best path");
        tile(out, class, &format!("{} of {}", s.within, s.cells), &text)?;
        let class = if s.clear_misses == 0 { "good" } else { "bad" };
        tile(out, class, &s.clear_misses.to_string(), "cells where it is clearly slower")?;
        let close = s.cells - s.within - s.clear_misses;
        tile(out, "none", &close.to_string(), "cells too close to call: the distance is within the noise")?;
    }
    let rows: usize = record.cells.iter().map(|c| c.rows.len()).sum();
    tile(out, "none", &rows.to_string(), &format!("rows in {} cells, {:.0} s", record.cells.len(), record.seconds))?;
    writeln!(out, "</div></header>")
}

fn tile(out: &mut String, class: &str, figure: &str, text: &str) -> Result {
    writeln!(out, "<div class=\"tile {class}\"><b>{}</b><span>{}</span></div>", esc(figure), esc(text))
}

/// The best path of every cell: pairings down, pictures across.
pub(super) fn glance(out: &mut String, record: &Record) -> Result {
    writeln!(out, "<section><h2>The best path at a glance</h2>")?;
    for mode in Mode::ALL {
        let cells: Vec<&Cell> = record.cells.iter().filter(|c| c.mode == mode).collect();
        let pictures = distinct(cells.iter().map(|c| c.picture()));
        if cells.is_empty() {
            continue;
        }
        writeln!(out, "<h3>{mode}</h3><div class=\"wide\"><table class=\"glance\"><thead><tr><th></th>")?;
        for picture in &pictures {
            write!(out, "<th>{}</th>", esc(picture))?;
        }
        writeln!(out, "</tr></thead><tbody>")?;
        for (i, (compute, display)) in pairings(record).into_iter().enumerate() {
            write!(out, "<tr><th><a href=\"#p{i}\">{}<br/>→ {}</a></th>", esc(compute), esc(display))?;
            for picture in &pictures {
                let found =
                    cells.iter().find(|c| c.compute == compute && c.display == display && c.picture() == *picture);
                glance_cell(out, found.copied())?;
            }
            writeln!(out, "</tr>")?;
        }
        writeln!(out, "</tbody></table></div>")?;
    }
    writeln!(out, "</section>")
}

fn glance_cell(out: &mut String, cell: Option<&Cell>) -> Result {
    let Some(v) = cell.and_then(|c| c.verdict.as_ref()) else { return write!(out, "<td class=\"none\">–</td>") };
    let (class, said) = match (v.within, v.clear) {
        (true, _) => ("good", "automatic ✓".to_owned()),
        (false, false) => ("close", format!("automatic {} ?", percent(v.ratio.distance()))),
        (false, true) => ("bad", format!("automatic {}", percent(v.ratio.distance()))),
    };
    let (best, us) = (esc(&v.best), time(v.best_us));
    write!(out, "<td class=\"{class}\"><b>{best}</b><br/>{us} <span class=\"said\">{}</span></td>", esc(&said))
}

pub(super) fn misses(out: &mut String, record: &Record) -> Result {
    let list = missed(record);
    if list.is_empty() {
        return Ok(());
    }
    let title = format!("Where automatic is not within {:.0} %", record.method.tolerance * 100.0);
    writeln!(out, "<section><h2>{title}</h2><div class=\"wide\"><table class=\"misses\"><thead><tr>")?;
    for head in ["cell", "best", "", "automatic", "", "the same by name", "distance", "why"] {
        write!(out, "<th>{head}</th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (cell, v) in list {
        let class = if v.clear { "bad" } else { "close" };
        writeln!(
            out,
            "<tr><td>{}<br/>→ {}<br/>{}, {}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\"><span class=\"badge {class}\">{} ± {:.1}</span></td><td>{}</td></tr>",
            esc(&cell.compute),
            esc(&cell.display),
            esc(&cell.picture()),
            cell.mode,
            esc(&v.best),
            time(v.best_us),
            esc(&v.automatic_path),
            time(v.automatic_us),
            v.same_path_us.map(time).unwrap_or_default(),
            percent(v.ratio.distance()),
            v.ratio.uncertainty * 100.0,
            esc(&v.why)
        )?;
    }
    writeln!(out, "</tbody></table></div></section>")
}

/// What the colours mean.
pub(super) fn key(out: &mut String) -> Result {
    writeln!(out, "<section><h2>How to read the charts</h2><p class=\"legend\">")?;
    for (class, text) in [
        ("best", "the best path"),
        ("path", "another path, asked for by name"),
        ("automatic", "what the library takes by itself"),
        ("floor", "a floor: a part of the work alone, no path can do without"),
    ] {
        writeln!(out, "<span><i class=\"swatch {class}\"></i>{text}</span>")?;
    }
    writeln!(
        out,
        "</p><p>A bar is the median time of a frame, shorter is better; the thin line reaches to the 99th percentile, with \
         an arrow where it goes on. The dashed line is the floor that a path can come near to at best: in <b>latency</b> a \
         kernel, a wait and a draw with nothing handed over; in <b>throughput</b> a kernel and a draw with no order \
         between them. A path that reads memory in place can be a little below it, as nothing is uploaded. Compare bars \
         within one chart only: each chart has its own scale.</p></section>"
    )
}

pub(super) fn skipped(out: &mut String, record: &Record, compute: &str, display: &str) -> Result {
    let list = skipped_rows(record, compute, display);
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details class=\"skipped\"><summary>{} rows not measured here, and why</summary><ul>", list.len())?;
    for s in list {
        writeln!(out, "<li><b>{}</b>: <span>{}</span></li>", esc(&s.what), esc(&s.reason))?;
    }
    writeln!(out, "</ul></details>")
}

pub(super) fn devices(out: &mut String, record: &Record) -> Result {
    writeln!(out, "<section><h2>Devices</h2><div class=\"wide\"><table><thead><tr>")?;
    for head in ["", "device", "vendor", "driver", "memory", "PCI", "UUID"] {
        write!(out, "<th>{head}</th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    let mut row = |side: &str, d: &Device| {
        let kind = if d.software { "software" } else { "hardware" };
        writeln!(
            out,
            "<tr><td>{side}</td><td>{}<br/>{kind}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            esc(&d.label),
            esc(&d.vendor),
            esc(&d.driver),
            esc(&d.memory),
            esc(d.pci.as_deref().unwrap_or("–")),
            esc(d.uuid.as_deref().unwrap_or("–"))
        )
    };
    record.compute.iter().try_for_each(|d| row("compute", d))?;
    record.displays.iter().try_for_each(|d| row("display", d))?;
    writeln!(out, "</tbody></table></div>")?;
    if !record.left_out.is_empty() || !record.problems.is_empty() {
        writeln!(out, "<h3>Not measured</h3><ul>")?;
        for s in &record.left_out {
            writeln!(out, "<li><b>{}</b>: <span>{}</span></li>", esc(&s.what), esc(&s.reason))?;
        }
        for problem in &record.problems {
            writeln!(out, "<li>{}</li>", esc(problem))?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "</section>")
}

pub(super) fn method(out: &mut String, record: &Record) -> Result {
    writeln!(out, "<section><h2>How it was measured</h2><ul>")?;
    for sentence in &record.method.description {
        writeln!(out, "<li>{}</li>", esc(sentence))?;
    }
    let (load, kernel) = (record.machine.load.as_deref(), record.machine.kernel.as_deref());
    let asked = format!(
        "Up to {} frames for each row, {:.0} s for everything. Load of the machine at the start: {}. System: {} {}.",
        record.method.frames,
        record.method.budget_seconds,
        load.unwrap_or("unknown"),
        record.machine.system,
        kernel.unwrap_or_default()
    );
    writeln!(out, "<li>{}</li></ul></section>", esc(&asked))
}
