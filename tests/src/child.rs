//! A test run again in a process of its own, with another environment.

use crate::need::{Driver, need};
use std::process::Command;

/// What came of a child.
#[derive(Debug)]
pub struct Child {
    /// It ended with status 0.
    pub success: bool,
    /// What it printed, standard error after standard output.
    pub output: String,
}

impl Child {
    /// Whether the child found the driver, which it says it did not by a line that begins with `NO DRIVER`; then this says
    /// SKIPPED and why.
    ///
    /// # Panics
    /// Where the machine is required to have the driver.
    pub fn found(&self, driver: Driver) -> bool {
        let missing = self.output.lines().find(|line| line.starts_with("NO DRIVER"));
        need(driver, missing.map_or(Ok(()), Err)).is_some()
    }
}

/// Runs the ignored test `name` of this test binary alone. `driver` is the only OpenCL driver it sees; it sees no display
/// server but those that `env` names.
pub fn in_child(name: &str, driver: Option<Driver>, env: &[(&str, &str)]) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"]);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    match driver {
        Some(Driver::Pocl) => {
            command.env("OCL_ICD_VENDORS", "pocl.icd");
        }
        Some(Driver::Rusticl) => {
            command.env("OCL_ICD_VENDORS", "rusticl.icd").env("RUSTICL_ENABLE", "llvmpipe");
        }
        _ => {}
    }
    let output = command.envs(env.iter().copied()).output()?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok(Child { success: output.status.success(), output: text.into_owned() })
}

/// Runs a test in a process of its own, and fails where that does not pass or prints none of `signs` that it ran. Says
/// SKIPPED where the machine lacks the driver, see [`Child::found`].
///
/// # Panics
/// So it fails.
#[allow(clippy::panic)] // the way in which tests fail
pub fn pass_in_child(name: &str, driver: Option<Driver>, env: &[(&str, &str)], signs: &[&str]) {
    let child = in_child(name, driver, env).unwrap_or_else(|e| panic!("{name} could not be run again: {e}"));
    println!("{}", child.output);
    if driver.is_none_or(|driver| child.found(driver)) {
        assert!(child.success, "{name} with {driver:?} and {env:?} failed, or its process ended early");
        assert!(signs.iter().any(|sign| child.output.contains(sign)), "nothing ran");
    }
}
