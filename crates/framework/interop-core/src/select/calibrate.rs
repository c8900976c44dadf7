//! Timing of the working candidates in alternation, so that drift affects all equally.
//!
//! At first each candidate is timed briefly against the leader, and closed again if it is clearly slower. Then those
//! that are close take turns until they can be told apart or the time is over. Only a leader is verified with pixels,
//! because verification costs more than timing, and frames of a candidate that is only timed are never visible. The
//! first candidate that works is verified before anything else.

use super::path_variant::{Candidate, Entry, OpenedVariant, PathVariant, prove};
use super::report::{PathCost, PathState};
use super::verify::ProofExtent;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing};
use crate::tournament::{Clock, Tournament, run_of};
use std::time::Duration;

/// Result of a candidate that was tried: its statistics and whether its pixels were compared and are correct, or the
/// reason why it does not work.
pub(super) type Event = Result<(PathCost, bool), PathState>;

/// Result of a calibration.
#[derive(Default)]
pub(super) struct Calibration<'p> {
    /// The fastest candidate whose pixels are correct, and its statistics.
    pub best: Option<(Candidate<'p>, OpenedPath, PathCost)>,
    /// Results of all candidates that were tried, including the best.
    pub events: Vec<(PathVariant, Event)>,
    /// Candidates that the budget did not reach, in order of rank.
    pub left: Vec<PathVariant>,
    /// Timed candidates that, when the time was over, could not be told from the best or were still getting faster.
    pub undecided: Vec<PathVariant>,
    /// Shortest time that opening a candidate took.
    pub opening: Duration,
    /// Approximate time of one frame of the first candidate that works, if it was measured.
    pub frame: Option<Duration>,
}

/// Opens, times and verifies the candidates in order of rank; the first that works is always included. With a budget,
/// finds the best one in that time; without one, learns everything about each, however long it takes.
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
    // Drivers compile and allocate at first use. However long that took, half of the time remains for comparisons. A
    // twelfth is reserved for closing candidates and for the last turn, which may be longer than the others.
    let deadline = budget.map(|budget| (begun + budget - budget / 12).max(clock.now() + budget / 2));
    if let Some(mut entry) = first {
        // An error occurs again in its own turn.
        if let Some(Ok(took)) = deadline.map(|_| entry.warm(pairing, clock)) {
            session.found.frame = Some(took);
            if !clock.fits(took * run_of(pairing.frames_behind) as u32, deadline) {
                session.tournament.enter(entry);
                return session.end(waiting);
            }
        }
        session.tournament.challenge(pairing, entry, deadline);
        session.screen(&mut waiting, deadline);
        // The first proof may have been long because of one-time driver work: half of the time remains for comparisons.
        let proof = session.proof_time();
        let until = deadline.map(|end| end - proof.min(end.saturating_sub(clock.now()) / 2));
        let undecided = session.tournament.decide(pairing, until);
        session.found.undecided.splice(0..0, undecided.iter().map(|entry| entry.who.variant));
        session.collect_losers();
    }
    session.end(waiting)
}

struct Session<'a, 'p> {
    pairing: &'a Pairing<'a>,
    clock: &'a Clock,
    candidates: &'a [Candidate<'p>],
    tournament: Tournament<OpenedVariant>,
    /// Time of the last proof.
    proof: Duration,
    found: Calibration<'p>,
}

impl<'p> Session<'_, 'p> {
    /// Opens a candidate, and verifies it if `proves` is true.
    fn open(&mut self, candidate: Candidate<'p>, proves: bool) -> Option<Entry> {
        let begun = self.clock.now();
        let opened = candidate.open(self.pairing).and_then(|mut path| {
            let opened = self.clock.now();
            self.found.opening = self.found.opening.min(opened.saturating_sub(begun));
            if proves {
                prove(candidate.id(), self.pairing, &mut path, ProofExtent::All)?;
                self.proof = self.clock.since(opened);
            }
            Ok(OpenedVariant::entry(candidate.variant(), path, proves, self.pairing))
        });
        opened.map_err(|state| self.found.events.push((candidate.variant(), Err(state)))).ok()
    }

    /// Times each waiting candidate against the leader, as long as another one fits into the time.
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
            // Without a deadline, everything about each candidate is measured.
            let entry = self.open(candidate, deadline.is_none());
            opening = self.clock.since(begun);
            if let Some(entry) = entry {
                self.tournament.challenge(self.pairing, entry, deadline);
            }
            self.collect_losers();
        }
    }

    /// Returns the expected time of verifying the leader: that of the last proof, or zero where it is verified.
    fn proof_time(&self) -> Duration {
        self.tournament.leader().filter(|entry| !entry.who.proved).map_or(Duration::ZERO, |_| self.proof)
    }

    fn collect_losers(&mut self) {
        for (entry, error) in self.tournament.take_losers() {
            match error {
                None => self.timed(&entry),
                Some(error) => {
                    let reason = format!("during timing: {error}");
                    self.found.events.push((entry.who.variant, Err(PathState::Rejected { reason })));
                }
            }
        }
    }

    fn timed(&mut self, entry: &Entry) {
        // It was still getting faster.
        if entry.is_cold() {
            self.found.undecided.push(entry.who.variant);
        }
        self.found.events.push((entry.who.variant, Ok((entry.measured(), entry.who.proved))));
    }

    fn end(mut self, left: impl Iterator<Item = Candidate<'p>>) -> Calibration<'p> {
        self.found.best = self.confirm_winner();
        self.found.left = left.map(|candidate| candidate.variant()).collect();
        self.found
    }

    fn candidate(&self, variant: PathVariant) -> Option<Candidate<'p>> {
        self.candidates.iter().find(|candidate| candidate.variant() == variant).copied()
    }

    /// Returns the best candidate whose pixels are correct.
    fn confirm_winner(&mut self) -> Option<(Candidate<'p>, OpenedPath, PathCost)> {
        let mut best = None;
        for mut entry in self.tournament.ranking() {
            let variant = entry.who.variant;
            if best.is_none() && !entry.who.proved {
                if let Err(state) = prove(variant.id, self.pairing, &mut entry.who.path, ProofExtent::All) {
                    self.found.events.push((variant, Err(state)));
                    continue;
                }
                entry.who.proved = true;
            }
            self.timed(&entry);
            if best.is_none() {
                let measured = entry.measured();
                best = self.candidate(variant).map(|candidate| (candidate, entry.who.path, measured));
            }
        }
        // All faster candidates had wrong pixels: take one that was verified and then closed.
        best.or_else(|| {
            let (variant, measured) = self.found.events.iter().find_map(|(variant, event)| match event {
                Ok((measured, true)) => Some((*variant, measured.clone())),
                _ => None,
            })?;
            let candidate = self.candidate(variant)?;
            Some((candidate, self.open(candidate, true)?.who.path, measured))
        })
    }
}
