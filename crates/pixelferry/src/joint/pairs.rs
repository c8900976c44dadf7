//! Pairs that can be opened, in the order of the cost model: hardware before programs, a backend in the queue of its
//! display first.

use super::declare::LinkBuilder;
use super::report::{JointRow, JointState, because, name};
use crate::backends::{BackendChoice, Driver, in_order};
use crate::display_choice::DisplayChoice;
use crate::displays::open_headless;
use crate::headless::Headless;
use crate::pair::backend_in;
use interop_core::{ComputeBackend, Display, Error, Kernel, Link, Result};
use std::rc::Rc;
use std::sync::Arc;

/// Backend and display, opened for one another.
#[derive(Clone)]
pub(super) struct Pair {
    pub backend: Arc<dyn ComputeBackend>,
    pub display: Rc<dyn Display>,
    /// The display, where this crate opened it.
    pub screen: Option<Headless>,
    /// The kernels that were declared, once [`Pair::built`] has built them.
    pub kernels: Vec<Arc<dyn Kernel>>,
    /// The rows of the tables that they are of.
    pub choice: (BackendChoice, Option<DisplayChoice>),
}

impl Pair {
    /// Builds the kernels that were declared.
    pub fn built(mut self, wanted: &LinkBuilder) -> Result<Self> {
        self.kernels = wanted.launches.iter().map(|(kernel, _)| self.backend.build(kernel)).collect::<Result<_>>()?;
        Ok(self)
    }

    /// Its context is current from now on.
    pub fn enter(&self) -> Result<()> {
        self.screen.as_ref().map_or(Ok(()), Headless::make_current)
    }

    /// Returns what it says in a report by this link, beside its times.
    pub fn row(&self, link: &Link, state: JointState) -> JointRow {
        JointRow {
            compute: name(self.backend.device()),
            display: name(self.display.device()),
            path: Some(link.path().to_string()),
            median_us: None,
            ratio: None,
            because: because(self.backend.as_ref(), self.display.as_ref(), link),
            state,
        }
    }
}

/// A side that shows.
pub(super) struct Shown {
    display: Rc<dyn Display>,
    screen: Option<Headless>,
    choice: Option<DisplayChoice>,
}

/// The displays that a builder leaves open; a GPU that computes only where none draws, plain memory only where there is no other.
pub(super) fn displays(wanted: &LinkBuilder) -> Result<Vec<Shown>> {
    if let Some(display) = &wanted.given {
        return Ok(vec![Shown { display: Rc::clone(display), screen: None, choice: None }]);
    }
    let asked = match wanted.display {
        DisplayChoice::Auto if cfg!(feature = "wgpu") => vec![DisplayChoice::Gl, DisplayChoice::Wgpu],
        DisplayChoice::Auto => vec![DisplayChoice::Gl],
        pinned => vec![pinned],
    };
    let (mut opened, mut last) = (Vec::new(), None);
    let rest = [DisplayChoice::Compute, DisplayChoice::Memory];
    let more = rest.into_iter().filter(|_| wanted.display == DisplayChoice::Auto);
    for (choice, is_rest) in asked.into_iter().map(|choice| (choice, false)).chain(more.map(|choice| (choice, true))) {
        if is_rest && !opened.is_empty() {
            break;
        }
        match open_headless(choice) {
            // A picture that the CPU draws with kernels is in its memory, too.
            Ok(screen) if choice == DisplayChoice::Compute && is_rest && screen.display().device().software => {}
            Ok(screen) => opened.push(Shown { display: screen.display(), screen: Some(screen), choice: Some(choice) }),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) if opened.is_empty() => Err(error),
        _ => Ok(opened),
    }
}

/// A pair that can be tried.
pub(super) struct Prospect<'a> {
    driver: &'static Driver,
    shown: &'a Shown,
}

/// Every pair that the builder leaves open, those that the cost model would take first.
pub(super) fn prospects<'a>(wanted: &LinkBuilder, displays: &'a [Shown]) -> Vec<Prospect<'a>> {
    let mut all = Vec::new();
    for shown in displays {
        let drivers = in_order(Some(shown.display.device().api)).into_iter();
        let meant = |driver: &&Driver| wanted.backend == BackendChoice::Auto || wanted.backend == driver.named.choice;
        all.extend(drivers.filter(meant).filter(|driver| driver.named.built).map(|driver| Prospect { driver, shown }));
    }
    // Sides of the same API share a queue: the quickest there is on a GPU, and no gain if the CPU draws.
    all.sort_by_key(|prospect| {
        let device = prospect.shown.display.device();
        let drawn_by_kernels = prospect.driver.draws && prospect.shown.choice == Some(DisplayChoice::Compute);
        let in_queue = prospect.driver.display.is_some() || drawn_by_kernels;
        (device.software && in_queue, !(in_queue && prospect.driver.api == device.api))
    });
    all
}

impl Prospect<'_> {
    /// Opens it.
    ///
    /// # Errors
    /// What opening the backend reports; [`Error::Unsupported`] where it speaks no language of one of the kernels.
    pub fn open(&self, wanted: &LinkBuilder) -> Result<Pair> {
        let Shown { display, screen, choice } = self.shown;
        screen.as_ref().map_or(Ok(()), Headless::make_current)?;
        let backend = (self.driver.best_for)(display.device())?;
        if let Some((kernel, _)) = wanted.launches.iter().find(|(kernel, _)| !kernel.suits(backend.caps())) {
            return Err(Error::Unsupported {
                operation: "LinkBuilder::open",
                device: backend.device().to_string(),
                reason: format!("kernel '{}' is given in {} only", kernel.name(), kernel.languages()),
            });
        }
        let backend = backend_in(&backend, display.as_ref());
        let choice = (self.driver.named.choice, *choice);
        Ok(Pair { backend, display: Rc::clone(display), screen: screen.clone(), kernels: Vec::new(), choice })
    }

    /// Returns what it says in a report where it has no times.
    pub fn row(&self, state: JointState) -> JointRow {
        JointRow {
            compute: self.driver.api.to_string(),
            display: name(self.shown.display.device()),
            path: None,
            median_us: None,
            ratio: None,
            because: String::new(),
            state,
        }
    }

    /// True where it is of these rows of the tables.
    pub fn is(&self, choice: (BackendChoice, Option<DisplayChoice>)) -> bool {
        (self.driver.named.choice, self.shown.choice) == choice
    }

    /// True where [`BackendChoice::Auto`] would take this backend without measuring.
    pub fn suits(&self, pair: &Pair, wanted: &LinkBuilder) -> bool {
        let kernels: Vec<_> = wanted.launches.iter().map(|(kernel, _)| kernel.clone()).collect();
        wanted.backend != BackendChoice::Auto || (self.driver.suits_auto)(pair.backend.device(), &kernels)
    }
}
