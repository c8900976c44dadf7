//! What the programs that measure share: `cargo bench -p pixelferry-measure --bench NAME [-- OPTIONS]`.
//!
//! | program | measures |
//! |---|---|
//! | `queue` | kernels and draws in one queue, beside OpenGL and Vulkan by hand; the gate for changes of a frame's calls |
//! | `engine` | a frame to an engine's own Vulkan image, beside a program by hand |
//! | `layer` | what a link costs above the path that it took |
//! | `start` | what choosing a path costs when a link is opened |
//! | `resize` | what a resize costs beside a frame |
//! | `draws` | what the compute device's draws cost |
//! | `bandwidth` | arrays beside what memory carries |
//!
//! Each prints a table; with `--json FILE` those with samples write them. Paths and their floors are measured by the command:
//! `cargo xtask bench`. `reference` holds programs by hand in other languages, `samples` what was measured.

use std::env;

/// What follows `name` on the command line.
pub fn argument(name: &str) -> Option<String> {
    let all: Vec<String> = env::args().collect();
    all.iter().position(|a| a == name).and_then(|i| all.get(i + 1).cloned())
}
