//! Refusals of an array or of an option.

use thiserror::Error;

/// Reason why an array is not shown, with the line to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Elements that are no numbers, or in a form that is not read.
    #[error("{0}")]
    Dtype(String),
    /// A shape, stride or option that is not taken.
    #[error("{0}")]
    Shape(String),
}
