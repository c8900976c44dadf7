//! `cargo run -p pixelferry-fuzz -- --seed 7 --operations 100000`

#![forbid(unsafe_code)]

use clap::Parser;
use pixelferry_fuzz::drivers::{Driver, Drivers};
use pixelferry_fuzz::log::Checked;
use pixelferry_fuzz::run::{Plan, run};
use std::process::ExitCode;

/// Random operations through the public API of pixelferry.
#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    plan: Plan,
    /// Drives these beside threads and plain memory.
    #[arg(long, value_delimiter = ',', default_values = ["opencl", "gl"])]
    with: Vec<Driver>,
    /// Fails where one of these is not there.
    #[arg(long, value_delimiter = ',')]
    need: Vec<Driver>,
}

fn fuzz(options: &Options) -> Checked {
    let log = run(&options.plan, &Drivers::open(&options.with, &options.need)?)?;
    print!("{log}");
    println!(
        "seed {}: {} operations, {} accepted, {} refused",
        options.plan.seed,
        log.operations(),
        log.accepted(),
        log.refused()
    );
    Ok(())
}

fn main() -> ExitCode {
    match fuzz(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("FAILED: {failure}");
            ExitCode::FAILURE
        }
    }
}
