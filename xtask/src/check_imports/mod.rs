//! Keeps the files of a crate in an order: none imports one that imports it, directly or by way of others; and no room of a crate
//! one that is above it.
//!
//! | to find | look in |
//! |---|---|
//! | who imports whom | `graph` |
//! | circles among them | `circles` |
//! | the order of rooms | `rooms` |

mod circles;
mod graph;
mod rooms;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::repository;
use crate::source::Crate;

pub fn run(root: &Path) -> Result<(), Error> {
    let libraries = repository::tracked(root, &["crates/*/src/lib.rs", "tests/*/src/lib.rs"])?;
    let (mut files, mut wrong) = (0, Vec::new());
    for library in &libraries {
        let folder = root.join(library).with_file_name("");
        let graph = graph::of(&Crate::load(&folder)?);
        files += graph.len();
        let krate = library.parent().and_then(Path::parent).unwrap_or(library).display().to_string();
        wrong.extend(circles::of(&graph).iter().map(|circle| told(&krate, &folder, circle)));
        wrong.extend(rooms::wrong(&krate, &folder, &graph, rooms::ROOMS));
    }
    if files == 0 {
        return Err(Error::NothingToCheck);
    }
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() {
        let crates = libraries.len();
        println!("{files} files of {crates} crates, no circle of imports, no room that imports one above");
        return Ok(());
    }
    Err(Error::Imports(wrong.len()))
}

/// A circle as a line.
fn told(krate: &str, folder: &Path, circle: &BTreeSet<PathBuf>) -> String {
    let name = |file: &PathBuf| file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let files: Vec<_> = circle.iter().map(name).collect();
    format!("{krate}: these import each other: {}", files.join(" "))
}
