//! More turns of two rows whose order the rounds of all rows left open.
//!
//! The best of many rows is partly the luckiest; in turns of its own luck is shared out anew, so only these count then.

use crate::record::Playoff;
use crate::stats::ratio;
use crate::verdict::{TOLERANCE, is_open};
use pixelferry::Result;
use std::time::Instant;

/// Turns of each before they count.
const FEWEST_ROUNDS: usize = 7;
/// Turns of each at most.
const MOST_ROUNDS: usize = 60;

/// Lets the two take turns (`turn(0)` is the automatic row, `turn(1)` its rival) until it is clear on which side of the
/// tolerance the automatic row is, or the time is over.
pub(crate) fn play(
    rival: String,
    until: Instant,
    mut turn: impl FnMut(usize) -> Result<Vec<f64>>,
) -> Result<Option<Playoff>> {
    let mut sides: [Vec<Vec<f64>>; 2] = Default::default();
    for round in 0..MOST_ROUNDS {
        let now = Instant::now();
        for side in [round % 2, 1 - round % 2] {
            let samples = turn(side)?;
            sides[side].push(samples);
        }
        let open = ratio(&sides[0], &sides[1]).is_none_or(|found| is_open(&found, TOLERANCE));
        if round + 1 >= FEWEST_ROUNDS && !open || now + 2 * now.elapsed() > until {
            break;
        }
    }
    let enough = sides[0].len() >= FEWEST_ROUNDS;
    let [automatic_us, rival_us] = sides;
    Ok(enough.then_some(Playoff { rival, automatic_us, rival_us }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    #[test]
    fn what_is_clear_ends_soon_and_what_is_not_has_many_turns() {
        let play = |times: [f64; 2], noise: f64| {
            let mut n = 0.0;
            play("direct".into(), soon(), |side| {
                n += 1.0;
                Ok(vec![times[side] + noise * (n % 5.0 - 2.0)])
            })
            .unwrap()
            .unwrap()
        };
        assert_eq!(play([100.0, 100.0], 0.1).automatic_us.len(), FEWEST_ROUNDS);
        assert_eq!(play([110.0, 100.0], 0.1).rival_us.len(), FEWEST_ROUNDS);
        assert!(play([103.0, 100.0], 5.0).rival_us.len() > FEWEST_ROUNDS);
    }

    #[test]
    fn without_time_there_is_no_result() {
        let played = play("direct".into(), Instant::now(), |_| Ok(vec![1.0])).unwrap();
        assert_eq!(played, None);
    }
}
