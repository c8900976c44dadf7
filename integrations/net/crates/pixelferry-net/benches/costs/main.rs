//! What messages, tiles, pictures and members cost in processor time, and what a whole network does on this machine: the numbers
//! that `examples/scale` computes with. `cargo bench --bench costs -- costs.jsonl` writes them with their samples.

mod direct;
mod members;
#[path = "../common/process.rs"]
mod process;
mod role;
mod tiles;
mod traffic;
mod usage;
mod whole;

use process::Result;
use serde_json::Value;
use std::io::Write as _;

fn main() -> Result<()> {
    if let Some(role) = std::env::var_os(process::ROLE) {
        return role::run(&role.to_string_lossy());
    }
    // `cargo bench` adds options of its own harness.
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let parts: [fn() -> Result<Vec<Value>>; 5] =
        [direct::measure, traffic::measure, tiles::measure, members::measure, whole::measure];
    let mut rows = Vec::new();
    for part in parts {
        for row in part()? {
            println!("{row}");
            rows.push(row);
        }
    }
    if let Some(file) = file {
        let mut file = std::fs::File::create(file)?;
        rows.iter().try_for_each(|row| writeln!(file, "{row}"))?;
    }
    Ok(())
}
