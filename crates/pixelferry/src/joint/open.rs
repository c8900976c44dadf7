//! Opening: the backend, the display and the path that are best for the frames.

use super::bench::Bench;
use super::declare::LinkBuilder;
use super::memory;
use super::pairs::{Pair, Prospect, displays, prospects};
use super::report::{Basis, JointReport, JointRow, JointState};
use crate::headless::Headless;
use interop_core::tournament::Tournament;
use interop_core::{ComputeBackend, Display, Error, Kernel, Link, LinkOptions, Result};
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
    /// The display, where [`LinkBuilder::open`] opened it: its own functions, e.g. [`Headless::gl`].
    pub screen: Option<Headless>,
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
    /// each; what the environment asks for and cannot be.
    pub fn open(mut self) -> Result<Opened> {
        self.surface.byte_len().map_err(|error| error.of("LinkBuilder::open"))?;
        self.policy = self.policy.overridden()?;
        let shown = displays(&self)?;
        let prospects = prospects(&self, &shown);
        if let Some(why) = self.unmeasured(&prospects) {
            return self.by_cost(&prospects, why);
        }
        if let Some(remembered) = memory::load(&self)
            && let Some(prospect) = prospects.iter().find(|prospect| prospect.is(remembered.choice))
            && let Ok(pair) = prospect.open(&self)
            && remembered.is_of(&pair)
            && let Ok((pair, link)) = self.linked(pair)
        {
            let report = JointReport { basis: Basis::Remembered, ..remembered.report };
            return Ok(opened(pair, link, report));
        }
        self.by_measuring(&prospects)
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
        Link::open(Arc::clone(&pair.backend), Rc::clone(&pair.display), self.surface, options)
    }

    /// Builds a pair's kernels and opens its path.
    fn linked(&self, pair: Pair) -> Result<(Pair, Link)> {
        let pair = pair.built(self)?;
        let link = self.link(&pair, self.policy.budget)?;
        Ok((pair, link))
    }

    fn what(&self) -> String {
        let kernels: Vec<_> = self.launches.iter().map(|(kernel, _)| format!("'{}'", kernel.name())).collect();
        let kernels = if kernels.is_empty() { "the host".into() } else { kernels.join(", ") };
        format!("{} by {kernels}", self.surface)
    }

    fn by_cost(&self, prospects: &[Prospect<'_>], why: String) -> Result<Opened> {
        let untried = || JointState::NotTried { reason: "shaders of a program on the CPU come last".into() };
        let (mut rows, mut last): (Vec<JointRow>, Vec<_>) = (Vec::new(), Vec::new());
        let try_one = |rows: &mut [JointRow], place: usize, pair: Result<Pair>| {
            let linked = pair.and_then(|pair| self.linked(pair));
            rows[place] = match &linked {
                Ok((pair, link)) => pair.row(link, JointState::Chosen),
                Err(error) => JointRow { state: failed(error), ..rows[place].clone() },
            };
            linked.ok()
        };
        let mut taken = None;
        for prospect in prospects {
            rows.push(prospect.row(untried()));
            let (place, pair) = (rows.len() - 1, prospect.open(self));
            match pair {
                // These are tried when all else has failed.
                Ok(pair) if !prospect.suits(&pair, self) => last.push((place, pair)),
                pair => taken = try_one(&mut rows, place, pair),
            }
            if taken.is_some() {
                break;
            }
        }
        let taken = taken.or_else(|| last.into_iter().find_map(|(place, pair)| try_one(&mut rows, place, Ok(pair))));
        let Some((pair, link)) = taken else { return Err(none(&rows)) };
        Ok(opened(pair, link, JointReport { what: self.what(), basis: Basis::CostModel(why), rows }))
    }

    fn by_measuring(&self, prospects: &[Prospect<'_>]) -> Result<Opened> {
        let clock = &self.policy.clock;
        // Half of the time is for turns. Paths that this leaves untimed are compared while the link shows (`Policy::trials`).
        let paths = self.budget / 2 / u32::try_from(prospects.len()).unwrap_or(u32::MAX).max(1);
        let mut spent = Duration::ZERO;
        let untried = || JointState::NotTried { reason: format!("no time within {} ms", self.budget.as_millis()) };
        let mut rows: Vec<_> = prospects.iter().map(|prospect| prospect.row(untried())).collect();
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
                Err(error) => rows[place].state = failed(&error),
            }
            for (lost, error) in pairs.take_losers() {
                let ratio = pairs.leader().and_then(|best| lost.ratio_to(best));
                let state = error.map_or(JointState::Slower, |error| failed(&error));
                rows[lost.who.place] = Bench::row(&lost, state, ratio);
                lost.who.leave();
            }
            spent += clock.since(begun);
        }
        let Some(best) = pairs.ranking().pop() else { return Err(none(&rows)) };
        rows[best.who.place] = Bench::row(&best, JointState::Chosen, None);
        let (pair, link) = best.who.into_pair()?;
        let basis = Basis::Measured(spent);
        let report = JointReport { what: self.what(), basis, rows };
        memory::store(self, &pair, &report);
        tracing::info!(%report, "backend and display chosen");
        Ok(opened(pair, link, report))
    }
}

fn failed(error: &Error) -> JointState {
    JointState::Failed { reason: error.to_string() }
}

fn none(rows: &[JointRow]) -> Error {
    let reasons = rows.iter().map(|row| match &row.state {
        JointState::Failed { reason } | JointState::NotTried { reason } => {
            format!("{} -> {}: {reason}", row.compute, row.display)
        }
        _ => String::new(),
    });
    Error::Unsupported {
        operation: "LinkBuilder::open",
        device: "every backend with every display".into(),
        reason: reasons.collect::<Vec<_>>().join("; "),
    }
}

fn opened(pair: Pair, link: Link, report: JointReport) -> Opened {
    let Pair { backend, kernels, display, screen, .. } = pair;
    Opened { backend, kernels, display, screen, link, report }
}
