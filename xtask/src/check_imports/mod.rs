//! Keeps the files of a crate in an order: none imports one that imports it, directly or by way of others; and no room of a crate
//! one that is above it.
//!
//! | to find | look in |
//! |---|---|
//! | who imports whom | `graph` |
//! | circles among them | `circles` |
//! | circles that are still there | `known` |
//! | the order of rooms | `rooms` |

mod circles;
mod graph;
mod known;
mod rooms;

use std::collections::BTreeSet;
use std::path::Path;

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
        let name = |file: &Path| file.strip_prefix(&folder).unwrap_or(file).display().to_string();
        let found: Vec<BTreeSet<String>> =
            circles::of(&graph).iter().map(|circle| circle.iter().map(|file| name(file)).collect()).collect();
        let krate = library.parent().and_then(Path::parent).unwrap_or(library).display().to_string();
        wrong.extend(compare(&krate, &found, known::CIRCLES));
        wrong.extend(rooms::wrong(&krate, &folder, &graph, rooms::ROOMS));
    }
    if files == 0 {
        return Err(Error::NothingToCheck);
    }
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() {
        let left = known::CIRCLES.len();
        println!(
            "{files} files of {} crates, no circle of imports but {left} that are known, no room that imports one above",
            libraries.len()
        );
        return Ok(());
    }
    Err(Error::Imports(wrong.len()))
}

/// What differs from the list: circles that it has not, and rows of it that are no longer so.
fn compare(krate: &str, found: &[BTreeSet<String>], known: &[known::Circle]) -> Vec<String> {
    let rows: Vec<_> = known.iter().filter(|(of, _)| *of == krate).map(|(_, files)| *files).collect();
    let is = |files: &[&str], circle: &BTreeSet<String>| circle.iter().map(String::as_str).eq(files.iter().copied());
    let new = found.iter().filter(|circle| !rows.iter().any(|files| is(files, circle)));
    let new = new.map(|circle| {
        let files: Vec<_> = circle.iter().map(String::as_str).collect();
        format!("{krate}: these import each other: {}", files.join(" "))
    });
    let gone = rows.iter().filter(|files| !found.iter().any(|circle| is(files, circle)));
    new.chain(gone.map(|files| format!("{krate}: no longer so; take the row away: {}", files.join(" ")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_circles_and_rows_that_are_no_longer_so_are_told() {
        let circle = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect::<BTreeSet<_>>();
        let known: &[known::Circle] = &[("crates/a", &["x.rs", "y.rs"])];
        assert!(compare("crates/a", &[circle(&["x.rs", "y.rs"])], known).is_empty());
        assert_eq!(compare("crates/a", &[], known).len(), 1);
        assert_eq!(compare("crates/a", &[circle(&["x.rs", "y.rs", "z.rs"])], known).len(), 2);
        assert_eq!(compare("crates/b", &[circle(&["x.rs", "y.rs"])], known).len(), 1);
    }
}
