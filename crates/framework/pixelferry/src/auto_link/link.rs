//! A link that selects its backend with frames that the program shows.

use super::backend_trials::BackendTrials;
use super::contender::{Contender, NextFrame};
use super::link_builder::LinkBuilder;
use super::open::OpenedLink;
use super::pairs::displays;
use super::report::{PairReport, PairState};
use crate::headless::HeadlessDisplay;
use interop_core::{
    ComputeBackend, Display, DrawOptions, Kernel, Link, LinkCore, LinkOptions, Mode, PathReport, Policy, Result,
    ShowOutcome, ShowTarget, ShownFrame, SurfaceDesc, Trials, Unwritten, WriteFrame,
};
use std::sync::Arc;

/// A link that switches to another backend or path where that completes the program's frames sooner.
///
/// [`LinkBuilder::open_auto`] opens the first pair that works. While the program shows frames, other backends are
/// opened in the background, and each then computes a few of the program's own frames. No frame is skipped, and none is
/// computed twice unless a backend fails in it: those frames are shown, and their times are compared in alternation.
/// `S` is the state that a backend needs for a frame, such as kernels and memory; the program's function creates one
/// for each backend. After the backends, the other paths of the fastest one are compared in the same way.
///
/// A frame must not depend on anything that an earlier frame left in `S`, unless [`AutoLink::with_carry`] copies it.
/// Pixels that a frame leaves unchanged ([`Unwritten::Keep`]) are carried over.
/// [`Policy::trials`](crate::Policy::trials) determines whether and for how long anything is compared. In a pipelined
/// mode, frames are waited for until the comparison ends, and pipelined from then on. A program that names several
/// kinds of work ([`AutoLink::set_work`]) uses the backend that was fastest for the one compared last.
///
/// Threads: the link stays on the display's thread.
///
/// ```
/// use pixelferry::*;
///
/// let grey = KernelSource::new("grey").cpu_image(|out, args| {
///     let grey = args.u32(0)? as u8;
///     out.par_pixels(|_, _| [grey, grey, grey, 255])
/// });
/// let builder = LinkBuilder::new(SurfaceDesc::image(2, 1, PixelFormat::Rgba8)).launch(&grey, [Scratch::U32(0)]);
/// # let builder = builder.display(DisplayChoice::Memory);
/// let mut link = builder.open_auto(|_, kernels| Ok(kernels))?;
/// for n in 0..10 {
///     link.frame(|next, kernels| next.launch(kernels[0].as_ref(), &[Arg::U32(n)]))?;
///     assert_eq!(link.link_mut().read_back()?[..4], [n as u8, n as u8, n as u8, 255]);
/// }
/// println!("{}", link.report());
/// # Ok::<(), pixelferry::Error>(())
/// ```
pub struct AutoLink<S> {
    screen: HeadlessDisplay,
    prepare: Arc<Prepare<S>>,
    carry: Option<Box<Carry<S>>>,
    /// The contender that shows frames.
    active: Contender<S>,
    /// The other contender of a comparison.
    standby: Option<Contender<S>>,
    trials: BackendTrials,
    /// The program's policy, whose pipelined mode starts when the comparison ends.
    pipeline: Option<Policy>,
}

/// Creates a backend's state from the backend and the declared kernels.
type Prepare<S> = dyn Fn(&Arc<dyn ComputeBackend>, Vec<Arc<dyn Kernel>>) -> Result<S>;
/// Copies state that frames keep from one side to the other.
type Carry<S> = dyn Fn(&mut S, &mut S) -> Result<()>;

