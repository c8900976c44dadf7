//! Faults to inject, and the calls that were seen.

use crate::faults::step::{CallSide, FaultStep};
use interop_core::display::{Call, Hook, Watch};
use interop_core::select::Clock;
use interop_core::{DriverError, Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Way in which a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// With a driver's code.
    Driver,
    /// With a driver's code for a wait that took too long.
    Timeout,
    /// For lack of memory.
    OutOfMemory,
    /// And with it every later call on that side.
    ContextLost,
}

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Step that fails.
    pub step: FaultStep,
    /// The first that fails, counted from 1 when it is armed.
    pub nth: u32,
    /// All after it fail, too.
    pub lasting: bool,
    /// Way in which it fails.
    pub kind: FaultKind,
}

impl Fault {
    /// The next such call fails with a driver's code.
    pub const fn once(step: FaultStep) -> Self {
        Self { step, nth: 1, lasting: false, kind: FaultKind::Driver }
    }

    /// All such calls do.
    pub const fn lasting(step: FaultStep) -> Self {
        Self { lasting: true, ..Self::once(step) }
    }
}

/// The one switchboard of a backend's and a display's double.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<ArmState>>);

#[derive(Debug, Default)]
struct ArmState {
    armed: Option<Fault>,
    lost: Option<CallSide>,
    paused: bool,
    fired: u32,
    calls: BTreeMap<FaultStep, u32>,
    delays: BTreeMap<FaultStep, Duration>,
    /// Time by which each call is shorter than the one before, and the last call that takes longer.
    at_first: BTreeMap<FaultStep, (Duration, u32)>,
    /// Range in which delays vary, and the random numbers for it.
    jitter: f64,
    random: u64,
    lies: BTreeSet<FaultStep>,
    /// Such a call does nothing and reports success, after this many that do what they should.
    one_lie: Option<(FaultStep, u32)>,
    /// Bytes that the next hand-over changes.
    tampered: Option<Range<usize>>,
    ends_are_left_out: bool,
    live: BTreeMap<&'static str, usize>,
    violations: Vec<String>,
    /// Time on the calls' own clock, if they have one.
    time: Option<Duration>,
}

/// One object of a double, counted while it lives; see [`Faults::alive`].
pub struct Alive(Faults, &'static str);

impl Drop for Alive {
    fn drop(&mut self) {
        if let Some(count) = self.0.state().live.get_mut(self.1) {
            *count -= 1;
        }
    }
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, ArmState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call fail from now on.
    pub fn arm(&self, fault: Fault) {
        let mut state = self.state();
        (state.armed, state.fired) = (Some(fault), 0);
    }

    /// Lets nothing fail any more.
    pub fn disarm(&self) {
        let mut state = self.state();
        (state.armed, state.lost) = (None, None);
    }

    /// Number of calls that failed since the fault was armed.
    pub fn fired(&self) -> u32 {
        self.state().fired
    }

    /// Makes every such call take longer.
    pub fn slow(&self, step: FaultStep, by: Duration) {
        self.state().delays.insert(step, by);
    }

    /// Makes the first of such calls from now on take longer, each by less than the one before, and none after so many: as drivers
    /// that build and allocate at the first use.
    pub fn slow_at_first(&self, step: FaultStep, by: Duration, calls: u32) {
        let mut state = self.state();
        let before = state.calls.get(&step).copied().unwrap_or(0);
        state.at_first.insert(step, (by / calls.max(1), before + calls));
    }

    /// Lets delays vary by up to this part, more often by less, in an order that follows from `seed`: as on a machine that does other
    /// things, too.
    pub fn vary(&self, by: f64, seed: u64) {
        let mut state = self.state();
        (state.jitter, state.random) = (by, seed);
    }

    /// A clock of the doubles' own, which moves by what [`Faults::slow`] says and by [`Faults::pass`] alone: from now on no call
    /// really takes longer, and nothing depends on how quick the machine is.
    pub fn clock(&self) -> Clock {
        self.state().time.get_or_insert_default();
        let own = self.clone();
        Clock::new(move || own.state().time.unwrap_or_default())
    }

    /// Lets time of that clock go by.
    pub fn pass(&self, time: Duration) {
        *self.state().time.get_or_insert_default() += time;
    }

    /// Makes every such call of a surface do nothing and report success, as drivers were seen to.
    pub fn lie(&self, step: FaultStep) {
        self.state().lies.insert(step);
    }

    /// Makes one such call of a surface do nothing and report success, after `others`.
    pub fn lie_once(&self, step: FaultStep, others: u32) {
        self.state().one_lie = Some((step, others));
    }

    /// Changes these bytes of the next memory that is handed over and has them, as another program might.
    pub fn tamper(&self, bytes: Range<usize>) {
        self.state().tampered = Some(bytes);
    }

    /// Returns the bytes to change in memory of this length.
    pub(crate) fn tampered(&self, len: usize) -> Option<Range<usize>> {
        self.state().tampered.take_if(|bytes| bytes.end <= len)
    }

    /// Number of such calls.
    pub fn calls(&self, step: FaultStep) -> u32 {
        self.state().calls.get(&step).copied().unwrap_or(0)
    }

    /// Calls `f`, in which nothing fails or counts.
    pub fn paused<T>(&self, f: impl FnOnce() -> T) -> T {
        self.state().paused = true;
        let value = f();
        self.state().paused = false;
        value
    }

    /// Objects that live, by kind; empty where there are none.
    pub fn live(&self) -> BTreeMap<&'static str, usize> {
        let mut live = self.state().live.clone();
        live.retain(|_, count| *count > 0);
        live
    }

    /// Returns what a real device would tear, stall or hang on.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Notes something of [`Faults::violations`]; for doubles.
    pub fn violation(&self, what: impl Into<String>) {
        self.state().violations.push(what.into());
    }

    /// Counts an object under [`Faults::live`] for as long as what is returned lives; for doubles.
    pub fn alive(&self, kind: &'static str) -> Alive {
        *self.state().live.entry(kind).or_default() += 1;
        Alive(self.clone(), kind)
    }

    /// A call that ends a turn is not made where it is to fail, so that whoever goes on all the same is seen to. Not for devices,
    /// which might write memory that is freed then.
    pub fn leave_ends_out(&self) {
        self.state().ends_are_left_out = true;
    }

    /// For a display's object, which is counted while it lives.
    pub(crate) fn watch(&self, kind: &'static str) -> Watch {
        Watch::new(Arc::new(self.clone()), self.alive(kind))
    }

    /// A call that is not made where it is to fail.
    pub(crate) fn before<T>(&self, step: FaultStep, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check(step)?;
        call()
    }

    /// A call that is made in any case.
    pub(crate) fn after<T>(&self, step: FaultStep, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let value = call()?;
        self.check(step)?;
        Ok(value)
    }

    /// A call that ends a turn, or waits for an end: see [`Faults::leave_ends_out`].
    pub(crate) fn ends<T>(&self, step: FaultStep, call: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.state().ends_are_left_out { self.before(step, call) } else { self.after(step, call) }
    }

    /// A call that may be to do nothing: see [`Faults::lie`].
    pub(crate) fn unless_a_lie(&self, step: FaultStep, call: impl FnOnce() -> Result<()>) -> Result<()> {
        self.check(step)?;
        let mut state = self.state();
        let mut is_it = false;
        if let Some((_, others)) = state.one_lie.as_mut().filter(|(lie, _)| *lie == step) {
            is_it = *others == 0;
            *others = others.saturating_sub(1);
        }
        if is_it {
            state.one_lie = None;
        }
        let lies = is_it || state.lies.contains(&step);
        drop(state);
        if lies { Ok(()) } else { call() }
    }

    /// Counts a call, takes its time, and fails where it is to.
    fn check(&self, step: FaultStep) -> Result<()> {
        let (delay, failed) = self.state().count(step);
        if let Some(delay) = delay {
            let own = self.state().time.as_mut().map(|time| *time += delay);
            if own.is_none() {
                std::thread::sleep(delay);
            }
        }
        failed.map_or(Ok(()), |kind| Err(error(step, kind)))
    }
}

