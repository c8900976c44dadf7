//! Comparison of the current pair with other pairs, and of its other paths, in frames that a program shows.

mod newcomer;

use super::contender::{Contender, HOPELESS, NextFrame, OTHER_PATH, Turn};
use super::link_builder::LinkBuilder;
use super::pairs::{DisplaySide, PairCandidate, PendingBackend};
use super::report::{Basis, PairReport, PairRow, PairState, failed};
use super::saved_choice;
use interop_core::tournament::{Clock, MOST_SAMPLES, TURN, Verdict, quantile};
use interop_core::{Error, Mode, PathId, SurfaceDesc, Trials};
use std::collections::VecDeque;
use std::time::Duration;

/// Approximate limit for the memory of another pair's link, in bytes.
const MOST_BYTES: usize = 1 << 30;
/// A remembered time that differs by more than this share is measured again.
const DRIFT: f64 = 0.1;
/// Number of turns that check a remembered time.
const CHECKS: u32 = 5;
/// A pair drops out if its first frame takes this many times as long as one of the current pair; likewise the shortest
/// of its first two and three. The first frame includes one-time work of drivers.
const FAR: [f64; 3] = [30.0, 8.0, 2.0];
/// A pair that took this many times as long as the current one in one kind of host work is not tried in others.
const ELSEWHERE: f64 = 4.0;
/// A pair that was faster is compared once more after this time, before the program switches to it. Right after devices
/// were opened, frames of threads took six times as long on a machine with an NVIDIA H200.
const CONFIRM_AFTER: Duration = Duration::from_secs(1);
/// Share of the first seconds that may be spent in addition to the policy's share, because all pairs are new then.
/// Opening four links takes about 130 ms on an NVIDIA H200, and twice that for a 4K picture.
const FIRST_SHARE: f64 = 0.08;
/// Length of those first seconds.
const FIRST: Duration = Duration::from_secs(5);
/// A program's first frames, or its first second, are left undisturbed: none is waited for, and no other backend is
/// opened.
const UNDISTURBED: (u32, Duration) = (60, Duration::from_secs(1));
/// Number of frames that follow each compared frame, so that most frames of a program that waits between them are
/// unaffected.
const UNTIMED: u32 = 3;
/// Number of consecutive frames of other work that ends a comparison.
const OTHERS: u32 = 300;
/// Reason why a pair has no time yet.
const COMPARED_LATER: &str = "it will be compared while frames are shown";
/// Mark of a time that other work took.
const OTHER_WORK: &str = " (measured with other work)";
/// Assumed time for opening a link, until one was opened.
const OPENING: Duration = Duration::from_millis(20);

/// Comparison of the current pair with the others.
pub(super) struct BackendTrials {
    wanted: LinkBuilder,
    /// Mode that the program requested. A pipelined mode starts when the comparison ends.
    asked: Mode,
    /// The current display only.
    shown: Vec<DisplaySide>,
    /// Its rows are in the order of the cost model.
    report: PairReport,
    in_use: usize,
    trials: Trials,
    /// Rows that wait: other pairs, then paths.
    waiting: VecDeque<usize>,
    paths: VecDeque<PathId>,
    /// True where the paths of the fastest pair are compared after the pairs.
    wants_paths: bool,
    /// Paths that need no comparison: they were far slower, or an earlier start compared them.
    known_paths: Vec<PathId>,
    /// A backend that is being opened, with its row.
    opening: Option<(usize, PendingBackend)>,
    turn: Option<Turn>,
    round: u32,
    /// Median time of the current pair, in microseconds.
    reference_us: f64,
    /// Number of first frames of the newcomer, and the shortest of them.
    seen: usize,
    least_us: f64,
    has_duel: bool,
    /// The newcomer was faster, and is compared once more from this moment on.
    again: Option<Duration>,
    begun: Duration,
    /// Number of frames since then.
    frames: u32,
    /// Number of frames before the next round that are not compared.
    plain: u32,
    spent: Duration,
    /// Time that was spent before this round.
    before: Duration,
    round_time: Duration,
    opening_time: Duration,
    /// Time in microseconds that an earlier start remembered, until it is checked.
    remembered: Option<f64>,
    /// Work of the next frame.
    work: String,
    /// Number of frames of other work since the last frame of the compared work.
    others: u32,
    /// Names of work that was compared.
    compared: Vec<String>,
    is_told: bool,
    /// True where the comparison ended early.
    is_cut: bool,
}

