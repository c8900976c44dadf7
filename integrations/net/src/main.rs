//! The command `pixelferry-net`: a plasma that workers compute in tiles, a display puts together and serves, and viewers see,
//! in browsers too; and a table of all nodes.

#[cfg(feature = "web")]
mod demo;
mod display;
mod failure;
mod join;
/// The main command's options for its log: the same here.
#[path = "../../../crates/pixelferry-cli/src/output.rs"]
mod log;
mod metrics;
mod output;
mod plasma;
mod probe;
mod router;
mod stop;
mod table;
#[cfg(feature = "web")]
mod video;
mod view;
#[cfg(feature = "web")]
mod web;
mod worker;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use failure::Failure;
use output::complain;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::LazyLock;
use tracing_subscriber::{EnvFilter, fmt};

/// The version, the commit where it was built from a clone, and the features.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("PIXELFERRY_COMMIT").map(|commit| format!("commit {commit}, ")).unwrap_or_default();
    let features = if cfg!(feature = "web") { "features web" } else { "no features" };
    format!("{} ({commit}{features})", env!("CARGO_PKG_VERSION"))
});

/// Pictures computed on many nodes and watched from anywhere.
#[derive(Parser)]
#[command(name = "pixelferry-net", version = VERSION.as_str(), arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    output: log::OutputOptions,
    /// Log by part, such as info or pixelferry_net=debug,zenoh=info; stands above -v and -q
    #[arg(long, global = true, help_heading = log::HEADING, value_name = "FILTER")]
    log: Option<String>,
    /// Answer Prometheus at this address and port; at /live whether the command goes on
    #[arg(long, global = true, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a picture in browsers: a display, workers and the page in one process, until Ctrl-C.
    #[cfg(feature = "web")]
    Demo(demo::Options),
    /// Compute tiles of a scene.
    Worker(worker::Options),
    /// Ask for frames, put their tiles together, and serve the pictures; the hub, unless it connects to one.
    Display(display::Options),
    /// Pass on what others send: between displays, workers and viewers on many networks.
    Router(router::Options),
    /// Look at the pictures that a display serves; prints their rate and age.
    View(view::Options),
    /// Show the pictures in browsers, which send mouse and keys back.
    #[cfg(feature = "web")]
    Web(web::Options),
    /// Record the pictures as H.264 into a file.
    #[cfg(feature = "web")]
    Video(video::Options),
    /// List all nodes and what they do.
    Probe(probe::Options),
}

/// Endpoint of the hub where none is named.
const HUB: &str = "tcp/127.0.0.1:7447";
/// Name of the scene where none is given.
const SCENE: &str = "plasma";

/// What is logged without options: Zenoh tells of each try to connect.
const USUAL_LOG: &str = "error,pixelferry=warn";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let command = Cli::command().color(log::color_of(&arguments));
    let parsed = command.try_get_matches_from(arguments).and_then(|found| Cli::from_arg_matches(&found));
    let done = run(parsed.unwrap_or_else(|error| error.exit()));
    stop::end();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(format_args!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn run(Cli { output, log, metrics, command }: Cli) -> Result<(), Failure> {
    let filter = match log {
        Some(text) => EnvFilter::try_new(&text).map_err(|error| Failure::Log(format!("--log {text}: {error}")))?,
        None => output.filter(USUAL_LOG).map_err(|error| Failure::Log(error.to_string()))?,
    };
    fmt().with_writer(std::io::stderr).with_ansi(output.is_colored()).with_env_filter(filter).init();
    stop::listen().map_err(Failure::Signals)?;
    if let Some(address) = metrics {
        metrics::serve(address)?;
    }
    match command {
        #[cfg(feature = "web")]
        Command::Demo(options) => demo::run(&options),
        Command::Worker(options) => worker::run(&options),
        Command::Display(options) => display::run(&options),
        Command::Router(options) => router::run(&options),
        Command::View(options) => view::run(&options),
        #[cfg(feature = "web")]
        Command::Web(options) => web::run(&options),
        #[cfg(feature = "web")]
        Command::Video(options) => video::run(&options),
        Command::Probe(options) => probe::run(&options),
    }
}
