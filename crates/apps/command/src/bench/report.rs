//! Formats a result as tables.

use crate::bench::grid::Mode;
use crate::bench::record::{Cell, Record, RowInfo, RowKind, SkippedItem, Verdict};
use comfy_table::{Cell as Field, CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use std::fmt::Write as _;

pub fn text(record: &Record) -> String {
    let mut out = String::new();
    let line = |out: &mut String, text: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{text}");
    };
    for (compute, display) in pairings(record) {
        line(&mut out, format!("\n{compute} -> {display}"));
        for mode in Mode::ALL {
            let of = |c: &&Cell| c.compute == compute && c.display == display && c.mode == mode;
            let cells: Vec<&Cell> = record.cells.iter().filter(of).collect();
            if !cells.is_empty() {
                line(&mut out, format!("{mode}: {WHAT}"));
                line(&mut out, rows(&cells).to_string());
            }
        }
        for SkippedItem { what, reason } in skipped(record, compute, display) {
            line(&mut out, format!("  SKIPPED {what}: {reason}"));
        }
    }
    line(&mut out, String::new());
    for SkippedItem { what, reason } in &record.left_out {
        line(&mut out, format!("SKIPPED {what}: {reason}"));
    }
    for problem in &record.problems {
        line(&mut out, format!("note: {problem}"));
    }
    let misses = misses(record);
    if !misses.is_empty() {
        line(&mut out, "\nNot within the tolerance".into());
    }
    for (cell, verdict) in misses {
        line(&mut out, format!("  {}\n    {}", cell.key(), miss(verdict)));
    }
    line(&mut out, format!("\n{} ({:.0} s)", headline(record), record.seconds));
    line(&mut out, fastest(record));
    out
}

/// Names the fastest pair and path for the largest picture that has one, and says if the machine was too busy to tell.
fn fastest(record: &Record) -> String {
    let timed = record.cells.iter().flat_map(|cell| {
        let rows = cell.rows.iter().filter(|row| row.info.kind == RowKind::Path);
        rows.map(move |row| (cell, row))
    });
    let of_size = |largest: u64| timed.clone().filter(move |(cell, _)| cell.frame_bytes == largest);
    let largest = timed.clone().map(|(cell, _)| cell.frame_bytes).max().unwrap_or_default();
    let best = of_size(largest).min_by(|(_, a), (_, b)| a.stats.median_us.total_cmp(&b.stats.median_us));
    let Some((cell, row)) = best else { return "fastest here: nothing was timed; the machine may be too busy".into() };
    let summary = record.summary;
    // If chance decides most of the cells, the order of the rows is chance, too.
    let is_busy = summary.cells > 0 && 2 * summary.undecided >= summary.cells;
    let doubt =
        if is_busy { "; most differences are within the noise, so run it again on a quieter machine" } else { "" };
    let Cell { compute, display, size, format, .. } = cell;
    let time = time(row.stats.median_us);
    format!("fastest here: {compute} -> {display} by {}, {time} a frame of {size} {format}{doubt}", row.info.row)
}

/// One sentence about the automatic choice.
fn headline(record: &Record) -> String {
    let s = record.summary;
    if s.cells == 0 {
        return "no cell has both an automatic choice and a path to compare it with".into();
    }
    let rest = match (s.cells - s.within, s.clear_misses) {
        (0, _) => String::new(),
        (1, 0) => "; the other one is too close to call".into(),
        (misses, 0) => format!("; the other {misses} are too close to call"),
        (1, _) => "; the other one is clearly slower".into(),
        (misses, 1) => format!("; of the other {misses}, one is clearly slower"),
        (misses, clear) => format!("; of the other {misses}, {clear} are clearly slower"),
    };
    let verdict = match s.decided() {
        (0, _) => "none is decided, as all are within the noise".into(),
        (decided, right) => {
            let share = 100.0 * right as f64 / decided as f64;
            format!("right in {right} of {decided} decided cells ({share:.0} %), {} undecided", s.undecided)
        }
    };
    let tolerance = record.method.tolerance * 100.0;
    format!("automatic within {tolerance:.0} % of the best in {} of {} cells{rest}; {verdict}", s.within, s.cells)
}

/// What the numbers of a table are.
const WHAT: &str = "median (p99) of a frame; * marks the best path; then the distance of the automatic one from it";

/// Explains an automatic choice outside the tolerance.
fn miss(v: &Verdict) -> String {
    let same = v.same_path_us.map(|us| format!(", by name {}", time(us))).unwrap_or_default();
    let Verdict { best, automatic_path, ratio, why, .. } = v;
    let [best_us, automatic_us] = [v.best_us, v.automatic_us].map(time);
    let (distance, uncertainty) = (percent(ratio.distance()), ratio.uncertainty * 100.0);
    format!(
        "best {best} {best_us}; automatic {automatic_path} {automatic_us}{same}; {distance} ± {uncertainty:.1} %: {why}"
    )
}

/// Cells whose automatic choice is outside the tolerance, the worst first.
fn misses(record: &Record) -> Vec<(&Cell, &Verdict)> {
    let of = |cell| -> Option<(&Cell, &Verdict)> { Some((cell, cell.verdict.as_ref()?)) };
    let mut misses: Vec<_> = record.cells.iter().filter_map(of).filter(|(_, v)| !v.within).collect();
    misses.sort_by(|(_, a), (_, b)| b.ratio.ratio.total_cmp(&a.ratio.ratio));
    misses
}

fn pairings(record: &Record) -> Vec<(&str, &str)> {
    distinct(record.cells.iter().map(|c| (c.compute.as_str(), c.display.as_str())))
}

