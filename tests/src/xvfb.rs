//! A virtual X server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// X11 without a monitor, on a free display. Ends when it is dropped.
pub struct Xvfb {
    process: Child,
    display: String,
}

impl Xvfb {
    /// Starts a server with a screen of this size.
    pub fn start(width: u32, height: u32) -> Result<Self, String> {
        let spawned = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", &format!("{width}x{height}x24")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut process = spawned.map_err(|e| format!("Xvfb does not start: {e}"))?;
        let mut number = String::new();
        let told = process.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut number));
        let server = Self { process, display: format!(":{}", number.trim()) };
        match told {
            Some(Ok(_)) if !number.trim().is_empty() => Ok(server),
            _ => Err("Xvfb gave no display number".into()),
        }
    }

    /// Returns what `DISPLAY` is for its clients.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// Number of its process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