impl LinkBuilder {
    /// Opens the same pair as [`LinkBuilder::open`], and compares it with other backends while frames are shown.
    /// `prepare` creates the state that a backend needs for a frame, from the backend and the declared kernels built
    /// for it.
    ///
    /// # Errors
    /// The errors of [`LinkBuilder::open`], and those of `prepare` for the first backend.
    pub fn open_auto<S>(
        self,
        prepare: impl Fn(&Arc<dyn ComputeBackend>, Vec<Arc<dyn Kernel>>) -> Result<S> + 'static,
    ) -> Result<AutoLink<S>> {
        let mut wanted = self.checked("LinkBuilder::open_auto")?;
        let asked = wanted.policy.clone();
        wanted.is_compared = matches!(asked.trials, Trials::Spread { .. });
        let shown = displays(&wanted)?;
        let (candidates, is_latency) = (wanted.candidates(&shown), asked.mode == Mode::Latency);
        let known = if is_latency { None } else { wanted.remembered(&candidates) };
        // A pipelined link compares its paths itself, so with one backend there is nothing to wait for.
        let suited = candidates.iter().filter(|pair| pair.unsupported(&wanted, &wanted.kernels()).is_none());
        let shows: Vec<_> = suited.map(|pair| pair.rows().1).collect();
        let spreads = wanted.is_compared && (is_latency || (1..shows.len()).any(|at| shows[..at].contains(&shows[at])));
        let trials = if spreads && known.is_none() { asked.trials } else { Trials::Off };
        if trials != Trials::Off {
            // The program's own frames are compared, not those of each link.
            wanted.policy = wanted.policy.with_trials(Trials::Asked).with_mode(Mode::Latency);
        }
        let pipeline = (wanted.policy.mode != asked.mode).then(|| asked.clone());
        let (opened, choice) = known.map_or_else(|| wanted.first(&candidates), Ok)?;
        let OpenedLink { backend, kernels, screen, link, report, .. } = opened;
        let shown: Vec<_> = shown.into_iter().filter(|shown| shown.choice == choice.1).collect();
        // Pairs with another display cannot take part.
        let name = screen.display().device().to_string();
        let mut rows: Vec<_> = report.rows.iter().filter(|row| row.display == name).cloned().collect();
        if trials == Trials::Off {
            // Its path was timed when the link opened, if at all.
            let measured = link.report().chosen().and_then(PathReport::median_us);
            let chosen = rows.iter_mut().filter(|row| row.state == PairState::Chosen && row.median_us.is_none());
            chosen.for_each(|row| row.median_us = measured);
        }
        let trials = BackendTrials::new(wanted, (trials, asked.mode), shown, PairReport { rows, ..report });
        let state = prepare(&backend, kernels.clone())?;
        let active = Contender::new(trials.in_use(), link, kernels, state, true);
        Ok(AutoLink { screen, prepare: Arc::new(prepare), carry: None, active, standby: None, trials, pipeline })
    }
}

impl<S> AutoLink<S> {
    /// Sets a function that copies state that frames leave in `S` for later ones, from the first to the second
    /// argument, whenever the program switches to another backend. A frame that fails must leave that state unchanged,
    /// because the frame is then computed again.
    #[must_use]
    pub fn with_carry(mut self, carry: impl Fn(&mut S, &mut S) -> Result<()> + 'static) -> Self {
        self.carry = Some(Box::new(carry));
        self
    }

