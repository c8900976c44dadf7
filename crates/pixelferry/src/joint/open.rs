//! Opening: the backend, the display and the path that are best for the frames.

use super::bench::Bench;
use super::declare::LinkBuilder;
use super::memory;
use super::pairs::{Pair, Prospect, Rows, displays, prospects};
use super::report::{Basis, JointReport, JointRow, JointState, failed, is_mistake};
use super::trials::PairTrials;
use crate::backend_rows::BackendChoice;
use crate::headless::Headless;
use interop_core::describe::process;
use interop_core::tournament::Tournament;
use interop_core::{ComputeBackend, Display, Error, Kernel, Link, LinkOptions, Result};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A link with its two sides, as [`LinkBuilder::open`] opened them.
///
/// ```
/// use pixelferry::{BackendChoice, DisplayChoice, LinkBuilder, PixelFormat, SurfaceDesc};
///
/// let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
/// let builder = LinkBuilder::new(desc).backend(BackendChoice::Cpu).display(DisplayChoice::Memory);
/// let mut opened = builder.open()?;
/// opened.link.frame(|next| next.write(&[3, 4]))?;
/// assert_eq!(opened.link.read_back()?, [3, 4]);
/// println!("{}", opened.report);
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[non_exhaustive]
pub struct Opened {
    /// The side that computes: build further kernels and allocate here.
    pub backend: Arc<dyn ComputeBackend>,
    /// The kernels that were declared, in their order.
    pub kernels: Vec<Arc<dyn Kernel>>,
    /// The side that shows.
    pub display: Rc<dyn Display>,
    /// The display as [`LinkBuilder::open`] opened it, with its own functions, e.g. [`Headless::gl`]; a given one has none.
    pub screen: Headless,
    /// The path between them; nothing is shown yet.
    pub link: Link,
    /// Report of all pairs, and the reason for the choice.
    pub report: JointReport,
}

impl LinkBuilder {
    /// Opens the backend, the display and the path that are best for these frames.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where no display opens; [`Error::Unsupported`] where no pair does these frames, with the reason of
    /// each; the refusal itself of a backend that was asked for; what the environment asks for and cannot be.
    pub fn open(self) -> Result<Opened> {
        let wanted = self.checked("LinkBuilder::open")?;
        let shown = displays(&wanted)?;
        wanted.choose(&prospects(&wanted, &shown, wanted.launches.is_empty()))
    }

    /// Opens the first pair that works for frames that the program makes without declared kernels, or the one that is remembered for
    /// such [`LinkBuilder::work`]. [`PairTrials::step`] compares the others with the program's own frames while it shows them.
    ///
    /// # Errors
    /// Those of [`LinkBuilder::open`], and [`Error::InvalidInput`] where a kernel is declared.
    pub fn open_for_trials(self) -> Result<(Opened, PairTrials)> {
        const CALL: &str = "LinkBuilder::open_for_trials";
        let wanted = self.checked(CALL)?;
        if !wanted.launches.is_empty() {
            return Err(Error::invalid(CALL, "a kernel is declared; call LinkBuilder::open"));
        }
        let shown = displays(&wanted)?;
        let prospects = prospects(&wanted, &shown, true);
        let (remembered, opened, choice) = match wanted.remembered(&prospects) {
            Some((opened, choice)) => (opened.report.chosen().and_then(|row| row.median_us), opened, choice),
            None => {
                let ((pair, link), place, mut rows) = wanted.by_cost(&prospects, |pair| wanted.linked(pair))?;
                rows[place] = pair.row(&link, JointState::Chosen);
                let (choice, basis) =
                    (pair.choice, Basis::CostModel("others are compared while frames are shown".into()));
                (None, opened(pair, link, JointReport { what: wanted.what(), basis, rows }), choice)
            }
        };
        // Others show elsewhere.
        let rows = prospects.iter().zip(&opened.report.rows).filter(|(prospect, _)| prospect.rows().1 == choice.1);
        let rows: Vec<_> = rows.map(|(_, row)| row.clone()).collect();
        let report = JointReport { rows, ..opened.report.clone() };
        let in_use = report.rows.iter().position(|row| row.state == JointState::Chosen).unwrap_or(0);
        let shown: Vec<_> = shown.into_iter().filter(|shown| shown.choice() == choice.1).collect();
        let trials = PairTrials::new(wanted, shown, report, in_use, remembered);
        Ok((opened, trials))
    }

    fn checked(mut self, call: &'static str) -> Result<Self> {
        process::check(call)?;
        self.surface.byte_len().map_err(|error| error.of(call))?;
        self.policy = self.policy.overridden()?;
        Ok(self)
    }

