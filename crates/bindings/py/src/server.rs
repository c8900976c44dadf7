//! `pixelferry.serve`: shows arrays on a page for browsers, on a thread of its own.

use crate::engine::{BackendRequest, Engines};
use crate::failure::{Failure, check_process};
use crate::job::{TICK, awaited, closed};
use crate::looks;
use crate::notebook_watcher::NotebookWatcher;
use crate::raw::memory::{MemoryDesc, Readable};
use crate::source::Source;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::driver::describe::process::{self, ForkGuard};
use pixelferry::driver::describe::threads;
use pixelferry::{ComputeBackend as _, ComputeMemory, PixelFormat};
use pixelferry_look::{MemoryLocation, Plane, Raw, Request, Span};
use pixelferry_view::{Array, LiveArrays, PageServer, ReadError, ViewError};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak, mpsc};
use std::thread::{self, JoinHandle};

/// All bytes of an array, to be copied.
#[derive(Clone, Copy)]
struct All(Span);

impl MemoryDesc for All {
    fn span(&self) -> Span {
        self.0
    }
}

/// A page and the thread that shows it; `None` after the thread was joined.
struct Page {
    serve: ForkGuard<Arc<PageServer>>,
    shows: Mutex<Option<JoinHandle<Result<(), ViewError>>>>,
}

impl Page {
    fn lock(&self) -> MutexGuard<'_, Option<JoinHandle<Result<(), ViewError>>>> {
        self.shows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the page, and returns the error if it ended by itself. Do not call this with the interpreter attached.
    fn end(&self) -> Result<(), Failure> {
        if !self.serve.mark().is_here() {
            return Ok(());
        }
        self.serve.stop();
        let shows = self.lock().take();
        shows.map_or(Ok(()), |shows| Ok(shows.join().map_err(|_| closed())??))
    }
}

/// Pages to end before the interpreter does: drivers may crash if they are busy at exit.
static PAGES: Mutex<Vec<Weak<Page>>> = Mutex::new(Vec::new());

/// Ends all pages. Do not call this with the interpreter attached.
pub fn end() {
    let all = std::mem::take(&mut *PAGES.lock().unwrap_or_else(PoisonError::into_inner));
    for page in all.iter().filter_map(Weak::upgrade) {
        if let Err(error) = page.end() {
            tracing::warn!(?error, "a page ended because of an error");
        }
    }
}

/// A page that shows arrays in browsers. Keep a reference: dropping it ends the page.
#[pyclass(module = "pixelferry", frozen)]
pub struct Server {
    page: Arc<Page>,
    engines: Engines,
    request: Request,
}

impl From<ViewError> for Failure {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Refused(refusal) | ViewError::Read(ReadError::Refused(refusal)) => refusal.into(),
            ViewError::Driver(error) => error.into(),
            other => Self::Device(other.to_string()),
        }
    }
}

/// A copy of an array's memory, in the same place as the array.
enum ArrayCopy {
    Host(Vec<u8>),
    Cuda(Arc<CudaBackend>, Box<dyn ComputeMemory + Send>),
}

impl ArrayCopy {
    /// When this returns, the owner may write the array again.
    fn of(readable: &Readable<All>, engines: &Engines) -> Result<Self, Failure> {
        static SAID: Once = Once::new();
        let Span { place: MemoryLocation::Cuda(ordinal), len, .. } = readable.description().0 else {
            return Ok(Self::Host(readable.bytes()?.to_vec()));
        };
        let backend = engines.cuda(ordinal)?;
        let mut theirs = readable.on_device(&backend)?;
        let mut there = || {
            let mut memory = backend.allocate(len)?;
            backend.copy(theirs.as_ref(), memory.as_mut(), 0..len)?;
            theirs.release()?;
            Ok::<_, pixelferry::Error>(memory)
        };
        match there() {
            Ok(memory) => Ok(Self::Cuda(backend, memory)),
            Err(error) => {
                SAID.call_once(|| tracing::warn!("CUDA failed, so arrays are now copied to the host: {error}"));
                let mut bytes = vec![0; len];
                theirs.read(0, &mut bytes)?;
                Ok(Self::Host(bytes))
            }
        }
    }
}

/// Copies an array; the result makes an array of the copy on the showing thread.
pub fn copied(
    array: &Bound<'_, PyAny>,
    name: String,
    request: &Request,
    engines: &Engines,
) -> PyResult<impl FnOnce() -> Result<Array, ReadError> + Send + 'static> {
    let described = RefCell::new(None);
    let of = |raw: &Raw| {
        // Refuse invalid arrays here rather than on the other thread.
        Plane::new(raw, request.layout, PixelFormat::Rgba8, &request.look)?;
        described.replace(Some((raw.shape.clone(), raw.strides()?, raw.number)));
        Ok(All(raw.span()?))
    };
    let source = Source::new(array, &of, engines)?;
    let (readable, span) = (*source.readable(), source.readable().description().0);
    let bytes = array.py().detach(|| ArrayCopy::of(&readable, engines))?;
    // Release the array only now: its owner may write it from here on.
    drop(source);
    let (shape, strides, number) = described.into_inner().ok_or_else(closed)?;
    Ok(move || match bytes {
        ArrayCopy::Host(bytes) => Array::with_strides(&name, &bytes, span.first, shape, strides, number),
        ArrayCopy::Cuda(of, memory) => Array::on_device(&name, of, memory, span.first, shape, Some(strides), number),
    })
}

