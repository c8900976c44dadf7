//! Compares paths while the program runs: paths that the start had no time for alternate with a second instance of the
//! current one, step by step, in the time that frames leave free.
//!
//! The user's frames, memory and kernels take no part: both instances have memory of their own and use the kernel of
//! all measurements. A path replaces the current one when it is significantly faster and its pixels are correct.
//!
//! Of the links of a thread, one at a time compares; the next ones leave out what it found, where that is remembered.

use super::path_variant::{Candidate, Entry, OpenedVariant, PathVariant, disproved};
use super::policy::{Policy, Trials};
use super::profile;
use super::report::{Comparison, Outcome, PathCost, PathState};
use super::verify::Proof;
use crate::describe::error::Result;
use crate::describe::panics::contained;
use crate::describe::surface::Unwritten;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing, SharingPath, blank};
use crate::tournament::{Clock, ComparisonTurn, MOST_BYTES, TurnAnswer, Verdict, run_of};
use std::collections::VecDeque;
use std::time::Duration;

/// Assumed time of a step before one was measured. If a step takes longer, a longer pause follows.
const UNSEEN: Duration = Duration::from_millis(4);
/// Number of frames over which the program's waits are averaged.
const BEAT: usize = 8;
/// A program counts as waiting if it waits for at least this part of the time between frames.
const LEAST_WAIT: f64 = 0.1;

/// The parts of the link that a step needs.
pub(crate) struct TrialContext<'a> {
    pub pairing: Pairing<'a>,
    pub policy: &'a Policy,
    /// The current candidate.
    pub in_use: PathVariant,
    /// Number of frames behind of the current candidate.
    pub frames_behind: usize,
}

/// Time limit of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TrialLimit {
    /// The share of time and the end, as the policy sets them.
    Policy(Trials),
    /// An absolute time of the clock.
    Until(Duration),
}

/// Result of a step.
pub(crate) enum Progress {
    /// There was nothing to do, or no time for it now.
    Rested,
    /// A step was done.
    Done,
    /// A candidate was compared and is not used.
    Compared(Comparison, Option<PathCost>),
    /// A candidate is faster, its pixels are correct, and its surface is zero.
    Better { path: Box<OpenedPath>, variant: PathVariant, comparison: Comparison, measured: PathCost },
}

/// Paths that the start had no time for, compared while the program runs.
pub(crate) struct LiveTrials {
    /// Candidates to compare, in this order.
    waiting: VecDeque<PathVariant>,
    begun: Duration,
    spent: Duration,
    turn: ComparisonTurn,
    /// The moment from which the share of time counts, and the time that was spent before it.
    earning: (Duration, Duration),
    costs: Costs,
    beat: Beat,
    /// A second instance of the current candidate.
    reference: Option<Entry>,
    duel: Option<Duel>,
    round: u32,
    /// Candidates that were current before: each is compared once more.
    former: Vec<PathVariant>,
    /// Candidates that had too little time to be told from the current one: each is compared once more, too.
    untold: Vec<PathVariant>,
}

/// Measured durations of steps.
#[derive(Clone, Copy)]
struct Costs {
    open: Duration,
    frame: Duration,
    /// Zero before the first turn.
    turn: Duration,
    proof: Duration,
}

struct Duel {
    entry: Entry,
    /// The proof of a candidate that is faster.
    proof: Option<Box<Proof>>,
    spent: Duration,
    /// Time that this duel may spend, so that each waiting duel gets as much.
    share: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Open,
    Reference,
    Warm,
    Turn,
    Proof,
    Blank,
}

impl LiveTrials {
    /// `opening` is the time of opening a path, where it was measured; `frame` is the approximate time of a frame.
    pub fn new(untried: Vec<PathVariant>, clock: &Clock, opening: Duration, frame: Option<Duration>) -> Self {
        let frame = frame.unwrap_or(UNSEEN);
        let costs = Costs { open: opening.min(UNSEEN), frame, turn: Duration::ZERO, proof: 2 * frame };
        let begun = clock.now();
        Self {
            waiting: untried.into(),
            begun,
            spent: Duration::ZERO,
            turn: ComparisonTurn::new(),
            earning: (begun, Duration::ZERO),
            costs,
            beat: Beat::default(),
            reference: None,
            duel: None,
            round: 0,
            former: Vec::new(),
            untold: Vec::new(),
        }
    }

    /// Returns a comparison that has nothing to do.
    pub fn over() -> Self {
        Self::new(Vec::new(), &Clock::default(), Duration::ZERO, None)
    }

    /// Restarts because the surface changed: a duel that was begun begins again.
    pub fn restart(&mut self, clock: &Clock) {
        self.give_up();
        (self.begun, self.spent, self.beat) = (clock.now(), Duration::ZERO, Beat::default());
        self.earning = (self.begun, self.spent);
    }

