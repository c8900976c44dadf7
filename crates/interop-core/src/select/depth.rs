//! How many frames late a pipelined path had best show: measured, with a kernel and a draw of this crate's.

use super::calibrate::time_run;
use super::stats::quantile;
use crate::error::Result;
use crate::path::{OpenedPath, Pairing, SharingPath};
use crate::report::Lateness;
use crate::timeline::stage;
use std::time::{Duration, Instant};

/// Lateness that is tried, as far as the path was opened for.
const STEPS: [usize; 7] = [0, 1, 2, 3, 4, 8, 16];
/// Runs at each step; the median counts.
const RUNS: usize = 3;
/// Frames of a run beyond those that fill the pipeline.
const FRAMES: usize = 12;
/// Nothing is begun after this much time.
const BUDGET: Duration = Duration::from_millis(250);
/// More lateness must gain this much.
const WORTH: f64 = 1.05;

/// Times growing lateness, settles `path` on the least that is worth it, and returns what was measured.
pub(super) fn settle(path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<Vec<Lateness>> {
    let _stage = stage!("settle lateness");
    let most = path.frames_late();
    let mut measured: Vec<Lateness> = Vec::new();
    if most > 0 {
        let start = Instant::now();
        for frames_late in STEPS.into_iter().filter(|step| *step < most).chain([most]) {
            if start.elapsed() > BUDGET {
                break;
            }
            path.set_frames_late(frames_late)?;
            let mut runs = Vec::with_capacity(RUNS);
            while runs.is_empty() || (runs.len() < RUNS && start.elapsed() <= BUDGET) {
                runs.push(time_run(path, pairing, FRAMES + 2 * frames_late)?);
            }
            measured.push(Lateness { frames_late, microseconds: quantile(&runs, 0.5) });
        }
        path.set_frames_late(least_worth_it(&measured))?;
        path.trim();
    }
    Ok(measured)
}

/// The least lateness within [`WORTH`] of the quickest.
fn least_worth_it(measured: &[Lateness]) -> usize {
    let best = measured.iter().map(|m| m.microseconds).fold(f64::INFINITY, f64::min);
    measured.iter().find(|m| m.microseconds <= best * WORTH).map_or(0, |m| m.frames_late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_lateness_must_be_worth_it() {
        let of = |list: &[(usize, f64)]| {
            let measured: Vec<_> = list
                .iter()
                .map(|(frames_late, microseconds)| Lateness { frames_late: *frames_late, microseconds: *microseconds })
                .collect();
            least_worth_it(&measured)
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[(0, 100.0), (1, 96.0), (2, 99.0)]), 0);
        assert_eq!(of(&[(0, 480.0), (1, 300.0), (2, 250.0), (3, 245.0), (4, 240.0)]), 2);
        assert_eq!(of(&[(0, 480.0), (1, 300.0), (2, 290.0), (8, 200.0)]), 8);
    }
}
