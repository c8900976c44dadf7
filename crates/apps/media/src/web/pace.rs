//! Limits the number of pictures in flight to a browser: as many as its connection holds without a queue.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum number of pictures in flight.
const MOST: usize = 32;
/// Differences of delay below this are noise and say nothing about a queue.
const NOISE: Duration = Duration::from_millis(10);
/// Number of pictures after which the minimum delay is forgotten, because the connection may have changed.
const MEMORY: u32 = 256;

/// The pictures that a browser has not confirmed. More may be in flight as long as their delay stays near the minimum,
/// as in TCP Vegas: then the connection causes the delay, not a queue.
#[derive(Debug)]
pub struct Pace {
    window: usize,
    flying: VecDeque<Instant>,
    least: Option<Duration>,
}

impl Pace {
    pub fn new() -> Self {
        Self { window: 2, flying: VecDeque::new(), least: None }
    }

    /// Returns whether another picture may be sent.
    pub fn is_open(&self) -> bool {
        self.flying.len() < self.window
    }

    pub fn sent(&mut self, now: Instant) {
        self.flying.push_back(now);
    }

    /// Records that a browser has received a picture; `false` if none was in flight.
    pub fn taken(&mut self, now: Instant) -> bool {
        let was_limited = !self.is_open();
        let Some(sent) = self.flying.pop_front() else { return false };
        let delay = now.saturating_duration_since(sent);
        let least = self.least.map_or(delay, |least| delay.min(least + delay.saturating_sub(least) / MEMORY));
        self.least = Some(least);
        if delay > least + least / 2 + NOISE {
            self.window = self.window.saturating_sub(1).max(1);
        } else if was_limited {
            self.window = (self.window + 1).min(MOST);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A browser that is `way` away there and back, and takes `each` for a picture, of which there are 60 a second: the
    /// pictures that it had in the last of ten seconds, and how long the last of them was on its way.
    fn simulate(way: Duration, each: Duration) -> (usize, Duration) {
        let (start, mut pace) = (Instant::now(), Pace::new());
        // Times at which those on the way will be taken.
        let mut ends: VecDeque<(Instant, Instant)> = VecDeque::new();
        let (mut taken, mut age) = (0, Duration::ZERO);
        for step in 0..10_000u32 {
            let now = start + step * MS;
            while let Some(&(sent, end)) = ends.front().filter(|(_, end)| *end <= now) {
                ends.pop_front();
                assert!(pace.taken(end));
                taken += usize::from(step >= 9_000);
                age = end - sent;
            }
            if step % 17 == 0 && pace.is_open() {
                pace.sent(now);
                let free = ends.back().map_or(now, |(_, end)| *end).max(now + way);
                ends.push_back((now, free + each));
            }
        }
        (taken, age)
    }

    #[test]
    fn a_far_browser_gets_every_picture() {
        for way in [0, 20, 100, 300] {
            let (taken, age) = simulate(way * MS, 2 * MS);
            assert!(taken >= 55, "{way} ms away: {taken} pictures");
            assert!(age <= (way + 40) * MS, "{way} ms away: {age:?} old");
        }
    }

    #[test]
    fn a_slow_browser_gets_fewer_and_none_of_them_waits_long() {
        let (taken, age) = simulate(5 * MS, 100 * MS);
        assert!((8..=11).contains(&taken), "{taken} pictures");
        assert!(age <= 300 * MS, "{age:?} old");
    }

    #[test]
    fn one_that_takes_nothing_gets_two() {
        let (mut pace, now) = (Pace::new(), Instant::now());
        assert!(!pace.taken(now));
        while pace.is_open() {
            pace.sent(now);
        }
        assert_eq!(pace.flying.len(), 2);
    }
}