    /// Frees the memory of the current duel, which is left for later.
    fn give_up(&mut self) {
        self.turn.end();
        if let Some(duel) = self.duel.take() {
            self.waiting.push_front(duel.entry.who.variant);
        }
        self.reference = None;
    }

    /// Ends all comparisons and frees their memory.
    pub fn stop(&mut self) {
        self.waiting.clear();
        self.turn.end();
        (self.duel, self.reference) = (None, None);
    }

    /// Returns the candidates that are still to be compared.
    pub fn left(&self) -> Vec<PathVariant> {
        self.duel.iter().map(|duel| duel.entry.who.variant).chain(self.waiting.iter().copied()).collect()
    }

    /// Returns the time of a frame of the current candidate in microseconds, where it was measured.
    pub fn reference_us(&self) -> Option<f64> {
        self.reference.as_ref().map(|entry| entry.measured().median_us).filter(|us| *us > 0.0)
    }

    pub fn is_over(&self) -> bool {
        self.duel.is_none() && self.waiting.is_empty()
    }

    /// Returns the time that steps took, and the time since their start.
    pub fn spent(&self, clock: &Clock) -> (Duration, Duration) {
        (self.spent, clock.since(self.begun))
    }

    /// Records that a frame begins now, and that the program touched the link last at `touched`.
    pub fn frame_begins(&mut self, touched: Duration, clock: &Clock) {
        self.beat.note(clock.now(), clock.since(touched));
    }

    /// Does the next step, if `limit` has time for it.
    pub fn step(&mut self, context: &TrialContext<'_>, limit: TrialLimit) -> Progress {
        if !self.has_turn(context, limit) {
            return Progress::Rested;
        }
        // Another link may have compared the rest.
        let Some((job, variant)) = self.job() else { return Progress::Done };
        if !self.has_time(job, context, limit) {
            return Progress::Rested;
        }
        let begun = context.policy.clock.now();
        let left = self.time_left(begun, limit);
        let waiting = self.waiting.len() as u32;
        if let Some(duel) = &mut self.duel {
            duel.share = left.saturating_add(duel.spent) / (waiting + 1);
        }
        let done = self.run_job(job, variant, context);
        let took = context.policy.clock.since(begun);
        if let Some(duel) = &mut self.duel {
            duel.spent += took;
        }
        if matches!(limit, TrialLimit::Policy(_)) {
            self.spent += took;
        }
        if let Some(last) = self.costs.last(job) {
            *last = took;
        }
        done
    }

    /// True where no other link of this thread compares its paths between frames.
    fn has_turn(&mut self, context: &TrialContext<'_>, limit: TrialLimit) -> bool {
        let TrialLimit::Policy(Trials::Spread { within, .. }) = limit else { return true };
        let now = context.policy.clock.now();
        if now.saturating_sub(self.begun) > within {
            // Left for the next start, or for an explicit call.
            self.give_up();
            return false;
        }
        match self.turn.ask() {
            TurnAnswer::GoesOn => true,
            TurnAnswer::Others => {
                // It had the turn, and showed no frames for a while.
                self.give_up();
                false
            }
            TurnAnswer::Begins => {
                self.earning = (now, self.spent);
                self.leave_out_known(context);
                true
            }
        }
    }

    /// Leaves out what another link, or program, has compared since this one was opened.
    fn leave_out_known(&mut self, context: &TrialContext<'_>) {
        let Some((best, left)) = profile::best_of(&context.pairing, context.policy) else { return };
        self.waiting.retain(|variant| left.contains(variant));
        if best != context.in_use {
            self.waiting.push_front(best);
        }
    }

    /// Returns the next step and its candidate.
    fn job(&self) -> Option<(Job, PathVariant)> {
        let Some(duel) = &self.duel else { return self.waiting.front().map(|variant| (Job::Open, *variant)) };
        let job = match (&duel.proof, &self.reference) {
            _ if duel.entry.who.proved => Job::Blank,
            (Some(_), _) => Job::Proof,
            (None, None) => Job::Reference,
            (None, Some(reference)) if duel.entry.is_cold() || reference.is_cold() => Job::Warm,
            (None, Some(_)) => Job::Turn,
        };
        Some((job, duel.entry.who.variant))
    }

    fn has_time(&mut self, job: Job, context: &TrialContext<'_>, limit: TrialLimit) -> bool {
        let takes = self.costs.of(job, &context.pairing);
        match limit {
            TrialLimit::Until(end) => context.policy.clock.fits(takes, Some(end)),
            TrialLimit::Policy(Trials::Spread { share, within }) => {
                let running = context.policy.clock.since(self.begun);
                let (since, before) = self.earning;
                let earned = before + part(context.policy.clock.since(since), share);
                let fits = self.beat.wait().is_none_or(|wait| takes * 5 / 4 <= wait || running > within / 2);
                earned >= self.spent + takes && fits && takes_memory(context) <= MOST_BYTES
            }
            TrialLimit::Policy(_) => false,
        }
    }

