//! Splits large pictures into pieces, and limits the pieces on their way to one viewer: as many as its line carries
//! without a growing queue. So no other traffic waits for the pieces of one viewer. Independent of the network.

use pixelferry_media::wire::Numbers;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The unit of a piece in bytes. Two of them fit into the queue of a line in Zenoh (16 batches of 64 KiB), so nothing
/// waits.
pub const UNIT: usize = 440 << 10;
/// The smallest and the largest number of units on their way.
const LEAST: u64 = 2;
const MOST: u64 = 64;
/// The time that pieces may wait for a line. Without it a fast line would idle between them because of the schedulers
/// of both machines.
const QUEUE: Duration = Duration::from_millis(5);
/// After this time one piece is sent alone, which measures the line's current latency, for example on a busy machine.
const PROBE: Duration = Duration::from_secs(5);
/// Pieces without any report for so long are lost, because the line was broken.
const LOST: Duration = Duration::from_secs(10);

/// The request of a viewer, which it repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// The viewer's number.
    pub viewer: u64,
    /// The place whose memory the viewer reads.
    pub place: u64,
    /// How many times it has requested the current picture.
    pub asked: u64,
    /// The number of the last unit that arrived, of any picture.
    pub taken: u64,
}

impl Wish {
    pub const BYTES: usize = 32;

    pub fn to_bytes(self) -> Vec<u8> {
        [self.viewer, self.place, self.asked, self.taken].map(u64::to_le_bytes).concat()
    }

    /// Reads a request; `None` if the bytes are invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut from = Numbers(bytes);
        let wish = || Self { viewer: from.u64(), place: from.u64(), asked: from.u64(), taken: from.u64() };
        (bytes.len() == Self::BYTES).then(wish)
    }
}

/// The header of a piece of a picture's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The session of the picture.
    pub epoch: u64,
    /// The number of its last unit. The units of a viewer are numbered consecutively.
    pub number: u64,
    /// The number of bytes of the message before the piece.
    pub offset: u64,
}

impl Piece {
    pub const BYTES: usize = 24;

    pub fn to_bytes(self) -> Vec<u8> {
        [self.epoch, self.number, self.offset].map(u64::to_le_bytes).concat()
    }

    /// Reads a header; `None` if the bytes are invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut from = Numbers(bytes);
        let piece = || Self { epoch: from.u64(), number: from.u64(), offset: from.u64() };
        (bytes.len() == Self::BYTES).then(piece)
    }
}

/// The pieces on their way to one viewer.
#[derive(Debug)]
pub struct Pace {
    sent: u64,
    taken: u64,
    allowed: u64,
    /// The number of units that the line carries in [`QUEUE`].
    quick: f64,
    /// The last unit that had arrived when no piece was on its way last.
    empty: u64,
    /// The shortest time from sending a piece to the report of its arrival, and when one was last sent alone.
    least: Option<Duration>,
    probed: Option<Instant>,
    /// The number of each piece, when it was sent, and what had arrived by then.
    flying: VecDeque<(u64, Instant, u64)>,
}

impl Pace {
    /// Begins for a viewer that has this unit already, for example from an earlier server.
    pub fn from(taken: u64) -> Self {
        let (least, probed, flying) = Default::default();
        Self { sent: taken, taken, allowed: LEAST, quick: 0.0, empty: taken, least, probed, flying }
    }

    /// Returns the number of units that may be sent now, which may be 0. It is more than one on a fast line, where a
    /// piece costs more than its bytes.
    pub fn room(&self, now: Instant) -> u64 {
        let is_due = self.probed.is_none_or(|probed| now.duration_since(probed) >= PROBE);
        // Each piece that arrived after the line was empty makes room for two: all at once would fill a queue.
        let begun = self.taken.saturating_sub(self.empty).saturating_add(LEAST);
        let window = if is_due { 1 } else { self.allowed.min(begun) };
        window.saturating_sub(self.sent.saturating_sub(self.taken)).min((window / 3).min(self.quick as u64).max(1))
    }

    /// Records that this many units are sent, and returns the number of the last of them.
    pub fn send(&mut self, units: u64, now: Instant) -> u64 {
        if self.sent == self.taken {
            (self.least, self.probed, self.empty) = (None, Some(now), self.taken);
        }
        self.sent = self.sent.saturating_add(units);
        self.flying.push_back((self.sent, now, self.taken));
        self.sent
    }

