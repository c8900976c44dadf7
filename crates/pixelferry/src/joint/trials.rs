//! Pairs that the start did not compare, compared while a program shows frames.

use super::bench::{RepeatableFrame, timed};
use super::declare::LinkBuilder;
use super::memory;
use super::pairs::{Opening, Pair, Shown, prospects};
use super::report::{Basis, JointReport, JointRow, JointState, failed};
use interop_core::tournament::{Clock, Contestant, Entry, TURN, Terms, Verdict, quantile};
use interop_core::{Link, Result, Trials};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// Most bytes of the memory that another pair's link holds, about.
const MOST_BYTES: usize = 1 << 30;
/// A remembered time that is off by more than this share is measured again.
const DRIFT: f64 = 0.1;
/// Turns that check a remembered time.
const CHECKS: u32 = 5;
/// One that takes so many times as long as the pair in use in each of its first frames is out.
const FAR: f64 = 2.0;
/// First frames after which that is known.
const SEEN: u32 = 2;

/// Comparison of the pair in use with the others, a step after each frame.
///
/// [`LinkBuilder::open_for_trials`] opens the first pair that works and returns this beside it. Each step computes the program's own
/// frame once more: by the link in use, or by another pair with memory of its own. Backends that have a queue of their own are opened
/// on a thread of theirs meanwhile. Nothing is compared unless [`Policy::trials`](crate::Policy::trials) is [`Trials::Spread`].
///
/// ```
/// use pixelferry::{BackendChoice, DisplayChoice, LinkBuilder, PixelFormat, SurfaceDesc};
///
/// let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
/// let builder = LinkBuilder::new(desc).work("two grey pixels").backend(BackendChoice::Cpu).display(DisplayChoice::Memory);
/// let (opened, mut trials) = builder.open_for_trials()?;
/// let mut link = opened.link;
/// for n in 0..10 {
///     link.frame(|next| next.write(&[n, 2 * n]))?;
///     // Another pair is quicker: it has the frame already.
///     if let Some(better) = trials.step(&mut link, "two grey pixels", &mut |next| next.write(&[n, 2 * n])) {
///         link = better;
///     }
/// }
/// assert!(trials.is_over(), "{}", trials.report());
/// assert_eq!(link.read_back()?, [9, 18]);
/// # Ok::<(), pixelferry::Error>(())
/// ```
pub struct PairTrials {
    wanted: LinkBuilder,
    /// The display in use, alone.
    shown: Vec<Shown>,
    report: JointReport,
    /// Places in the order of the cost model, which is that of the report's rows.
    in_use: usize,
    waiting: VecDeque<usize>,
    opening: Option<Opening>,
    reference: Entry<Competitor>,
    duel: Option<Duel>,
    round: u32,
    begun: Duration,
    spent: Duration,
    /// Time that the last step took: the next one takes about as long.
    last: Duration,
    /// Microseconds of the choice that an earlier start remembered, until they are checked.
    remembered: Option<f64>,
    /// Works that were compared.
    compared: Vec<String>,
}

struct Duel {
    place: usize,
    challenger: Entry<Competitor>,
    /// Its first frames, and the shortest of them.
    seen: u32,
    least: Duration,
}

/// One that takes part.
enum Competitor {
    InUse,
    Other(Box<(Pair, Link)>),
}

/// The work that all are measured with.
struct Course<'a> {
    link: RefCell<&'a mut Link>,
    frame: RefCell<&'a mut RepeatableFrame<'a>>,
}

impl fmt::Display for Competitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse => f.write_str("the pair in use"),
            Self::Other(side) => write!(f, "{}", side.0.backend.device()),
        }
    }
}

impl Contestant for Competitor {
    type Course<'a> = Course<'a>;

    fn sample(&mut self, course: &Course<'_>, clock: &Clock, frames: usize) -> Result<f64> {
        let (mut in_use, mut frame) = (course.link.borrow_mut(), course.frame.borrow_mut());
        let link = match self {
            Self::InUse => &mut **in_use,
            Self::Other(side) => &mut side.1,
        };
        timed(link, clock, frames, &mut **frame)
    }
}

/// Turns of some milliseconds, whose first frame does not count: threads that slept, or a GPU that did other work, need one.
fn entry(who: Competitor) -> Entry<Competitor> {
    let has_run = matches!(who, Competitor::InUse);
    Entry::new(who, Terms { turn: TURN, frames_behind: 0, slots: 3, bytes: 0 }, has_run)
}

