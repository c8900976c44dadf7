//! Keeps the last frames of a repeatedly sent array for stepping back and forth.

use crate::array::Array;
use std::collections::VecDeque;

/// Direction of a step from the shown frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameStep {
    Back,
    Forward,
    Newest,
}

/// Frames before and after the shown one, oldest first. The shown frame itself is elsewhere.
#[derive(Default)]
pub struct Ring {
    older: VecDeque<Array>,
    newer: VecDeque<Array>,
    /// The last frame that arrived during a pause, and how many arrived.
    waiting: Option<Array>,
    missed: usize,
}

impl Ring {
    /// Stores a frame that arrives during a pause; it replaces an earlier one.
    pub fn wait(&mut self, array: Array) {
        self.waiting = Some(array);
        self.missed += 1;
    }

    /// Takes the frame in this direction. After the newest frame of the ring comes the one that arrived during the
    /// pause.
    pub fn take(&mut self, way: FrameStep) -> Option<Array> {
        let Self { older, newer, waiting, missed } = self;
        let mut came = || {
            *missed = 0;
            waiting.take()
        };
        match way {
            FrameStep::Back => older.pop_back(),
            FrameStep::Forward => newer.pop_front().or_else(came),
            FrameStep::Newest => came().or_else(|| newer.pop_back()),
        }
    }

    /// Stores the frame that was shown until now. Drops the oldest frames if there are more than `most`, counting that
    /// one.
    pub fn leave(&mut self, way: FrameStep, old: Array, most: usize) {
        match way {
            FrameStep::Back => self.newer.push_front(old),
            FrameStep::Forward => self.older.push_back(old),
            FrameStep::Newest => {
                self.older.push_back(old);
                self.older.append(&mut self.newer);
            }
        }
        while self.older.len() + self.newer.len() + 1 > most.max(1) && self.forget() {}
    }

    /// Drops the oldest frame. Returns false if there is none.
    pub fn forget(&mut self) -> bool {
        self.older.pop_front().or_else(|| self.newer.pop_front()).is_some()
    }

    /// Bytes that could be freed by dropping frames.
    pub fn spare(&self) -> usize {
        self.older.iter().chain(&self.newer).map(Array::bytes).sum()
    }

    /// Bytes of all kept frames.
    pub fn bytes(&self) -> usize {
        self.spare() + self.waiting.as_ref().map_or(0, Array::bytes)
    }

    /// Describes in words which frame is shown.
    pub fn position(&self) -> String {
        let (at, count) = (self.older.len() + 1, self.older.len() + 1 + self.newer.len());
        let newer = if self.missed > 0 { format!(", {} newer", self.missed) } else { String::new() };
        format!("frame {at} of {count}, paused{newer}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry_look::Number;

    fn frame(level: u8) -> Array {
        let number = Number { code: 1, bits: 8, foreign: false };
        Array::new(&level.to_string(), &[level; 6], vec![2, 3], number).unwrap()
    }

    /// Goes there, and says what is on show then.
    fn go(ring: &mut Ring, on_show: &mut Array, way: FrameStep) -> Option<String> {
        let old = std::mem::replace(on_show, ring.take(way)?);
        ring.leave(way, old, 4);
        Some(on_show.name().to_owned())
    }

    #[test]
    fn a_ring_is_stepped_through_and_the_newest_ends_a_pause() {
        let (mut ring, mut on_show) = (Ring::default(), frame(0));
        for level in 1..7 {
            ring.leave(FrameStep::Newest, std::mem::replace(&mut on_show, frame(level)), 4);
        }
        assert_eq!((ring.position(), ring.bytes()), ("frame 4 of 4, paused".into(), 18));
        let mut to = |ring: &mut Ring, way| go(ring, &mut on_show, way).unwrap_or_default();
        assert_eq!([FrameStep::Back; 4].map(|way| to(&mut ring, way)), ["5", "4", "3", ""]);
        assert_eq!(ring.position(), "frame 1 of 4, paused");
        ring.wait(frame(7));
        ring.wait(frame(8));
        assert_eq!((ring.position(), ring.bytes()), ("frame 1 of 4, paused, 2 newer".into(), 24));
        assert_eq!((to(&mut ring, FrameStep::Forward), to(&mut ring, FrameStep::Newest)), ("4".into(), "8".into()));
        assert_eq!(
            (ring.position(), to(&mut ring, FrameStep::Forward)),
            ("frame 4 of 4, paused".into(), String::new())
        );
        assert_eq!([FrameStep::Back; 4].map(|way| to(&mut ring, way)), ["6", "5", "4", ""]);
        // Without anything that waits the newest is the last of the ring; one step further is what waits.
        assert_eq!(to(&mut ring, FrameStep::Newest), "8");
        ring.wait(frame(9));
        assert_eq!((to(&mut ring, FrameStep::Forward), ring.position()), ("9".into(), "frame 4 of 4, paused".into()));
        while ring.forget() {}
        assert_eq!((ring.position(), ring.bytes()), ("frame 1 of 1, paused".into(), 0));
    }
}
