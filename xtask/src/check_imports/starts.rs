//! Threads that libraries start: only via `interop_core::describe::threads`, so that none receives a host's signals.

use std::path::Path;

use quote::ToTokens as _;
use syn::Item;

use crate::houses::HOUSES;
use crate::source::{Crate, attrs, is_test};

/// Tokens that start threads, and the tokens that must then be in the same item, which block the host's signals.
const STARTS: &[(&str, &str)] = &[
    ("thread :: spawn", "threads :: spawn"),
    ("thread :: Builder", "threads :: spawn_scoped"),
    ("thread :: scope", "threads :: spawn_scoped"),
    ("ThreadPoolBuilder :: new", "SignalMaskGuard :: new"),
    ("runtime :: Builder", "SignalMaskGuard :: new"),
    ("runtime :: Runtime", "SignalMaskGuard :: new"),
];

/// Houses whose code runs only in its own programs.
const OTHERS: &[&str] = &["support", "integrations"];
/// Files in other houses that run only in tests.
const DOUBLES: &str = "tests/src/faults/";
/// Exempt files: those of the framework that run in tests or start threads for all others, and that of a library
/// without our crates below it, which blocks signals itself.
const FILES: &[&str] = &["/conformance", "describe/threads.rs", "clgl-layer/src/gl/thread.rs"];

/// Returns a crate's violations.
pub fn wrong(package: &str, modules: &Crate) -> Vec<String> {
    let mut others = HOUSES.iter().filter(|house| OTHERS.contains(&house.name));
    let is_in_others = others.any(|house| house.packages.contains(&package));
    let is_other = |file: &Path| {
        let file = file.display().to_string();
        FILES.iter().any(|other| file.contains(other)) || (is_in_others && !file.contains(DOUBLES))
    };
    let modules = modules.0.values().filter(|module| !is_other(&module.file));
    let items = modules.flat_map(|module| module.items.iter().map(|item| (&module.file, item)));
    let items = items.filter(|(_, item)| !is_test(attrs(item)) && !matches!(item, Item::Use(_)));
    items
        .flat_map(|(file, item)| {
            let text = format!(" {}", item.to_token_stream());
            let found = STARTS.iter().filter(move |(start, guard)| starts(&text, start) && !text.contains(guard));
            found.map(move |(start, _)| {
                let start = start.replace(' ', "");
                format!(
                    "{package}: {} starts threads with {start}; use interop_core::describe::threads",
                    file.display()
                )
            })
        })
        .collect()
}

/// Returns whether the tokens occur, not as the end of a longer name.
fn starts(text: &str, start: &str) -> bool {
    text.match_indices(start).any(|(at, _)| text[..at].ends_with([' ', '(', '{', '|', ';', '=', '&']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> usize {
        wrong("a", &Crate::of_text(text).unwrap()).len()
    }

    #[test]
    fn threads_of_other_makers_are_found() {
        assert_eq!(told("fn f() { std::thread::spawn(|| ()); }"), 1);
        assert_eq!(told("use std::thread; fn f() { thread::spawn(|| ()); }"), 1);
        assert_eq!(told("fn f() { thread::Builder::new().name(n).spawn(|| ()); }"), 1);
        assert_eq!(told("fn f() { std::thread::scope(|s| s.spawn(|| ())); }"), 1);
        assert_eq!(told("struct A; impl A { fn f() { rayon::ThreadPoolBuilder::new().build(); } }"), 1);
    }

    #[test]
    fn doubles_are_no_programs_of_their_own() {
        let starts = Crate::of_text("fn f() { std::thread::spawn(|| ()); }").unwrap();
        assert_eq!(wrong("pixelferry-tests", &starts).len(), 0);
        let mut doubles = starts;
        doubles.0.values_mut().for_each(|module| module.file = Path::new(DOUBLES).join("queue.rs"));
        assert_eq!(wrong("pixelferry-tests", &doubles).len(), 1);
    }

    #[test]
    fn ours_and_those_of_tests_are_not() {
        assert_eq!(told("fn f() { threads::spawn(\"a\", || ()); }"), 0);
        assert_eq!(told("fn f() { thread::scope(|s| threads::spawn_scoped(thread::Builder::new(), s, || ())); }"), 0);
        assert_eq!(told("fn f() { let _b = SignalMaskGuard::new(); ThreadPoolBuilder::new().build(); }"), 0);
        assert_eq!(told("#[cfg(test)] mod tests { fn f() { std::thread::spawn(|| ()); } }"), 0);
        assert_eq!(
            wrong("pixelferry-measure", &Crate::of_text("fn f() { std::thread::spawn(|| ()); }").unwrap()).len(),
            0
        );
    }
}
