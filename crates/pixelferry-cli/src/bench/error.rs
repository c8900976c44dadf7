//! Errors before measuring; a failure while a row is measured is a finding of that row.

/// Reason why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device matches a filter.
    #[error("no {side} matches '{asked}'; there are: {there}")]
    NoDevice {
        /// `compute backend` or `display`.
        side: &'static str,
        /// The filter.
        asked: String,
        /// Names that could have been given.
        there: String,
    },
    /// A variable of the environment would stand above what is to be measured.
    #[error("{0} is set and would decide what is measured; unset it for a benchmark")]
    Environment(&'static str),
}
