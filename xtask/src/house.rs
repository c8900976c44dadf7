//! The house in numbers: a table of what the repository weighs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use syn::Item;
use syn::spanned::Spanned as _;

use crate::check_imports;
use crate::check_pages;
use crate::error::Error;
use crate::repository;
use crate::source::{attrs, may_be_test, module_files};

const PAGE: &str = "CONTRIBUTING.md";
/// Marks around the table.
const MARKS: [&str; 2] = ["<!-- cargo xtask house --write -->\n", "<!-- end of the house -->\n"];
/// Folders, and the package, of which nothing runs in a user's process.
const NO_PRODUCT: [&str; 7] = ["tests", "benches", "bench", "examples", "xtask", "pixelferry-testing", "benchmarks"];
/// The most lines of a small file.
const SMALL: usize = 59;

/// Purpose of making the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Print,
    Write,
    /// Fails where the page's table has other rows; numbers may differ.
    Check,
}

pub fn run(root: &Path, purpose: Purpose) -> Result<(), Error> {
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).map_err(Error::file("read", &page))?;
    let table = table(root)?;
    let (before, after) = around(&text).ok_or(Error::NoHouse(PAGE))?;
    match purpose {
        Purpose::Print => print!("{table}"),
        Purpose::Write => {
            let text = format!("{before}{table}{after}");
            fs::write(&page, text).map_err(Error::file("write", &page))?;
        }
        Purpose::Check if names(&text[before.len()..text.len() - after.len()]) != names(&table) => {
            return Err(Error::NoHouse(PAGE));
        }
        Purpose::Check => println!("{PAGE} has a table of the house"),
    }
    Ok(())
}

/// The page up to the table, and from its end on.
fn around(text: &str) -> Option<(&str, &str)> {
    let from = text.find(MARKS[0])? + MARKS[0].len();
    let to = from + text[from..].find(MARKS[1])?;
    Some((&text[..from], &text[to..]))
}

/// The first column.
fn names(table: &str) -> Vec<&str> {
    table.lines().filter_map(|line| line.split('|').nth(1)).map(str::trim).collect()
}

fn table(root: &Path) -> Result<String, Error> {
    let rust = texts(root, &["*.rs"])?;
    let words = check_pages::words(root, &repository::tracked(root, &["*.md"])?)?;
    let mut lines = Lines::default();
    let tests = test_files(&rust)?;
    for (file, text) in &rust {
        lines.count(file, text, tests.contains(file))?;
    }
    let product = || rust.iter().filter(|(file, _)| is_product(file) && !tests.contains(file));
    let of = |word: &str, wanted: &dyn Fn(&Path) -> bool| -> usize {
        product().filter(|(file, _)| wanted(file)).map(|(_, text)| text.matches(word).count()).sum()
    };
    let is_core = |file: &Path| file.starts_with("crates/interop-core");
    let refusals_of = |wanted: &dyn Fn(&Path) -> bool| of("Error::invalid(", wanted) + of("Error::refused(", wanted);
    let refusals = [refusals_of(&is_core), refusals_of(&is_driver)];
    let share = 100 * refusals[1] / (refusals[0] + refusals[1]).max(1);
    let (packages, binaries) = packages(root)?;
    let small = product().filter(|(_, text)| text.lines().count() <= SMALL).count();
    let rows = [
        ("lines of Rust", lines.all.to_string()),
        ("lines of product code, without tests, comments and blank lines", lines.product.to_string()),
        ("lines of tests", lines.tests.to_string()),
        ("words of pages", words.to_string()),
        ("crates, of all workspaces", packages.to_string()),
        ("test binaries", binaries.to_string()),
        ("`const OP` outside the core", of("const OP: &str", &|file| !is_core(file)).to_string()),
        (
            "refusals (`Error::invalid`, `refused`) in the core and in drivers",
            format!("{} + {}: {share} % in drivers", refusals[0], refusals[1]),
        ),
        ("circles of imports", check_imports::circles(root)?.to_string()),
        ("product files, and those below 60 lines", format!("{}, {small}", product().count())),
    ];
    let mut table = String::from("| what | how many |\n|---|---|\n");
    for (name, number) in rows {
        let _ = writeln!(table, "| {name} | {number} |");
    }
    Ok(table)
}

/// Tracked files and what they hold, by their paths from the root.
fn texts(root: &Path, patterns: &[&str]) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut found = Vec::new();
    for file in repository::tracked(root, patterns)? {
        let path = root.join(&file);
        // Deleted in the work tree, it may be in the index still.
        if path.exists() {
            found.push((file, fs::read_to_string(&path).map_err(Error::file("read", path))?));
        }
    }
    Ok(found)
}

fn is_product(file: &Path) -> bool {
    file.components().all(|part| !NO_PRODUCT.iter().any(|name| part.as_os_str() == *name))
}

