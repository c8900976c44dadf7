//! Rooms: the top-level modules of a crate in an order; none may import one above it.

use std::collections::BTreeSet;
use std::path::Path;

use super::graph::Graph;

/// A package and its rooms, lowest first.
pub type Rooms = (&'static str, &'static str);

/// Crates that have rooms.
pub const ROOMS: &[Rooms] = &[
    ("interop-core", "describe devices tournament draw display compute path select audit engine link conformance"),
    ("pixelferry-gl", "api context objects draw queue staging surface display compute"),
    ("pixelferry-vulkan", "sharing queue context staging launch surface draw display compute"),
    ("pixelferry-wgpu", "context draw staging surface display compute"),
];

/// Returns a crate's violations: imports that go up, and rooms that are missing in the tree or in the table.
pub fn wrong(krate: &str, folder: &Path, graph: &Graph, table: &[Rooms]) -> Vec<String> {
    let Some((_, rooms)) = table.iter().find(|(of, _)| *of == krate) else { return Vec::new() };
    let rooms: Vec<_> = rooms.split(' ').collect();
    let place = |file: &Path| {
        let name = room(folder, file)?;
        Some(rooms.iter().position(|room| *room == name).ok_or(name))
    };
    let (mut found, mut unknown, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (file, named) in graph {
        let from = match place(file) {
            Some(Ok(from)) => from,
            Some(Err(name)) => {
                unknown.insert(name);
                continue;
            }
            None => continue,
        };
        seen.insert(from);
        for other in named {
            if let Some(Ok(to)) = place(other)
                && to > from
            {
                let name = |file: &Path| file.strip_prefix(folder).unwrap_or(file).display().to_string();
                let (file, other) = (name(file), name(other));
                found.push(format!("{krate}: {file} imports {other}, and {} is above {}", rooms[to], rooms[from]));
            }
        }
    }
    found.extend(unknown.iter().map(|name| format!("{krate}: {name} is missing in the table of rooms; add it there")));
    let empty = rooms.iter().enumerate().filter(|(at, _)| !seen.contains(at));
    found.extend(empty.map(|(_, name)| format!("{krate}: there is no room {name}; remove it from the table")));
    found
}

/// Returns the top-level module of a file; `None` for the crate's root.
fn room(folder: &Path, file: &Path) -> Option<String> {
    let path = file.strip_prefix(folder).ok()?;
    let first = Path::new(path.components().next()?.as_os_str());
    let name = first.file_stem()?.to_str()?;
    (name != "lib" || path != Path::new("lib.rs")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Rooms] = &[("a", "low high")];

    fn told(edges: &[(&str, &[&str])]) -> Vec<String> {
        let folder = Path::new("a/src");
        let graph: Graph = edges
            .iter()
            .map(|(from, to)| (folder.join(from), to.iter().map(|file| folder.join(file)).collect()))
            .collect();
        wrong("a", folder, &graph, TABLE)
    }

    #[test]
    fn imports_run_down() {
        let down: &[(&str, &[&str])] =
            &[("lib.rs", &["high.rs"]), ("high.rs", &["low/x.rs"]), ("low/x.rs", &["low/y.rs"])];
        assert!(told(down).is_empty(), "{:?}", told(down));
        let up = told(&[("high.rs", &[]), ("low/x.rs", &["high.rs"])]);
        assert_eq!(up, ["a: low/x.rs imports high.rs, and high is above low"]);
    }

    #[test]
    fn the_table_has_the_rooms_that_are_there() {
        let more = told(&[("high.rs", &[]), ("low/x.rs", &[]), ("other.rs", &["high.rs"])]);
        assert_eq!(more, ["a: other is missing in the table of rooms; add it there"]);
        assert_eq!(told(&[("low/x.rs", &[])]), ["a: there is no room high; remove it from the table"]);
        assert!(wrong("b", Path::new("b/src"), &Graph::new(), TABLE).is_empty(), "a crate without rooms");
    }
}
