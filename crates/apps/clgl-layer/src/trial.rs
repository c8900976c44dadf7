//! Which method to transfer an image is quicker.

use std::time::Duration;

/// Methods to transfer an image: OpenGL uses the driver's mapped memory, or memory of the layer's own.
pub const MAPPED: usize = 0;
pub const STAGED: usize = 1;

/// The quicker method, found by trying both: how long each took.
#[derive(Default)]
pub struct Trial([Vec<Duration>; 2]);

impl Trial {
    /// The first time, memory is untouched; later the machine may be busy.
    const TRIES: usize = 4;

    /// The next method, and whether it is found.
    pub fn next(&self) -> (usize, bool) {
        let [mapped, staged] = &self.0;
        let is_found = staged.len() >= Self::TRIES;
        let staged = if is_found { staged.iter().min() < mapped.iter().min() } else { staged.len() < mapped.len() };
        (usize::from(staged), is_found)
    }

    pub fn note(&mut self, method: usize, spent: Duration) {
        self.0[method].push(spent);
    }
}
