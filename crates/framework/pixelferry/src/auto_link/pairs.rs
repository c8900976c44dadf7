//! Pairs that can be opened, in the order of the cost model: hardware before software, and first a backend in the queue
//! of its display.

use super::link_builder::LinkBuilder;
use super::report::{PairRow, PairState};
use crate::backend_rows::{BackendChoice, BackendRow};
use crate::backends::{in_order, open_backend, unsuited};
use crate::display_rows::DisplayChoice;
use crate::displays::open_beside;
use crate::headless::HeadlessDisplay;
use crate::pair::backend_in;
use interop_core::describe::panics::as_error;
use interop_core::describe::process::is_forked;
use interop_core::describe::threads::spawn;
use interop_core::{Api, ComputeBackend, DeviceIdentity, Error, Kernel, KernelSource, Language, Result};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Rows of the tables; `None` for a display that the program supplied.
pub(super) type Rows = (BackendChoice, Option<DisplayChoice>);

/// A backend and a display, opened for one another.
pub(super) struct Pair {
    pub backend: Arc<dyn ComputeBackend>,
    pub screen: HeadlessDisplay,
    /// The declared kernels, once they are built.
    pub kernels: Vec<Arc<dyn Kernel>>,
    pub choice: Rows,
}

/// A display that was opened or supplied.
#[derive(Clone)]
pub(super) struct DisplaySide {
    pub screen: HeadlessDisplay,
    /// Its row of the table; `None` for a display that the program supplied.
    pub choice: Option<DisplayChoice>,
}

/// Opens the displays that a builder leaves open: a compute GPU only where no other GPU draws, plain memory only where
/// there is no other.
pub(super) fn displays(wanted: &LinkBuilder) -> Result<Vec<DisplaySide>> {
    if let Some(display) = &wanted.shown_by {
        return Ok(vec![DisplaySide { screen: HeadlessDisplay::given(display), choice: None }]);
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
        // A display that draws with kernels uses the device that computes.
        let drawing =
            || open_backend(wanted.backend, &wanted.kernels()).ok().filter(|_| choice == DisplayChoice::Compute);
        let backend = wanted.computed_by.clone().or_else(drawing);
        match open_beside(choice, backend.as_ref()) {
            // A picture that the CPU draws with kernels is in host memory, too.
            Ok(screen) if choice == DisplayChoice::Compute && is_rest && screen.display.device().software => {}
            Ok(screen) => opened.push(DisplaySide { screen, choice: Some(choice) }),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) if opened.is_empty() => Err(error),
        _ => Ok(opened),
    }
}

impl LinkBuilder {
    /// True where the builder leaves the backend open.
    fn is_free(&self) -> bool {
        self.computed_by.is_none() && self.backend == BackendChoice::Auto
    }

    pub(super) fn kernels(&self) -> Vec<KernelSource> {
        self.launches.iter().map(|(kernel, _)| kernel.clone()).collect()
    }
}

/// A pair that can be tried.
pub(super) struct PairCandidate<'a> {
    backend_row: &'static BackendRow,
    shown: &'a DisplaySide,
}

/// A backend with the declared kernels.
type ReadyBackend = (Arc<dyn ComputeBackend>, Vec<Arc<dyn Kernel>>);

/// A backend that is being opened. Dropping it early waits, because drivers fail if the process ends in the meantime.
pub(super) struct PendingBackend(Option<BackendStart>);

enum BackendStart {
    OnThread(JoinHandle<Result<ReadyBackend>>),
    Done(Result<ReadyBackend>),
}

impl PendingBackend {
    /// True where [`PendingBackend::join`] does not wait.
    pub fn is_done(&self) -> bool {
        !matches!(&self.0, Some(BackendStart::OnThread(thread)) if !thread.is_finished())
    }