/// Serves a page that shows the array in browsers, with zoom, values, range and colormap, at `Server.url`.
#[pyfunction]
#[pyo3(signature = (array, name="array", *, host="127.0.0.1", port=0, layout=None, range=None, exposure=0.0, gamma=1.0,
                    colormap=None, channel=None, marks=None, keep=8))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
pub fn serve(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    name: &str,
    host: &str,
    port: u16,
    layout: Option<&str>,
    range: Option<&Bound<'_, PyAny>>,
    exposure: f32,
    gamma: f32,
    colormap: Option<&str>,
    channel: Option<&Bound<'_, PyAny>>,
    marks: Option<bool>,
    keep: usize,
) -> PyResult<Server> {
    process::check("a page").map_err(Failure::from)?;
    let request = looks::LookArgs { layout, range, exposure, gamma, colormap, channel, marks }.request()?;
    let address: IpAddr = host.parse().map_err(|_| {
        Failure::Shape(format!(
            "host='{host}' is not an address of this machine; give one such as '127.0.0.1' or '0.0.0.0'"
        ))
    })?;
    let engines = Engines::new(BackendRequest::parse(None)?);
    let make = copied(array, name.to_owned(), &request, &engines)?;
    py.detach(|| {
        let serve = Arc::new(PageServer::open(SocketAddr::new(address, port))?);
        let (ready, is_ready) = mpsc::channel();
        let shows = threads::spawn("served arrays", {
            let serve = Arc::clone(&serve);
            move || {
                let array = make().inspect_err(|_| serve.stop())?;
                serve.run(vec![array], request, LiveArrays { keep, ..LiveArrays::default() }, move || {
                    // The receiver is gone only if the caller's thread died.
                    let _ = ready.send(());
                })
            }
        });
        let shows = shows.map_err(|error| Failure::Device(format!("cannot start a thread for the page: {error}")))?;
        let ready = awaited(&is_ready).inspect_err(|_| serve.stop())?;
        if ready.is_none() {
            // The thread ended before the page was ready.
            return Err(shows.join().ok().and_then(Result::err).map_or_else(closed, Failure::from));
        }
        let page = Arc::new(Page { serve: ForkGuard::new(serve), shows: Mutex::new(Some(shows)) });
        let mut all = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|page| page.strong_count() > 0);
        all.push(Arc::downgrade(&page));
        Ok(Server { page, engines, request })
    })
    .map_err(|failure: Failure| failure.into())
}

impl Server {
    fn check_open(&self) -> Result<(), Failure> {
        check_process(self.page.serve.mark(), "the page")?;
        if self.page.lock().is_none() { Err(closed()) } else { Ok(()) }
    }
}

#[pymethods]
impl Server {
    /// Address for browsers, which includes the page's token. Everyone who has it can watch and control the view.
    #[getter]
    fn url(&self) -> String {
        self.page.serve.url()
    }

    /// Number of browsers that are watching now.
    #[getter]
    fn viewers(&self) -> usize {
        self.page.serve.viewers()
    }

    /// Shows an array beside the others, or in place of the one of its name, with a look of its own. Without look
    /// options it keeps the look of that name, or gets that of the first array. The array is copied and shown soon.
    #[pyo3(signature = (array, name="array", *, layout=None, range=None, exposure=0.0, gamma=1.0, colormap=None, channel=None,
                        marks=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn show(
        &self,
        array: &Bound<'_, PyAny>,
        name: &str,
        layout: Option<&str>,
        range: Option<&Bound<'_, PyAny>>,
        exposure: f32,
        gamma: f32,
        colormap: Option<&str>,
        channel: Option<&Bound<'_, PyAny>>,
        marks: Option<bool>,
    ) -> PyResult<()> {
        self.check_open()?;
        let asked = looks::LookArgs { layout, range, exposure, gamma, colormap, channel, marks }.request()?;
        let own = Some(asked).filter(|asked| *asked != Request::default());
        let request = own.unwrap_or(Request { look: pixelferry_look::Look::default(), ..self.request });
        self.page.serve.put(name, own, copied(array, name.to_owned(), &request, &self.engines)?);
        Ok(())
    }

    /// Waits until Ctrl-C, or until another thread closes the page.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        check_process(self.page.serve.mark(), "the page")?;
        while self.page.lock().as_ref().is_some_and(|shows| !shows.is_finished()) {
            py.detach(|| thread::sleep(TICK));
            py.check_signals()?;
        }
        self.close(py)
    }

    /// Ends the page. May be called again.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.page.end())?)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("<pixelferry.Server: {}>", self.url())
    }

    /// Returns the page as an anywidget widget, for notebooks whose browser cannot reach the page.
    fn widget(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(py.import("pixelferry.notebook")?.call_method1("Widget", (slf,))?.unbind())
    }

    /// For `pixelferry.notebook`.
    fn _watcher(&self) -> PyResult<NotebookWatcher> {
        self.check_open()?;
        Ok(NotebookWatcher::new(self.page.serve.watcher()))
    }

    /// What encodes JPEGs, and if it is the host, why.
    #[getter]
    fn encoder(&self) -> String {
        self.page.serve.encoder()
    }

    /// The page as the output of a notebook's cell.
    fn _repr_html_(&self) -> String {
        format!("<iframe src=\"{}\" style=\"width: 100%; height: 560px; border: 0\"></iframe>", self.url())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The page's threads never wait for the interpreter.
        if self.page.serve.mark().is_here() {
            self.page.serve.stop();
        }
    }
}
