//! `pixelferry.Viewer`.

use crate::array::Array;
use crate::engine::{ArrayLocation, BackendRequest, Engines};
use crate::events::{Event, awaited};
use crate::failure::{Failure, check_process};
use crate::host::{Host, StageThread};
use crate::job::{TICK, closed};
use crate::looks;
use crate::option_names::{self, one_of};
use crate::recording::Recording;
use crate::report::report;
use crate::server::{self, copied};
use crate::source::Source;
use crate::stage::{Screen, Settings, Stage, Status};
use crate::thread_stages;
use crate::window::WindowHandle;
use pixelferry::api::gl::WindowOptions;
use pixelferry::driver::describe::process::ForkGuard;
use pixelferry::{
    Audit, DisplayChoice, Extent, LinkBuilder, Mode, PixelFormat, Policy, RowOrder, SurfaceDesc,
    command::{ApiChoice as _, check_picture_file},
};
use pixelferry_look::{Plane, Raw, Request};
use pixelferry_media::record::{Output, RecordOptions};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Largest lateness in throughput mode, frames.
const MOST_LATE: usize = 8;

/// State that lives until the stage has ended, even if the Python object is gone.
struct ViewerState {
    /// A forked process does not have the threads.
    host: ForkGuard<Host>,
    engines: Arc<Engines>,
}

impl ViewerState {
    fn close(&self) {
        if self.host.mark().is_here() {
            self.host.close();
        }
    }
}

/// Viewers to close before the interpreter ends.
static VIEWERS: Mutex<Vec<Weak<ViewerState>>> = Mutex::new(Vec::new());

/// Closes all viewers, pages, and the textures of this thread: drivers may crash if they are busy at exit.
#[pyfunction]
pub fn _close_all(py: Python<'_>) {
    py.detach(|| {
        thread_stages::end();
        server::end();
        let all = std::mem::take(&mut *VIEWERS.lock().unwrap_or_else(PoisonError::into_inner));
        all.iter().filter_map(Weak::upgrade).for_each(|viewer| viewer.close());
    });
}

/// Shows arrays in a window or offscreen.
#[pyclass(module = "pixelferry", frozen)]
pub struct Viewer {
    shared: Arc<ViewerState>,
    mode: &'static str,
    format: PixelFormat,
    /// Number of frames to keep of an array with a name.
    keep: usize,
}

/// Options of `Viewer(...)`.
pub struct ViewerOptions<'a> {
    pub size: (u32, u32),
    pub title: &'a str,
    pub format: &'a str,
    pub headless: bool,
    pub mode: &'a str,
    pub path: Option<&'a str>,
    pub backend: Option<&'a str>,
    pub display: &'a str,
    pub vsync: bool,
    pub keep: usize,
    pub audit: Audit,
}

