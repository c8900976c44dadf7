//! Files of one test.

use std::path::PathBuf;

/// A folder that is gone afterwards. It is made by whoever writes into it.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates the folder of this process and this name.
    pub fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("pixelferry-{name}-{}", std::process::id())))
    }

    /// Number of its files.
    pub fn files(&self) -> usize {
        std::fs::read_dir(&self.0).map_or(0, Iterator::count)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