    /// Returns the time for all further comparisons.
    fn time_left(&self, now: Duration, limit: TrialLimit) -> Duration {
        match limit {
            TrialLimit::Until(end) => end.saturating_sub(now),
            TrialLimit::Policy(Trials::Spread { share, within }) => part(within, share).saturating_sub(self.spent),
            TrialLimit::Policy(_) => Duration::ZERO,
        }
    }

    fn run_job(&mut self, job: Job, variant: PathVariant, context: &TrialContext<'_>) -> Progress {
        let _stage = stage!("meanwhile", path = %variant, job = ?job);
        match self.work(job, variant, context) {
            Ok(step) => step,
            Err(state) => {
                self.lose(variant);
                let outcome = Outcome::Failed { reason: state.detail() };
                Progress::Compared(self.comparison(variant, context, None, outcome), None)
            }
        }
    }

    fn work(&mut self, job: Job, variant: PathVariant, context: &TrialContext<'_>) -> Result<Progress, PathState> {
        let pairing = &context.pairing;
        match job {
            Job::Open => {
                let entry = open(variant, context)?;
                self.waiting.pop_front();
                self.duel = Some(Duel { entry, proof: None, spent: Duration::ZERO, share: Duration::ZERO });
                self.round += 1;
            }
            Job::Reference => match open(context.in_use, context) {
                Ok(entry) => self.reference = Some(entry),
                Err(state) => {
                    // It works once but not twice, so no other candidate can be compared with it.
                    let reason = format!("{} does not open a second time: {}", context.in_use, state.detail());
                    self.stop();
                    return Err(PathState::OpenFailed { reason });
                }
            },
            Job::Warm | Job::Turn => {
                // The user's frames are finished before anything is timed.
                let done = contained(|| pairing.backend.finish().and_then(|()| pairing.display.finish()));
                done.map_err(|error| disproved(error, pairing))?;
                return self.turn(job, context);
            }
            Job::Proof => {
                if let Some(Duel { entry: Entry { who, .. }, proof: Some(proof), .. }) = &mut self.duel {
                    let step = || proof.step(&mut who.path, pairing.backend.as_ref(), &pairing.layout());
                    who.proved = contained(step).map_err(|error| disproved(error, pairing))?;
                }
            }
            Job::Blank => return self.confirm_winner(context),
        }
        Ok(Progress::Done)
    }

    /// Does a warm-up frame, or a turn of the candidate whose turn it is. The first of one round is the second of the
    /// next.
    fn turn(&mut self, job: Job, context: &TrialContext<'_>) -> Result<Progress, PathState> {
        let (Some(duel), Some(reference)) = (&mut self.duel, &mut self.reference) else { return Ok(Progress::Done) };
        let timed = |error| PathState::Rejected { reason: format!("during timing: {error}") };
        if job == Job::Warm {
            let cold = if duel.entry.is_cold() { &mut duel.entry } else { reference };
            cold.warm(&context.pairing, &context.policy.clock).map_err(timed)?;
            return Ok(Progress::Done);
        }
        let whose = Entry::whose_turn(&mut duel.entry, reference, &mut self.round);
        whose.turn(&context.pairing, &context.policy.clock, self.round).map_err(timed)?;
        if !(duel.entry.has_turn_in(self.round) && reference.has_turn_in(self.round)) {
            return Ok(Progress::Done);
        }
        let variant = duel.entry.who.variant;
        match duel.entry.verdict(reference, duel.spent < duel.share) {
            Verdict::Open => Ok(Progress::Done),
            Verdict::Quicker => {
                let proof = Proof::new(variant.id, &context.pairing.layout())
                    .map_err(|error| disproved(error, &context.pairing))?;
                duel.proof = Some(Box::new(proof));
                Ok(Progress::Done)
            }
            Verdict::NotQuicker { is_slower, is_told } => {
                let outcome = if is_slower { Outcome::Slower } else { Outcome::AsGood };
                let measured = duel.entry.measured();
                let comparison = self.comparison(variant, context, Some(&measured), outcome);
                self.lose(variant);
                if !is_told && !self.untold.contains(&variant) {
                    self.untold.push(variant);
                    self.waiting.push_back(variant);
                }
                Ok(Progress::Compared(comparison, Some(measured)))
            }
        }
    }