impl Viewer {
    pub fn open(py: Python<'_>, options: &ViewerOptions<'_>) -> PyResult<Self> {
        let (width, height) = options.size;
        if width == 0 || height == 0 {
            return Err(Failure::Shape(format!(
                "invalid size {width}x{height} of a viewer: both sides need at least 1 pixel"
            ))
            .into());
        }
        let format = option_names::format(options.format)?;
        let (mode_name, mode) = match options.mode {
            "latency" => ("latency", Mode::Latency),
            "throughput" => ("throughput", Mode::Throughput { most: MOST_LATE }),
            other => return Err(one_of("mode", other, &["latency", "throughput"]).into()),
        };
        let displays: Vec<_> = DisplayChoice::all().filter(|row| row.built).collect();
        let known = displays.iter().find(|row| row.name == options.display).map(|row| row.choice);
        let names = || displays.iter().map(|row| row.name).collect::<Vec<_>>();
        let choice = known.ok_or_else(|| one_of("display", options.display, &names()))?;
        let force = options.path.map(str::parse).transpose().map_err(Failure::from)?;
        let policy = Policy::default().with_force(force).with_mode(mode).with_audit(options.audit);
        let settings = Settings { format, rows: RowOrder::TopDown, policy };
        let engines = Arc::new(Engines::new(BackendRequest::parse(options.backend)?));
        let size = Extent::new(width, height);
        let window =
            WindowOptions::default().with_title(options.title.to_owned()).with_size(size).with_vsync(options.vsync);
        let headless = options.headless;
        let host = py.detach(|| {
            if !headless {
                return WindowHandle::open(window, settings).map(Host::Window);
            }
            let engines = engines.clone();
            let make = move || {
                let wanted = LinkBuilder::new(SurfaceDesc::image(width, height, format)).display(choice);
                let (_, screen) = engines.beside(wanted)?.open_sides()?;
                Ok(Stage::new(Screen::headless(screen, size)?, settings))
            };
            StageThread::start(make).map(Host::Thread)
        })?;
        let shared = Arc::new(ViewerState { host: ForkGuard::new(host), engines });
        let mut all = VIEWERS.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|viewer| viewer.strong_count() > 0);
        all.push(Arc::downgrade(&shared));
        Ok(Self { shared, mode: mode_name, format, keep: options.keep })
    }

    /// Runs work on the viewer's stage with the interpreter released.
    fn run<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Stage) -> Result<R, Failure> + Send + 'static,
    ) -> PyResult<R> {
        Ok(self.attempt(py, work)?)
    }

    fn attempt<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Stage) -> Result<R, Failure> + Send + 'static,
    ) -> Result<R, Failure> {
        self.check_process()?;
        py.detach(|| self.shared.host.run(work))
    }

    fn check_process(&self) -> Result<(), Failure> {
        check_process(self.shared.host.mark(), "the viewer")
    }

    /// Ignores the failure if the user closed the window, which is no mistake of the program.
    fn unless_by_user(&self, refusal: Failure) -> PyResult<()> {
        self.check_process()?;
        if self.shared.host.was_closed_by_program() { Err(refusal.into()) } else { Ok(()) }
    }

    fn unless_closed(&self, shown: Result<(), Failure>) -> PyResult<()> {
        match shown {
            // The user closed the window in the meantime.
            Err(closed @ Failure::Closed(_)) => self.unless_by_user(closed),
            other => Ok(other?),
        }
    }

    /// Shows an array.
    pub fn put(&self, py: Python<'_>, array: &Bound<'_, PyAny>, request: Request) -> PyResult<()> {
        if !self.is_open() {
            return self.unless_by_user(closed());
        }
        let of = |raw: &Raw| Ok(Plane::new(raw, request.layout, self.format, &request.look)?);
        let source = Source::new(array, &of, &self.shared.engines)?;
        let readable = *source.readable();
        let engine = self.shared.engines.engine(readable.description().span.place)?;
        let shown = self.attempt(py, move |stage| stage.show(&readable, &engine));
        // Release the array only now: its owner may write it from here on.
        drop(source);
        self.unless_closed(shown)
    }

    /// Shows a copy of an array closely, as [`Stage::look`] does.
    pub fn look(&self, py: Python<'_>, array: &Bound<'_, PyAny>, name: &str, request: Request) -> PyResult<()> {
        if !self.is_open() {
            return self.unless_by_user(closed());
        }
        let (make, keep) = (copied(array, name.to_owned(), &request, &self.shared.engines)?, self.keep);
        self.unless_closed(self.attempt(py, move |stage| stage.look(make, request, keep)))
    }

    fn status(&self, py: Python<'_>) -> PyResult<Option<Status>> {
        self.run(py, Stage::status)
    }

    /// Waits until the window is closed; Ctrl-C ends the wait.
    pub fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let Host::Window(window) = &*self.shared.host else { return Ok(()) };
        while !py.detach(|| window.wait_closed(TICK)) {
            py.check_signals()?;
        }
        Ok(())
    }
}

#[pymethods]
impl Viewer {
    #[new]
    #[pyo3(signature = (width=1280, height=720, *, title="pixelferry", format="rgba8", headless=false, mode="latency",
                        path=None, backend=None, display="auto", vsync=false, keep=8, audit=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn new(
        py: Python<'_>,
        width: u32,
        height: u32,
        title: &str,
        format: &str,
        headless: bool,
        mode: &str,
        path: Option<&str>,
        backend: Option<&str>,
        display: &str,
        vsync: bool,
        keep: usize,
        audit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let size = (width, height);
        let audit = option_names::audit(audit)?;
        Self::open(
            py,
            &ViewerOptions { size, title, format, headless, mode, path, backend, display, vsync, keep, audit },
        )
    }