/// Returns true for a file of a backend or a display, without OpenCL for itself.
fn is_driver(file: &Path) -> bool {
    let mut parts = file.iter().filter_map(|part| part.to_str());
    let ends = ["-backend", "-display", "-fallback", "-kernel", "-gl", "-wgpu", "-vulkan"];
    parts.next() == Some("crates")
        && parts.next().is_some_and(|name| ends.iter().any(|end| name.ends_with(end)))
        && !parts.any(|part| part == "cl")
}

/// Files that are tests whole: in a folder of that name, or of a module that is built for tests alone.
fn test_files(rust: &[(PathBuf, String)]) -> Result<BTreeSet<PathBuf>, Error> {
    let mut found: BTreeSet<_> =
        rust.iter().map(|(file, _)| file).filter(|file| file.iter().any(|part| part == "tests")).cloned().collect();
    for (file, text) in rust {
        for item in items(file, text)?.iter().filter(|item| may_be_test(attrs(item))) {
            if let Item::Mod(module) = item
                && module.content.is_none()
            {
                let below = match file.file_stem().and_then(|name| name.to_str()) {
                    Some("lib" | "main" | "mod") | None => file.with_file_name(""),
                    Some(name) => file.with_file_name(name),
                };
                let name = below.join(module.ident.to_string());
                let of_module = |file: &&PathBuf| **file == name.with_extension("rs") || file.starts_with(&name);
                found.extend(rust.iter().map(|(file, _)| file).filter(of_module).cloned());
            }
        }
    }
    Ok(found)
}

fn items(file: &Path, text: &str) -> Result<Vec<Item>, Error> {
    let parsed = syn::parse_file(text).map_err(|source| Error::Source { path: file.to_path_buf(), source })?;
    Ok(parsed.items)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Lines {
    all: usize,
    product: usize,
    tests: usize,
}

impl Lines {
    fn count(&mut self, file: &Path, text: &str, is_test: bool) -> Result<(), Error> {
        let all = text.lines().count();
        self.all += all;
        if is_test {
            self.tests += all;
            return Ok(());
        }
        let items = items(file, text)?;
        let of_tests = items.iter().filter(|item| may_be_test(attrs(item)));
        let spans: Vec<_> = of_tests.map(|item| item.span().start().line..=item.span().end().line).collect();
        let is_tested = |at: usize| spans.iter().any(|span| span.contains(&at));
        self.tests += (1..=all).filter(|at| is_tested(*at)).count();
        if is_product(file) {
            let is_code = |(at, line): &(usize, &str)| {
                !is_tested(at + 1) && !line.trim().is_empty() && !line.trim_start().starts_with("//")
            };
            self.product += text.lines().enumerate().filter(is_code).count();
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    src_path: PathBuf,
    /// True where `cargo test` builds it.
    test: bool,
}

/// Number of packages of all workspaces, and of the programs with tests that `cargo test` makes of them.
fn packages(root: &Path) -> Result<(usize, usize), Error> {
    let (mut packages, mut binaries) = (0, 0);
    for (manifest, _) in texts(root, &["*Cargo.toml"])?.iter().filter(|(_, text)| text.contains("[workspace]")) {
        let mut cargo = repository::cargo();
        cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
        // Not there: a guest's own toolchain is chosen by its folder.
        let printed = repository::printed("cargo metadata", cargo.arg(root.join(manifest)).current_dir(root))?;
        let found: Metadata = serde_json::from_slice(&printed)?;
        packages += found.packages.len();
        for target in found.packages.iter().flat_map(|package| &package.targets).filter(|target| target.test) {
            let files = module_files(&target.src_path)?;
            binaries += usize::from(files.iter().any(|(_, text)| text.contains("#[test]") || text.contains("::test]")));
        }
    }
    Ok((packages, binaries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_comments_and_none_are_no_product_code() {
        let text = "//! Two.\n\nfn a() {\n    // Why.\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n}\n";
        let mut lines = Lines::default();
        lines.count(Path::new("crates/a/src/lib.rs"), text, false).unwrap();
        assert_eq!(lines, Lines { all: 10, product: 3, tests: 3 });
        lines.count(Path::new("crates/a/tests/b.rs"), text, true).unwrap();
        assert_eq!(lines, Lines { all: 20, product: 3, tests: 13 });
    }

    #[test]
    fn the_table_stands_between_the_marks() {
        let text = format!("a\n{}| b | 1 |\n{}c\n", MARKS[0], MARKS[1]);
        let (before, after) = around(&text).unwrap();
        assert_eq!(names(&text[before.len()..text.len() - after.len()]), ["b"]);
        assert!(before.ends_with(MARKS[0]) && after.starts_with(MARKS[1]));
        assert!(around("a").is_none());
    }
}