    /// Waits for the backend and returns it.
    pub fn join(mut self) -> Result<ReadyBackend> {
        match self.0.take() {
            Some(BackendStart::Done(opened)) => opened,
            Some(BackendStart::OnThread(thread)) => thread
                .join()
                .unwrap_or_else(|_| Err(Error::invalid("open", "the thread that opened the backend panicked"))),
            None => Err(Error::invalid("open", "the backend was already taken")),
        }
    }
}

impl Drop for PendingBackend {
    fn drop(&mut self) {
        let Some(BackendStart::OnThread(thread)) = self.0.take() else { return };
        match is_forked() {
            // A forked process does not have the thread.
            true => std::mem::forget(thread),
            // The opened backend is dropped together with the result.
            false => drop(thread.join()),
        }
    }
}

/// Returns the error for a backend none of whose devices supports a language of this kernel.
fn unsupported_language(kernel: &KernelSource, backend_row: &BackendRow) -> Error {
    let spoken: Vec<_> = backend_row.takes.iter().map(ToString::to_string).collect();
    let (given, spoken) = (kernel.languages(), spoken.join(", "));
    Error::Unsupported {
        operation: "LinkBuilder::open",
        device: backend_row.api.to_string(),
        reason: format!("kernel '{}' is written in {given}, but the backend runs {spoken}", kernel.name()),
    }
}

/// Checks that a backend supports a language of each kernel.
pub(super) fn check_languages(backend: &dyn ComputeBackend, kernels: &[KernelSource]) -> Result<()> {
    match kernels.iter().find(|kernel| !kernel.suits(backend.caps())) {
        Some(kernel) => Err(unsuited(kernel, backend, &[]).of("LinkBuilder::open")),
        None => Ok(()),
    }
}

/// Builds the kernels.
pub(super) fn built(backend: &dyn ComputeBackend, kernels: &[KernelSource]) -> Result<Vec<Arc<dyn Kernel>>> {
    check_languages(backend, kernels)?;
    kernels.iter().map(|kernel| backend.build(kernel)).collect()
}

/// Returns every pair that the builder leaves open, in the order of the cost model, for frames `of_the_host` or for
/// frames of kernels.
pub(super) fn candidates<'a>(
    wanted: &LinkBuilder,
    displays: &'a [DisplaySide],
    of_the_host: bool,
) -> Vec<PairCandidate<'a>> {
    let mut all = Vec::new();
    let is_free = wanted.is_free();
    // Threads have no compiler: with PoCL on two cores, the first 60 frames of a light kernel took three times as long.
    // A heavy one is up to five times as fast there, so a link that stays with its first pair begins with PoCL.
    let all_rust = wanted.kernels().iter().all(|kernel| kernel.source(Language::Rust).is_some());
    let begins_on_threads =
        |display: &DeviceIdentity| of_the_host || wanted.is_compared && display.software && all_rust;
    for shown in displays {
        let device = shown.screen.display.device();
        let mut drivers = in_order(Some(device.api));
        match &wanted.computed_by {
            // A display that the program supplied may have no row.
            Some(given) => {
                drivers.sort_by_key(|backend_row| backend_row.api != given.device().api);
                drivers.truncate(1);
            }
            None => drivers
                .retain(|backend_row| backend_row.is_meant(wanted.backend) && (backend_row.named.built || !is_free)),
        }
        for backend_row in drivers {
            // Frames of the host would pass through memory of one more API.
            if of_the_host && is_free && backend_row.in_queue && backend_row.api != device.api {
                continue;
            }
            // Two sides of the same API share a queue: on a GPU that is fastest; where the CPU draws there is no gain.
            let in_queue = backend_row.in_queue || (backend_row.draws && shown.choice == Some(DisplayChoice::Compute));
            let place = (device.software && in_queue, !(in_queue && backend_row.api == device.api));
            let waits = begins_on_threads(device) && backend_row.named.choice != BackendChoice::Cpu;
            all.push(((waits, place), PairCandidate { backend_row, shown }));
        }
    }
    // The host writes the memory of the CPU backend without a copy. With a GPU's own backend, which an NVIDIA H100 has
    // in the display's queue, a frame of the host took up to 15 times as long.
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, candidate)| candidate).collect()
}