impl BackendTrials {
    /// Starts with one of the pairs in the rows of the report, all with the current display.
    pub fn new(
        wanted: LinkBuilder,
        (trials, asked): (Trials, Mode),
        shown: Vec<DisplaySide>,
        report: PairReport,
    ) -> Self {
        let (begun, waits) = (wanted.policy.clock.now(), wanted.policy.mode);
        let in_use = report.rows.iter().position(|row| row.state == PairState::Chosen).unwrap_or(0);
        let spreads = matches!(trials, Trials::Spread { .. });
        let remembered = report.rows.get(in_use).and_then(|row| row.median_us).filter(|_| spreads);
        let mut trials = Self {
            work: wanted.work.clone(),
            wanted,
            asked,
            shown,
            report,
            in_use,
            trials,
            waiting: VecDeque::new(),
            paths: VecDeque::new(),
            wants_paths: false,
            known_paths: Vec::new(),
            opening: None,
            turn: None,
            round: 0,
            reference_us: 0.0,
            seen: 0,
            least_us: f64::INFINITY,
            has_duel: false,
            again: None,
            begun,
            frames: 0,
            plain: 0,
            spent: Duration::ZERO,
            before: Duration::ZERO,
            round_time: Duration::ZERO,
            opening_time: OPENING,
            remembered,
            others: 0,
            compared: Vec::new(),
            is_told: waits == asked,
            is_cut: false,
        };
        trials.report.what += if waits == asked { "" } else { ", frames waited for" };
        if trials.remembered.is_none() && spreads {
            trials.queue_all(saved_choice::load_others(&trials.wanted));
        }
        trials
    }

    pub const fn report(&self) -> &PairReport {
        &self.report
    }

    /// Row of the current pair.
    pub const fn in_use(&self) -> usize {
        self.in_use
    }

    pub fn clock(&self) -> Clock {
        self.wanted.policy.clock.clone()
    }

    /// True while two pairs alternate.
    pub const fn has_duel(&self) -> bool {
        self.has_duel
    }

    /// True where nothing is left to compare.
    pub fn is_over(&self) -> bool {
        !self.has_duel
            && self.waiting.is_empty()
            && self.paths.is_empty()
            && !self.wants_paths
            && self.remembered.is_none()
    }

    /// True where the next frame is not compared.
    pub fn rests(&self) -> bool {
        self.is_over() || self.work != self.wanted.work
    }

    /// Names the work of the next frame. Returns true where a comparison of that work begins.
    pub fn set_work(&mut self, name: &str) -> bool {
        if self.work != name {
            name.clone_into(&mut self.work);
        }
        let is_other = name != self.wanted.work;
        self.others = if is_other { self.others + 1 } else { 0 };
        if self.others > OTHERS && !self.is_over() {
            self.cancel();
        }
        let begins = is_other && self.is_over() && self.spreads() && !self.compared.iter().any(|of| of == name);
        if begins {
            self.compared.push(std::mem::replace(&mut self.wanted.work, name.into()));
            (self.begun, self.frames) = (self.clock().now(), 0);
            (self.spent, self.before) = (Duration::ZERO, Duration::ZERO);
            let known = self.report.rows.clone();
            (self.report.what, self.reference_us) = (self.wanted.what(), 0.0);
            let remembered =
                saved_choice::load(&self.wanted).map(|found| found.report).filter(|PairReport { rows, .. }| {
                    rows.len() == known.len() && rows.get(self.in_use).is_some_and(|row| row.state == PairState::Chosen)
                });
            if let Some(PairReport { rows, paths, .. }) = remembered {
                self.remembered = rows.get(self.in_use).and_then(|row| row.median_us);
                (self.report.rows, self.report.paths) = (rows, paths);
                return true;
            }
            self.report.rows.iter_mut().for_each(|row| (row.median_us, row.ratio) = (None, None));
            let in_use_us = known.get(self.in_use).and_then(|row| row.median_us);
            self.queue_all(Some(known));
            if self.waiting.is_empty() {
                // Restored for the next comparison.
                self.report.rows[self.in_use].median_us = in_use_us;
            }
        }
        begins
    }

