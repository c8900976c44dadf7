//! The session that a receiver follows, and its progress.

use pixelferry_media::wire::WireError;
use std::time::{Duration, Instant};

/// After this time of silence a session gives way to any other, and a frame to any other, so that a wrong clock or a
/// wrong number locks no sender out for longer.
const SILENCE: Duration = Duration::from_secs(5);
/// Messages within this time of each other count once, so that a flood weighs no more than a steady sender.
const SLOT: Duration = Duration::from_millis(200);
/// The number of slots, and the least time over them, in which a regular sender is heard.
const REGULAR: (u32, Duration) = (4, Duration::from_secs(1));
/// Slots are counted over this time, then the count begins again.
const WINDOW: Duration = Duration::from_secs(4);
/// A regular session replaces one that is heard in at most one of so many of its slots.
const RARE: u32 = 2;
/// After a session lost its place to another one, a greater number alone is no claim for so long.
const WARY: Duration = Duration::from_secs(60);
/// The number of frames that a session may skip, and skip again in each second, before a wary receiver takes it for
/// another one.
const LEAP: u64 = 1000;
/// The number of other sessions whose slots are counted.
const MOST_RIVALS: usize = 8;

/// The session that is followed, and its newest frame: usually the one that began last, by its number. The rule is
/// under "Sessions and frames" on the page of the protocol.
#[derive(Debug, Default)]
pub struct FollowedSession {
    heard: Option<Heard>,
    /// The slots of the sessions that were followed one after the other.
    slots: u32,
    rivals: Vec<Rival>,
    /// Until this time a greater number is no claim.
    wary: Option<Instant>,
}

#[derive(Debug)]
struct Heard {
    epoch: u64,
    frame: u64,
    at: Instant,
    /// When its last slot was counted.
    slot: Instant,
}

/// A session whose messages are ignored, or that counts its frames differently from the one that is followed.
#[derive(Debug)]
struct Rival {
    epoch: u64,
    /// True if its numbers are greater than those of the session that is followed.
    is_above: bool,
    since: Instant,
    /// When its last slot was counted.
    slot: Instant,
    slots: u32,
    /// The slots of the followed sessions when counting of this one's began.
    others: u32,
}

/// Counts a message that arrives now, unless it belongs to the same slot as the one before.
fn count(slots: &mut u32, slot: &mut Instant, now: Instant) {
    if now.duration_since(*slot) >= SLOT {
        (*slot, *slots) = (now, slots.wrapping_add(1));
    }
}

/// What a message of the followed session announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// Another session than before, or one that restarts its frame numbers: earlier knowledge about frames is void.
    Session,
    /// A newer frame than before.
    Newer,
    /// The newest frame again.
    Again,
    /// An older frame.
    Older,
}

impl FollowedSession {
    /// Takes the session and the frame of a message, or refuses its session.
    pub fn accept(&mut self, epoch: u64, frame: u64, now: Instant) -> Result<News, WireError> {
        let Some(heard) = &mut self.heard else { return Ok(self.follow(epoch, frame, now)) };
        let (waited, current) = (now.duration_since(heard.at), heard.epoch);
        let is_below = (epoch, frame) < (current, heard.frame);
        let leap = LEAP + LEAP * waited.as_secs();
        let is_wary = self.wary.is_some_and(|until| now < until);
        let is_claim = is_below || is_wary && (epoch > current || frame - heard.frame > leap);
        if !is_claim && epoch == current {
            let news = if frame > heard.frame { News::Newer } else { News::Again };
            count(&mut self.slots, &mut heard.slot, now);
            (heard.frame, heard.at) = (frame, now);
            return Ok(news);
        }
        if is_claim && waited < SILENCE {
            if !self.rival(epoch, !is_below, now) {
                let foreign = WireError::Foreign { found: epoch, current };
                return if epoch == current { Ok(News::Older) } else { Err(foreign) };
            }
            self.wary = Some(now + WARY);
        }
        if is_claim {
            self.rivals.clear();
        }
        Ok(self.follow(epoch, frame, now))
    }

    fn follow(&mut self, epoch: u64, frame: u64, now: Instant) -> News {
        self.slots = self.slots.wrapping_add(1);
        self.heard = Some(Heard { epoch, frame, at: now, slot: now });
        News::Session
    }

