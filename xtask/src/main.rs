//! Development tasks of this repository: `cargo xtask --help`.

mod bench;
mod check_imports;
mod check_pages;
mod check_size;
mod error;
mod feature_costs;
mod figures;
mod house;
mod houses;
mod names;
mod package;
mod packages;
mod platforms;
mod ptx;
mod repository;
mod source;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::Error;

/// Development tasks of the pixelferry repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// List tracked .rs, .md and .sh files that are too long, and .rs files that do not begin with a sentence about
    /// their content
    CheckSize {
        /// Maximum number of lines of a file
        #[arg(long, default_value_t = 600)]
        limit: usize,
    },
    /// List files of a crate that import each other
    CheckImports,
    /// List links of the pages that lead nowhere, code blocks that differ from the quoted file, and figures that differ
    /// from their samples
    CheckPages,
    /// Write the tables of docs/figures.md, which are made from samples
    Figures,
    /// Print what each feature of `pixelferry` costs: crates, seconds to build from nothing, size of a program. Fail if a
    /// set of features needs more crates than its limit
    FeatureCosts {
        /// Count the crates and build nothing
        #[arg(long)]
        check: bool,
    },
    /// Print what each house weighs: lines, tests, PTX, refusals, names, circles
    House {
        /// Fail if a house has more product code than its ceiling allows, or if a name says too little
        #[arg(long)]
        check: bool,
    },
    /// Compile the tree's CUDA C++ to the PTX beside it. Needs NVRTC 12.0, but no GPU
    Ptx {
        /// Folder of the compiler's library, if the loader does not find it
        #[arg(long, value_name = "FOLDER")]
        nvrtc: Option<PathBuf>,
        /// Write nothing; fail if the PTX in the tree differs
        #[arg(long)]
        check: bool,
    },
    /// Compile everything for Windows and macOS, if rustup can fetch their standard libraries. Runs nothing
    Platforms,
    /// Pack the published crates and compile a program outside the workspace with them
    Package,
    /// Measure which sharing path is fastest here: `pixelferry bench` as a release build, with the same options
    #[command(disable_help_flag = true)]
    Bench {
        /// Options of `pixelferry bench`; --help lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(&Arguments::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> Result<(), Error> {
    match chore {
        Chore::CheckSize { limit } => check_size::run(&repository::root()?, *limit),
        Chore::CheckImports => check_imports::run(&repository::root()?),
        Chore::CheckPages => check_pages::run(&repository::root()?),
        Chore::Figures => figures::run(&repository::root()?),
        Chore::FeatureCosts { check } => feature_costs::run(&repository::root()?, *check),
        Chore::House { check } => house::run(&repository::root()?, *check),
        Chore::Package => package::run(&repository::root()?),
        Chore::Platforms => platforms::run(&repository::root()?),
        Chore::Bench { options } => bench::run(&repository::root()?, options),
        Chore::Ptx { nvrtc, check } => ptx::run(&repository::root()?, nvrtc.as_deref(), *check),
    }
}