    /// Records that the next frames have this surface, so earlier times no longer apply.
    pub fn set_surface(&mut self, desc: SurfaceDesc) {
        self.wanted.surface = desc;
        (self.reference_us, self.seen, self.least_us) = (0.0, 0, f64::INFINITY);
        (self.turn, self.again) = (None, None);
    }

    /// Compares all pairs except those that took far longer in another kind of host work, whose rows are `known`: a
    /// link that cannot win is not opened again for each element type of an array.
    fn queue_all(&mut self, known: Option<Vec<PairRow>>) {
        let known = known.filter(|rows| rows.len() == self.report.rows.len()).unwrap_or_default();
        let best = known.get(self.in_use).filter(|row| row.state == PairState::Chosen).and_then(|row| row.median_us);
        self.waiting.clear();
        for (at, row) in self.report.rows.iter_mut().enumerate() {
            if at == self.in_use || !matches!(row.state, PairState::NotTried { .. } | PairState::Slower) {
                continue;
            }
            let is_far = |row: &&PairRow| {
                let ratio = row.median_us.zip(best).map(|(us, best)| us / best);
                row.state == PairState::Slower && ratio.is_some_and(|ratio| ratio > ELSEWHERE)
            };
            match known.get(at).filter(is_far) {
                Some(far) => {
                    let because = format!("{}{OTHER_WORK}", far.because.trim_end_matches(OTHER_WORK));
                    *row = PairRow { because, ..far.clone() };
                }
                None => {
                    row.state = PairState::NotTried { reason: COMPARED_LATER.into() };
                    self.waiting.push_back(at);
                }
            }
        }
        self.wants_paths = self.has_paths();
        self.report.paths.clear();
        (self.is_told, self.is_cut) = (self.waiting.is_empty() && !self.wants_paths, false);
    }

    /// Compares the pairs that an earlier start had no time for.
    fn queue_untried(&mut self) {
        let is_left = |row: &PairRow| matches!(row.state, PairState::NotTried { .. });
        self.waiting = (0..self.report.rows.len()).filter(|&at| is_left(&self.report.rows[at])).collect();
        let has_left = self.report.paths.iter().any(is_left);
        self.report.paths.retain(|row| !is_left(row));
        let paths = &self.wanted.policy.paths;
        let known = self.report.paths.iter().filter_map(|row| paths.named(row.path.as_deref()?).ok());
        self.known_paths = known.collect();
        self.wants_paths = self.has_paths() && (has_left || !self.waiting.is_empty());
    }

    const fn spreads(&self) -> bool {
        matches!((self.trials, self.asked), (Trials::Spread { .. }, Mode::Latency))
    }

    /// True where the program leaves the path open. A pipelined link compares its paths itself.
    const fn has_paths(&self) -> bool {
        let policy = &self.wanted.policy;
        let is_open = policy.force.is_none() && policy.prefer.is_none() && !policy.budget.is_zero();
        is_open && matches!(self.asked, Mode::Latency)
    }

    fn is_too_large(&self) -> bool {
        self.wanted.surface.byte_len().is_ok_and(|bytes| bytes > MOST_BYTES / 3)
    }

    /// Ends the comparison; its results are not remembered.
    pub fn cancel(&mut self) {
        self.is_cut |= !self.is_over() && self.remembered.is_none();
        self.abandon_rest();
    }