/// Returns what the cells of a pairing skipped, once per reason.
fn skipped<'a>(record: &'a Record, compute: &str, display: &str) -> Vec<&'a SkippedItem> {
    let cells = record.cells.iter().filter(|c| c.compute == compute && c.display == display);
    distinct(cells.flat_map(|c| &c.skipped))
}

fn table(head: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled).set_header(head);
    table
}

fn right(text: String) -> Field {
    Field::new(text).set_alignment(CellAlignment::Right)
}

fn rows(cells: &[&Cell]) -> Table {
    let head = std::iter::once("row".to_owned()).chain(cells.iter().map(|c| c.picture()));
    let mut table = table(head.collect());
    for name in distinct(cells.iter().flat_map(|c| &c.rows).map(|r| r.info.row.as_str())) {
        let fields = cells.iter().map(|cell| {
            let Some(row) = cell.row(name) else { return right("-".into()) };
            let best = cell.verdict.as_ref().is_some_and(|v| v.best == row.info.row);
            let mark = if best { "* " } else { "" };
            let more = if row.info.kind == RowKind::Automatic { chosen(cell, &row.info) } else { String::new() };
            right(format!("{mark}{} ({}){more}", time(row.stats.median_us), time(row.stats.p99_us)))
        });
        table.add_row(std::iter::once(Field::new(name)).chain(fields));
    }
    table
}

/// Formats the chosen path, its distance from the best (`!`: clearly too far, `?`: too close to call), and the duration
/// of the choice.
fn chosen(cell: &Cell, automatic: &RowInfo) -> String {
    let mut lines = automatic.path.as_ref().map(|path| format!("\n{path}")).unwrap_or_default();
    match (automatic.frames_behind, &automatic.started_with) {
        (0, Some(first)) => lines += &format!(", at first {first}"),
        (0, None) => {}
        (late, _) => lines += &format!(", {late} late"),
    }
    if let Some(v) = &cell.verdict {
        let sign = match (v.within, v.clear) {
            (true, _) => "",
            (false, true) => " !",
            (false, false) => " ?",
        };
        lines += &format!("\n{} ± {:.1}{sign}", percent(v.ratio.distance()), v.ratio.uncertainty * 100.0);
    }
    automatic.opened_ms.iter().for_each(|ms| lines += &format!("\nchosen in {ms:.0} ms"));
    lines
}

/// Formats microseconds with a suitable unit.
fn time(us: f64) -> String {
    match us {
        us if us < 9.95 => format!("{us:.2} µs"),
        us if us < 99.5 => format!("{us:.1} µs"),
        us if us < 999.5 => format!("{us:.0} µs"),
        us if us < 9_995.0 => format!("{:.2} ms", us / 1e3),
        us if us < 99_950.0 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.0} ms", us / 1e3),
    }
}

/// Formats a distance as a signed percentage.
fn percent(fraction: f64) -> String {
    format!("{:+.1} %", fraction * 100.0)
}

/// Returns each value once, in the order of first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::Summary;
    use crate::bench::sample;

    #[test]
    fn every_row_and_every_reason_is_said() {
        let record = sample::record();
        let text = text(&record);
        for row in record.cells.iter().flat_map(|c| &c.rows) {
            assert!(text.contains(&row.info.row), "{}", row.info.row);
        }
        for said in ["too large", "it has <none>", "a device did not open", "of 4 cells", "chosen in 12 ms"] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    #[test]
    fn the_last_line_names_the_fastest_pair_and_path() {
        let mut record = sample::record();
        let last = |record: &Record| text(record).lines().next_back().unwrap().to_owned();
        let paths = record.cells.iter().flat_map(|cell| cell.rows.iter().map(move |row| (cell.frame_bytes, row)));
        let paths: Vec<_> = paths.filter(|(_, row)| row.info.kind == RowKind::Path).collect();
        let largest = paths.iter().map(|(bytes, _)| *bytes).max().unwrap();
        let of_largest = paths.iter().filter(|(bytes, _)| *bytes == largest).map(|(_, row)| row);
        let best = of_largest.min_by(|a, b| a.stats.median_us.total_cmp(&b.stats.median_us)).unwrap();
        let said = last(&record);
        assert!(said.starts_with("fastest here: ") && said.contains(&format!(" by {}, ", best.info.row)), "{said}");
        record.summary = Summary { cells: 4, within: 0, clear_misses: 0, undecided: 3 };
        assert!(last(&record).contains("quieter machine"), "{}", last(&record));
        record.cells.clear();
        assert!(last(&record).contains("nothing was timed"), "{}", last(&record));
    }

    #[test]
    fn the_headline_counts_as_people_do() {
        let said = |cells, within, clear_misses, undecided| {
            let summary = Summary { cells, within, clear_misses, undecided };
            headline(&Record { summary, ..sample::record() })
        };
        assert!(
            said(4, 3, 0, 4)
                .ends_with("; the other one is too close to call; none is decided, as all are within the noise")
        );
        assert!(
            said(4, 3, 1, 0)
                .contains("; the other one is clearly slower; right in 3 of 4 decided cells (75 %), 0 undecided")
        );
        assert!(said(9, 6, 2, 1).contains("; of the other 3, 2 are clearly slower; right in 6 of 8"));
    }

    #[test]
    fn times_have_three_figures_and_a_unit() {
        let texts = [0.5, 12.34, 489.4, 2152.0, 21_974.0, 123_456.0].map(time);
        assert_eq!(texts, ["0.50 µs", "12.3 µs", "489 µs", "2.15 ms", "22.0 ms", "123 ms"]);
        assert_eq!(percent(-0.012), "-1.2 %");
        assert_eq!(distinct([1, 2, 1]), [1, 2]);
    }
}
