//! What was done, how often, and with which outcome.

#![forbid(unsafe_code)]

use pixelferry::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;

/// A property that does not hold: a bug.
#[derive(Debug, Clone)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// For what a world cannot be made without.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(format!("an operation that must work failed: {error}"))
    }
}

/// What a step comes to.
pub type Checked<T = ()> = std::result::Result<T, Failure>;

/// Ends the step with a [`Failure`].
macro_rules! fail {
    ($($text:tt)*) => { return Err($crate::log::Failure(format!($($text)*))) };
}

/// Ends the step with a [`Failure`] where the condition is false.
macro_rules! hold {
    ($condition:expr, $($text:tt)*) => { if !$condition { $crate::log::fail!($($text)*) } };
}

pub(crate) use {fail, hold};

#[derive(Debug, Default, Clone, Copy)]
struct Row {
    done: u64,
    refused: u64,
    driver: u64,
}

/// Counts by kind of operation.
#[derive(Debug, Default)]
pub struct Log {
    verbose: bool,
    now: &'static str,
    rows: BTreeMap<&'static str, Row>,
    /// What drivers refused, by message; a check of ours may be missing there.
    by_drivers: BTreeMap<String, u64>,
}

impl Log {
    /// With `verbose` every operation is printed before it runs.
    pub fn new(verbose: bool) -> Self {
        Self { verbose, ..Self::default() }
    }

    /// An operation begins.
    pub fn op(&mut self, name: &'static str, what: fmt::Arguments<'_>) {
        self.now = name;
        if self.verbose {
            eprintln!("{name} {what}");
        }
    }

    /// It is over; gives its value.
    pub fn end<T>(&mut self, result: Result<T>) -> Option<T> {
        self.end_with(result).ok()
    }

    /// It is over; gives its outcome.
    ///
    /// # Errors
    /// That of the operation.
    pub fn end_with<T>(&mut self, result: Result<T>) -> Result<T> {
        let row = self.rows.entry(self.now).or_default();
        match result {
            Ok(value) => {
                row.done += 1;
                Ok(value)
            }
            Err(error) => {
                if matches!(error, Error::Driver(_)) {
                    row.driver += 1;
                    let text: String = format!("{}: {error}", self.now).chars().take(240).collect();
                    // Faults on purpose are no driver's.
                    if text.contains("on purpose") {
                        return Err(error);
                    }
                    if self.by_drivers.len() < 64 || self.by_drivers.contains_key(&text) {
                        *self.by_drivers.entry(text).or_default() += 1;
                    }
                } else {
                    row.refused += 1;
                }
                if self.verbose {
                    eprintln!("  -> {error}");
                }
                Err(error)
            }
        }
    }

    /// An operation that cannot be refused.
    pub fn did(&mut self, name: &'static str, what: fmt::Arguments<'_>) {
        self.op(name, what);
        let _ = self.end(Ok(()));
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        self.rows.values().map(|row| row.done + row.refused + row.driver).sum()
    }

    /// Operations that were accepted.
    pub fn accepted(&self) -> u64 {
        self.rows.values().map(|row| row.done).sum()
    }

    /// Operations that were refused.
    pub fn refused(&self) -> u64 {
        self.rows.values().map(|row| row.refused + row.driver).sum()
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:44} {:>9} {:>9} {:>9}", "operation", "accepted", "refused", "by driver")?;
        for (name, row) in &self.rows {
            writeln!(f, "{name:44} {:9} {:9} {:9}", row.done, row.refused, row.driver)?;
        }
        for (text, count) in &self.by_drivers {
            writeln!(f, "{count:6} times refused by the driver: {text}")?;
        }
        Ok(())
    }
}