    /// Adds a row for another path of the current pair, which has computed no frame.
    fn add_path(&mut self, path: PathId, state: PairState) {
        let (path, row) = (Some(path.to_string()), self.report.rows[self.in_use].clone());
        self.report.paths.push(PairRow { path, state, median_us: None, ratio: None, ..row });
    }

    /// Ends the comparison for this start.
    fn abandon_rest(&mut self) {
        let left = || "the program or the time limit ended the comparison; the next start continues it".into();
        let states = self.report.rows.iter_mut().map(|row| &mut row.state);
        for state in states.filter(|state| matches!(state, PairState::NotTried { reason } if reason == COMPARED_LATER))
        {
            *state = PairState::NotTried { reason: left() };
        }
        for path in std::mem::take(&mut self.paths) {
            self.add_path(path, PairState::NotTried { reason: left() });
        }
        (self.waiting, self.wants_paths) = (VecDeque::new(), false);
        (self.has_duel, self.remembered, self.turn) = (false, None, None);
    }

    /// Records that this pair failed.
    pub fn fail(&mut self, row: usize, error: Error) {
        let state = failed(error, &mut None);
        if let Some(row) = self.report.rows.get_mut(row) {
            row.state = state;
        }
        (self.has_duel, self.turn) = (false, None);
    }

    /// Records that a frame that failed on this pair also fails on the current one, so the program is at fault.
    pub fn blame_program(&mut self, row: usize) {
        let reason = "a frame of the program failed during the comparison".into();
        if let Some(row) = self.report.rows.get_mut(row) {
            row.state = PairState::NotTried { reason };
        }
        self.is_cut = true;
        self.cancel();
    }

    /// Counts time that the program waited for the comparison.
    pub fn spend(&mut self, time: Duration) {
        self.spent += time;
    }

