//! Timing of the ways that work, in duels: the best so far and the next take turns, so that drift hits both alike.

use super::attempt::Candidate;
use super::stats::{Measured, quantile};
use crate::error::{Error, Result};
use crate::path::{OpenedPath, Pairing, SharingPath};
use crate::pattern::Pattern;
use crate::report::PathState;
use crate::timeline::stage;
use crate::verify::next_nonce;
use std::time::{Duration, Instant};

/// Frames before the first that counts: drivers build and allocate at the first use.
const WARM_UP: usize = 2;
/// Rounds of a duel.
const MOST_ROUNDS: usize = 15;
/// Rounds before one may be called clearly behind.
const FEWEST_ROUNDS: usize = 3;
/// One that takes so many times as long is clearly behind.
const CLEARLY: f64 = 1.25;
/// What ranks behind must gain this much: below it the difference is noise.
const WORTH: f64 = 0.98;

/// A way that was opened, and what it costs.
pub(super) struct Entry {
    pub candidate: Candidate,
    pub path: OpenedPath,
    samples: Vec<f64>,
}

impl Entry {
    pub fn measured(&self) -> Measured {
        Measured::of(self.path.sync(), self.path.frames_late(), &self.samples)
    }

    fn median(&self) -> f64 {
        quantile(&self.samples, 0.5)
    }

    fn sample(&mut self, pairing: &Pairing<'_>) -> Result<()> {
        self.samples.push(time(&mut self.path, pairing)?);
        Ok(())
    }
}

/// What became of each candidate that was tried.
pub(super) enum Event {
    /// It does not work.
    Failed(PathState),
    /// It works, and costs this.
    Measured(Measured),
}

/// What a calibration found.
pub(super) struct Calibration {
    /// The quickest.
    pub best: Option<Entry>,
    /// In the order in which they were tried; the best is among them.
    pub events: Vec<(Candidate, Event)>,
    /// Candidates that were not reached within the budget.
    pub left: usize,
}

/// Opens, proves and times the candidates in order until `budget` is spent; the first that works is there in any case.
pub(super) fn calibrate(pairing: &Pairing<'_>, candidates: &[Candidate], budget: Duration) -> Calibration {
    let _stage = stage!("calibrate", candidates = candidates.len());
    let start = Instant::now();
    let mut best: Option<Entry> = None;
    let mut events = Vec::new();
    // What the last one took; the first pays for what drivers make once and says nothing of the others.
    let mut last = Duration::ZERO;
    let mut left = candidates.len();
    for (index, candidate) in candidates.iter().enumerate() {
        // One more like the last must fit in.
        if best.is_some() && start.elapsed() + last > budget {
            break;
        }
        left -= 1;
        let began = Instant::now();
        match enter(pairing, *candidate) {
            Err(state) => events.push((*candidate, Event::Failed(state))),
            Ok(entry) => match best.take() {
                None => best = Some(entry),
                Some(holder) => {
                    let (winner, lost) = duel(pairing, holder, entry, start + budget);
                    events.extend(lost);
                    best = winner;
                }
            },
        }
        last = if index == 0 { Duration::ZERO } else { began.elapsed() };
    }
    if let Some(entry) = &mut best {
        // Alone in the field.
        while entry.samples.len() < FEWEST_ROUNDS && candidates.len() > 1 && start.elapsed() < budget {
            if entry.sample(pairing).is_err() {
                break;
            }
        }
        events.push((entry.candidate, Event::Measured(entry.measured())));
    }
    Calibration { best, events, left }
}

/// Opens, proves and warms up.
fn enter(pairing: &Pairing<'_>, candidate: Candidate) -> Result<Entry, PathState> {
    let mut path = candidate.attempt(pairing)?;
    time_run(&mut path, pairing, WARM_UP).map_err(|e| PathState::Rejected { reason: e.to_string() })?;
    Ok(Entry { candidate, path, samples: Vec::with_capacity(MOST_ROUNDS) })
}

/// The winner, and what is to be said of the other. One that fails loses; both may.
fn duel(
    pairing: &Pairing<'_>,
    mut holder: Entry,
    mut challenger: Entry,
    deadline: Instant,
) -> (Option<Entry>, Vec<(Candidate, Event)>) {
    let failed = |entry: &Entry, e: Error| {
        (entry.candidate, Event::Failed(PathState::Rejected { reason: format!("while it was timed: {e}") }))
    };
    let _stage = stage!("duel", holder = %holder.candidate.id, challenger = %challenger.candidate.id);
    // The holder's samples of other duels are of another time.
    let kept = std::mem::take(&mut holder.samples);
    for round in 0..MOST_ROUNDS {
        // Who goes first changes, as what runs before is felt.
        for first in [round % 2 == 0, round % 2 != 0] {
            let entry = if first { &mut holder } else { &mut challenger };
            if let Err(e) = entry.sample(pairing) {
                let lost = failed(entry, e);
                let winner = if first { challenger } else { holder };
                return (Some(winner), vec![lost]);
            }
        }
        let ratio = challenger.median() / holder.median();
        let clear = round + 1 >= FEWEST_ROUNDS && !(1.0 / CLEARLY..CLEARLY).contains(&ratio);
        if clear || Instant::now() >= deadline {
            break;
        }
    }
    if challenger.median() < holder.median() * WORTH {
        (Some(challenger), vec![(holder.candidate, Event::Measured(holder.measured()))])
    } else {
        holder.samples.extend(kept);
        (Some(holder), vec![(challenger.candidate, Event::Measured(challenger.measured()))])
    }
}

/// Microseconds a frame, end to end. Pipelined paths run until their pipeline has turned over.
fn time(path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<f64> {
    let frames = match pairing.frames_late {
        0 => 1,
        late => 2 * late + 4,
    };
    time_run(path, pairing, frames)
}

/// Microseconds a frame over a run of `frames`.
pub(super) fn time_run(path: &mut OpenedPath, pairing: &Pairing<'_>, frames: usize) -> Result<f64> {
    let (whole, all) = (pairing.layout().whole()?, pairing.layout().full());
    let start = Instant::now();
    for _ in 0..frames {
        path.begin(&all)?;
        let pattern = Pattern::for_view(&whole, next_nonce());
        let written = path.target().and_then(|target| pairing.backend.write_pattern(target, &pattern));
        if let Err(error) = written {
            path.cancel();
            return Err(error);
        }
        path.finish()?;
        pairing.display.draw_unseen(path.surface())?;
    }
    if path.frames_late() > 0 {
        path.flush()?;
        pairing.display.draw_unseen(path.surface())?;
    }
    pairing.display.finish()?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / frames as f64)
}
