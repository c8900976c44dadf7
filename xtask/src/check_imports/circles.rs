//! Files that import each other, directly or indirectly.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::graph::Graph;

/// Returns every circle, with each file in at most one (Tarjan's strongly connected components of two or more).
pub fn of(graph: &Graph) -> Vec<BTreeSet<PathBuf>> {
    let mut search =
        Search { graph, numbers: BTreeMap::new(), lows: BTreeMap::new(), open: Vec::new(), found: Vec::new() };
    for file in graph.keys() {
        if !search.numbers.contains_key(file.as_path()) {
            search.visit(file);
        }
    }
    search.found
}

struct Search<'a> {
    graph: &'a Graph,
    numbers: BTreeMap<&'a Path, usize>,
    /// The first file of the open ones that each comes back to.
    lows: BTreeMap<&'a Path, usize>,
    open: Vec<&'a Path>,
    found: Vec<BTreeSet<PathBuf>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, file: &'a Path) {
        let number = self.numbers.len();
        self.numbers.insert(file, number);
        self.lows.insert(file, number);
        self.open.push(file);
        for next in self.graph.get(file).into_iter().flatten() {
            let reached = match self.numbers.get(next.as_path()) {
                None => {
                    self.visit(next);
                    self.lows[next.as_path()]
                }
                Some(number) if self.open.contains(&next.as_path()) => *number,
                Some(_) => continue,
            };
            let low = self.lows[file].min(reached);
            self.lows.insert(file, low);
        }
        if self.lows[file] == number {
            let start = self.open.iter().position(|open| *open == file).unwrap_or(0);
            let circle = self.open.split_off(start);
            if circle.len() > 1 {
                self.found.push(circle.into_iter().map(Path::to_path_buf).collect());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_chains_are_none() {
        let graph = |edges: &[(&str, &[&str])]| -> Graph {
            edges.iter().map(|(from, to)| (from.into(), to.iter().map(Into::into).collect())).collect()
        };
        let found = of(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]));
        assert!(found.is_empty(), "{found:?}");
        let found = of(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a", "d"]), ("d", &["e"]), ("e", &["d"])]));
        let found: Vec<Vec<_>> =
            found.iter().map(|circle| circle.iter().map(|f| f.to_str().unwrap()).collect()).collect();
        assert_eq!(found, [vec!["d", "e"], vec!["a", "b", "c"]]);
    }
}
