//! Checks that imports within a crate have an order: no file imports one that imports it, directly or indirectly, and
//! no room of a crate imports one above it, and no house one that it must not know.
//!
//! | to find | look in |
//! |---|---|
//! | who imports whom | `graph` |
//! | circles among files | `circles` |
//! | the order of rooms | `rooms` |
//! | the order of houses | `houses` |
//! | threads that libraries start | `starts` |

mod circles;
mod graph;
mod houses;
mod rooms;
mod starts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::graph::Graph;
use crate::error::Error;
use crate::packages::{self, Package};
use crate::source::Crate;

pub fn run(root: &Path) -> Result<(), Error> {
    let (mut files, mut wrong) = (0, Vec::new());
    let packages = packages::all(root)?;
    wrong.extend(houses::wrong(&packages));
    let graphs = graphs(root, &packages, &mut wrong)?;
    for (krate, folder, graph) in &graphs {
        files += graph.len();
        wrong.extend(circles::of(graph).iter().map(|circle| told(krate, folder, graph, circle)));
        wrong.extend(rooms::wrong(krate, folder, graph, rooms::ROOMS));
    }
    if files == 0 {
        return Err(Error::NothingToCheck);
    }
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() {
        let crates = graphs.len();
        println!(
            "{files} files of {crates} crates, no circle of imports, no room and no house that imports one above, no thread that takes signals"
        );
        return Ok(());
    }
    Err(Error::Imports(wrong.len()))
}

/// Returns the number of circles.
pub fn circles(root: &Path) -> Result<usize, Error> {
    Ok(graphs(root, &packages::all(root)?, &mut Vec::new())?.iter().map(|(_, _, graph)| circles::of(graph).len()).sum())
}

/// Returns all libraries and programs of all workspaces: package, source folder, and import graph. Violations of the
/// rule for threads are added to `wrong`.
fn graphs(root: &Path, packages: &[Package], wrong: &mut Vec<String>) -> Result<Vec<(String, PathBuf, Graph)>, Error> {
    if let Some(name) = packages::missing(packages, rooms::ROOMS.iter().map(|(name, _)| *name)).first() {
        return Err(Error::NoPackage((*name).to_owned()));
    }
    let mut found = Vec::new();
    for package in packages {
        let sources = root.join(&package.folder).join("src");
        for target in package.targets.iter().filter(|target| target.src_path.starts_with(&sources)) {
            let modules = Crate::load(&target.src_path)?;
            wrong.extend(starts::wrong(&package.name, &modules));
            found.push((package.name.clone(), target.src_path.with_file_name(""), graph::of(&modules)));
        }
    }
    Ok(found)
}

/// Formats a circle: each of its files with the others that it names.
fn told(krate: &str, folder: &Path, graph: &Graph, circle: &BTreeSet<PathBuf>) -> String {
    let name = |file: &PathBuf| file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let named = |file| graph[file].intersection(circle).map(name).collect::<Vec<_>>().join(" ");
    let files: Vec<_> = circle.iter().map(|file| format!("{} -> {}", name(file), named(file))).collect();
    format!("{krate}: these import each other: {}", files.join("; "))
}