    /// Computes one frame of the whole surface, like [`Link::frame`](LinkCore::frame). If another backend should compute it and fails,
    /// the current one computes it. The time of the program's own draw is unknown, so an offscreen draw is timed
    /// instead.
    ///
    /// # Errors
    /// The errors of [`Link::frame`](LinkCore::frame), and those of `compute`.
    pub fn frame(&mut self, mut compute: impl FnMut(&mut WriteFrame<'_>, &mut S) -> Result<()>) -> Result<()> {
        self.run_frame(|link, state| link.frame(|next| compute(next, state)), false)
    }

    /// Computes one frame, and draws it with the program's function, whose time counts.
    ///
    /// # Errors
    /// The errors of [`Link::frame`](LinkCore::frame), and those of both functions.
    pub fn frame_and_draw(
        &mut self,
        mut compute: impl FnMut(&mut WriteFrame<'_>, &mut S) -> Result<()>,
        mut draw: impl FnMut(&ShownFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        let run = |link: &mut LinkCore, state: &mut S| {
            link.frame(|next| compute(next, state))?;
            draw(&link.shown()?)
        };
        self.run_frame(run, true)
    }

    /// Computes one frame and shows it in `target`, like [`Link::show`](LinkCore::show).
    ///
    /// # Errors
    /// The errors of [`Link::show`](LinkCore::show), and those of `compute`.
    pub fn show(
        &mut self,
        target: &mut dyn ShowTarget,
        options: DrawOptions,
        mut compute: impl FnMut(&mut WriteFrame<'_>, &mut S) -> Result<()>,
    ) -> Result<ShowOutcome> {
        self.run_frame(|link, state| link.show(target, options, |next| compute(next, state)), true)
    }

    /// Names the work of the next frames, like [`LinkBuilder::work`].
    pub fn set_work(&mut self, name: &str) {
        if self.trials.set_work(name) {
            self.active.forget();
            self.standby.iter_mut().for_each(Contender::forget);
        }
    }

    /// Returns the link that has the newest frame. Another link may get the next one.
    pub fn link(&self) -> &LinkCore {
        &self.active.link
    }

    /// Returns the link that has the newest frame, for [`Link::read_back`](LinkCore::read_back), [`Link::flush`](LinkCore::flush) and similar calls. Frames
    /// computed with it directly are not compared, and a link that is being compared does not receive them. Do not
    /// resize or clear it.
    pub fn link_mut(&mut self) -> &mut LinkCore {
        &mut self.active.link
    }

    /// Returns the state of the backend with the newest frame.
    pub fn state(&mut self) -> &mut S {
        &mut self.active.state
    }

    /// Returns the display.
    pub fn display(&self) -> &Arc<dyn Display> {
        self.active.link.display()
    }

    /// Returns the opened display with its own functions, e.g. [`HeadlessDisplay::gl`].
    pub fn screen(&self) -> &HeadlessDisplay {
        &self.screen
    }

    /// Returns the findings about each pair of a backend and this display.
    pub fn report(&self) -> &PairReport {
        self.trials.report()
    }

    /// True where nothing is left to compare.
    pub fn is_decided(&self) -> bool {
        self.trials.is_over()
    }

    /// Changes the surface, like [`Link::resize`](LinkCore::resize).
    ///
    /// # Errors
    /// The errors of [`Link::resize`](LinkCore::resize).
    pub fn resize(&mut self, desc: SurfaceDesc) -> Result<()> {
        self.switch_to(self.trials.in_use(), true)?;
        self.active.link.resize(desc)?;
        self.active.forget();
        if let Some(standby) = &mut self.standby {
            match standby.link.resize(desc) {
                Ok(()) => standby.forget(),
                Err(error) => self.trials.fail(standby.row(), error),
            }
        }
        if !self.active.link.is_paused() {
            self.trials.set_surface(desc);
        }
        Ok(())
    }

    /// Ends the comparison and goes on with the backend in use and a link of this policy, e.g. by another path or in another mode. The
    /// newest picture stays on show.
    ///
    /// # Errors
    /// The errors of [`Link::open`] and [`Link::flush`](LinkCore::flush). The link before stays, with its picture.
    pub fn set_policy(&mut self, policy: Policy) -> Result<()> {
        self.trials.stop_and_save(&self.active, self.standby.as_ref());
        self.reopen(policy)?;
        self.pipeline = None;
        Ok(())
    }

    /// Shows one frame with one of the two contenders.
    fn run_frame<R>(&mut self, run: impl FnMut(&mut LinkCore, &mut S) -> Result<R>, is_drawn: bool) -> Result<R> {
        let on_show = self.active.row();
        let made = self.attempt(run, is_drawn);
        match &self.standby {
            // The previous frame stays on show.
            Some(_) if made.is_err() && self.active.row() != on_show => self.exchange(),
            _ if made.is_ok() => {
                self.trials.save_if_over(&self.active, self.standby.as_ref());
                if !self.trials.has_duel() && self.active.row() == self.trials.in_use() {
                    self.close_standby();
                }
            }
            _ => {}
        }
        made
    }

    fn attempt<R>(&mut self, mut run: impl FnMut(&mut LinkCore, &mut S) -> Result<R>, is_drawn: bool) -> Result<R> {
        let on_show = self.active.row();
        if self.active.link.is_paused() {
            return run(&mut self.active.link, &mut self.active.state);
        }
        let rests = self.trials.rests() || self.active.link.frames_behind() > 0;
        if self.trials.is_over()
            && let Some(policy) = self.pipeline.take()
        {
            let reopened = self.reopen(policy);
            reopened.unwrap_or_else(|error| tracing::warn!(%error, "cannot switch to pipelined frames"));
        }
        if rests {
            self.switch_to(self.trials.in_use(), false)?;
        }
        if rests || !self.plan()? {
            return run(&mut self.active.link, &mut self.active.state);
        }
        if self.trials.begins_turn() {
            // The frames before were not waited for.
            let waited = self.display().finish();
            waited.unwrap_or_else(|error| tracing::debug!(%error, "cannot wait for the frames before a turn"));
        }
        let clock = self.trials.clock();
        let begun = clock.now();
        let made = run(&mut self.active.link, &mut self.active.state);
        let computed = clock.since(begun);
        let waited = made.as_ref().map_or(Ok(()), |_| self.wait(is_drawn));
        let took = clock.since(begun);
        let is_newcomer = self.active.row() != self.trials.in_use();
        match (made, waited) {
            (Ok(made), Ok(())) => {
                if self.trials.note(&mut self.active, computed, took) {
                    self.trials.judge(&mut self.active, self.standby.as_mut());
                }
                Ok(made)
            }
            // The frame exists, but its time is unknown.
            (Ok(made), Err(error)) if is_newcomer => {
                self.trials.fail(self.active.row(), error);
                Ok(made)
            }
            (Err(error), _) if is_newcomer => {
                let row = self.active.row();
                self.trials.fail(row, error);
                if on_show == self.trials.in_use() {
                    // The other contender has all state that frames keep; this frame changed only a copy of it.
                    self.exchange();
                } else {
                    self.switch_to(self.trials.in_use(), false)?;
                }
                let made = run(&mut self.active.link, &mut self.active.state);
                if made.is_err() {
                    self.trials.blame_program(row);
                }
                made
            }
            (made, _) => {
                self.trials.cancel();
                made
            }
        }
    }

    /// Waits until the newest frame is drawn.
    fn wait(&self, is_drawn: bool) -> Result<()> {
        let link = &self.active.link;
        if !is_drawn {
            link.display().draw_offscreen(link.shown()?.surface())?;
        }
        link.display().finish()
    }

    /// Prepares the next frame. Returns false where it is not timed.
    fn plan(&mut self) -> Result<bool> {
        match self.trials.next(&self.active, self.standby.as_ref()) {
            NextFrame::Timed(row) => match self.switch_to(row, false) {
                Ok(()) => Ok(true),
                // The current pair has all that it needs.
                Err(error) if row != self.trials.in_use() => {
                    self.trials.fail(row, error);
                    Ok(false)
                }
                Err(error) => Err(error),
            },
            // The pair on show must stay open until the next frame is made, so it is replaced one frame later.
            NextFrame::Open if self.active.row() == self.trials.in_use() => {
                self.screen.make_current()?;
                let prepare = Arc::clone(&self.prepare);
                self.standby = self.trials.open(&self.active, |backend, kernels| prepare(backend, kernels));
                Ok(false)
            }
            NextFrame::Plain | NextFrame::Open => self.switch_to(self.trials.in_use(), false).map(|()| false),
        }
    }

    /// Frees the pair that is not on show.
    fn close_standby(&mut self) {
        if self.standby.is_some() {
            // The display postpones drops while its context is not current.
            self.screen.make_current().unwrap_or_else(|error| tracing::debug!(%error, "the display is not current"));
            self.standby = None;
        }
    }

    /// Shows frames with the pair of this row from now on. The current pair stays usable in any case, with its own
    /// memory and picture where those of the newcomer cannot be read. `shows` says that its picture is shown before it
    /// makes another frame, so it needs the newest one even where frames keep nothing.
    fn switch_to(&mut self, row: usize, shows: bool) -> Result<()> {
        if self.active.row() == row {
            return Ok(());
        }
        let clock = self.trials.clock();
        let begun = clock.now();
        let done = match self.carry_and_exchange(shows) {
            Err(error) if row == self.trials.in_use() => {
                self.trials.fail(self.active.row(), error);
                self.exchange();
                Ok(())
            }
            done => done,
        };
        self.trials.spend(clock.since(begun));
        done
    }

    /// Continues with the other state, which receives the state that frames keep.
    fn carry_and_exchange(&mut self, shows: bool) -> Result<()> {
        let Some(standby) = &mut self.standby else { return Ok(()) };
        if let Some(carry) = &self.carry {
            carry(&mut self.active.state, &mut standby.state)?;
        }
        if shows || self.active.link.desc().unwritten() == Unwritten::Keep {
            copy(&mut self.active.link, &mut standby.link)?;
        }
        self.exchange();
        Ok(())
    }

    /// Goes on with a link of this policy, with the backend that was the quickest for frames that are waited for.
    fn reopen(&mut self, policy: Policy) -> Result<()> {
        self.screen.make_current()?;
        let link = &self.trials.in_use_and_newcomer(&self.active, self.standby.as_ref()).0.link;
        let (backend, display) = (Arc::clone(link.backend()), Arc::clone(link.display()));
        let mut next = Link::open(backend, display, *link.desc(), LinkOptions::new(policy))?;
        copy(&mut self.active.link, &mut next)?;
        self.switch_to(self.trials.in_use(), false)?;
        self.active.link = next;
        Ok(())
    }

    fn exchange(&mut self) {
        if let Some(standby) = &mut self.standby {
            std::mem::swap(&mut self.active, standby);
        }
    }
}

impl<S> Drop for AutoLink<S> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.trials.stop_and_save(&self.active, self.standby.as_ref());
    }
}

/// Copies the newest picture, of which a frame may leave pixels as they were.
fn copy(from: &mut LinkCore, to: &mut LinkCore) -> Result<()> {
    from.flush()?;
    // After a resize, a picture of the size before is on show, of which the new one keeps nothing.
    if from.shown().is_ok_and(|shown| shown.desc() == to.desc()) {
        let picture = from.read_back()?;
        to.frame(|next| next.write(&picture))?;
    }
    Ok(())
}
