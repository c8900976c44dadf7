//! Measures the best number of frames behind for a pipelined path, with a kernel and a draw of this crate.

use super::path_variant::time_run;
use super::report::Lateness;
use crate::describe::error::Result;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing, SharingPath};
use crate::tournament::{Clock, micros, quantile};
use std::time::Duration;

/// Latenesses to try, as far as the path was opened for them.
const STEPS: [usize; 7] = [16, 8, 4, 3, 2, 1, 0];
/// Runs for each lateness; the median counts.
const RUNS: usize = 3;
/// Frames of a run in addition to those that fill the pipeline.
const FRAMES: usize = 12;
/// Greater lateness must gain this factor. The gain is less than 3 %, from which the benchmark counts a choice as a
/// miss.
const WORTH: f64 = 1.02;

/// Times smaller and smaller latenesses until one costs too much, sets `path` to the smallest that does not, and
/// returns the measurements. Starts nothing that would exceed `budget`, except one frame while its time is still
/// unknown.
pub(super) fn settle(
    path: &mut OpenedPath,
    pairing: &Pairing<'_>,
    clock: &Clock,
    budget: Duration,
    frame: Option<Duration>,
) -> Result<Vec<Lateness>> {
    let _stage = stage!("settle lateness");
    let (most, start) = (path.frames_behind(), clock.now());
    let mut measured: Vec<Lateness> = Vec::new();
    if most == 0 || budget.is_zero() {
        return Ok(measured);
    }
    let mut frame = frame.map_or_else(|| time_run(path, pairing, clock, 1).map(micros), Ok)?;
    for frames_behind in [most].into_iter().chain(STEPS.into_iter().filter(|step| *step < most)) {
        let frames = FRAMES + 2 * frames_behind;
        let fits = |frame: Duration| clock.fits(frame * frames as u32, Some(start + budget));
        if !fits(frame) {
            break;
        }
        path.set_frames_behind(frames_behind)?;
        let mut runs = Vec::with_capacity(RUNS);
        while runs.len() < RUNS && (runs.is_empty() || fits(frame)) {
            let us = time_run(path, pairing, clock, frames)?;
            frame = micros(us);
            runs.push(us);
        }
        measured.push(Lateness { frames_behind, microseconds: quantile(&runs, 0.5) });
        if costs_too_much(&measured) {
            break;
        }
    }
    path.set_frames_behind(least_worth_it(&measured).unwrap_or(most))?;
    path.trim();
    measured.reverse();
    Ok(measured)
}

fn quickest(measured: &[Lateness]) -> f64 {
    measured.iter().map(|m| m.microseconds).fold(f64::INFINITY, f64::min)
}

/// True where the last measurement is too slow: smaller latenesses would cost even more.
fn costs_too_much(measured: &[Lateness]) -> bool {
    measured.last().is_some_and(|last| last.microseconds > quickest(measured) * WORTH)
}

/// Returns the smallest lateness within [`WORTH`] of the fastest.
fn least_worth_it(measured: &[Lateness]) -> Option<usize> {
    let most = quickest(measured) * WORTH;
    measured.iter().filter(|m| m.microseconds <= most).map(|m| m.frames_behind).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_lateness_must_be_worth_it() {
        let of = |list: &[(usize, f64)]| {
            let measured: Vec<_> = list
                .iter()
                .map(|(frames_behind, microseconds)| Lateness {
                    frames_behind: *frames_behind,
                    microseconds: *microseconds,
                })
                .collect();
            (least_worth_it(&measured), costs_too_much(&measured))
        };
        assert_eq!(of(&[]), (None, false));
        assert_eq!(of(&[(2, 99.0), (1, 98.0), (0, 99.5)]), (Some(0), false));
        assert_eq!(of(&[(4, 240.0), (3, 242.0), (2, 244.0), (1, 250.0)]), (Some(2), true));
        assert_eq!(of(&[(8, 200.0), (4, 290.0)]), (Some(8), true));
    }
}