    /// Opens the pair that an earlier start remembered for such frames.
    fn remembered(&self, prospects: &[Prospect<'_>]) -> Option<(Opened, Rows)> {
        let remembered = memory::load(self)?;
        let prospect = prospects.iter().find(|prospect| prospect.rows() == remembered.choice)?;
        let pair = prospect.open(self).ok().filter(|pair| remembered.is_of(pair))?;
        let (pair, link) = self.linked(pair).ok()?;
        let report = JointReport { basis: Basis::Remembered, ..remembered.report };
        Some((opened(pair, link, report), remembered.choice))
    }

    fn choose(&self, prospects: &[Prospect<'_>]) -> Result<Opened> {
        if let Some(why) = self.unmeasured(prospects) {
            let ((pair, link), place, mut rows) = self.by_cost(prospects, |pair| self.linked(pair))?;
            rows[place] = pair.row(&link, JointState::Chosen);
            return Ok(opened(pair, link, JointReport { what: self.what(), basis: Basis::CostModel(why), rows }));
        }
        match self.remembered(prospects) {
            Some((opened, _)) => Ok(opened),
            None => self.by_measuring(prospects),
        }
    }

    /// Opens the two sides by the cost model, without a link: for programs that open links of several surfaces, outlets
    /// and intakes themselves. Declared kernels are not built; a backend that speaks no language of one of them is passed over.
    ///
    /// ```
    /// use pixelferry::{BackendChoice, DisplayChoice, Link, LinkBuilder, LinkOptions, PixelFormat, SurfaceDesc};
    ///
    /// let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
    /// let builder = LinkBuilder::new(desc).backend(BackendChoice::Cpu).display(DisplayChoice::Memory);
    /// let (backend, screen) = builder.open_sides()?;
    /// let first = Link::open(backend.clone(), screen.display(), desc, LinkOptions::default())?;
    /// let second = Link::open(backend, screen.display(), SurfaceDesc::buffer(64), LinkOptions::default())?;
    /// assert_ne!(first.desc(), second.desc());
    /// # Ok::<(), pixelferry::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`LinkBuilder::open`], but for those of kernels and paths.
    pub fn open_sides(self) -> Result<(Arc<dyn ComputeBackend>, Headless)> {
        process::check("LinkBuilder::open_sides")?;
        let shown = displays(&self)?;
        let (pair, ..) = self.by_cost(&prospects(&self, &shown, false), Ok)?;
        Ok((pair.backend, pair.screen))
    }

    /// Returns the reason if nothing is to be measured.
    fn unmeasured(&self, prospects: &[Prospect<'_>]) -> Option<String> {
        match prospects {
            _ if self.budget.is_zero() => Some("there is no time to measure".into()),
            [_] => Some("backend and display are given".into()),
            _ => None,
        }
    }

    /// Opens the path of a pair, which is chosen within that time.
    pub(super) fn link(&self, pair: &Pair, budget: Duration) -> Result<Link> {
        pair.enter()?;
        let options = LinkOptions::new(self.policy.clone().with_budget(budget.min(self.policy.budget)));
        Link::open(Arc::clone(&pair.backend), pair.screen.display(), self.surface, options)
    }

    /// Builds a pair's kernels and opens its path.
    fn linked(&self, pair: Pair) -> Result<(Pair, Link)> {
        let pair = pair.built(self)?;
        let link = self.link(&pair, self.policy.budget)?;
        Ok((pair, link))
    }

    fn what(&self) -> String {
        let kernels: Vec<_> = self.launches.iter().map(|(kernel, _)| format!("'{}'", kernel.name())).collect();
        let kernels = if kernels.is_empty() { self.work.clone() } else { kernels.join(", ") };
        format!("{} by {kernels}", self.surface)
    }

    /// The first pair of which `then` makes something, its place, and rows that say what became of those before.
    fn by_cost<T>(
        &self,
        prospects: &[Prospect<'_>],
        then: impl Fn(Pair) -> Result<T>,
    ) -> Result<(T, usize, Vec<JointRow>)> {
        let untried = || JointState::NotTried { reason: "shaders of a program on the CPU come last".into() };
        let mut rows: Vec<_> = prospects.iter().map(|prospect| prospect.row(self, untried())).collect();
        let (mut refusal, mut queue): (_, VecDeque<_>) = (None, prospects.iter().map(|_| None).enumerate().collect());
        while let Some((place, opened)) = queue.pop_front() {
            let (prospect, is_last) = (&prospects[place], opened.is_some());
            let made = match opened.map_or_else(|| prospect.open(self), Ok) {
                Ok(pair) if !is_last && !prospect.suits(&pair, self) => {
                    queue.push_back((place, Some(pair)));
                    continue;
                }
                opened => opened.and_then(&then),
            };
            match made {
                Ok(made) => return Ok((made, place, rows)),
                Err(error) => rows[place].state = failed(error, &mut refusal),
            }
        }
        Err(self.none(&rows, refusal))
    }

    fn by_measuring(&self, prospects: &[Prospect<'_>]) -> Result<Opened> {
        let clock = &self.policy.clock;
        // Half of the time is for turns. Paths that this leaves untimed are compared while the link shows (`Policy::trials`).
        let paths = self.budget / 2 / u32::try_from(prospects.len()).unwrap_or(u32::MAX).max(1);
        let mut spent = Duration::ZERO;
        let untried = || JointState::NotTried { reason: format!("no time within {} ms", self.budget.as_millis()) };
        let mut rows: Vec<_> = prospects.iter().map(|prospect| prospect.row(self, untried())).collect();
        let mut refusal = None;
        let mut pairs: Tournament<Bench> = Tournament::new(clock);
        for (place, prospect) in prospects.iter().enumerate() {
            // A pair takes as long as those before did on average.
            let tried = u32::try_from(place).unwrap_or(u32::MAX);
            if pairs.leader().is_some() && spent.saturating_add(spent / tried.max(1)) > self.budget {
                break;
            }
            let opened = prospect.open(self).and_then(|pair| pair.built(self));
            let begun = clock.now();
            match opened.and_then(|pair| Bench::open(place, pair, self, paths)) {
                Ok(bench) => {
                    let end = begun.saturating_add(self.budget.saturating_sub(spent));
                    pairs.duel(&(), bench, end);
                }
                Err(error) => rows[place].state = failed(error, &mut refusal),
            }
            for (lost, error) in pairs.take_losers() {
                let ratio = pairs.leader().and_then(|best| lost.ratio_to(best));
                let state = error.map_or(JointState::Slower, |error| failed(error, &mut refusal));
                rows[lost.who.place] = Bench::row(&lost, state, ratio);
                lost.who.leave();
            }
            spent += clock.since(begun);
        }
        let Some(best) = pairs.ranking().pop() else { return Err(self.none(&rows, refusal)) };
        rows[best.who.place] = Bench::row(&best, JointState::Chosen, None);
        let (pair, link) = best.who.into_pair()?;
        let basis = Basis::Measured(spent);
        let is_untried = |row: &JointRow, prospect: &Prospect<'_>| {
            matches!(row.state, JointState::NotTried { .. }) && prospect.reads_wgsl()
        };
        let mut untried = rows.iter_mut().zip(prospects).filter(|(row, prospect)| is_untried(row, prospect)).peekable();
        if untried.peek().is_some()
            && let Some(reason) = self.mistake_in_wgsl()
        {
            untried.for_each(|(row, _)| row.state = JointState::Mistaken { reason: reason.clone() });
        }
        let report = JointReport { what: self.what(), basis, rows };
        // A mistake is told at each start until it is mended.
        if !report.rows.iter().any(|row| matches!(row.state, JointState::Mistaken { .. })) {
            memory::store(self, pair.choice, &link, &report);
        }
        tracing::info!(%report, "backend and display chosen");
        Ok(opened(pair, link, report))
    }

    /// Reads WGSL, which is read alike on every device, for pairs that nobody tried, and warns of a mistake in it.
    fn mistake_in_wgsl(&self) -> Option<String> {
        #[cfg(feature = "gl-compute")]
        let mut mistakes = self.launches.iter().filter_map(|(kernel, _)| pixelferry_gl::check_wgsl(kernel).err());
        #[cfg(not(feature = "gl-compute"))]
        let mut mistakes = std::iter::empty::<Error>();
        let reason = mistakes.next()?.to_string();
        tracing::warn!("{reason}");
        Some(reason)
    }

    /// A mistake of the program's, the refusal of the backend that was asked for, or those of all there are, a line each.
    fn none(&self, rows: &[JointRow], refusal: Option<Error>) -> Error {
        let pinned = self.computed_by.is_some() || self.backend != BackendChoice::Auto;
        if let Some(refusal) = refusal.filter(|refusal| pinned || is_mistake(refusal)) {
            return refusal;
        }
        let reasons = rows.iter().filter_map(|row| match &row.state {
            JointState::Failed { reason } | JointState::NotTried { reason } => {
                Some(format!("\n  {} -> {}: {reason}", row.compute, row.display))
            }
            _ => None,
        });
        Error::Unsupported {
            operation: "LinkBuilder::open",
            device: "every backend with every display".into(),
            reason: reasons.collect(),
        }
    }
}

fn opened(pair: Pair, link: Link, report: JointReport) -> Opened {
    let Pair { backend, kernels, screen, .. } = pair;
    Opened { backend, kernels, display: screen.display(), screen, link, report }
}
