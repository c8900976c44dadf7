//! Opens the best backend, display and path for the frames.

use super::link_builder::LinkBuilder;
use super::pairs::{DisplaySide, Pair, PairCandidate, Rows, built, candidates, check_languages, displays};
use super::report::{Basis, PairReport, PairRow, PairState, failed, is_mistake};
use super::saved_choice;
use crate::backend_rows::BackendChoice;
use crate::headless::HeadlessDisplay;
use interop_core::describe::process;
use interop_core::{ComputeBackend, Display, Error, Kernel, Link, LinkOptions, Mode, PathId, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// An opened link with its two sides, from [`LinkBuilder::open`].
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
pub struct OpenedLink {
    /// The compute side. Build further kernels and allocate memory with it.
    pub backend: Arc<dyn ComputeBackend>,
    /// The declared kernels, in their order.
    pub kernels: Vec<Arc<dyn Kernel>>,
    /// The display side.
    pub display: Arc<dyn Display>,
    /// The display as [`LinkBuilder::open`] opened it, with its own functions, e.g. [`HeadlessDisplay::gl`]. A display that
    /// the program supplied has none.
    pub screen: HeadlessDisplay,
    /// The link between them; it shows nothing yet.
    pub link: Link,
    /// Report about all pairs, with the reason for the choice.
    pub report: PairReport,
}

impl LinkBuilder {
    /// Opens the pair of backend and display that frames of an earlier start found to be the fastest for this work, or
    /// otherwise the first one that works: for frames of the host, the CPU backend; for kernels, the display's own
    /// queue where a GPU draws. The path between them is selected as for any link. [`LinkBuilder::open_auto`] opens the
    /// same pair and continues to compare it with others.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where no display opens; [`Error::Unsupported`] where no pair supports these frames, with
    /// the reason of each; the error itself of a backend that was requested; errors of invalid settings in the
    /// environment.
    pub fn open(self) -> Result<OpenedLink> {
        let wanted = self.checked("LinkBuilder::open")?;
        let shown = displays(&wanted)?;
        Ok(wanted.first(&wanted.candidates(&shown))?.0)
    }

    pub(super) fn checked(mut self, call: &'static str) -> Result<Self> {
        process::check(call)?;
        self.surface.byte_len().map_err(|error| error.of(call))?;
        self.policy = self.policy.overridden()?;
        Ok(self)
    }

    /// Returns the pairs for these frames, in the order of the cost model.
    pub(super) fn candidates<'a>(&self, shown: &'a [DisplaySide]) -> Vec<PairCandidate<'a>> {
        candidates(self, shown, self.launches.is_empty())
    }

    /// Finds the pair that an earlier start stored for such frames.
    pub(super) fn remembered(&self, candidates: &[PairCandidate<'_>]) -> Option<(OpenedLink, Rows)> {
        let remembered = saved_choice::load(self)?;
        let candidate = candidates.iter().find(|candidate| candidate.rows() == remembered.choice)?;
        let pair = candidate.open(self).ok().filter(|pair| remembered.is_of(pair))?;
        // In other modes, paths were not compared with frames of the program.
        let path = remembered.report.chosen().and_then(|row| row.path.as_deref());
        let path = path.filter(|_| self.policy.mode == Mode::Latency && !self.policy.budget.is_zero());
        let (pair, link) = self.linked(pair, path.and_then(|name| self.policy.paths.named(name).ok())).ok()?;
        let report = PairReport { basis: Basis::Remembered, ..remembered.report };
        Some((opened(pair, link, report), remembered.choice))
    }

    /// Opens the stored pair, or the first one that works.
    pub(super) fn first(&self, candidates: &[PairCandidate<'_>]) -> Result<(OpenedLink, Rows)> {
        if let Some(remembered) = self.remembered(candidates) {
            return Ok(remembered);
        }
        let ((pair, link), place, mut rows) = self.by_cost(candidates, |pair| self.linked(pair, None))?;
        rows[place] = PairRow::of(&link, PairState::Chosen);
        self.mark_mistakes(candidates, &mut rows);
        let (choice, basis) = (pair.choice, Basis::CostModel);
        Ok((opened(pair, link, PairReport { what: self.what(), basis, rows, paths: Vec::new() }), choice))
    }

    /// Opens the two sides by the cost model, without a link: for programs that open links of several surfaces, outlets
    /// and intakes themselves. Declared kernels are not built; a backend that supports no language of one of them is
    /// skipped.
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
    /// The errors of [`LinkBuilder::open`], except for those of kernels and paths.
    pub fn open_sides(self) -> Result<(Arc<dyn ComputeBackend>, HeadlessDisplay)> {
        process::check("LinkBuilder::open_sides")?;
        let shown = displays(&self)?;
        let check_languages = |pair: Pair| check_languages(pair.backend.as_ref(), &self.kernels()).map(|()| pair);
        let (pair, ..) = self.by_cost(&candidates(&self, &shown, false), check_languages)?;
        Ok((pair.backend, pair.screen))
    }

    /// Opens the link of a pair, whose path is selected within `budget`. The program's preferred path, otherwise
    /// `path`, is tried first.
    pub(super) fn link(&self, pair: &Pair, path: Option<PathId>, budget: Duration) -> Result<Link> {
        pair.screen.make_current()?;
        let policy = self.policy.clone().with_budget(budget.min(self.policy.budget));
        let options = LinkOptions::new(policy.with_prefer(self.policy.prefer.or(path)));
        Link::open(Arc::clone(&pair.backend), pair.screen.display(), self.surface, options)
    }

    /// Builds a pair's kernels and opens its link.
    fn linked(&self, mut pair: Pair, path: Option<PathId>) -> Result<(Pair, Link)> {
        pair.kernels = built(pair.backend.as_ref(), &self.kernels())?;
        let link = self.link(&pair, path, self.policy.budget)?;
        Ok((pair, link))
    }

    pub(super) fn what(&self) -> String {
        let kernels: Vec<_> = self.launches.iter().map(|(kernel, _)| format!("'{}'", kernel.name())).collect();
        let kernels = if kernels.is_empty() { self.work.clone() } else { kernels.join(", ") };
        format!("{} by {kernels}", self.surface)
    }

    /// Returns the first pair for which `then` succeeds, its position, and rows with the results of those before it.
    fn by_cost<T>(
        &self,
        candidates: &[PairCandidate<'_>],
        then: impl Fn(Pair) -> Result<T>,
    ) -> Result<(T, usize, Vec<PairRow>)> {
        let state = |candidate: &PairCandidate<'_>| match candidate.unsupported(self, &self.kernels()) {
            Some(error) => PairState::Failed { reason: error.to_string() },
            None => PairState::NotTried { reason: "another pair works".into() },
        };
        let mut rows: Vec<_> = candidates.iter().map(|candidate| candidate.row(self, state(candidate))).collect();
        let (mut refusal, mut queue): (_, VecDeque<_>) = (None, candidates.iter().map(|_| None).enumerate().collect());
        while let Some((place, opened)) = queue.pop_front() {
            let (candidate, is_last) = (&candidates[place], opened.is_some());
            let made = match opened.map_or_else(|| candidate.open(self), Ok) {
                Ok(pair) if !is_last && !candidate.suits(&pair, self) => {
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

    /// Parses WGSL, which is the same on every device, for pairs that were not tried, and warns of mistakes in it.
    fn mark_mistakes(&self, candidates: &[PairCandidate<'_>], rows: &mut [PairRow]) {
        let is_untried = |row: &PairRow, candidate: &PairCandidate<'_>| {
            matches!(row.state, PairState::NotTried { .. }) && candidate.reads_wgsl()
        };
        let untried = rows.iter_mut().zip(candidates).filter(|(row, candidate)| is_untried(row, candidate));
        let mut untried = untried.peekable();
        if untried.peek().is_none() {
            return;
        }
        #[cfg(feature = "gl-compute")]
        let mut mistakes = self.launches.iter().filter_map(|(kernel, _)| pixelferry_gl::check_wgsl(kernel).err());
        #[cfg(not(feature = "gl-compute"))]
        let mut mistakes = std::iter::empty::<Error>();
        let Some(reason) = mistakes.next().map(|error| error.to_string()) else { return };
        tracing::warn!("{reason}");
        untried.for_each(|(row, _)| row.state = PairState::Mistaken { reason: reason.clone() });
    }

    /// Returns the error: a mistake of the program, the error of the requested backend, or the errors of all pairs, one
    /// line each.
    fn none(&self, rows: &[PairRow], refusal: Option<Error>) -> Error {
        let pinned = self.computed_by.is_some() || self.backend != BackendChoice::Auto;
        if let Some(refusal) = refusal.filter(|refusal| pinned || is_mistake(refusal)) {
            return refusal;
        }
        let reasons = rows.iter().filter_map(|row| match &row.state {
            PairState::Failed { reason } | PairState::NotTried { reason } => {
                Some(format!("\n  {} -> {}: {reason}", row.compute, row.display))
            }
            _ => None,
        });
        Error::Unsupported {
            operation: "LinkBuilder::open",
            device: "any pair of a backend and a display".into(),
            reason: reasons.collect(),
        }
    }
}

fn opened(pair: Pair, link: Link, report: PairReport) -> OpenedLink {
    let Pair { backend, kernels, screen, .. } = pair;
    OpenedLink { backend, kernels, display: screen.display(), screen, link, report }
}
