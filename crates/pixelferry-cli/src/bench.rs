//! `pixelferry bench`.

use pixelferry_bench::{BenchOptions, execute};
use std::error::Error;

pub fn run(options: &BenchOptions) -> Result<(), Box<dyn Error>> {
    Ok(execute(options, &mut std::io::stdout().lock())?)
}
