//! Errors before measuring. A failure while a row is measured is a finding of that row instead.

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("no {side} matches '{asked}'; available: {there}")]
    NoDevice {
        /// `compute backend` or `display`.
        side: &'static str,
        /// The filter from the command line.
        asked: String,
        /// Names of the available devices.
        there: String,
    },
    /// An environment variable would override what is to be measured.
    #[error("{0} is set and would override what is measured; unset it for a benchmark")]
    Environment(&'static str),
}
