//! Measures links: receivers measure, and senders use their reports. Independent of the network.

use crate::report::Report;
use pixelferry::Region;
use pixelferry_media::wire::Header;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

/// The interval at which a receiver reports its measurements.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// The time after which pixels announced by a mark are reported as lost.
const LOST: Duration = Duration::from_secs(1);
/// The time of silence after which a receiver counts as gone.
const SILENCE: Duration = Duration::from_secs(5);
/// No network has more links; further ones are invented by somebody.
const MOST: usize = 4096;
/// The weight of the newest report in a link's speed.
const NEWEST: f64 = 0.5;

/// The link from a sender to a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The rate in bytes per second.
    pub rate: f64,
    /// True if the receiver reads the sender's shared memory.
    pub shared: bool,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.shared { ", shared memory" } else { "" };
        write!(f, "{:.1} MB/s{way}", self.rate / 1e6)
    }
}

/// The measurements of one receiver: the time from the arrival of a mark to the end of the message that the sender
/// sends right after it. They depend neither on clocks nor on the latency of the first byte.
#[derive(Debug, Default)]
pub struct Meter(BTreeMap<u64, LinkMeter>);

#[derive(Debug)]
struct LinkMeter {
    mark: Option<(Instant, TileMark)>,
    /// The time of the first mark since the last pixels arrived.
    waiting: Option<Instant>,
    heard: Instant,
    told: Option<Instant>,
    shared: bool,
    bytes: u64,
    time: Duration,
}

type TileMark = (u64, u64, Region);

fn place(header: &Header) -> TileMark {
    (header.epoch, header.frame, header.region)
}

impl Meter {
    /// Records the arrival of a mark.
    pub fn mark(&mut self, header: &Header, shared: bool, now: Instant) {
        if self.0.len() >= MOST && !self.0.contains_key(&header.sender) {
            self.0.retain(|_, measured| now.duration_since(measured.heard) < SILENCE);
            if self.0.len() >= MOST {
                return;
            }
        }
        let new =
            LinkMeter { mark: None, waiting: None, heard: now, told: None, shared, bytes: 0, time: Duration::ZERO };
        let measured = self.0.entry(header.sender).or_insert(new);
        (measured.mark, measured.heard, measured.shared) = (Some((now, place(header))), now, shared);
        measured.waiting.get_or_insert(now);
    }

    /// Records the arrival of a message with pixels.
    pub fn came(&mut self, header: &Header, now: Instant) {
        let Some(measured) = self.0.get_mut(&header.sender) else { return };
        measured.waiting = None;
        if let Some((begun, _)) = measured.mark.take_if(|(_, marked)| *marked == place(header)) {
            measured.bytes = measured.bytes.saturating_add(header.payload);
            measured.time += now.duration_since(begun);
        }
    }

    /// Returns the reports to send now, with their senders.
    pub fn due(&mut self, receiver: u64, now: Instant) -> Vec<(u64, Report)> {
        let is_due = |measured: &LinkMeter| {
            let is_lost = measured.waiting.is_some_and(|since| now.duration_since(since) >= LOST);
            (measured.bytes > 0 || is_lost) && measured.told.is_none_or(|told| now.duration_since(told) >= TELL_EVERY)
        };
        let tell = |(&sender, measured): (&u64, &mut LinkMeter)| {
            // Otherwise a sender would not learn that none of its pixels arrive.
            if let Some(since) = measured.waiting.take_if(|since| now.duration_since(*since) >= LOST) {
                measured.time += now.duration_since(since);
            }
            let microseconds = u64::try_from(measured.time.as_micros()).unwrap_or(u64::MAX).max(1);
            let report = Report { receiver, bytes: measured.bytes, microseconds, shared: measured.shared };
            (measured.bytes, measured.time, measured.told) = (0, Duration::ZERO, Some(now));
            (sender, report)
        };
        self.0.iter_mut().filter(|(_, measured)| is_due(measured)).map(tell).collect()
    }
}

/// The links of a sender to its receivers.
#[derive(Debug, Default)]
pub struct Links(BTreeMap<u64, (Link, Instant)>);

