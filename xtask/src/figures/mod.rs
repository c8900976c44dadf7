//! Makes the tables of `docs/figures.md` from measured samples, and finds tables that differ.

mod tables;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::Error;
use tables::{Column, TABLES, Table, Want};

const PAGE: &str = "docs/figures.md";
/// Start of the line before a table, which ends with the table's name and [`CLOSE`].
const OPEN: &str = "<!-- cargo xtask figures: ";
const CLOSE: &str = " -->\n";
/// Line after a table.
const END: &str = "<!-- end -->\n";

/// Writes the tables into the page.
pub fn run(root: &Path) -> Result<(), Error> {
    let path = root.join(PAGE);
    let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    let (text, missing) = filled(root, &text)?;
    if let Some(name) = missing.first() {
        return Err(Error::NoFigures { page: PAGE, name });
    }
    fs::write(&path, text).map_err(Error::file("write", &path))
}

/// Returns problems of the page: tables that are missing, or that differ from the samples.
pub fn problems(root: &Path) -> Result<Vec<String>, Error> {
    let path = root.join(PAGE);
    let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    let (should, missing) = filled(root, &text)?;
    let mut wrong: Vec<_> = missing.iter().map(|name| format!("{PAGE}: there is no table '{name}'")).collect();
    for (at, (is, should)) in text.lines().zip(should.lines()).enumerate().filter(|(_, (is, should))| is != should) {
        wrong.push(format!("{PAGE}:{}: `{is}` should be `{should}` (cargo xtask figures)", at + 1));
    }
    if text.lines().count() != should.lines().count() {
        wrong.push(format!("{PAGE}: a table has too few or too many rows (cargo xtask figures)"));
    }
    Ok(wrong)
}

/// Returns the page with tables made from the samples, and the names of tables that have no place in it.
fn filled(root: &Path, page: &str) -> Result<(String, Vec<&'static str>), Error> {
    let (mut text, mut missing) = (page.to_owned(), Vec::new());
    for table in TABLES {
        let mark = format!("{OPEN}{}{CLOSE}", table.name);
        let place = text.find(&mark).map(|at| at + mark.len());
        match place.and_then(|from| Some((from, from + text[from..].find(END)?))) {
            Some((from, to)) => text.replace_range(from..to, &written(table, &samples(root, table)?)?),
            None => missing.push(table.name),
        }
    }
    Ok((text, missing))
}

/// A list of times, with their description.
#[derive(Debug)]
struct Sample {
    of: Map<String, Value>,
    times: Vec<f64>,
}

impl Sample {
    fn is(&self, (key, wanted): &Want) -> bool {
        let said = match self.of.get(*key) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => return false,
        };
        wanted.strip_prefix('~').map_or(said == *wanted, |part| said.contains(part))
    }
}

/// Returns every list of numbers in a table's files, with the fields beside it, `file`, and the list's own name as
/// `of`.
fn samples(root: &Path, table: &Table) -> Result<Vec<Sample>, Error> {
    let mut found = Vec::new();
    for file in table.files {
        let path = root.join(file);
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let rows: Vec<Map<String, Value>> = if file.ends_with(".json") {
            serde_json::from_str(&text)?
        } else {
            text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?
        };
        for row in rows {
            for (name, value) in &row {
                let Some(times) = value.as_array() else { continue };
                let mut of = row.clone();
                of.insert("file".into(), Value::String((*file).into()));
                of.insert("of".into(), Value::String(name.clone()));
                found.push(Sample { of, times: times.iter().filter_map(Value::as_f64).collect() });
            }
        }
    }
    Ok(found)
}

/// Formats the table in Markdown.
fn written(table: &Table, samples: &[Sample]) -> Result<String, Error> {
    let titles: Vec<_> = table.columns.iter().map(|column| column.title).collect();
    let mut text = format!("| {} | {} |\n|{}\n", table.head, titles.join(" | "), "---|".repeat(titles.len() + 1));
    for (title, row) in table.rows {
        let _ = write!(text, "| {title} |");
        let mut is_there = false;
        for column in table.columns {
            let wanted: Vec<_> = row.iter().chain(column.wants).copied().collect();
            let cell = cell(table, samples, &wanted, floor(row, column).as_deref());
            is_there |= cell.is_some();
            let _ = write!(text, " {} |", cell.as_deref().unwrap_or("-"));
        }
        if !is_there {
            return Err(Error::NoSamples { table: table.name, row: title });
        }
        text.push('\n');
    }
    Ok(text)
}