impl PairCandidate<'_> {
    /// True for a backend that accepts WGSL.
    pub fn reads_wgsl(&self) -> bool {
        self.backend_row.takes.contains(&Language::Wgsl)
    }

    /// Returns the error of a backend that supports no text of a kernel.
    pub fn unsupported(&self, wanted: &LinkBuilder, kernels: &[KernelSource]) -> Option<Error> {
        let kernel = self.backend_row.unsuited(kernels).filter(|_| wanted.computed_by.is_none())?;
        Some(unsupported_language(kernel, self.backend_row))
    }

    /// Opens the pair without kernels.
    pub fn open(&self, wanted: &LinkBuilder) -> Result<Pair> {
        self.open_with(self.begin(wanted, &[], false).join()?, &[])
    }

    /// Starts opening its backend and building the kernels: on a `thread` of its own, in parallel with the program,
    /// unless the backend uses the queue of this display, or belongs to OpenGL or Vulkan, which stay on the thread that
    /// opens them.
    pub fn begin(&self, wanted: &LinkBuilder, kernels: &[KernelSource], thread: bool) -> PendingBackend {
        let (backend_row, device, kernels) =
            (self.backend_row, self.shown.screen.display.device().clone(), kernels.to_vec());
        // It need not be opened to report that.
        if let Some(error) = self.unsupported(wanted, &kernels) {
            return PendingBackend(Some(BackendStart::Done(Err(error))));
        }
        let stays = backend_row.in_queue
            && (matches!(backend_row.api, Api::OpenGl | Api::Vulkan) || backend_row.api == device.api);
        let open = move |backend: Result<Arc<dyn ComputeBackend>>| {
            let backend = backend?;
            built(backend.as_ref(), &kernels).map(|kernels| (backend, kernels))
        };
        let best = move || as_error("the backend", || (backend_row.best)(Some(&device)));
        PendingBackend(Some(match &wanted.computed_by {
            Some(given) => BackendStart::Done(open(Ok(Arc::clone(given)))),
            None if thread && !stays => {
                let (beside, opens) = (open.clone(), best.clone());
                let thread = spawn("pixelferry open", move || beside(opens()));
                thread.map_or_else(|_| BackendStart::Done(open(best())), BackendStart::OnThread)
            }
            None => BackendStart::Done(open(self.shown.screen.make_current().and_then(|()| best()))),
        }))
    }

    /// Opens the pair with a backend that [`PairCandidate::begin`] opened.
    pub fn open_with(&self, (backend, kernels): ReadyBackend, sources: &[KernelSource]) -> Result<Pair> {
        let screen = &self.shown.screen;
        screen.make_current()?;
        let inside = backend_in(&backend, screen.display.as_ref());
        let kernels = if Arc::ptr_eq(&inside, &backend) { kernels } else { built(inside.as_ref(), sources)? };
        Ok(Pair { backend: inside, screen: screen.clone(), kernels, choice: self.rows() })
    }

    /// Returns its rows of the tables.
    pub fn rows(&self) -> Rows {
        (self.backend_row.named.choice, self.shown.choice)
    }

    /// Returns its row of a report without times.
    pub fn row(&self, wanted: &LinkBuilder, state: PairState) -> PairRow {
        let given = wanted.computed_by.as_ref().map(|backend| backend.device().to_string());
        let compute = given.unwrap_or_else(|| self.backend_row.api.to_string());
        PairRow::new(compute, self.shown.screen.display.device(), state)
    }

    /// True where [`BackendChoice::Auto`] would use this backend without measurements.
    pub fn suits(&self, pair: &Pair, wanted: &LinkBuilder) -> bool {
        !wanted.is_free() || (self.backend_row.suits_auto)(pair.backend.device(), &wanted.kernels())
    }
}
