//! A limit for waits that does not depend on the load of the machine.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Ten minutes of an idle machine. On a busy machine a minute counts for less: it is divided by the number of running
/// processes for each core. So only a real hang reaches the limit.
#[derive(Debug)]
pub struct Patience {
    seen: Instant,
    spent: Duration,
    limit: Duration,
}

const LIMIT: Duration = Duration::from_secs(600);

/// The interval at which the load is read.
const SLICE: Duration = Duration::from_secs(1);

impl Patience {
    /// Begins to wait.
    #[allow(clippy::new_without_default)] // it looks at the clock
    pub fn new() -> Self {
        Self::of(LIMIT)
    }

    pub(crate) fn of(limit: Duration) -> Self {
        Self { seen: Instant::now(), spent: Duration::ZERO, limit }
    }

    /// Begins again after progress.
    pub fn renew(&mut self) {
        *self = Self::of(self.limit);
    }

    /// Returns true when the limit is reached, so what is waited for hangs.
    pub fn is_over(&mut self) -> bool {
        let slice = self.seen.elapsed();
        if slice >= SLICE {
            self.seen += slice;
            self.spent += counted(slice, load_per_core());
        }
        self.spent >= self.limit
    }
}

/// Returns how much of the limit a slice of time uses. A process that was suspended for long, with the whole machine or
/// by a debugger, did not wait: such a slice counts as at most a minute.
fn counted(slice: Duration, load_per_core: f64) -> Duration {
    slice.min(Duration::from_secs(60)).div_f64(load_per_core.max(1.0))
}

/// Returns the number of processes on the whole machine that run or are ready to run, for each core that this process
/// may use. It is 0 if the system does not tell it.
fn load_per_core() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0);
    load / std::thread::available_parallelism().map_or(1, usize::from) as f64
}

/// Waits until the condition holds, checking it every few milliseconds.
///
/// # Panics
/// The condition does not hold in time; the message contains `what`.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let mut patience = Patience::new();
    while !holds() {
        assert!(!patience.is_over(), "{what}: it did not come, and the limit is many minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the next message, or the reason why there is none: all senders are gone, or none sends.
pub fn receive<T>(receiver: &Receiver<T>) -> Result<T, RecvTimeoutError> {
    let mut patience = Patience::new();
    loop {
        match receiver.recv_timeout(SLICE) {
            Err(RecvTimeoutError::Timeout) if !patience.is_over() => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_for_less_beside_other_work() {
        let second = Duration::from_secs(1);
        assert_eq!(counted(second, 0.0), second);
        assert_eq!(counted(second, 0.7), second);
        assert_eq!(counted(second, 4.0), second / 4);
        assert_eq!(counted(Duration::from_secs(7200), 1.0), Duration::from_secs(60));
    }

    #[test]
    fn it_ends_and_begins_again() {
        let mut patience = Patience { spent: LIMIT, ..Patience::new() };
        assert!(patience.is_over());
        patience.renew();
        assert!(!patience.is_over());
    }

    #[test]
    fn the_load_is_a_number() {
        let load = load_per_core();
        assert!(load.is_finite() && load >= 0.0, "{load}");
    }

    #[test]
    fn what_comes_is_waited_for() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1200));
            sender.send(7).unwrap();
        });
        // Longer than a slice.
        assert_eq!(receive(&receiver), Ok(7));
        assert_eq!(receive(&receiver), Err(RecvTimeoutError::Disconnected));
        thread.join().unwrap();
        let mut times = 0;
        wait_until("three looks", || {
            times += 1;
            times == 3
        });
    }
}
