//! What an operation gets: the choices of its step, and the log of what came of it.

use pixelferry::{Error, Result};
use proptest::test_runner::TestCaseError;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};

/// Result of a step.
pub type TurnResult<T = ()> = std::result::Result<T, TestCaseError>;

/// Ends the step with a property that does not hold: a bug.
macro_rules! fail {
    ($($text:tt)*) => { return Err(proptest::test_runner::TestCaseError::fail(format!($($text)*))) };
}

pub(crate) use fail;
pub(crate) use proptest::prop_assert as hold;

/// Numbers that an operation takes what it does from. Smaller ones mean something simpler, and those past the end are 0.
#[derive(Debug, Default)]
pub struct Choices(std::vec::IntoIter<u16>);

impl From<Vec<u16>> for Choices {
    fn from(all: Vec<u16>) -> Self {
        Self(all.into_iter())
    }
}

impl Choices {
    fn next(&mut self) -> u16 {
        self.0.next().unwrap_or(0)
    }

    pub fn word(&mut self) -> u32 {
        u32::from(self.next()) << 16 | u32::from(self.next())
    }

    pub fn bits(&mut self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }

    /// 0 to `end - 1`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 16) as usize
    }

    /// A number of `range`.
    pub fn within(&mut self, range: Range<usize>) -> usize {
        range.start + self.below(range.len())
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// One of `all`, which is not empty.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// One of `all`, if there is any.
    pub fn any<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())].clone())
    }

    /// One of `all`, which is not empty, taken out.
    pub fn take<T>(&mut self, all: &mut Vec<T>) -> T {
        all.swap_remove(self.below(all.len()))
    }

    pub fn words(&mut self, len: usize) -> Vec<u32> {
        let first = self.word();
        let next = |word: &u32| Some(word.wrapping_mul(0x9E37_79B1).wrapping_add(0x85EB_CA77));
        std::iter::successors(next(&first), next).map(|word| word ^ word >> 15).take(len).collect()
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        self.words(len).into_iter().map(|word| word as u8).collect()
    }

    /// Choices of a thread's own.
    pub fn split(&mut self) -> Self {
        self.words(64).into_iter().map(|word| word as u16).collect::<Vec<_>>().into()
    }
}

#[derive(Debug, Default)]
struct OutcomeCounts {
    done: u64,
    refused: u64,
    driver: u64,
}

/// Operations of a round that a failure tells, at most.
const TOLD: usize = 60;

/// The choices of this step, and counts by kind of operation.
#[derive(Debug, Default)]
pub struct Turn {
    choices: Choices,
    says: bool,
    now: &'static str,
    rows: BTreeMap<&'static str, OutcomeCounts>,
    /// Refusals of drivers, by message; a check of ours may be missing there.
    by_drivers: BTreeMap<String, u64>,
    /// The operations of this round.
    round: Vec<String>,
}

impl Deref for Turn {
    type Target = Choices;

    fn deref(&self) -> &Choices {
        &self.choices
    }
}

impl DerefMut for Turn {
    fn deref_mut(&mut self) -> &mut Choices {
        &mut self.choices
    }
}

impl Turn {
    /// With `says` every operation is printed before it runs.
    pub fn new(says: bool) -> Self {
        Self { says, ..Self::default() }
    }

    /// A round begins.
    pub fn begin(&mut self) {
        self.round.clear();
    }

    /// A step begins.
    pub fn load(&mut self, choices: &[u16]) {
        self.choices = choices.to_vec().into();
    }

    /// A failure, and what led to it.
    pub fn told(&self, failure: &str) -> TestCaseError {
        let last = &self.round[self.round.len().saturating_sub(TOLD)..];
        TestCaseError::fail(format!("{failure}\nafter {} operations:\n{}", self.round.len(), last.join("\n")))
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

    /// It is over; gives its value. A refusal ends the step, which is fine.
    pub fn end<T>(&mut self, result: Result<T>) -> TurnResult<T> {
        self.end_with(result).map_err(|error| TestCaseError::reject(error.to_string()))
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

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:44} {:>9} {:>9} {:>9}", "operation", "accepted", "refused", "by driver")?;
        for (name, row) in &self.rows {
            writeln!(f, "{name:44} {:9} {:9} {:9}", row.done, row.refused, row.driver)?;
        }
        for (text, count) in &self.by_drivers {
            writeln!(f, "{count:6} times refused by the driver: {text}")?;
        }
        let sum = |of: fn(&OutcomeCounts) -> u64| self.rows.values().map(of).sum::<u64>();
        let (accepted, refused) = (sum(|row| row.done), sum(|row| row.refused + row.driver));
        write!(f, "{} operations, {accepted} accepted, {refused} refused", accepted + refused)
    }
}