    /// Counts a message that is ignored, and returns whether its session now has the better claim.
    fn rival(&mut self, epoch: u64, is_above: bool, now: Instant) -> bool {
        self.rivals.retain(|rival| now.duration_since(rival.since) < WINDOW);
        let is_same = |rival: &&mut Rival| (rival.epoch, rival.is_above) == (epoch, is_above);
        let Some(rival) = self.rivals.iter_mut().find(is_same) else {
            if self.rivals.len() >= MOST_RIVALS {
                // Invented sessions were heard only once.
                let least = (0..).zip(&self.rivals).min_by_key(|(_, rival)| rival.slots).map(|(at, _)| at);
                least.map(|at| self.rivals.swap_remove(at));
            }
            self.rivals.push(Rival { epoch, is_above, since: now, slot: now, slots: 1, others: self.slots });
            return false;
        };
        count(&mut rival.slots, &mut rival.slot, now);
        let (slots, others) = (rival.slots, self.slots.wrapping_sub(rival.others));
        let is_regular = slots >= REGULAR.0 && now.duration_since(rival.since) >= REGULAR.1;
        // Greater numbers are a claim of their own: about the same regularity is enough.
        is_regular && if is_above { slots * 4 >= others * 3 } else { slots >= others * RARE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn later_sessions_take_over_and_earlier_ones_only_after_silence() {
        let (mut followed, start) = (FollowedSession::default(), Instant::now());
        assert_eq!(followed.accept(5, 1, start), Ok(News::Session));
        assert_eq!(followed.accept(5, 1, start), Ok(News::Again));
        assert_eq!(followed.accept(4, 9, start + SECOND), Err(WireError::Foreign { found: 4, current: 5 }));
        assert_eq!(followed.accept(6, 1, start + SECOND), Ok(News::Session));
        assert!(followed.accept(5, 2, start + SECOND * 2).is_err());
        assert_eq!(followed.accept(5, 2, start + SECOND * 7), Ok(News::Session));
    }

    #[test]
    fn frames_count_up_but_a_wrong_number_is_forgotten() {
        let (mut followed, start) = (FollowedSession::default(), Instant::now());
        assert_eq!(followed.accept(5, 2, start), Ok(News::Session));
        assert_eq!(followed.accept(5, 3, start), Ok(News::Newer));
        assert_eq!(followed.accept(5, 2, start + SECOND), Ok(News::Older));
        // A bit of the number changed on the way.
        assert_eq!(followed.accept(5, 4 | 1 << 63, start + SECOND), Ok(News::Newer));
        assert_eq!(followed.accept(5, 5, start + SECOND * 2), Ok(News::Older));
        assert_eq!(followed.accept(5, 6, start + SECOND * 6), Ok(News::Session));
        assert_eq!(followed.accept(5, 7, start + SECOND * 6), Ok(News::Newer));
    }

    /// Ten minutes of a display that asks four times a second beside a stranger who sends `each`: the part of the display's
    /// messages that was taken.
    fn taken(each: Duration, stranger: impl Fn(u32, u64) -> (u64, u64)) -> f64 {
        let (mut followed, start) = (FollowedSession::default(), Instant::now());
        let (mut sent, mut taken, mut strange, mut next) = (0, 0, 0, 3 * SECOND);
        for quarter in 0..2400u32 {
            let at = 250 * MS * quarter;
            while next <= at {
                strange += 1;
                let (epoch, frame) = stranger(strange, sent);
                let _ = followed.accept(epoch, frame, start + next);
                next += each;
            }
            sent += 1;
            let news = followed.accept(1000, sent, start + at);
            taken += u64::from(matches!(news, Ok(News::Session | News::Newer | News::Again)));
        }
        taken as f64 / sent as f64
    }

    #[test]
    fn a_foreign_epoch_holds_nobody_who_sends_regularly_for_long() {
        for each in [700 * MS, SECOND, 2 * SECOND, 4 * SECOND] {
            let same = taken(each, |_, _| (u64::MAX, 1));
            let growing = taken(each, |nth, _| (2000 + u64::from(nth), 1));
            let any = taken(each, |nth, _| (u64::from(nth).wrapping_mul(0x9E37_79B9_7F4A_7C15), 1));
            let frames = taken(each, |nth, _| (1000, (1 << 63) + u64::from(nth)));
            for part in [same, growing, any, frames] {
                assert!(part > 0.95, "every {each:?}: {same} {growing} {any} {frames}");
            }
        }
    }

    #[test]
    fn a_flood_of_earlier_epochs_takes_nothing_from_who_is_heard() {
        let (mut followed, start) = (FollowedSession::default(), Instant::now());
        for step in 0..10_000u32 {
            let at = start + MS * step;
            if step % 250 == 0 {
                assert!(followed.accept(1000, step.into(), at).is_ok());
            }
            assert!(followed.accept((step % 5).into(), 1, at).is_err(), "at {step} ms");
        }
    }

    /// After a stranger, too: a display that begins again is followed within seconds.
    #[test]
    fn a_display_that_begins_anew_is_followed_at_once_or_soon_after_a_stranger() {
        let (mut followed, start) = (FollowedSession::default(), Instant::now());
        let mut now = start;
        let mut hear = |followed: &mut FollowedSession, epoch: u64, quarters: u32| {
            let mut refused = 0;
            for frame in 1..=quarters {
                now += 250 * MS;
                refused += u32::from(followed.accept(epoch, frame.into(), now).is_err());
            }
            refused
        };
        assert_eq!(hear(&mut followed, 1000, 8), 0);
        assert_eq!(hear(&mut followed, 1001, 8), 0);
        assert_eq!(hear(&mut followed, u64::MAX, 1), 0);
        assert!(hear(&mut followed, 1001, 12) <= 6);
        assert!(hear(&mut followed, 1002, 12) <= 6);
    }
}
