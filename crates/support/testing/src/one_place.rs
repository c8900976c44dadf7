//! The table is the only place that says what tests need: the scripts install what it names, tests ask for every row,
//! and no other file has a rule of its own.

use crate::machine::MACHINE;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// Returns the contents of an array in `scripts/lib.sh`.
fn packages(array: &str) -> BTreeSet<String> {
    let script = format!("set -euo pipefail; . scripts/lib.sh; printf '%s\\n' \"${{{array}[@]}}\"");
    let output = Command::new("bash").args(["-c", &script]).current_dir(root()).output().expect("bash starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn scripts_install_what_the_rows_name() {
    let of = |name: &str| {
        let rows = MACHINE.iter().filter(move |row| name == "all" || row.name == name);
        rows.flat_map(|row| row.packages.split_whitespace()).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert!(of("all").len() > 10);
    assert_eq!(packages("TEST_PACKAGES"), of("all"));
    assert_eq!(packages("GL_PACKAGES"), of("egl"));
}

/// Returns the Rust and Python files of the repository outside of this crate, by their path in it.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let folders = ["crates", "examples", "tests", "xtask", "net", "integrations"].map(|name| root().join(name));
    let mut folders: Vec<PathBuf> = folders.into_iter().filter(|folder| folder.is_dir()).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_owned();
            if path.is_dir() {
                if !path.ends_with("target") && name != Path::new("crates/support/testing") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 300, "{} files", found.len());
    found
}

#[test]
fn tests_ask_for_every_row() {
    let sources = sources();
    for row in MACHINE {
        let (rust, python) = (format!("Need::{:?}", row.need), format!("(\"{}\"", row.name));
        let asks = |(name, text): &&(PathBuf, String)| match name.extension() {
            Some(extension) if extension == "py" => text.contains(&python),
            _ => text.split(&rust).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())),
        };
        assert!(sources.iter().any(|source| asks(&source)), "no test asks for {}", row.name);
    }
}

#[test]
fn no_other_file_decides_what_may_be_skipped() {
    let in_tests = |name: &Path| name.iter().any(|part| part == "tests" || part == "tests.rs");
    // These hold the texts of a table.
    let others = ["tests/suite/faults/table.rs"];
    for (name, text) in sources() {
        let mut forbidden =
            vec!["\"PIXELFERRY_REQUIRE\"", "var(\"CI\")", "var_os(\"CI\")", "environ.get(\"CI\"", "importorskip"];
        if in_tests(&name) && !others.iter().any(|other| name.starts_with(other)) {
            forbidden.push("\"SKIPPED");
        }
        if !name.ends_with("conftest.py") {
            forbidden.push("pytest.skip");
        }
        for word in forbidden {
            assert!(!text.contains(word), "{} has {word}; pixelferry-testing has the rule", name.display());
        }
    }
}

/// `/nonexistent` is the home of a user that may have run a program. Below a file there is nothing: `/dev/null/none`.
#[test]
fn no_test_takes_a_folder_for_absent_that_may_be_there() {
    for (name, text) in sources() {
        assert!(!text.contains("/nonexistent"), "{} has /nonexistent", name.display());
    }
}

/// A child that is started elsewhere could outlive its program.
#[test]
fn the_product_starts_children_in_one_place() {
    let is_product = |name: &Path| {
        let parts: Vec<_> = name.iter().collect();
        name.starts_with("crates") && parts.get(3).is_some_and(|part| *part == "src" || *part == "python")
    };
    // The second one belongs to a build script.
    let others = ["crates/framework/interop-core/src/describe/child_process.rs", "crates/apps/command/src/build.rs"];
    let mut found = 0;
    for (name, text) in sources().iter().filter(|(name, _)| is_product(name)) {
        // Without the tests at the end of the file.
        let text = text.split("\nmod tests {").next().unwrap_or_default();
        let has_command = text.lines().any(|line| line.contains("process::") && line.contains("Command"));
        let starts = has_command && [".spawn()", ".output()", ".status()"].iter().any(|call| text.contains(call));
        if others.iter().any(|other| name == Path::new(other)) {
            found += usize::from(starts);
            continue;
        }
        let starts =
            starts || ["import subprocess", "Popen", "os.fork(", "posix_spawn("].iter().any(|word| text.contains(word));
        assert!(!starts, "{} starts a process; ChildProcess does", name.display());
    }
    assert_eq!(found, others.len());
}