impl Hook for Faults {
    fn around(&self, call: Call, done: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        match call {
            Call::Upload => self.unless_a_lie(FaultStep::Upload, done),
            Call::UploadStaged => self.unless_a_lie(FaultStep::UploadStaged, done),
            Call::Download => self.before(FaultStep::Download, done),
            Call::ReadInPlace => self.unless_a_lie(FaultStep::ReadInPlace, done),
            Call::ReadBack => self.before(FaultStep::ReadBack, done),
            Call::Export => self.before(FaultStep::Export, done),
            Call::DrawBack => done(),
            Call::MapStaging => self.after(FaultStep::MapStaging, done),
            Call::Poll => self.unless_a_lie(FaultStep::Poll, done),
            Call::Wait => self.ends(FaultStep::Wait, done),
            Call::Fence => self.ends(FaultStep::Fence, done),
        }
    }
}

impl ArmState {
    fn count(&mut self, step: FaultStep) -> (Option<Duration>, Option<FaultKind>) {
        if self.paused {
            return (None, None);
        }
        let calls = self.calls.entry(step).or_default();
        *calls += 1;
        let at_first = self.at_first.get(&step).map(|(less, last)| *less * (last + 1).saturating_sub(*calls));
        let failed = self.failing(step);
        self.fired += u32::from(failed.is_some());
        let varied = 1.0 + self.jitter * (self.random() + self.random() - 1.0);
        let delay = self.delays.get(&step).map(|delay| delay.mul_f64(varied.max(0.0)));
        (delay.map_or(at_first, |delay| Some(delay + at_first.unwrap_or_default())), failed)
    }

    /// From 0 to 1, by Knuth's numbers.
    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn failing(&mut self, step: FaultStep) -> Option<FaultKind> {
        if self.lost == Some(step.side()) {
            return Some(FaultKind::ContextLost);
        }
        let fault = self.armed.as_mut().filter(|fault| fault.step == step)?;
        if fault.nth > 1 {
            fault.nth -= 1;
            return None;
        }
        let kind = fault.kind;
        if kind == FaultKind::ContextLost {
            self.lost = Some(step.side());
        } else if !fault.lasting {
            self.armed = None;
        }
        Some(kind)
    }
}

/// Text that the error of every injected fault holds.
const MARK: &str = "on purpose";

fn error(step: FaultStep, kind: FaultKind) -> Error {
    let device = "a double".to_owned();
    let driver = |code, code_name: &str| {
        let (code_name, hint) = (code_name.to_owned(), format!("It failed {MARK}."));
        DriverError::new(step.name(), device.clone(), code, code_name).with_hint(hint).into()
    };
    match kind {
        FaultKind::Driver => driver(-999, "FAULT"),
        FaultKind::Timeout => driver(-998, "TIMEOUT"),
        FaultKind::ContextLost => driver(-1000, "CONTEXT_LOST"),
        FaultKind::OutOfMemory => Error::Unavailable {
            what: "memory".into(),
            reason: format!("{}: out of memory {MARK}", step.name()),
            hint: "Free some.".into(),
        },
    }
}

impl Faults {
    /// True where an error is one that was injected.
    pub fn injected(error: &Error) -> bool {
        error.to_string().contains(MARK)
    }
}
