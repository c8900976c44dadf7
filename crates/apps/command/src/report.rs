//! `pixelferry report`: one file for a bug report, without private data.

use crate::json::print;
use crate::scrub::Scrub;
use crate::{absent, doctor, table};
use pixelferry::driver::select::environment::VARIABLES;
use pixelferry::{PixelFormat, SurfaceDesc, command::check_writable};
use pixelferry_demo::terminal::Output;
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct ReportOptions {
    /// File to write; `-` is standard output.
    #[arg(default_value = "pixelferry-report.md", value_name = "FILE")]
    file: PathBuf,
}

pub fn run(options: &ReportOptions) -> Result<(), Box<dyn Error>> {
    let file = &options.file;
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", file.display());
    if file.as_os_str() == "-" {
        return print(&mut Output, &text()?);
    }
    check_writable(file).map_err(failed)?;
    fs::write(file, text()?).map_err(failed)?;
    print(&mut Output, &format!("the report is in {}; read it before you send it\n", file.display()))
}

fn text() -> Result<String, Box<dyn Error>> {
    crate::probe::waits();
    let mut report = pixelferry::probe(&SurfaceDesc::image(1280, 720, PixelFormat::Rgba8))?;
    // Serial numbers are private. Whether two devices have the same one is in the findings.
    let devices = report.backends.iter_mut().flat_map(|backend| &mut backend.devices);
    for device in devices.chain(report.displays.iter_mut().filter_map(|display| display.device.as_mut())) {
        (device.uuid, device.luid) = (None, None);
    }
    let causes: Vec<_> = report.diagnoses.iter().filter(|found| found.command.is_some()).cloned().collect();
    let mut text = format!("# pixelferry {}\n\n", *absent::VERSION);
    writeln!(text, "- system: {} {}, {}", env::consts::OS, env::consts::ARCH, system())?;
    writeln!(text, "- built: {}", if cfg!(debug_assertions) { "for debugging" } else { "optimised" })?;
    writeln!(text, "\n## Environment\n")?;
    let names = VARIABLES.into_iter().chain(["PIXELFERRY_LOG"]).chain(pixelferry::doctor::VARIABLES.iter().copied());
    let set: Vec<_> = names.filter_map(|name| Some((name, env::var_os(name)?))).collect();
    for (name, value) in &set {
        writeln!(text, "- {name}={}", value.to_string_lossy())?;
    }
    if set.is_empty() {
        writeln!(text, "No environment variable that changes drivers is set.")?;
    }
    for (title, body) in [("Doctor", doctor::text(&causes)), ("Probe", table::report(&report))] {
        writeln!(text, "\n## {title}\n\n```text\n{}```", body.replace("```", "'''"))?;
    }
    Ok(Scrub::here().clean(&text))
}

/// Name and version of the operating system and its kernel.
fn system() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{}, kernel {}", name.unwrap_or("name unknown").trim_matches('"'), kernel.trim())
}