impl Links {
    /// Records a report.
    pub fn note(&mut self, report: &Report, now: Instant) {
        let rate = report.bytes as f64 * 1e6 / report.microseconds.max(1) as f64;
        let shared = report.shared;
        if let Some((link, heard)) = self.0.get_mut(&report.receiver) {
            let rate = link.rate + NEWEST * (rate - link.rate);
            (*link, *heard) = (Link { rate: rate.max(1.0), shared }, now);
        } else if self.0.len() < MOST {
            self.0.insert(report.receiver, (Link { rate: rate.max(1.0), shared }, now));
        }
    }

    /// Returns the link of the median receiver, of two the slower one: a single slow receiver changes nothing for many.
    pub fn median(&mut self, now: Instant) -> Option<Link> {
        self.0.retain(|_, (_, heard)| now.duration_since(*heard) < SILENCE);
        let mut links: Vec<Link> = self.0.values().map(|(link, _)| *link).collect();
        let order = |link: &Link| if link.shared { f64::INFINITY } else { link.rate };
        links.sort_by(|a, b| order(a).total_cmp(&order(b)));
        links.get(links.len().saturating_sub(1) / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::{ImageDesc, PixelFormat};
    use pixelferry_media::wire::MessageKind;

    fn header(sender: u64, frame: u64) -> Header {
        let image = ImageDesc::new(100, 10, PixelFormat::R8);
        Header { sender, frame, ..Header::new(MessageKind::Picture, image, image.extent.full()) }
    }

    #[test]
    fn the_time_from_a_mark_to_its_messages_end_is_measured() {
        let (mut meter, start) = (Meter::default(), Instant::now());
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        meter.came(&header(1, 1), start);
        assert!(meter.due(9, start).is_empty(), "there was no mark");
        meter.mark(&header(1, 2), true, start);
        meter.came(&header(1, 3), after(5));
        assert!(meter.due(9, after(5)).is_empty(), "it is another message's");
        meter.came(&header(1, 2), after(10));
        meter.came(&header(1, 2), after(99));
        let told = Report { receiver: 9, bytes: 1000, microseconds: 10_000, shared: true };
        assert_eq!(meter.due(9, after(10)), [(1, told)]);
        meter.mark(&header(1, 4), false, after(20));
        meter.came(&header(1, 4), after(40));
        assert!(meter.due(9, after(40)).is_empty(), "too soon");
        let told = Report { microseconds: 20_000, shared: false, ..told };
        assert_eq!(meter.due(9, after(10) + TELL_EVERY), [(1, told)]);
    }

    #[test]
    fn a_receiver_that_gets_marks_only_says_so() {
        let (mut meter, start) = (Meter::default(), Instant::now());
        for frame in 0..6u32 {
            meter.mark(&header(1, frame.into()), false, start + frame * LOST / 4);
        }
        let told = Report { receiver: 9, bytes: 0, microseconds: 1_250_000, shared: false };
        assert_eq!(meter.due(9, start + LOST * 5 / 4), [(1, told)]);
        assert!(meter.due(9, start + LOST * 3).is_empty(), "no mark came since");
        let mut links = Links::default();
        links.note(&Report { bytes: 1000, ..told }, start);
        links.note(&told, start);
        assert_eq!(links.median(start).map(|link| link.rate), Some(400.0));
    }

    #[test]
    fn one_slow_receiver_of_many_changes_nothing_and_silent_ones_are_forgotten() {
        let (mut links, start) = (Links::default(), Instant::now());
        assert_eq!(links.median(start), None);
        let report = |receiver, bytes| Report { receiver, bytes, microseconds: 1_000_000, shared: false };
        links.note(&report(1, 10), start);
        links.note(&report(2, 1000), start);
        assert_eq!(links.median(start), Some(Link { rate: 10.0, shared: false }));
        links.note(&Report { shared: true, ..report(3, 5) }, start);
        assert_eq!(links.median(start), Some(Link { rate: 1000.0, shared: false }));
        links.note(&report(2, 2000), start + SILENCE / 2);
        assert_eq!(links.median(start + SILENCE), Some(Link { rate: 1500.0, shared: false }));
        assert_eq!(links.median(start + SILENCE * 2), None);
    }
}
