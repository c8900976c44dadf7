//! Checks that hold for every list of one queue's work.

use super::failure::Failure;
use crate::devices::timeline::DeviceSpan;
use std::time::Instant;

/// The work was done after `before` and until `after`, one after the other, and none before it was queued; the clocks were
/// compared after `began`.
///
/// # Errors
/// [`Failure::Failed`] with the first that is not so.
pub fn lies_within(spans: &[DeviceSpan], began: Instant, before: Instant, after: Instant) -> Result<(), Failure> {
    for (n, span) in spans.iter().enumerate() {
        let next = spans.get(n + 1).unwrap_or(span);
        // Each may lie on another look at both clocks.
        let either = span.uncertainty + next.uncertainty;
        let problem = [
            // Half of what one look at both clocks took.
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
