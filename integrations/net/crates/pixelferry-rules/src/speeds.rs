//! The speed of each worker, estimated from the time that its tiles took.

use crate::hash::{USUAL_WEIGHT, Weights};
use std::collections::BTreeMap;

/// A worker's weight changes only if its speed changes by this factor, so that tiles rarely move.
const STEP: f64 = 1.25;
/// The weight of the newest tile in a worker's speed.
const NEWEST: f64 = 0.1;
/// No cluster has more senders; further ones are invented by somebody.
const MOST: usize = 4096;

/// The smoothed speed of each worker in pixels per microsecond.
#[derive(Debug, Default)]
pub struct Speeds {
    rows: BTreeMap<u64, f64>,
    used: BTreeMap<u64, f64>,
}

impl Speeds {
    pub fn note(&mut self, node: u64, microseconds: u32, pixels: u64) {
        let speed = pixels as f64 / f64::from(microseconds.max(1));
        if let Some(known) = self.rows.get_mut(&node) {
            *known += NEWEST * (speed - *known);
        } else if self.rows.len() < MOST {
            self.rows.insert(node, speed);
        }
    }

    pub fn weights(&mut self) -> Weights {
        for (node, speed) in &self.rows {
            let used = self.used.entry(*node).or_insert(*speed);
            if *speed > *used * STEP || *speed * STEP < *used {
                *used = *speed;
            }
        }
        let mean = self.used.values().sum::<f64>() / self.used.len().max(1) as f64;
        let weight = |speed: f64| (f64::from(USUAL_WEIGHT) * speed / mean).clamp(1.0, 1e6) as u32;
        Weights::new(self.used.iter().map(|(&node, &speed)| (node, weight(speed))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_three_times_as_fast_weighs_three_times_as_much() {
        let mut speeds = Speeds::default();
        (0..100).for_each(|_| {
            speeds.note(1, 300, 3000);
            speeds.note(2, 100, 3000);
        });
        let weights = speeds.weights();
        assert_eq!(weights.rows(), [(1, 500), (2, 1500)]);
        // A little faster is not worth moving tiles.
        speeds.note(1, 250, 3000);
        assert_eq!(speeds.weights(), weights);
        assert_eq!(Speeds::default().weights(), Weights::default());
    }

    /// Workers whose speeds spread by 30 %: the one that is done last takes less beyond the mean where shares are by speed.
    #[test]
    fn shares_by_speed_end_sooner_in_an_uneven_fleet() {
        let spread = [0.58, 0.73, 0.84, 0.95, 1.05, 1.16, 1.27, 1.42];
        for tiles in [60, 135, 510] {
            let mut job = crate::shares::tests::job(tiles, Weights::default());
            let workers = crate::shares::tests::crew((1..=8).map(crate::hash::mix));
            let speed: BTreeMap<u64, f64> = workers.nodes().zip(spread).collect();
            let mut speeds = Speeds::default();
            let mut ends = || {
                let mut times: BTreeMap<u64, f64> = BTreeMap::new();
                for node in crate::shares::Shares::default().of(&workers, &job).iter().flatten() {
                    *times.entry(*node).or_default() += 1000.0 / speed[node];
                    speeds.note(*node, (1000.0 / speed[node]) as u32, 1000);
                }
                job.weights = speeds.weights();
                times.values().copied().fold(0.0, f64::max) / (times.values().sum::<f64>() / 8.0)
            };
            let (even, by_speed) = (ends(), (0..10).map(|_| ends()).last().unwrap());
            println!("{tiles} tiles: the last takes {even:.2} of the mean evenly, {by_speed:.2} by speed");
            assert!(by_speed < even);
        }
    }
}
