//! Which session a receiver follows, and how far it is.

use crate::wire::WireError;
use std::time::{Duration, Instant};

/// A session that says nothing for so long gives way to any other, and a frame to any other, so that neither a wrong clock nor a
/// wrong number locks anybody out.
const SILENCE: Duration = Duration::from_secs(5);

/// The session that is followed: the one that began last, by its number, as long as it is heard; and its newest frame.
#[derive(Debug, Default)]
pub(crate) struct Followed(Option<Heard>);

#[derive(Debug)]
struct Heard {
    epoch: u64,
    frame: u64,
    at: Instant,
}

/// What a message of the session that is followed is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// Of another session than before, or of one that counts its frames anew: what was known of frames is void.
    Session,
    /// Of a newer frame than before.
    Newer,
    /// Of the newest frame.
    Again,
    /// Of an older frame.
    Older,
}

impl Followed {
    /// Takes a message's session and frame, or refuses its session.
    pub fn accept(&mut self, epoch: u64, frame: u64, now: Instant) -> Result<News, WireError> {
        let news = match &self.0 {
            None => News::Session,
            Some(heard) if (epoch, frame) < (heard.epoch, heard.frame) => {
                let is_heard = now.duration_since(heard.at) < SILENCE;
                if is_heard && epoch < heard.epoch {
                    return Err(WireError::Foreign { found: epoch, current: heard.epoch });
                }
                if is_heard {
                    return Ok(News::Older);
                }
                News::Session
            }
            Some(heard) if epoch > heard.epoch => News::Session,
            Some(heard) if frame > heard.frame => News::Newer,
            Some(_) => News::Again,
        };
        self.0 = Some(Heard { epoch, frame, at: now });
        Ok(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn later_sessions_take_over_and_earlier_ones_only_after_silence() {
        let (mut followed, start) = (Followed::default(), Instant::now());
        assert_eq!(followed.accept(5, 1, start), Ok(News::Session));
        assert_eq!(followed.accept(5, 1, start), Ok(News::Again));
        assert_eq!(followed.accept(4, 9, start + SECOND), Err(WireError::Foreign { found: 4, current: 5 }));
        assert_eq!(followed.accept(6, 1, start + SECOND), Ok(News::Session));
        assert!(followed.accept(5, 2, start + SECOND * 2).is_err());
        assert_eq!(followed.accept(5, 2, start + SECOND * 7), Ok(News::Session));
    }

    #[test]
    fn frames_count_up_but_a_wrong_number_is_forgotten() {
        let (mut followed, start) = (Followed::default(), Instant::now());
        assert_eq!(followed.accept(5, 2, start), Ok(News::Session));
        assert_eq!(followed.accept(5, 3, start), Ok(News::Newer));
        assert_eq!(followed.accept(5, 2, start + SECOND), Ok(News::Older));
        // A bit of the number changed on the way.
        assert_eq!(followed.accept(5, 4 | 1 << 63, start + SECOND), Ok(News::Newer));
        assert_eq!(followed.accept(5, 5, start + SECOND * 2), Ok(News::Older));
        assert_eq!(followed.accept(5, 6, start + SECOND * 6), Ok(News::Session));
        assert_eq!(followed.accept(5, 7, start + SECOND * 6), Ok(News::Newer));
    }
}