    /// The last step clears the surface, so that patterns of the proof are never visible.
    fn confirm_winner(&mut self, context: &TrialContext<'_>) -> Result<Progress, PathState> {
        let Some(duel) = &mut self.duel else { return Ok(Progress::Rested) };
        let (pairing, path) = (&context.pairing, &mut duel.entry.who.path);
        contained(|| blank(path, pairing.backend.as_ref(), &pairing.layout()))
            .map_err(|error| disproved(error, pairing))?;
        let (variant, measured) = (duel.entry.who.variant, duel.entry.measured());
        let comparison = self.comparison(variant, context, Some(&measured), Outcome::Quicker);
        let Some(duel) = self.duel.take() else { return Ok(Progress::Rested) };
        self.reference = None;
        // The replaced candidate is compared once more, last of all, because the same chance result is unlikely to
        // repeat.
        if !self.former.contains(&context.in_use) {
            self.former.push(context.in_use);
            self.waiting.push_back(context.in_use);
        }
        Ok(Progress::Better { path: Box::new(duel.entry.who.path), variant, comparison, measured })
    }

    fn lose(&mut self, variant: PathVariant) {
        self.duel = None;
        self.waiting.retain(|other| *other != variant);
    }

    fn comparison(
        &self,
        variant: PathVariant,
        context: &TrialContext<'_>,
        measured: Option<&PathCost>,
        outcome: Outcome,
    ) -> Comparison {
        let both = self.duel.as_ref().zip(self.reference.as_ref());
        Comparison {
            path: variant.id,
            variant: variant.to_string(),
            against: context.in_use.to_string(),
            ratio: both.and_then(|(duel, other)| duel.entry.ratio_to(other)),
            median_us: measured.map(|measured| measured.median_us),
            turns: both.map_or(0, |(duel, other)| duel.entry.rounds_with(other)),
            outcome,
            after: context.policy.clock.since(self.begun),
        }
    }
}

fn open(variant: PathVariant, context: &TrialContext<'_>) -> Result<Entry, PathState> {
    let gone = || PathState::OpenFailed { reason: "it is not one of the policy's paths".into() };
    let spec = context.policy.paths.get(variant.id).ok_or_else(gone)?;
    let mut path = Candidate { spec, sync: variant.sync }.open(&context.pairing)?;
    let late = contained(|| path.set_frames_behind(context.frames_behind));
    late.map_err(|error| PathState::OpenFailed { reason: error.to_string() })?;
    path.trim();
    Ok(OpenedVariant::entry(variant, path, false, &context.pairing))
}

/// Approximate number of bytes that both instances use.
fn takes_memory(context: &TrialContext<'_>) -> usize {
    let slots = 3 + context.pairing.frames_behind * 2;
    context.pairing.desc.byte_len().unwrap_or(usize::MAX).saturating_mul(2 * slots)
}

/// Returns this share of a time.
fn part(time: Duration, share: f64) -> Duration {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    Duration::try_from_secs_f64(time.as_secs_f64() * share).unwrap_or(Duration::MAX)
}

impl Costs {
    fn of(&mut self, job: Job, pairing: &Pairing<'_>) -> Duration {
        match (self.last(job), job) {
            (Some(turn), Job::Turn) if turn.is_zero() => self.frame * run_of(pairing.frames_behind) as u32,
            (Some(time), _) => *time,
            (None, _) if pairing.desc.unwritten() == Unwritten::Overwrite => 3 * self.frame,
            (None, _) => self.frame,
        }
    }

    /// Returns the duration of the last step of this kind; `None` for the final step.
    fn last(&mut self, job: Job) -> Option<&mut Duration> {
        match job {
            Job::Open | Job::Reference => Some(&mut self.open),
            Job::Warm => Some(&mut self.frame),
            Job::Turn => Some(&mut self.turn),
            Job::Proof => Some(&mut self.proof),
            Job::Blank => None,
        }
    }
}

/// Rhythm of the program's frames.
#[derive(Default)]
struct Beat {
    last: Option<Duration>,
    /// For the last frames: the time from frame to frame, and how much of it the link was not touched.
    frames: VecDeque<(Duration, Duration)>,
}

impl Beat {
    fn note(&mut self, now: Duration, untouched: Duration) {
        if let Some(last) = self.last.replace(now) {
            self.frames.push_back((now.saturating_sub(last), untouched));
        }
        if self.frames.len() > BEAT {
            self.frames.pop_front();
        }
    }

    /// Returns how long the program waits between frames; `None` where it does not wait, or too little is known.
    fn wait(&self) -> Option<Duration> {
        let least = self.frames.iter().map(|(_, wait)| *wait).min()?;
        let mean = self.frames.iter().map(|(period, _)| *period).sum::<Duration>() / self.frames.len() as u32;
        (least > mean.mul_f64(LEAST_WAIT)).then_some(least)
    }
}
