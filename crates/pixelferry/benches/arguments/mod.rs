//! Arguments of the benchmarks with a `main` of their own.

/// What follows `name` on the command line.
pub fn argument(name: &str) -> Option<String> {
    let all: Vec<String> = std::env::args().collect();
    all.iter().position(|a| a == name).and_then(|i| all.get(i + 1).cloned())
}
