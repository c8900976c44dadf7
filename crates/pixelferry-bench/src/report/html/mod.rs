//! A report in one file: no script, no font, no picture from elsewhere. It is well-formed XML, too.

mod chart;
mod parts;

use crate::grid::Mode;
use crate::record::Record;
use crate::report::terminal::pairings;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// The report.
pub fn text(record: &Record) -> String {
    let mut out = String::with_capacity(1 << 20);
    // Writing to a String cannot fail.
    let _ = write(&mut out, record);
    out
}

fn write(out: &mut String, record: &Record) -> std::fmt::Result {
    writeln!(out, "<!DOCTYPE html>")?;
    writeln!(out, "<html lang=\"en\"><head><meta charset=\"utf-8\"/>")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>")?;
    writeln!(out, "<title>pixelferry bench</title><style>{STYLE}</style></head><body><main>")?;
    parts::head(out, record)?;
    parts::glance(out, record)?;
    parts::misses(out, record)?;
    parts::key(out)?;
    for (i, (compute, display)) in pairings(record).into_iter().enumerate() {
        writeln!(out, "<section><h2 id=\"p{i}\">{} <span class=\"to\">→</span> {}</h2>", esc(compute), esc(display))?;
        let of = |mode: Mode| {
            record.cells.iter().filter(move |c| c.compute == compute && c.display == display && c.mode == mode)
        };
        for mode in Mode::ALL.into_iter().filter(|mode| of(*mode).next().is_some()) {
            writeln!(out, "<h3>{mode}</h3><div class=\"charts\">")?;
            for cell in of(mode) {
                chart::cell(out, cell)?;
            }
            writeln!(out, "</div>")?;
        }
        parts::skipped(out, record, compute, display)?;
        writeln!(out, "</section>")?;
    }
    parts::devices(out, record)?;
    parts::method(out, record)?;
    writeln!(out, "</main></body></html>")
}

/// Text for elements and attributes.
fn esc(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Drivers' texts may hold what XML cannot.
            c if c.is_control() && c != '\n' && c != '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_report_is_well_formed_has_every_row_and_needs_nothing_else() {
        let mut record = sample::record();
        record.problems.push("a log with \u{1b}[31mcolours\u{0} and ]]> in it".into());
        let html = text(&record);
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&html, options).unwrap();
        let texts = |class: &str| -> Vec<String> {
            let nodes = document.descendants().filter(|n| n.attribute("class") == Some(class));
            nodes.map(|n| n.text().unwrap_or_default().to_owned()).collect()
        };
        let (charts, names) = (texts("chart"), texts("row-name"));
        assert_eq!(charts.len(), record.cells.len());
        let rows: Vec<_> = record.cells.iter().flat_map(|c| &c.rows).collect();
        assert_eq!(names.len(), rows.len());
        assert!(rows.iter().all(|row| names.iter().any(|name| name.starts_with(&row.info.row))));
        for said in ["too large", "a device did not open", "it has <none>", "CPU <1>", "A sentence."] {
            assert!(document.descendants().any(|n| n.is_text() && n.text().unwrap().contains(said)), "{said}");
        }
        for outside in ["http://", "https://", "<script", "<link", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn a_result_without_cells_is_a_report_too() {
        let record = Record { cells: Vec::new(), summary: Default::default(), ..sample::record() };
        let html = text(&record);
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        assert!(roxmltree::Document::parse_with_options(&html, options).is_ok());
        assert!(html.contains("no cell"));
    }
}