    /// True where the next frame is the first one of a turn.
    pub fn begins_turn(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| !turn.has_begun)
    }

    /// Returns the next action. `active` is on show, and `standby` waits.
    pub fn next<S>(&mut self, active: &Contender<S>, standby: Option<&Contender<S>>) -> NextFrame {
        if let Some(turn) = &self.turn {
            self.plain += UNTIMED;
            return NextFrame::Timed(turn.row);
        }
        let Trials::Spread { share, within } = self.trials else { return NextFrame::Plain };
        let running = self.clock().since(self.begun);
        self.frames = self.frames.saturating_add(1);
        self.plain = self.plain.saturating_sub(1);
        if running > within {
            self.abandon_rest();
            return NextFrame::Plain;
        }
        let standby = standby.filter(|_| self.has_duel);
        if self.wants_paths && self.waiting.is_empty() && !self.has_duel && self.remembered.is_none() {
            self.wants_paths = false;
            let rivals = if self.is_too_large() {
                Vec::new()
            } else {
                self.in_use_and_newcomer(active, standby).0.rivals(&self.known_paths)
            };
            self.paths = rivals.into();
        }
        let given = running.mul_f64(share.clamp(0.0, 1.0)) + running.min(FIRST).mul_f64(FIRST_SHARE);
        let has_time = |takes: Duration| self.plain == 0 && self.spent + takes <= given;
        let row = match (self.in_use_and_newcomer(active, standby), self.waiting.front()) {
            _ if self.frames <= UNDISTURBED.0 && running < UNDISTURBED.1 => return NextFrame::Plain,
            _ if self.remembered.is_some() && running < CONFIRM_AFTER => return NextFrame::Plain,
            _ if self.remembered.is_some() || self.reference_us <= 0.0 => {
                if !has_time(Duration::ZERO) {
                    return NextFrame::Plain;
                }
                self.round += 1;
                self.in_use
            }
            ((_, Some(_)), _) if self.again.is_some_and(|from| self.clock().now() < from) => return NextFrame::Plain,
            ((in_use, Some(newcomer)), _) => {
                let (ours, theirs) = (newcomer.times.has_turn_in(self.round), in_use.times.has_turn_in(self.round));
                // The turns of a round follow each other directly.
                if ours == theirs && !has_time(self.round_time) {
                    return NextFrame::Plain;
                }
                let is_newcomers = newcomer.times.has_turn_next(&in_use.times, self.round);
                if is_newcomers || newcomer.times.is_cold() { newcomer.row() } else { self.in_use }
            }
            (_, None) if self.paths.is_empty() => return NextFrame::Plain,
            _ if !has_time(self.opening_time) => return NextFrame::Plain,
            (_, None) => return NextFrame::Open,
            (_, Some(row)) => return if self.is_opened(*row) { NextFrame::Open } else { NextFrame::Plain },
        };
        self.turn = Some(Turn { row, has_begun: false, samples_us: Vec::new() });
        self.plain += UNTIMED;
        NextFrame::Timed(row)
    }

    /// Returns the pairs that can be opened, in the order of the report's rows.
    fn candidates(&self) -> Vec<PairCandidate<'_>> {
        self.wanted.candidates(&self.shown)
    }

    /// The pair in use, and the newcomer.
    pub fn in_use_and_newcomer<'a, S>(
        &self,
        active: &'a Contender<S>,
        standby: Option<&'a Contender<S>>,
    ) -> (&'a Contender<S>, Option<&'a Contender<S>>) {
        match standby {
            Some(standby) if active.row() != self.in_use => (standby, Some(active)),
            standby => (active, standby),
        }
    }

    /// Records the time of a frame; the part after `computed` was spent on the display and the wait. Returns true where
    /// a turn ends.
    pub fn note<S>(&mut self, contender: &mut Contender<S>, computed: Duration, took: Duration) -> bool {
        let (us, is_newcomer) = (took.as_secs_f64() * 1e6, contender.row() != self.in_use);
        // The program would have computed the frame in any case.
        let own = if is_newcomer { Duration::from_secs_f64(self.reference_us / 1e6) } else { computed };
        self.spent += took.saturating_sub(own);
        if is_newcomer && contender.times.is_cold() {
            contender.times.note_first(took);
            (self.seen, self.least_us, self.turn) = (self.seen + 1, self.least_us.min(us), None);
            self.round_time = took.saturating_sub(own);
            return true;
        }
        let Some(turn) = &mut self.turn else { return false };
        if !std::mem::replace(&mut turn.has_begun, true) {
            return false;
        }
        turn.samples_us.push(us);
        if turn.samples_us.iter().sum::<f64>() < TURN.as_secs_f64() * 1e6 && turn.samples_us.len() < MOST_SAMPLES {
            return false;
        }
        contender.times.note_turn(self.round, &turn.samples_us);
        self.turn = None;
        if !is_newcomer {
            self.reference_us = quantile(contender.times.samples_us(), 0.5);
            self.report.rows[self.in_use].median_us = Some(self.reference_us);
        }
        true
    }

    /// Ends the comparison with this pair if the turns suffice; [`BackendTrials::in_use`] is the better pair then.
    pub fn judge<S>(&mut self, active: &mut Contender<S>, standby: Option<&mut Contender<S>>) {
        let (in_use, newcomer) = match standby {
            Some(_) if !self.has_duel => return self.check_remembered(),
            None => return self.check_remembered(),
            Some(standby) if active.row() == self.in_use => (active, standby),
            Some(standby) => (standby, active),
        };
        let (ours, theirs) = (newcomer.times.has_turn_in(self.round), in_use.times.has_turn_in(self.round));
        let state = if newcomer.times.samples_us().is_empty() {
            let far = FAR.get(self.seen.saturating_sub(1)).copied().unwrap_or(f64::INFINITY);
            let is_far = self.seen > 0 && self.again.is_none() && self.least_us > far * self.reference_us;
            is_far.then_some(PairState::Slower)
        } else if ours && theirs {
            (self.round_time, self.before, self.round) = (self.spent - self.before, self.spent, self.round + 1);
            match newcomer.times.verdict(&in_use.times, false) {
                Verdict::Open => None,
                Verdict::NotQuicker { .. } => Some(PairState::Slower),
                Verdict::Quicker if self.again.is_some() => Some(PairState::Chosen),
                Verdict::Quicker => {
                    self.again = Some(self.clock().now() + CONFIRM_AFTER);
                    (self.seen, self.least_us) = (0, f64::INFINITY);
                    in_use.forget();
                    newcomer.forget();
                    None
                }
            }
        } else {
            None
        };
        let Some(state) = state else { return };
        let is_better = state == PairState::Chosen;
        let samples = newcomer.times.samples_us();
        let median_us = if samples.is_empty() { self.least_us } else { quantile(samples, 0.5) };
        let ratio = newcomer.times.ratio_to(&in_use.times);
        let found = PairRow { median_us: Some(median_us), ratio, ..PairRow::of(&newcomer.link, state) };
        let (median_us, state) = (Some(self.reference_us), PairState::Slower);
        let left = PairRow { median_us, state, ..self.report.rows[self.in_use].clone() };
        match (newcomer.row(), is_better) {
            (OTHER_PATH, true) => {
                self.report.paths.push(left);
                // It takes the pair's row from now on.
                std::mem::swap(&mut newcomer.times.who, &mut in_use.times.who);
            }
            (OTHER_PATH, false) => {
                if found.median_us.is_some_and(|us| us > HOPELESS * self.reference_us) {
                    self.known_paths.push(newcomer.link.path());
                }
                self.report.paths.push(found.clone());
            }
            (row, true) => {
                self.report.rows[self.in_use] = left;
                (self.in_use, self.wants_paths) = (row, self.has_paths());
                self.known_paths.clear();
                self.report.paths.clear();
            }
            (row, false) => self.report.rows[row] = found.clone(),
        }
        if is_better {
            self.reference_us = found.median_us.unwrap_or(0.0);
            self.report.rows[self.in_use] = found;
        }
        self.has_duel = false;
    }

    /// Compares all pairs again if a remembered choice takes a different time now.
    fn check_remembered(&mut self) {
        let Some(remembered) = self.remembered else { return };
        if self.round < CHECKS {
            return;
        }
        self.remembered = None;
        if (self.reference_us / remembered - 1.0).abs() > DRIFT {
            let now = self.reference_us;
            tracing::info!(now, remembered, "the time of the remembered choice has changed; comparing the pairs again");
            self.queue_all(None);
        } else {
            self.queue_untried();
        }
    }

    /// Remembers what was found until now, as the program ends or goes on without a comparison.
    pub fn stop_and_save<S>(&mut self, active: &Contender<S>, standby: Option<&Contender<S>>) {
        self.is_told |= self.reference_us <= 0.0;
        self.abandon_rest();
        self.save_if_over(active, standby);
        self.trials = Trials::Off;
    }

    /// Remembers the findings when nothing is left to compare.
    pub fn save_if_over<S>(&mut self, active: &Contender<S>, standby: Option<&Contender<S>>) {
        if !self.is_over() || std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let link = &self.in_use_and_newcomer(active, standby).0.link;
        let in_use = &mut self.report.rows[self.in_use];
        in_use.path = Some(link.path().to_string());
        if self.reference_us > 0.0 {
            in_use.median_us = Some(self.reference_us);
        }
        self.report.basis = Basis::Frames(self.spent);
        if let Some(candidate) =
            self.candidates().get(self.in_use)
            // A mistake is reported at each start until it is fixed.
            && !self.is_cut
            && !self.report.rows.iter().any(|row| matches!(row.state, PairState::Mistaken { .. }))
        {
            let mut wanted = self.wanted.clone();
            wanted.policy.mode = self.asked;
            saved_choice::store(&wanted, candidate.rows(), link, &self.report);
        }
        tracing::info!(report = %self.report, "backend chosen while frames were shown");
    }
}
