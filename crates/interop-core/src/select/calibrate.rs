//! Timing of the ways that work, side by side, so that drift hits all alike.
//!
//! First each way in turn is timed shortly beside the leader; what is clearly behind is closed again. Then those that are
//! close take turns until they are told apart or the time is over. Only what leads is proved by pixels: proving costs more
//! than timing, and nobody sees what is only timed. The first that works is proved before anything else.

use super::attempt::{Candidate, Entry, Opened, Way, prove};
use super::report::{Measured, PathState};
use crate::describe::error::Error;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing};
use crate::tournament::{Clock, Tournament, run_of};
use std::time::Duration;

/// Outcome of one candidate that was tried.
pub(super) enum Event {
    /// It does not work.
    Failed(PathState),
    /// It was timed.
    Timed {
        /// Figures of the measurement.
        measured: Measured,
        /// Its pixels were compared and are right.
        proved: bool,
    },
}

/// Result of a calibration.
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

/// Extent of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The best one, found within this time.
    Best(Duration),
    /// Everything about each, however long it takes.
    All,
}

/// Opens, times and proves the candidates, in order of rank; the first that works is there in any case.
pub(super) fn calibrate<'p>(
    pairing: &Pairing<'_>,
    clock: &Clock,
    candidates: &[Candidate<'p>],
    extent: Extent,
) -> Calibration<'p> {
    let _stage = stage!("calibrate", candidates = candidates.len());
    let begun = clock.now();
    let mut session = Session {
        pairing,
        clock,
        candidates,
        events: Vec::new(),
        tournament: Tournament::new(clock),
        proof: Duration::ZERO,
        opening: Duration::MAX,
        undecided: Vec::new(),
    };
    let mut waiting = candidates.iter().copied();
    let first = waiting.by_ref().find_map(|candidate| session.prove_new(candidate));
    let deadline = match extent {
        // Drivers compile and allocate at their first use: however long that took, half is left to find out more. A
        // twelfth is for closing what was opened, and for the last turn, which may be longer than those before.
        Extent::Best(budget) => Some((begun + budget - budget / 12).max(clock.now() + budget / 2)),
        Extent::All => None,
    };
    let mut frame = None;
    if let Some(mut entry) = first {
        // An error comes up again in its turn.
        if let Some(Ok(took)) = deadline.map(|_| entry.warm(pairing, clock)) {
            frame = Some(took);
            // A run in which frames are late ends with one draw more.
            let draws = run_of(pairing.frames_behind) + usize::from(pairing.frames_behind > 0);
            if !clock.fits(took * draws as u32, deadline) {
                session.tournament.enter(entry);
                return session.end(waiting, frame);
            }
        }
        session.tournament.challenge(pairing, entry, deadline);
        session.screen(&mut waiting, deadline, extent);
        // The first proof may have been long for what drivers do only once: half is left to compare.
        let proof = session.proof_time();
        let until = deadline.map(|end| end - proof.min(end.saturating_sub(clock.now()) / 2));
        let undecided = session.tournament.decide(pairing, until);
        session.undecided.splice(0..0, undecided.iter().map(|entry| entry.who.way));
        session.collect_losers();
    }
    session.end(waiting, frame)
}

struct Session<'a, 'p> {
    pairing: &'a Pairing<'a>,
    clock: &'a Clock,
    candidates: &'a [Candidate<'p>],
    events: Vec<(Way, Event)>,
    tournament: Tournament<Opened>,
    /// Time that the last proof took.
    proof: Duration,
    opening: Duration,
    undecided: Vec<Way>,
}

