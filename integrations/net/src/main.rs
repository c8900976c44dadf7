//! The command `pixelferry-net`: workers compute a plasma in tiles, a display assembles and serves it, and viewers show
//! it, also in browsers; and a table of all nodes.

#[cfg(feature = "web")]
mod demo;
mod display;
mod failure;
mod join;
/// The log options of the main command, which are the same here.
#[path = "../../../crates/apps/command/src/output.rs"]
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

/// The version, the commit (for a build from a clone), and the features.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("PIXELFERRY_COMMIT").map(|commit| format!("commit {commit}, ")).unwrap_or_default();
    let features = if cfg!(feature = "web") { "features web" } else { "no features" };
    format!("{} ({commit}{features})", env!("CARGO_PKG_VERSION"))
});

/// Compute pictures on many nodes and watch them from anywhere.
#[derive(Parser)]
#[command(name = "pixelferry-net", version = VERSION.as_str(), arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    output: log::OutputOptions,
    /// Log levels by module, such as info or pixelferry_net=debug,zenoh=info; overrides -v and -q
    #[arg(long, global = true, help_heading = log::HEADING, value_name = "FILTER")]
    log: Option<String>,
    /// Serve Prometheus metrics on this address and port; /live reports whether the command makes progress
    #[arg(long, global = true, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a picture in browsers: runs a display, workers and the page in one process, until Ctrl-C.
    #[cfg(feature = "web")]
    Demo(demo::DemoOptions),
    /// Compute tiles of a scene.
    Worker(worker::WorkerOptions),
    /// Request frames, assemble their tiles, and serve the pictures; acts as the hub unless it connects to one.
    Display(display::DisplayOptions),
    /// Forward messages between displays, workers and viewers on many networks.
    Router(router::RouterOptions),
    /// Watch the pictures of a display; prints their rate and age.
    View(view::ViewOptions),
    /// Show the pictures in browsers, which send mouse and keys back.
    #[cfg(feature = "web")]
    Web(web::WebArgs),
    /// Record the pictures as H.264 in a file.
    #[cfg(feature = "web")]
    Video(video::VideoOptions),
    /// List all nodes and what they do.
    Probe(probe::ProbeOptions),
}

/// Default endpoint of the hub.
const HUB: &str = "tcp/127.0.0.1:7447";
/// Default name of the scene.
const SCENE: &str = "plasma";

/// Default log level: Zenoh logs each attempt to connect.
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
