//! `pixelferry bench`.

use pixelferry_bench::{BenchOptions, execute};
use pixelferry_demo::terminal::Output;
use std::error::Error;

pub fn run(options: &BenchOptions) -> Result<(), Box<dyn Error>> {
    Ok(execute(options, &mut Output)?)
}
