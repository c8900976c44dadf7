//! Pictures between processes beside Zenoh's own messages of the same bytes, in one run: raw 1080p, and 720p JPEG for many
//! viewers. `cargo bench --bench peers -- samples.jsonl` prints a table and writes the raw samples.

mod child;
mod floor;
mod process;
mod raw;
mod table;
mod viewers;

use process::Result;
use std::io::Write as _;

/// True where a row is asked for: `PIXELFERRY_ROWS` has parts of names, with commas between them.
fn is_wanted(label: &str) -> bool {
    std::env::var("PIXELFERRY_ROWS").map_or(true, |parts| parts.split(',').any(|part| label.contains(part)))
}

fn main() -> Result<()> {
    if let Some(role) = std::env::var_os(process::ROLE) {
        return child::run(&role.to_string_lossy());
    }
    // `cargo bench` adds options of its own harness.
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let counts = std::env::var("PIXELFERRY_VIEWERS").unwrap_or_else(|_| "1,10,50,100".into());
    let counts = counts.split(',').map(str::parse).collect::<std::result::Result<Vec<usize>, _>>()?;
    let mut rows = if counts.contains(&1) { raw::measure()? } else { Vec::new() };
    rows.extend(raw::measure_many(&counts)?);
    rows.extend(viewers::measure(&counts)?);
    print!("{}", table::text(&rows));
    if let Some(file) = file {
        let mut file = std::fs::File::create(file)?;
        for row in &rows {
            writeln!(file, "{}", row.json())?;
        }
    }
    Ok(())
}