    /// Shows an array: anything with `__dlpack__`, `__cuda_array_interface__` or a buffer, of any number type. When it
    /// returns, the array has been read and may be written again. Does nothing if the user has closed the window;
    /// is_open is then False. With a name, a window shows a copy closely, beside arrays of other names, each with its
    /// own look; without look options it has that of the first.
    #[pyo3(signature = (array, layout=None, *, name=None, range=None, exposure=0.0, gamma=1.0, colormap=None, channel=None,
                        marks=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn show(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        layout: Option<&str>,
        name: Option<&str>,
        range: Option<&Bound<'_, PyAny>>,
        exposure: f32,
        gamma: f32,
        colormap: Option<&str>,
        channel: Option<&Bound<'_, PyAny>>,
        marks: Option<bool>,
    ) -> PyResult<()> {
        let request = looks::LookArgs { layout, range, exposure, gamma, colormap, channel, marks }.request()?;
        match name {
            Some(name) => self.look(py, array, name, request),
            None => self.put(py, array, request),
        }
    }

    /// Returns the events since the last call, oldest first; waits up to `timeout` seconds for the first.
    #[pyo3(signature = (timeout=0.0))]
    fn events(&self, py: Python<'_>, timeout: f64) -> PyResult<Vec<Event>> {
        let Host::Window(window) = &*self.shared.host else { return Ok(Vec::new()) };
        if !self.shared.host.mark().is_here() {
            return Ok(Vec::new());
        }
        // No events come after the window has closed.
        awaited(py, window.events(), timeout, || window.is_open())
    }

    /// Waits until the newest array is on the screen.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, Stage::finish)
    }

    /// Returns the most recently shown frame as it is stored, as an array that later calls do not change: on the host,
    /// or with device="cuda" on the GPU.
    #[pyo3(signature = (device="cpu"))]
    fn capture(&self, py: Python<'_>, device: &str) -> PyResult<Array> {
        let (wanted, engines) = (ArrayLocation::parse(device)?, self.shared.engines.clone());
        self.run(py, move |stage| stage.capture(wanted, &engines))
    }

    /// Returns the most recently shown frame in its own size: a memoryview of bytes of shape (height, width, 4), red,
    /// green, blue, alpha.
    fn screenshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pixels = self.run(py, Stage::screenshot)?;
        let view = PyMemoryView::from(&PyBytes::new(py, &pixels.bytes))?;
        let shape = PyTuple::new(py, [pixels.height, pixels.width, 4])?;
        view.call_method1(intern!(py, "cast"), ("B", shape))
    }

    /// Returns that frame as a PNG, for notebooks; None if there is none.
    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        match self.attempt(py, Stage::png) {
            Err(Failure::Closed(_)) => Ok(None),
            png => Ok(png?.map(|png| PyBytes::new(py, &png))),
        }
    }

    /// Saves the most recently shown frame; the file's extension selects the format (.png, .jpg).
    pub fn save(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        check_picture_file(&file).map_err(Failure::from)?;
        self.run(py, move |stage| stage.save(&file))
    }

    /// Records everything shown from now on, until the recording is stopped: .mp4, .mkv, .ts or .h264 via GStreamer,
    /// .y4m, or frames/%05d.png. With step, each shown array is one frame of the film, and none is dropped.
    #[pyo3(signature = (file, rate=60, step=false))]
    fn record(slf: &Bound<'_, Self>, file: PathBuf, rate: u32, step: bool) -> PyResult<Recording> {
        let output = Output::named(&file).map_err(Failure::from)?;
        if output == Output::Standard {
            return Err(Failure::Shape("standard output belongs to the program; record to a file".into()).into());
        }
        let options = RecordOptions::default().with_rate(rate).with_step(step);
        let number = slf.get().run(slf.py(), move |stage| stage.record(output, options))?;
        let viewer = slf.clone().unbind();
        Ok(Recording::new(move |py| viewer.get().run(py, move |stage| stage.stop(number))))
    }

    /// The current path, or None before the first array.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        self.run(py, |stage| Ok(stage.path()))
    }

    /// Describes the current path in detail, for a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.status(py)?.map_or_else(|| "nothing has been shown yet".into(), |status| status.explain))
    }

    /// Describes the current path in detail, as a dict; None before the first array.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.status(py)?.map(|status| report(py, &status.report, &status.explain)).transpose()
    }

    /// Whether arrays can be shown: False after close(), and after the user has closed the window.
    #[getter]
    fn is_open(&self) -> bool {
        self.shared.host.mark().is_here() && self.shared.host.is_open()
    }

    /// Ends the viewer and closes its window. May be called again.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.shared.close());
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let kind = match *self.shared.host {
            Host::Thread(_) => "headless",
            Host::Window(_) => "window",
        };
        let open = if self.is_open() { "open" } else { "closed" };
        format!("<pixelferry.Viewer: {kind}, {}, {}, {open}>", option_names::name_of(self.format), self.mode)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // The stage's threads never wait for the interpreter.
        self.shared.close();
    }
}