impl<'p> Session<'_, 'p> {
    /// Opens one and proves it.
    fn prove_new(&mut self, candidate: Candidate<'p>) -> Option<Entry> {
        let begun = self.clock.now();
        let opened = candidate.open(self.pairing).and_then(|mut path| {
            self.opening = self.opening.min(self.clock.since(begun));
            let begun = self.clock.now();
            prove(candidate.id(), self.pairing, &mut path)?;
            self.proof = self.clock.since(begun);
            Ok(path)
        });
        match opened {
            Ok(path) => Some(Opened::entry(candidate.way(), path, true)),
            Err(state) => {
                self.events.push((candidate.way(), Event::Failed(state)));
                None
            }
        }
    }

    /// Times each that waits beside the leader, as long as one more fits in.
    fn screen(
        &mut self,
        waiting: &mut impl Iterator<Item = Candidate<'p>>,
        deadline: Option<Duration>,
        extent: Extent,
    ) {
        // The time of opening a candidate is known from the second one on.
        let mut opening = Duration::ZERO;
        loop {
            let takes = opening + self.tournament.challenge_time() + self.proof_time();
            if !self.clock.fits(takes, deadline) {
                return;
            }
            let Some(candidate) = waiting.next() else { return };
            let begun = self.clock.now();
            let opened = match extent {
                Extent::All => candidate.attempt(self.pairing).map(|path| Opened::entry(candidate.way(), path, true)),
                Extent::Best(_) => candidate.open(self.pairing).map(|path| Opened::entry(candidate.way(), path, false)),
            };
            opening = self.clock.since(begun);
            if opened.is_ok() && extent != Extent::All {
                self.opening = self.opening.min(opening);
            }
            match opened {
                Ok(entry) => self.tournament.challenge(self.pairing, entry, deadline),
                Err(state) => self.events.push((candidate.way(), Event::Failed(state))),
            }
            self.collect_losers();
        }
    }

    /// Returns what proving the leader would take: as long as the proof before it. Nothing where it is proved.
    fn proof_time(&self) -> Duration {
        match self.tournament.leader() {
            Some(entry) if !entry.who.proved => self.proof,
            _ => Duration::ZERO,
        }
    }

    fn collect_losers(&mut self) {
        for (entry, error) in self.tournament.take_losers() {
            // It was still getting quicker.
            if error.is_none() && entry.is_cold() {
                self.undecided.push(entry.who.way);
            }
            let event = match error {
                Some(error) => Event::Failed(rejected(&error)),
                None => Event::Timed { proved: entry.who.proved, measured: entry.measured() },
            };
            self.events.push((entry.who.way, event));
        }
    }

    fn end(mut self, left: impl Iterator<Item = Candidate<'p>>, frame: Option<Duration>) -> Calibration<'p> {
        let best = self.crown();
        let left = left.map(|candidate| candidate.way()).collect();
        let Self { events, undecided, opening, .. } = self;
        Calibration { best, events, left, undecided, opening, frame }
    }

    fn candidate(&self, way: Way) -> Option<Candidate<'p>> {
        self.candidates.iter().find(|candidate| candidate.way() == way).copied()
    }

    /// The best that is right.
    fn crown(&mut self) -> Option<(Candidate<'p>, OpenedPath, Measured)> {
        let mut best = None;
        for mut entry in self.tournament.ranking() {
            let proof = match (entry.who.proved, best.is_some()) {
                (false, false) => prove(entry.who.way.id, self.pairing, &mut entry.who.path),
                _ => Ok(()),
            };
            let measured = entry.measured();
            match proof {
                Err(state) => self.events.push((entry.who.way, Event::Failed(state))),
                Ok(()) => {
                    if entry.is_cold() {
                        self.undecided.push(entry.who.way);
                    }
                    let proved = entry.who.proved || best.is_none();
                    self.events.push((entry.who.way, Event::Timed { measured: measured.clone(), proved }));
                    if let Some(candidate) = self.candidate(entry.who.way)
                        && best.is_none()
                    {
                        best = Some((candidate, entry.who.path, measured));
                    }
                }
            }
        }
        // All that were quicker turned out wrong: one that was proved and closed again.
        best.or_else(|| {
            let proved = self.events.iter().find_map(|(way, event)| match event {
                Event::Timed { measured, proved: true } => Some((*way, measured.clone())),
                _ => None,
            });
            let (way, measured) = proved?;
            let candidate = self.candidate(way)?;
            Some((candidate, self.prove_new(candidate)?.who.path, measured))
        })
    }
}

fn rejected(error: &Error) -> PathState {
    PathState::Rejected { reason: format!("while it was timed: {error}") }
}
