//! `pixelferry clgl`: programs whose OpenCL shares with OpenGL, by the layer `libpixelferry_clgl.so`.

use crate::exit::Exit;
use pixelferry::api::opencl::devices;
use pixelferry::driver::describe::child_process::ChildProcess;
use pixelferry_demo::{complain, say};
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

/// Advice where the layer is missing.
const HINT: &str =
    "give its path with --layer, or build it in a clone of pixelferry with: cargo build --release -p clgl-layer";
/// The variable that both OpenCL loaders read.
const LAYERS: &str = "OPENCL_LAYERS";

#[derive(clap::Args)]
pub struct ClglOptions {
    /// Path of the layer; by default, libpixelferry_clgl.so beside this program.
    #[arg(long, value_name = "FILE")]
    layer: Option<PathBuf>,
    #[command(subcommand)]
    command: ClglCommand,
}

#[derive(clap::Subcommand)]
enum ClglCommand {
    /// List the OpenCL devices, and which of them share with OpenGL if the layer is used.
    Devices,
    /// Run a program, which may be searched in PATH, with the layer.
    Run {
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<OsString>,
    },
}

pub fn run(ClglOptions { layer, command }: &ClglOptions) -> Result<Exit, Box<dyn Error>> {
    let own = env::current_exe()?;
    let layer = layer.clone().unwrap_or_else(|| own.with_file_name("libpixelferry_clgl.so"));
    let layer = layer.canonicalize().map_err(|error| format!("{}: {error}; {HINT}", layer.display()))?;
    let set = env::var_os(LAYERS).unwrap_or_default();
    let is_other =
        |other: &PathBuf| !other.as_os_str().is_empty() && other.canonicalize().ok().as_ref() != Some(&layer);
    let others = env::split_paths(&set).filter(is_other);
    let all = env::join_paths([layer.clone()].into_iter().chain(others))?;
    // In a process of its own, because a loader reads its layers once.
    let mut list = Command::new(own);
    list.args(["clgl", "--layer"]).arg(&layer).arg("devices").env(LAYERS, &all);
    match command {
        ClglCommand::Devices if all == set => {
            for device in devices()? {
                let shares = if device.has_extension("cl_khr_gl_sharing") { "shares" } else { "does not share" };
                say!("{}: {shares} with OpenGL", device.identity())?;
            }
        }
        ClglCommand::Devices => return Err(list.exec().into()),
        ClglCommand::Run { program } => {
            complain!("with {}:", layer.display());
            list.stdout(io::stderr());
            ChildProcess::start(list)?.wait()?;
            let error = Command::new(&program[0]).args(&program[1..]).env(LAYERS, &all).exec();
            return Err(format!("cannot run {}: {error}", program[0].display()).into());
        }
    }
    Ok(Exit::Done)
}
