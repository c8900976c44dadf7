//! Which session a receiver follows.

use crate::wire::WireError;
use std::time::{Duration, Instant};

/// A session that says nothing for so long gives way to any other, so that a wrong clock locks nobody out.
const SILENCE: Duration = Duration::from_secs(5);

/// The session that is followed: the one that began last, by its number, as long as it is heard.
#[derive(Debug, Default)]
pub(crate) struct Followed(Option<(u64, Instant)>);

impl Followed {
    /// Takes a message's session, or refuses it. `true` where it is another than before.
    pub fn accept(&mut self, epoch: u64, now: Instant) -> Result<bool, WireError> {
        let is_new = match self.0 {
            Some((current, heard)) if epoch < current && now.duration_since(heard) < SILENCE => {
                return Err(WireError::Foreign { found: epoch, current });
            }
            Some((current, _)) => current != epoch,
            None => true,
        };
        self.0 = Some((epoch, now));
        Ok(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_sessions_take_over_and_earlier_ones_only_after_silence() {
        let (mut followed, start) = (Followed::default(), Instant::now());
        let second = Duration::from_secs(1);
        assert_eq!(followed.accept(5, start), Ok(true));
        assert_eq!(followed.accept(5, start), Ok(false));
        assert_eq!(followed.accept(4, start + second), Err(WireError::Foreign { found: 4, current: 5 }));
        assert_eq!(followed.accept(6, start + second), Ok(true));
        assert!(followed.accept(5, start + second * 2).is_err());
        assert_eq!(followed.accept(5, start + second * 7), Ok(true));
    }
}
