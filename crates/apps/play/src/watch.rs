//! Watches files by polling their times and lengths.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// Polling interval.
const OFTEN: Duration = Duration::from_millis(20);

type Stamp = Option<(SystemTime, u64)>;

/// Detects changes of files.
#[derive(Debug)]
pub struct Watch {
    files: Vec<(Stamp, PathBuf)>,
    looked: Instant,
}

impl Watch {
    /// Starts with the files' current state; they may be missing.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { files: files.into_iter().map(|file| (stamp(&file), file)).collect(), looked: Instant::now() }
    }

    /// Returns whether a file has changed since the last poll; polls at most once per interval.
    pub fn has_changed(&mut self) -> bool {
        if self.looked.elapsed() < OFTEN {
            return false;
        }
        self.looked = Instant::now();
        let mut has_changed = false;
        for (known, file) in &mut self.files {
            let now = stamp(file);
            has_changed |= now != *known;
            *known = now;
        }
        has_changed
    }
}

fn stamp(file: &PathBuf) -> Stamp {
    let found = fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len()))
}