impl PairTrials {
    pub(super) fn new(
        wanted: LinkBuilder,
        shown: Vec<Shown>,
        report: JointReport,
        in_use: usize,
        remembered: Option<f64>,
    ) -> Self {
        let begun = wanted.policy.clock.now();
        let mut trials = Self {
            wanted,
            shown,
            report,
            in_use,
            waiting: VecDeque::new(),
            opening: None,
            reference: entry(Competitor::InUse),
            duel: None,
            round: 0,
            begun,
            spent: Duration::ZERO,
            last: Duration::ZERO,
            remembered,
            compared: Vec::new(),
        };
        if !matches!(trials.wanted.policy.trials, Trials::Spread { .. }) {
            trials.remembered = None;
        } else if trials.remembered.is_none() {
            trials.wait_for_all();
        }
        trials
    }

    /// Returns what is known of each pair.
    pub fn report(&self) -> &JointReport {
        &self.report
    }

    /// True where nothing is left to compare.
    pub fn is_over(&self) -> bool {
        self.duel.is_none() && self.waiting.is_empty() && self.remembered.is_none()
    }

    fn wait_for_all(&mut self) {
        let is_other = |place: &usize| *place != self.in_use;
        let is_open =
            |place: &usize| matches!(self.report.rows[*place].state, JointState::NotTried { .. } | JointState::Slower);
        self.waiting = (0..self.report.rows.len()).filter(is_other).filter(is_open).collect();
        for place in &self.waiting {
            let reason = "it is compared while frames are shown".into();
            self.report.rows[*place].state = JointState::NotTried { reason };
        }
    }

    /// Does the next step of the comparison, of a few milliseconds, after `link` has shown `frame` and where the policy's share has time
    /// for it. Returns the link of another pair that is quicker by more than chance: the program goes on with that one, which has the
    /// frame already. Frames of another `work` than the one that is compared are left alone, and compared next.
    ///
    /// Links that show late frames are not compared: a frame that is computed again would come between others.
    pub fn step(&mut self, link: &mut Link, work: &str, frame: &mut RepeatableFrame<'_>) -> Option<Link> {
        let is_another = work != self.wanted.work && matches!(self.wanted.policy.trials, Trials::Spread { .. });
        if is_another && self.is_over() && !self.compared.iter().any(|of| of == work) {
            self.compared.push(std::mem::replace(&mut self.wanted.work, work.into()));
            self.reference = entry(Competitor::InUse);
            (self.begun, self.spent) = (self.wanted.policy.clock.now(), Duration::ZERO);
            self.wait_for_all();
        }
        if work != self.wanted.work || self.is_over() || link.frames_behind() > 0 {
            return None;
        }
        let Trials::Spread { share, within } = self.wanted.policy.trials else { return None };
        let clock = self.wanted.policy.clock.clone();
        let begun = clock.now();
        let running = begun.saturating_sub(self.begun);
        if running > within {
            // What is left stays as it is.
            (self.waiting, self.duel, self.remembered) = (VecDeque::new(), None, None);
            self.end(link);
            return None;
        }
        if (self.spent + self.last).as_secs_f64() > running.as_secs_f64() * share {
            return None;
        }
        let course = Course { link: RefCell::new(link), frame: RefCell::new(frame) };
        let better = self.advance(&course, &clock);
        self.last = clock.since(begun);
        self.spent += self.last;
        if self.is_over() {
            self.end(better.as_ref().unwrap_or(&**course.link.borrow()));
        }
        better
    }

    /// Remembers what was found.
    fn end(&mut self, link: &Link) {
        let (in_use, path) = (&mut self.report.rows[self.in_use], link.path().to_string());
        in_use.path = Some(path);
        if !self.reference.samples_us().is_empty() {
            in_use.median_us = Some(quantile(self.reference.samples_us(), 0.5));
        }
        self.report.basis = Basis::Frames(self.spent);
        if let Some(prospect) = prospects(&self.wanted, &self.shown, true).get(self.in_use) {
            memory::store(&self.wanted, prospect.rows(), link, &self.report);
        }
        tracing::info!(report = %self.report, "backend chosen while frames were shown");
    }

