//! Watches files by polling their times and lengths.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// Polling interval.
const OFTEN: Duration = Duration::from_millis(20);

/// Detects changes of files.
#[derive(Debug)]
pub struct Watch {
    files: Vec<PathBuf>,
    known: Vec<Option<(SystemTime, u64)>>,
    looked: Instant,
}

impl Watch {
    /// Starts with the files' current state; they may be missing.
    pub fn new(files: Vec<PathBuf>) -> Self {
        Self { known: stamps(&files), files, looked: Instant::now() }
    }

    /// Returns whether a file has changed since the last poll; polls at most once per interval.
    pub fn has_changed(&mut self) -> bool {
        if self.looked.elapsed() < OFTEN {
            return false;
        }
        self.looked = Instant::now();
        let now = stamps(&self.files);
        let has_changed = now != self.known;
        self.known = now;
        has_changed
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Option<(SystemTime, u64)>> {
    let found = files.iter().map(|file| fs::metadata(file).ok());
    found.map(|found| found.and_then(|found| Some((found.modified().ok()?, found.len())))).collect()
}
