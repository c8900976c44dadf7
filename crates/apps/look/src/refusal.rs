//! Reasons to refuse an array or an option.

use thiserror::Error;

/// Reason why an array cannot be shown, with the line to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The element type or its form is unsupported.
    #[error("{0}")]
    Dtype(String),
    /// A shape, stride or option is invalid.
    #[error("{0}")]
    Shape(String),
}