    /// Records that the viewer has received everything up to this unit. If `came` pieces arrived in the time `took` of
    /// the last of them, the line holds `came * least / took`. The units that it carries in [`QUEUE`], or one, are sent
    /// in addition and show whether it can carry more.
    pub fn take(&mut self, taken: u64, now: Instant) {
        let mut last = None;
        while self.flying.front().is_some_and(|(number, ..)| *number <= taken) {
            last = self.flying.pop_front();
        }
        if let Some((number, sent, before)) = last {
            let (came, took) = (number.saturating_sub(before), now.duration_since(sent).max(Duration::from_micros(1)));
            let least = *self.least.insert(self.least.map_or(took, |least| least.min(took)));
            let rate = came as f64 / took.as_secs_f64();
            self.quick = rate * QUEUE.as_secs_f64();
            let room = rate * least.as_secs_f64() + self.quick.max(1.0);
            // Fewer than the allowed pieces do not show that the line cannot carry more, nor how much a much faster
            // line holds.
            if came >= self.allowed || room > self.allowed as f64 {
                self.allowed = (room.round() as u64).min(2 * came + LEAST).clamp(LEAST, MOST);
            }
        }
        self.taken = self.taken.max(taken);
        if self.flying.front().is_some_and(|(_, sent, _)| now.duration_since(*sent) >= LOST) {
            self.flying.clear();
            self.taken = self.sent;
        }
        self.sent = self.sent.max(self.taken);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // how tests fail
mod tests {
    use super::*;

    const US: Duration = Duration::from_micros(1);

    /// The part of a line that is used in ten seconds, and the most units that its queue held. `each` is a unit's time on it, and
    /// `away` the time there and back.
    fn run(each: Duration, away: Duration) -> (f64, u128) {
        let (start, mut pace) = (Instant::now(), Pace::from(7));
        let (mut free, mut back, mut came, mut queued) = (start, VecDeque::new(), 7, 0);
        let mut now = start;
        while now < start + Duration::from_secs(10) {
            while back.front().is_some_and(|(_, at)| *at <= now) {
                came = back.pop_front().unwrap().0;
                pace.take(came, now);
            }
            while let units @ 1.. = pace.room(now) {
                free = free.max(now) + each * units as u32;
                back.push_back((pace.send(units, now), free + away));
                queued = queued.max((free - now).as_micros() / each.as_micros());
            }
            now += 100 * US;
        }
        ((came - 7) as f64 * each.as_secs_f64() / 10.0, queued)
    }

    #[test]
    fn a_line_is_filled_and_its_queue_stays_short() {
        for (each, away) in
            [(500, 0), (500, 200), (4000, 0), (4000, 50_000), (36_000, 1000), (36_000, 100_000), (400_000, 10_000)]
        {
            let (part, queued) = run(each * US, away * US);
            println!("{each} us a unit, {away} us away: {part:.2} of the line, {queued} queued");
            // What the queue holds is sent within three times its time, or is little.
            assert!(
                part > 0.9 && (queued <= 8 || queued * u128::from(each) < 15_000),
                "{each} us, {away} us: {part}, {queued}"
            );
        }
    }

    #[test]
    fn a_viewer_that_says_nothing_gets_two_pieces_and_more_when_they_are_lost() {
        let (start, mut pace) = (Instant::now(), Pace::from(0));
        assert_eq!([(); 2].map(|()| pace.send(1, start)), [1, 2]);
        pace.take(0, start + PROBE / 2);
        assert_eq!(pace.room(start + PROBE / 2), 0);
        pace.take(0, start + LOST);
        assert!(pace.room(start + LOST) > 0);
        // Numbers of somebody who invents them break nothing.
        pace.take(u64::MAX, start + LOST);
        pace.send(1, start + LOST);
        pace.take(3, start + LOST);
    }

    #[test]
    fn messages_read_what_was_written() {
        let (wish, piece) =
            (Wish { viewer: 1, place: 2, asked: 3, taken: u64::MAX }, Piece { epoch: 1, number: 2, offset: 3 });
        assert_eq!(Wish::read(&wish.to_bytes()), Some(wish));
        assert_eq!(Piece::read(&piece.to_bytes()), Some(piece));
        assert!([0, 16, 33].iter().all(|&bytes| Wish::read(&vec![1; bytes]).is_none()));
        assert!([0, 16, 25].iter().all(|&bytes| Piece::read(&vec![1; bytes]).is_none()));
    }
}
