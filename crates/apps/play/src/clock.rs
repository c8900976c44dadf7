//! Time of the frames: by the clock or in fixed steps; can be paused and stepped.

use crate::input::Moment;
use std::time::{Duration, Instant, SystemTime};

/// How far a step advances a paused clock.
const STEP: Duration = Duration::from_micros(16_667);
/// Longest time between two frames. After a longer pause of the whole program, time continues where it was.
const MOST: Duration = Duration::from_secs(1);

/// Time that the frames are given: seconds since the start, the time of a frame, and its number.
#[derive(Debug)]
pub struct Clock {
    /// Time per frame; `None` follows the real time.
    step: Option<Duration>,
    /// When it was created; steps start there.
    begun: SystemTime,
    time: Duration,
    delta: Duration,
    frame: i32,
    last: Option<Instant>,
    is_halted: bool,
}

impl Clock {
    /// A clock that starts with the first frame, in fixed steps if `step` is given.
    pub fn new(step: Option<Duration>) -> Self {
        let (begun, time, delta) = (SystemTime::now(), Duration::ZERO, STEP);
        Self { step, begun, time, delta, frame: 0, last: None, is_halted: false }
    }

    /// Pauses or continues.
    pub const fn toggle(&mut self) {
        self.is_halted = !self.is_halted;
        self.last = None;
    }

    /// Returns whether the clock is paused.
    pub const fn is_halted(&self) -> bool {
        self.is_halted
    }

    /// Starts again at 0.
    pub const fn rewind(&mut self) {
        (self.time, self.frame, self.last) = (Duration::ZERO, 0, None);
    }

    /// Returns the moment of the next frame. The pointer is unknown here.
    pub fn now(&self) -> Moment {
        let (time, delta) = (self.time.as_secs_f32(), self.delta.as_secs_f32());
        // Steps continue from today, so that a shader with a calendar shows a real one.
        let date = date(if self.step.is_some() { self.begun + self.time } else { SystemTime::now() });
        Moment { time, delta, frame: self.frame, mouse: [0.0; 4], date }
    }

    /// Advances after a frame. A paused clock advances only if `is_stepped`.
    pub fn go_on(&mut self, is_stepped: bool) {
        if self.is_halted && !is_stepped {
            return;
        }
        let now = Instant::now();
        let passed = self.last.replace(now).map_or(STEP, |last| now - last);
        self.delta = self.step.unwrap_or(if is_stepped { STEP } else { passed.min(MOST) });
        self.time = self.time.saturating_add(self.delta);
        self.frame = self.frame.wrapping_add(1);
    }
}

/// Year, month from 0, day and seconds of the day in UTC.
fn date(now: SystemTime) -> [f32; 4] {
    let date = jiff::Timestamp::try_from(now).unwrap_or_default().to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let seconds = (date - date.date().to_datetime(jiff::civil::Time::midnight())).total(jiff::Unit::Second);
    [f32::from(date.year()), f32::from(date.month() - 1), f32::from(date.day()), seconds.unwrap_or(0.0) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), [1970.0, 0.0, 1.0, 0.0]);
        assert_eq!(at(951_782_400 + 3661), [2000.0, 1.0, 29.0, 3661.0]);
        assert_eq!(at(1_735_689_599), [2024.0, 11.0, 31.0, 86_399.0]);
    }

    #[test]
    fn a_halted_clock_steps_and_a_fixed_one_knows_no_other_time() {
        let mut clock = Clock::new(Some(Duration::from_millis(250)));
        clock.go_on(false);
        clock.go_on(false);
        assert_eq!((clock.now().time, clock.now().frame, clock.now().delta), (0.5, 2, 0.25));
        clock.toggle();
        clock.go_on(false);
        assert_eq!(clock.now().frame, 2);
        clock.go_on(true);
        assert_eq!((clock.now().time, clock.now().frame), (0.75, 3));
        clock.rewind();
        assert_eq!((clock.now().time, clock.now().frame, clock.is_halted()), (0.0, 0, true));
    }
}
