//! Reasons why a case did not pass.

/// Reason why a case did not pass.
#[derive(Debug)]
pub enum Failure {
    /// The pair does not offer the path for this surface, for this reason.
    Skipped(String),
    /// The result differs from the contract, as described.
    Failed(String),
}

impl From<crate::Error> for Failure {
    fn from(e: crate::Error) -> Self {
        Self::Failed(e.to_string())
    }
}

/// Runs `f` on each. The result is skipped only where all are skipped, because a path need not carry every kind of
/// surface.
pub(super) fn each<T>(all: impl IntoIterator<Item = T>, f: impl Fn(T) -> Result<(), Failure>) -> Result<(), Failure> {
    let (mut ran, mut skipped) = (false, None);
    for one in all {
        match f(one) {
            Ok(()) => ran = true,
            Err(Failure::Skipped(reason)) => skipped = Some(reason),
            Err(failed) => return Err(failed),
        }
    }
    match skipped {
        Some(reason) if !ran => Err(Failure::Skipped(reason)),
        _ => Ok(()),
    }
}