/// Returns the fields of samples for a cell's floor; `None` if its column has none.
fn floor(row: &[Want], column: &Column) -> Option<Vec<Want>> {
    let stays = |want: &&Want| column.floor.iter().all(|(key, _)| *key != want.0);
    let of_row = row.iter().filter(|want| want.1.starts_with('~') || stays(want));
    let all = of_row.chain(column.wants.iter().filter(stays)).chain(column.floor);
    (!column.floor.is_empty()).then(|| all.copied().collect())
}

/// Formats median, 99th percentile, and the ratio to the floor's median; `None` without samples.
fn cell(table: &Table, samples: &[Sample], wanted: &[Want], floor: Option<&[Want]>) -> Option<String> {
    let times = pooled(samples, wanted)?;
    let median = quantile(&times, 0.5);
    let mut text = format!("{} ({})", short(table.scale * median), short(table.scale * quantile(&times, 0.99)));
    if let Some(floor) = floor {
        let _ = write!(text, " {:.2}", median / quantile(&pooled(samples, floor)?, 0.5));
    }
    Some(text)
}

/// Returns all matching times, sorted.
fn pooled(samples: &[Sample], wanted: &[Want]) -> Option<Vec<f64>> {
    let fit = samples.iter().filter(|sample| wanted.iter().all(|want| sample.is(want)));
    let mut times: Vec<_> = fit.flat_map(|sample| &sample.times).copied().collect();
    times.sort_by(f64::total_cmp);
    (!times.is_empty()).then_some(times)
}

/// Quantile of sorted times, interpolated between neighbours.
fn quantile(times: &[f64], share: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are some thousand samples")]
    let at = share * (times.len() - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the slice")]
    let below = at.floor() as usize;
    let above = times[(below + 1).min(times.len() - 1)];
    times[below] + (above - times[below]) * at.fract()
}

/// Formats with a sensible number of digits.
fn short(time: f64) -> String {
    match time {
        20.0.. => format!("{time:.0}"),
        1.0.. => format!("{time:.1}"),
        _ => format!("{time:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table {
        name: "a",
        files: &["a.jsonl"],
        scale: 1.0,
        head: "b",
        columns: &[Column { title: "c", wants: &[("row", "~two")], floor: &[("row", "one")] }],
        rows: &[("d", &[("size", "4")])],
    };

    fn sample(row: &str, size: u32, times: &[f64]) -> Sample {
        let Value::Object(of) = serde_json::json!({ "row": row, "size": size }) else { unreachable!() };
        Sample { of, times: times.to_vec() }
    }

    #[test]
    fn a_cell_has_the_median_the_last_percent_and_the_floor() {
        let samples = [sample("one", 4, &[2.0]), sample("by two", 4, &[3.0, 1.0]), sample("by two", 4, &[30.0, 5.0])];
        let text = written(&TABLE, &samples).unwrap();
        assert_eq!(text, "| b | c |\n|---|---|\n| d | 4.0 (29) 2.00 |\n");
        let other = [sample("one", 4, &[2.0]), sample("by two", 5, &[3.0])];
        assert!(matches!(written(&TABLE, &other), Err(Error::NoSamples { table: "a", row: "d" })));
    }

    #[test]
    fn a_page_that_says_something_else_is_found() {
        let root = crate::repository::root().unwrap();
        let page = fs::read_to_string(root.join(PAGE)).unwrap();
        assert_eq!(filled(&root, &page).unwrap(), (page.clone(), vec![]));
        let at = page.find(OPEN).unwrap();
        let digit = at + page[at..].find(") 1.").unwrap() + 2;
        let mut other = page.clone();
        other.replace_range(digit..=digit, "?");
        assert_eq!(filled(&root, &other).unwrap().0, page);
        assert_eq!(filled(&root, "# Figures\n").unwrap().1.len(), TABLES.len());
    }
}
