//! The extent of a test run: everything once, every matrix, or for hours.

/// The variable that sets the extent.
const VARIABLE: &str = "PIXELFERRY_TESTS";

/// The extent of a test run, set with `PIXELFERRY_TESTS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `short`, or not set: every backend, display and path once.
    Short,
    /// `all`: every cell of every matrix, at short length.
    All,
    /// `long`: soaks, long fuzz runs and many rounds.
    Long,
}

/// Returns the requested level.
///
/// # Panics
/// The variable has an unknown value.
#[track_caller]
pub fn level() -> Level {
    match read(std::env::var(VARIABLE).ok().as_deref()) {
        Ok(level) => level,
        Err(problem) => panic!("{problem}"),
    }
}

fn read(word: Option<&str>) -> Result<Level, String> {
    match word {
        None | Some("" | "short") => Ok(Level::Short),
        Some("all") => Ok(Level::All),
        Some("long") => Ok(Level::Long),
        Some(other) => Err(format!("{VARIABLE} is '{other}'; use short, all or long")),
    }
}

/// Returns the value for the requested level.
#[track_caller]
pub fn by_level<T>(short: T, all: T, long: T) -> T {
    match level() {
        Level::Short => short,
        Level::All => all,
        Level::Long => long,
    }
}

/// Returns true from this level on, and prints SKIPPED below it.
#[track_caller]
pub fn from(lowest: Level) -> bool {
    let runs = level() >= lowest;
    if !runs {
        println!("SKIPPED: runs at scripts/test --{}", if lowest == Level::Long { "long" } else { "all" });
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_level_is_what_nobody_asked_for() {
        assert_eq!(read(None), Ok(Level::Short));
        assert_eq!(read(Some("")), Ok(Level::Short));
        assert_eq!(read(Some("all")), Ok(Level::All));
        assert_eq!(read(Some("long")), Ok(Level::Long));
        assert!(read(Some("All")).unwrap_err().contains("use short, all or long"));
        assert!(Level::Short < Level::All && Level::All < Level::Long);
    }
}