    fn advance(&mut self, course: &Course<'_>, clock: &Clock) -> Option<Link> {
        let Some(mut duel) = self.duel.take() else {
            match self.waiting.front() {
                Some(_) if self.reference.samples_us().is_empty() => self.check(course, clock),
                Some(place) => self.open(*place),
                None => self.check(course, clock),
            }
            return None;
        };
        let (place, challenger) = (duel.place, &mut duel.challenger);
        let took = if challenger.is_cold() {
            challenger.warm(course, clock).map(|took| (duel.seen, duel.least) = (duel.seen + 1, duel.least.min(took)))
        } else {
            let whose = Entry::whose_turn(challenger, &mut self.reference, &mut self.round);
            whose.turn(course, clock, self.round)
        };
        if let Err(error) = took {
            self.report.rows[place].state = failed(error, &mut None);
            return None;
        }
        let (least, in_use) = (duel.least.as_secs_f64() * 1e6, quantile(self.reference.samples_us(), 0.5));
        if duel.seen == SEEN && least > FAR * in_use {
            let row = self.row(place, &duel.challenger, JointState::Slower);
            self.report.rows[place] = JointRow { median_us: Some(least), ..row };
            return None;
        }
        match duel.challenger.verdict(&self.reference, false) {
            Verdict::Open => {
                self.duel = Some(duel);
                None
            }
            Verdict::NotQuicker { .. } => {
                self.report.rows[place] = self.row(place, &duel.challenger, JointState::Slower);
                None
            }
            Verdict::Quicker => self.take(place, duel.challenger, course),
        }
    }
}

impl PairTrials {
    /// Opens the pair at `place` for a duel, when its backend is there.
    fn open(&mut self, place: usize) {
        let prospects = prospects(&self.wanted, &self.shown, true);
        let Some(prospect) = prospects.get(place) else { return self.waiting.clear() };
        if self.opening.is_none() {
            self.opening = Some(prospect.begin(&self.wanted, true));
        }
        let Some(backend) = self.opening.take_if(|opening| opening.is_done()).map(Opening::join) else { return };
        self.waiting.pop_front();
        let fits = self.wanted.surface.byte_len().is_ok_and(|bytes| bytes <= MOST_BYTES / 3);
        let opened = match backend.and_then(|backend| prospect.open_with(backend, &self.wanted)) {
            Ok(_) if !fits => {
                let reason = "a second link of this size would take too much memory".into();
                self.report.rows[place].state = JointState::NotTried { reason };
                return;
            }
            // The first path that works; the others are compared if it is taken.
            pair => pair.and_then(|pair| Ok((self.wanted.link(&pair, Duration::ZERO)?, pair))),
        };
        match opened {
            Ok((link, pair)) => {
                let challenger = entry(Competitor::Other(Box::new((pair, link))));
                self.duel = Some(Duel { place, challenger, seen: 0, least: Duration::MAX });
            }
            Err(error) => self.report.rows[place].state = failed(error, &mut None),
        }
    }

    /// Measures the pair in use: a choice that an earlier start remembered takes another time now, and all are compared again.
    fn check(&mut self, course: &Course<'_>, clock: &Clock) {
        self.round += 1;
        let turn = self.reference.turn(course, clock, self.round);
        let Some(remembered) = self.remembered else {
            // It fails beside the program's own frames, which say so.
            return if turn.is_err() {
                self.waiting.clear()
            };
        };
        if turn.is_ok() && self.round < CHECKS {
            return;
        }
        self.remembered = None;
        let now = quantile(self.reference.samples_us(), 0.5);
        if (now / remembered - 1.0).abs() > DRIFT {
            tracing::info!(now, remembered, "the remembered choice takes another time, and pairs are compared again");
            self.wait_for_all();
        }
    }

    /// Goes over to a pair that is quicker, which shows the frame before it is in use.
    fn take(&mut self, place: usize, challenger: Entry<Competitor>, course: &Course<'_>) -> Option<Link> {
        self.report.rows[self.in_use] = self.row(self.in_use, &self.reference, JointState::Slower);
        self.report.rows[place] = self.row(place, &challenger, JointState::Chosen);
        let Competitor::Other(side) = challenger.who else { return None };
        let mut link = side.1;
        let mut frame = course.frame.borrow_mut();
        if let Err(error) = link.clear().and_then(|()| link.frame(|next| frame(next))) {
            self.report.rows[self.in_use].state = JointState::Chosen;
            self.report.rows[place].state = failed(error, &mut None);
            return None;
        }
        (self.in_use, self.reference) = (place, entry(Competitor::InUse));
        Some(link)
    }

    /// Returns what turns said of the pair at `place`.
    fn row(&self, place: usize, entry: &Entry<Competitor>, state: JointState) -> JointRow {
        let samples = entry.samples_us();
        let median_us = (!samples.is_empty()).then(|| quantile(samples, 0.5));
        match &entry.who {
            Competitor::InUse => JointRow { median_us, state, ..self.report.rows[place].clone() },
            Competitor::Other(side) => {
                JointRow { median_us, ratio: entry.ratio_to(&self.reference), ..side.0.row(&side.1, state) }
            }
        }
    }
}
