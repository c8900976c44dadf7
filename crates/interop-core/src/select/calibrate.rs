//! Timing of the ways that work, side by side, so that drift hits all alike.
//!
//! First each way in turn is timed shortly beside the leader; what is clearly behind is closed again. Then those that
//! are close take turns until they are told apart or the time is over. Only what leads is proved by pixels: proving
//! costs more than timing, and nobody sees what is only timed. The first that works is proved before anything else.

use super::attempt::{Candidate, Entry, Opened, Way, prove};
use super::report::{Measured, PathState};
use super::verify::Compared;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing};
use crate::tournament::{Clock, Tournament, run_of};
use std::time::Duration;

/// Outcome of one candidate that was tried: its figures, and whether its pixels were compared and are right; or why it
/// does not work.
pub(super) type Event = Result<(Measured, bool), PathState>;

/// Result of a calibration.
#[derive(Default)]
pub(super) struct Calibration<'p> {
    /// The quickest whose pixels are right, and its figures.
    pub best: Option<(Candidate<'p>, OpenedPath, Measured)>,
    /// Outcomes of all candidates that were tried, the best one included.
    pub events: Vec<(Way, Event)>,
    /// Candidates that were not reached within the budget, in order of rank.
    pub left: Vec<Way>,
    /// Those that were timed and, when the time was over, not told from the best or still getting quicker.
    pub undecided: Vec<Way>,
    /// Shortest time that opening a candidate took.
    pub opening: Duration,
    /// Approximate time of one frame of the first candidate that works, if the time was looked at.
    pub frame: Option<Duration>,
}

/// Opens, times and proves the candidates, in order of rank; the first that works is there in any case. Finds the best
/// one within `budget`, or without one everything about each, however long it takes.
pub(super) fn calibrate<'p>(
    pairing: &Pairing<'_>,
    clock: &Clock,
    candidates: &[Candidate<'p>],
    budget: Option<Duration>,
) -> Calibration<'p> {
    let _stage = stage!("calibrate", candidates = candidates.len());
    let begun = clock.now();
    let mut session = Session {
        pairing,
        clock,
        candidates,
        tournament: Tournament::new(clock),
        proof: Duration::ZERO,
        found: Calibration { opening: Duration::MAX, ..Calibration::default() },
    };
    let mut waiting = candidates.iter().copied();
    let first = waiting.by_ref().find_map(|candidate| session.open(candidate, true));
    // Drivers compile and allocate at their first use: however long that took, half is left to find out more. A twelfth
    // is for closing what was opened, and for the last turn, which may be longer than those before.
    let deadline = budget.map(|budget| (begun + budget - budget / 12).max(clock.now() + budget / 2));
    if let Some(mut entry) = first {
        // An error comes up again in its turn.
        if let Some(Ok(took)) = deadline.map(|_| entry.warm(pairing, clock)) {
            session.found.frame = Some(took);
            if !clock.fits(took * run_of(pairing.frames_behind) as u32, deadline) {
                session.tournament.enter(entry);
                return session.end(waiting);
            }
        }
        session.tournament.challenge(pairing, entry, deadline);
        session.screen(&mut waiting, deadline);
        // The first proof may have been long for what drivers do only once: half is left to compare.
        let proof = session.proof_time();
        let until = deadline.map(|end| end - proof.min(end.saturating_sub(clock.now()) / 2));
        let undecided = session.tournament.decide(pairing, until);
        session.found.undecided.splice(0..0, undecided.iter().map(|entry| entry.who.way));
        session.collect_losers();
    }
    session.end(waiting)
}

struct Session<'a, 'p> {
    pairing: &'a Pairing<'a>,
    clock: &'a Clock,
    candidates: &'a [Candidate<'p>],
    tournament: Tournament<Opened>,
    /// Time that the last proof took.
    proof: Duration,
    found: Calibration<'p>,
}

impl<'p> Session<'_, 'p> {
    /// Opens one, and proves it where that is asked for.
    fn open(&mut self, candidate: Candidate<'p>, proves: bool) -> Option<Entry> {
        let begun = self.clock.now();
        let opened = candidate.open(self.pairing).and_then(|mut path| {
            let opened = self.clock.now();
            self.found.opening = self.found.opening.min(opened.saturating_sub(begun));
            if proves {
                prove(candidate.id(), self.pairing, &mut path, Compared::All)?;
                self.proof = self.clock.since(opened);
            }
            Ok(Opened::entry(candidate.way(), path, proves, self.pairing))
        });
        opened.map_err(|state| self.found.events.push((candidate.way(), Err(state)))).ok()
    }

    /// Times each that waits beside the leader, as long as one more fits in.
    fn screen(&mut self, waiting: &mut impl Iterator<Item = Candidate<'p>>, deadline: Option<Duration>) {
        // The time of opening a candidate is known from the second one on.
        let mut opening = Duration::ZERO;
        loop {
            let takes = opening + self.tournament.challenge_time() + self.proof_time();
            if !self.clock.fits(takes, deadline) {
                return;
            }
            let Some(candidate) = waiting.next() else { return };
            let begun = self.clock.now();
            // Without a deadline all is to be known of each.
            let entry = self.open(candidate, deadline.is_none());
            opening = self.clock.since(begun);
            if let Some(entry) = entry {
                self.tournament.challenge(self.pairing, entry, deadline);
            }
            self.collect_losers();
        }
    }

    /// Returns what proving the leader would take: as long as the proof before it. Nothing where it is proved.
    fn proof_time(&self) -> Duration {
        self.tournament.leader().filter(|entry| !entry.who.proved).map_or(Duration::ZERO, |_| self.proof)
    }

    fn collect_losers(&mut self) {
        for (entry, error) in self.tournament.take_losers() {
            match error {
                None => self.timed(&entry),
                Some(error) => {
                    let reason = format!("while it was timed: {error}");
                    self.found.events.push((entry.who.way, Err(PathState::Rejected { reason })));
                }
            }
        }
    }

    fn timed(&mut self, entry: &Entry) {
        // It was still getting quicker.
        if entry.is_cold() {
            self.found.undecided.push(entry.who.way);
        }
        self.found.events.push((entry.who.way, Ok((entry.measured(), entry.who.proved))));
    }

    fn end(mut self, left: impl Iterator<Item = Candidate<'p>>) -> Calibration<'p> {
        self.found.best = self.crown();
        self.found.left = left.map(|candidate| candidate.way()).collect();
        self.found
    }

    fn candidate(&self, way: Way) -> Option<Candidate<'p>> {
        self.candidates.iter().find(|candidate| candidate.way() == way).copied()
    }

    /// The best that is right.
    fn crown(&mut self) -> Option<(Candidate<'p>, OpenedPath, Measured)> {
        let mut best = None;
        for mut entry in self.tournament.ranking() {
            let way = entry.who.way;
            if best.is_none() && !entry.who.proved {
                if let Err(state) = prove(way.id, self.pairing, &mut entry.who.path, Compared::All) {
                    self.found.events.push((way, Err(state)));
                    continue;
                }
                entry.who.proved = true;
            }
            self.timed(&entry);
            if best.is_none() {
                let measured = entry.measured();
                best = self.candidate(way).map(|candidate| (candidate, entry.who.path, measured));
            }
        }
        // All that were quicker turned out wrong: one that was proved and closed again.
        best.or_else(|| {
            let (way, measured) = self.found.events.iter().find_map(|(way, event)| match event {
                Ok((measured, true)) => Some((*way, measured.clone())),
                _ => None,
            })?;
            let candidate = self.candidate(way)?;
            Some((candidate, self.open(candidate, true)?.who.path, measured))
        })
    }
}
