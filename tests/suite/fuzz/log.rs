//! Log of the steps, their number, and their outcomes.

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

/// Result of a step.
pub type Checked<T = ()> = std::result::Result<T, Failure>;

/// Ends the step with a [`Failure`].
macro_rules! fail {
    ($($text:tt)*) => { return Err($crate::fuzz::log::Failure(format!($($text)*))) };
}

/// Ends the step with a [`Failure`] where the condition is false.
macro_rules! hold {
    ($condition:expr, $($text:tt)*) => { if !$condition { $crate::fuzz::log::fail!($($text)*) } };
}

pub(crate) use {fail, hold};

#[derive(Debug, Default)]
struct Row {
    done: u64,
    refused: u64,
    driver: u64,
}

/// Operations of a round that a failure tells, at most.
const TOLD: usize = 60;

/// Counts by kind of operation.
#[derive(Debug, Default)]
pub struct Log {
    says: bool,
    now: &'static str,
    rows: BTreeMap<&'static str, Row>,
    /// Refusals of drivers, by message; a check of ours may be missing there.
    by_drivers: BTreeMap<String, u64>,
    /// The operations of this round.
    round: Vec<String>,
}

impl Log {
    /// With `says` every operation is printed before it runs.
    pub fn new(says: bool) -> Self {
        Self { says, ..Self::default() }
    }

    /// A round begins.
    pub fn begin(&mut self) {
        self.round.clear();
    }

    /// A failure, and what led to it.
    pub fn told(&self, failure: &Failure) -> String {
        let last = &self.round[self.round.len().saturating_sub(TOLD)..];
        format!("{failure}\nafter {} operations:\n{}", self.round.len(), last.join("\n"))
    }

    /// An operation begins.
    pub fn op(&mut self, name: &'static str, what: fmt::Arguments<'_>) {
        self.now = name;
        let text = format!("{name} {what}");
        if self.says {
            eprintln!("{text}");
        }
        self.round.push(text);
    }

    /// It is over; gives its value.
    pub fn end<T>(&mut self, result: Result<T>) -> Option<T> {
        self.end_with(result).ok()
    }

    /// It is over; gives its outcome.
    pub fn end_with<T>(&mut self, result: Result<T>) -> Result<T> {
        let row = self.rows.entry(self.now).or_default();
        let Err(error) = &result else {
            row.done += 1;
            return result;
        };
        if matches!(error, Error::Driver(_)) {
            row.driver += 1;
            let text: String = format!("{}: {error}", self.now).chars().take(240).collect();
            let is_new = self.by_drivers.len() < 64 || self.by_drivers.contains_key(&text);
            // Faults on purpose are no driver's.
            if is_new && !text.contains("on purpose") {
                *self.by_drivers.entry(text).or_default() += 1;
            }
        } else {
            row.refused += 1;
        }
        result
    }

    /// An operation that cannot be refused.
    pub fn did(&mut self, name: &'static str, what: fmt::Arguments<'_>) {
        self.op(name, what);
        let _ = self.end(Ok(()));
    }

    /// Lets go of a thing, whose drop has the first name, by forgetting it, which has the second, or not.
    pub fn gone<T>(&mut self, [drops, forgets]: [&'static str; 2], thing: T, forget: bool) {
        self.did(if forget { forgets } else { drops }, format_args!(""));
        if forget {
            std::mem::forget(thing);
        }
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
        let sum = |of: fn(&Row) -> u64| self.rows.values().map(of).sum::<u64>();
        let (accepted, refused) = (sum(|row| row.done), sum(|row| row.refused + row.driver));
        write!(f, "{} operations, {accepted} accepted, {refused} refused", accepted + refused)
    }
}
