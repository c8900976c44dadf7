//! Links of a thread compare their paths one after the other.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A link that shows no frame for this long loses its turn.
const IDLE: Duration = Duration::from_secs(5);

thread_local! {
    /// The link whose turn it is, and when it said so last.
    static HOLDER: Cell<Option<(u64, Instant)>> = const { Cell::new(None) };
}

/// The right of one link to compare its paths between frames. Each link may spend a share of the time on that; with many
/// links on a thread, the shares would add up to more than the time. Links of other threads have turns of their own.
pub(crate) struct ComparisonTurn(u64);

/// Answer to a link that wants to compare its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnAnswer {
    /// Another link has the turn.
    Others,
    /// The turn begins.
    Begins,
    /// The link had the turn before.
    GoesOn,
}

impl ComparisonTurn {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Asks for the turn at a frame, or keeps it.
    pub fn ask(&self) -> TurnAnswer {
        let now = Instant::now();
        let answer = match HOLDER.get() {
            Some((holder, _)) if holder == self.0 => TurnAnswer::GoesOn,
            Some((_, last)) if now.duration_since(last) < IDLE => return TurnAnswer::Others,
            _ => TurnAnswer::Begins,
        };
        HOLDER.set(Some((self.0, now)));
        answer
    }

    /// Leaves the turn to other links.
    pub fn end(&self) {
        // The thread's variable may be gone while the thread ends.
        let _ = HOLDER.try_with(|holder| {
            if holder.get().is_some_and(|(of, _)| of == self.0) {
                holder.set(None);
            }
        });
    }
}

impl Drop for ComparisonTurn {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_link_of_a_thread_has_the_turn_until_it_ends() {
        let [one, two] = [ComparisonTurn::new(), ComparisonTurn::new()];
        assert_eq!([one.ask(), one.ask(), two.ask()], [TurnAnswer::Begins, TurnAnswer::GoesOn, TurnAnswer::Others]);
        // What does not hold it cannot end it.
        two.end();
        assert_eq!(two.ask(), TurnAnswer::Others);
        // Another thread has its own, also for a link that moved there.
        let one = std::thread::spawn(move || (one.ask(), one).1).join().unwrap();
        assert_eq!(one.ask(), TurnAnswer::GoesOn);
        drop(one);
        assert_eq!([two.ask(), two.ask()], [TurnAnswer::Begins, TurnAnswer::GoesOn]);
    }

    #[test]
    fn a_link_without_frames_loses_the_turn() {
        let [one, two] = [ComparisonTurn::new(), ComparisonTurn::new()];
        assert_eq!(one.ask(), TurnAnswer::Begins);
        HOLDER.set(Some((one.0, Instant::now() - IDLE)));
        assert_eq!([two.ask(), one.ask()], [TurnAnswer::Begins, TurnAnswer::Others]);
    }
}
