//! Files that are watched: their times and lengths are looked at.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// Time between two looks.
const OFTEN: Duration = Duration::from_millis(20);

type Stamp = Option<(SystemTime, u64)>;

/// Files whose change is seen.
#[derive(Debug)]
pub struct Watch {
    files: Vec<(PathBuf, Stamp)>,
    looked: Instant,
}

impl Watch {
    /// Files as they are now; they need not be there.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let with_stamp = |file: PathBuf| {
            let stamp = stamp(&file);
            (file, stamp)
        };
        Self { files: files.into_iter().map(with_stamp).collect(), looked: Instant::now() }
    }

    /// True where one is another than at the last look, which is not long ago.
    pub fn has_changed(&mut self) -> bool {
        if self.looked.elapsed() < OFTEN {
            return false;
        }
        self.looked = Instant::now();
        let mut has_changed = false;
        for (file, known) in &mut self.files {
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
