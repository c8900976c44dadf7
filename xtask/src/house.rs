//! Statistics of the houses: what each weighs, and its limit.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::Item;
use syn::spanned::Spanned as _;

use crate::check_imports;
use crate::check_pages;
use crate::error::Error;
use crate::houses::{DRIVERS, HOUSES};
use crate::names;
use crate::packages::{self, Package};
use crate::repository;
use crate::source::{attrs, is_hidden, may_be_test, module_files};

/// Folders whose code does not run in a user's process.
const NO_PRODUCT: [&str; 6] = ["tests", "benches", "examples", "xtask", "support", "benchmarks"];
/// Maximum number of lines of a small file.
const SMALL: usize = 59;

pub fn run(root: &Path, check: bool) -> Result<(), Error> {
    let packages = packages::all(root)?;
    let Census { weights: rows, figures: whole, names: wrong } = count(root, &packages)?;
    println!("| house | packages | product code | ceiling | tests | PTX | refusals |");
    println!("|---|---|---|---|---|---|---|");
    for (house, row) in HOUSES.iter().zip(&rows) {
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            house.name,
            house.packages.len(),
            row.lines.product,
            house.ceiling,
            row.lines.tests,
            row.ptx,
            row.refusals
        );
    }
    println!("\n| in all | |\n|---|---|");
    whole.iter().for_each(|(name, number)| println!("| {name} | {number} |"));
    if check {
        wrong.iter().for_each(|name| println!("{name}"));
    }
    let above = HOUSES.iter().zip(&rows).filter(|(house, row)| row.lines.product > house.ceiling);
    let above: Vec<_> = above.map(|(house, row)| (house.name, row.lines.product - house.ceiling)).collect();
    match above.first() {
        Some((house, lines)) if check => Err(Error::AboveCeiling { house, lines: *lines }),
        _ if check && !wrong.is_empty() => Err(Error::Names(wrong.len())),
        _ => Ok(()),
    }
}

/// Name and value of a statistic.
type Figure = (&'static str, String);

/// Weight of a house.
#[derive(Debug, Default)]
struct Weight {
    lines: Lines,
    ptx: usize,
    refusals: usize,
}

/// Numbers of a tree.
struct Census {
    /// Of each house.
    weights: Vec<Weight>,
    /// Of all.
    figures: Vec<Figure>,
    /// Names that say too little, each with its file.
    names: Vec<String>,
}

/// Reads every file that git tracks.
fn count(root: &Path, packages: &[Package]) -> Result<Census, Error> {
    let named = || HOUSES.iter().flat_map(|house| house.packages).chain(DRIVERS).copied();
    if let Some(name) = packages::missing(packages, named()).first() {
        return Err(Error::NoPackage((*name).to_owned()));
    }
    let house_of = |package: &Package| HOUSES.iter().position(|house| house.packages.contains(&package.name.as_str()));
    if let Some(package) = packages.iter().find(|package| house_of(package).is_none()) {
        return Err(Error::NoHouse(package.name.clone()));
    }
    let of_file = |file: &Path| packages::of_file(packages, file);
    let mut rows: Vec<_> = HOUSES.iter().map(|_| Weight::default()).collect();
    let (mut all, mut files, mut small, mut in_drivers, mut doors) = (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    let rust = texts(root, &["*.rs"])?;
    let tests = test_files(&rust)?;
    for (file, text) in &rust {
        all += text.lines().count();
        let Some((package, row)) = of_file(file).and_then(|package| Some((package, &mut rows[house_of(package)?])))
        else {
            continue;
        };
        row.lines.count(file, text, tests.contains(file))?;
        let is_product = is_product(file) && !tests.contains(file);
        let items = items(file, text)?;
        wrong.extend(names::wrong(file, &items, is_product).iter().map(|name| format!("{}: {name}", file.display())));
        if !is_product {
            continue;
        }
        (files, small) = (files + 1, small + usize::from(text.lines().count() <= SMALL));
        let refusals = text.matches("Error::invalid(").count() + text.matches("Error::refused(").count();
        row.refusals += refusals;
        in_drivers += if DRIVERS.contains(&package.name.as_str()) { refusals } else { 0 };
        doors += items.iter().filter(|item| matches!(item, Item::Mod(_)) && is_hidden(attrs(item))).count();
    }
    for (file, text) in texts(root, &["*.ptx"])? {
        if let Some(house) = of_file(&file).and_then(house_of) {
            rows[house].ptx += text.lines().count();
        }
    }
    let words = check_pages::words(root, &repository::tracked(root, &["*.md"])?)?;
    let main = packages.iter().filter(|package| package.is_main).count();
    let sum = |of: fn(&Weight) -> usize| rows.iter().map(of).sum::<usize>();
    let whole = vec![
        ("lines of Rust", all.to_string()),
        ("lines of product code, without tests, comments and blank lines", sum(|row| row.lines.product).to_string()),
        ("lines of tests", sum(|row| row.lines.tests).to_string()),
        ("lines of PTX", sum(|row| row.ptx).to_string()),
        ("words of pages", words.to_string()),
        ("packages, and those of the main workspace", format!("{}, {main}", packages.len())),
        ("test binaries", binaries(packages)?.to_string()),
        ("refusals (`Error::invalid`, `refused`) in drivers", in_drivers.to_string()),
        ("names of types and files that say too little", wrong.len().to_string()),
        ("hidden doors (`#[doc(hidden)]` modules)", doors.to_string()),
        ("circles of imports", check_imports::circles(root)?.to_string()),
        ("product files, and those below 60 lines", format!("{files}, {small}")),
    ];
    Ok(Census { weights: rows, figures: whole, names: wrong })
}

/// Number of test programs that `cargo test` builds.
fn binaries(packages: &[Package]) -> Result<usize, Error> {
    let mut count = 0;
    for target in packages.iter().flat_map(|package| &package.targets).filter(|target| target.test) {
        let files = module_files(&target.src_path)?;
        count += usize::from(files.iter().any(|(_, text)| text.contains("#[test]") || text.contains("::test]")));
    }
    Ok(count)
}

/// Tracked files and what they hold, by their paths from the root.
fn texts(root: &Path, patterns: &[&str]) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut found = Vec::new();
    for file in repository::tracked(root, patterns)? {
        let path = root.join(&file);
        // The file may be deleted in the working tree but not in the index.
        if path.exists() {
            found.push((file, fs::read_to_string(&path).map_err(Error::file("read", path))?));
        }
    }
    Ok(found)
}

fn is_product(file: &Path) -> bool {
    // The command has a module of the same name as the package of benchmarks.
    !file.starts_with("bench") && file.components().all(|part| !NO_PRODUCT.iter().any(|name| part.as_os_str() == *name))
}

/// Returns files that contain only tests: in a folder of that name, or of a module that is built for tests only.
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
    product: usize,
    tests: usize,
}

impl Lines {
    fn count(&mut self, file: &Path, text: &str, is_test: bool) -> Result<(), Error> {
        let all = text.lines().count();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_comments_and_none_are_no_product_code() {
        let text = "//! Two.\n\nfn a() {\n    // Why.\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n}\n#[cfg(test)]\nextern crate self as a;\n";
        let mut lines = Lines::default();
        lines.count(Path::new("crates/a/src/lib.rs"), text, false).unwrap();
        assert_eq!(lines, Lines { product: 3, tests: 5 });
        lines.count(Path::new("crates/a/tests/b.rs"), text, true).unwrap();
        assert_eq!(lines, Lines { product: 3, tests: 17 });
    }
}
