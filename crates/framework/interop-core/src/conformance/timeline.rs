//! Checks that hold for every list of one queue's work.

use super::failure::Failure;
use crate::devices::timeline::DeviceSpan;
use std::time::Instant;

/// Checks that the work was done between `before` and `after`, one piece after another, and none before it was queued.
/// The clocks were compared after `began`.
///
/// # Errors
/// [`Failure::Failed`] with the first deviation.
pub fn lies_within(spans: &[DeviceSpan], began: Instant, before: Instant, after: Instant) -> Result<(), Failure> {
    for (n, span) in spans.iter().enumerate() {
        let next = spans.get(n + 1).unwrap_or(span);
        // Each time may be based on another comparison of the clocks.
        let either = span.uncertainty + next.uncertainty;
        let problem = [
            // The uncertainty is half of the time that one comparison of the clocks took.
            (span.uncertainty >= after - began, "is more uncertain than the run is long"),
            (span.start > span.end, "ends before it begins"),
            (span.start + span.uncertainty < before, "begins before the run"),
            (span.end > after + span.uncertainty, "ends after the run"),
            (span.work.queued > span.start + span.uncertainty, "begins before it is queued"),
            (next.start + either < span.start || next.end + either < span.end, "comes after the next"),
        ];
        if let Some((_, what)) = problem.into_iter().find(|(wrong, _)| *wrong) {
            return Err(Failure::Failed(format!("{n}, {span:?} {what}; the next is {next:?}")));
        }
    }
    Ok(())
}
