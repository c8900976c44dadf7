//! Pairs that can be opened, in the order of the cost model: hardware before programs, a backend in the queue of its
//! display first.

use super::declare::LinkBuilder;
use super::report::{JointRow, JointState, because, name};
use crate::backends::{BackendChoice, DRIVERS, Driver, in_order, unsuited};
use crate::display_choice::DisplayChoice;
use crate::displays::open_beside;
use crate::headless::Headless;
use crate::pair::backend_in;
use interop_core::{ComputeBackend, Kernel, KernelSource, Link, Result};
use std::sync::Arc;

/// Rows of the tables; none for a side that was given.
pub(super) type Rows = (Option<BackendChoice>, Option<DisplayChoice>);

/// Backend and display, opened for one another.
pub(super) struct Pair {
    pub backend: Arc<dyn ComputeBackend>,
    pub screen: Headless,
    /// The kernels that were declared, once [`Pair::built`] has built them.
    pub kernels: Vec<Arc<dyn Kernel>>,
    pub choice: Rows,
}

impl Pair {
    /// Builds the kernels that were declared.
    pub fn built(mut self, wanted: &LinkBuilder) -> Result<Self> {
        self.kernels = wanted.launches.iter().map(|(kernel, _)| self.backend.build(kernel)).collect::<Result<_>>()?;
        Ok(self)
    }

    /// Its context is current from now on.
    pub fn enter(&self) -> Result<()> {
        self.screen.make_current()
    }

    /// Returns what it says in a report, unmeasured.
    pub fn row(&self, link: &Link, state: JointState) -> JointRow {
        let (backend, display) = (self.backend.as_ref(), self.screen.display.as_ref());
        JointRow {
            compute: name(backend.device()),
            display: name(display.device()),
            path: Some(link.path().to_string()),
            median_us: None,
            ratio: None,
            because: because(backend, display, link),
            state,
        }
    }
}

/// A side that shows.
pub(super) struct Shown {
    screen: Headless,
    choice: Option<DisplayChoice>,
}

/// The displays that a builder leaves open; a GPU that computes only where none draws, plain memory only where there is no other.
pub(super) fn displays(wanted: &LinkBuilder) -> Result<Vec<Shown>> {
    if let Some(display) = &wanted.shown_by {
        return Ok(vec![Shown { screen: Headless::given(display), choice: None }]);
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
        let backend = wanted.computed_by.clone().or_else(|| wanted.drawing(choice));
        match open_beside(choice, backend.as_ref()) {
            // A picture that the CPU draws with kernels is in its memory, too.
            Ok(screen) if choice == DisplayChoice::Compute && is_rest && screen.display.device().software => {}
            Ok(screen) => opened.push(Shown { screen, choice: Some(choice) }),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) if opened.is_empty() => Err(error),
        _ => Ok(opened),
    }
}

impl LinkBuilder {
    /// The backend of these frames by whose kernels a display can draw, where that is what draws.
    fn drawing(&self, choice: DisplayChoice) -> Option<Arc<dyn ComputeBackend>> {
        let mut rows = DRIVERS.iter().filter(|driver| driver.draws && driver.is_meant(self.backend));
        let open = |driver: &Driver| (driver.best)().ok().filter(|backend| self.unsuited(backend.as_ref()).is_none());
        if choice == DisplayChoice::Compute { rows.find_map(open) } else { None }
    }

    /// The first kernel that is in no language of a backend.
    fn unsuited(&self, backend: &dyn ComputeBackend) -> Option<&KernelSource> {
        self.launches.iter().map(|(kernel, _)| kernel).find(|kernel| !kernel.suits(backend.caps()))
    }
}

/// A side that computes.
enum Computing<'a> {
    Best(&'static Driver),
    Given(&'a Arc<dyn ComputeBackend>),
}

/// A pair that can be tried.
pub(super) struct Prospect<'a> {
    computing: Computing<'a>,
    shown: &'a Shown,
}

/// Every pair that the builder leaves open, those that the cost model would take first.
pub(super) fn prospects<'a>(wanted: &'a LinkBuilder, displays: &'a [Shown]) -> Vec<Prospect<'a>> {
    if let Some(backend) = &wanted.computed_by {
        return displays.iter().map(|shown| Prospect { computing: Computing::Given(backend), shown }).collect();
    }
    let mut all = Vec::new();
    for shown in displays {
        let device = shown.screen.display.device();
        let meant = |driver: &&Driver| driver.is_meant(wanted.backend);
        for driver in in_order(Some(device.api)).into_iter().filter(meant) {
            // Sides of the same API share a queue: the quickest there is on a GPU, and no gain if the CPU draws.
            let in_queue = driver.in_queue || (driver.draws && shown.choice == Some(DisplayChoice::Compute));
            let place = (device.software && in_queue, !(in_queue && driver.api == device.api));
            if driver.named.built || wanted.backend != BackendChoice::Auto {
                all.push((place, Prospect { computing: Computing::Best(driver), shown }));
            }
        }
    }
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, prospect)| prospect).collect()
}

impl Prospect<'_> {
    /// Opens it.
    ///
    /// # Errors
    /// What opening the backend reports; [`interop_core::Error::Unsupported`] where it speaks no language of one of the kernels.
    pub fn open(&self, wanted: &LinkBuilder) -> Result<Pair> {
        let screen = &self.shown.screen;
        screen.make_current()?;
        let backend = match &self.computing {
            Computing::Best(driver) => (driver.best_for)(screen.display.device())?,
            Computing::Given(backend) => Arc::clone(backend),
        };
        if let Some(kernel) = wanted.unsuited(backend.as_ref()) {
            return Err(unsuited(kernel, backend.as_ref(), &[]).of("LinkBuilder::open"));
        }
        let backend = backend_in(&backend, screen.display.as_ref());
        Ok(Pair { backend, screen: screen.clone(), kernels: Vec::new(), choice: self.rows() })
    }

    fn driver(&self) -> Option<&'static Driver> {
        match self.computing {
            Computing::Best(driver) => Some(driver),
            Computing::Given(_) => None,
        }
    }

    /// Its rows of the tables.
    pub fn rows(&self) -> Rows {
        (self.driver().map(|driver| driver.named.choice), self.shown.choice)
    }

    /// Returns what it says in a report where it has no times.
    pub fn row(&self, state: JointState) -> JointRow {
        JointRow {
            compute: match self.computing {
                Computing::Best(driver) => driver.api.to_string(),
                Computing::Given(backend) => name(backend.device()),
            },
            display: name(self.shown.screen.display.device()),
            path: None,
            median_us: None,
            ratio: None,
            because: String::new(),
            state,
        }
    }

    /// True where [`BackendChoice::Auto`] would take this backend without measuring.
    pub fn suits(&self, pair: &Pair, wanted: &LinkBuilder) -> bool {
        let kernels: Vec<_> = wanted.launches.iter().map(|(kernel, _)| kernel.clone()).collect();
        let by_itself = self.driver().filter(|_| wanted.backend == BackendChoice::Auto);
        by_itself.is_none_or(|driver| (driver.suits_auto)(pair.backend.device(), &kernels))
    }
}
