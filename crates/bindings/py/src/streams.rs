//! `pixelferry.Publisher` and `pixelferry.Subscriber`: arrays to and from other processes. Each has a thread on which
//! its side of the stream stays; callers wait for it with the interpreter released.

use crate::array::{Array, Layout as Numbers};
use crate::array_kernel::{kernel, lent};
use crate::engine::{ArrayLocation, BackendRequest, Engine, Engines};
use crate::failure::{Failure, check_process};
use crate::host::StageThread;
use crate::job::{TICK, answered, guarded};
use crate::option_names;
use crate::raw::memory::Readable;
use crate::source::Source;
use pixelferry::stream::{NextFrame, StreamDisplay, StreamOptions, Subscriber as Joined, publish, streams as listed};
use pixelferry::{
    BackendChoice, ComputeBackend, DeviceIdentity, ImageDesc, Kernel, Link, LinkOptions, PathId, PixelFormat,
    SurfaceDesc, Unwritten, open_backend,
};
use pixelferry_look::{Element, Layout, MemoryLocation, Plane};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One side of a stream, on its thread.
struct StreamSide<S: 'static> {
    thread: StageThread<S>,
    name: String,
    /// Number of the last frame; then the path that it took.
    number: AtomicU64,
    path: Mutex<Option<PathId>>,
}

impl<S: 'static> StreamSide<S> {
    fn open(
        py: Python<'_>,
        name: String,
        make: impl FnOnce(&str) -> Result<S, Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let opens = name.clone();
        let thread = py.detach(|| StageThread::start(move || make(&opens)))?;
        Ok(Self { thread, name, number: AtomicU64::new(0), path: Mutex::new(None) })
    }

    /// Refuses a forked process before any driver is called.
    fn check_process(&self) -> Result<(), Failure> {
        check_process(self.thread.mark(), &format!("the stream '{}'", self.name))
    }

    fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> Result<R, Failure> + Send + 'static,
    ) -> Result<R, Failure> {
        self.check_process()?;
        let closed = |_| Failure::Closed(format!("the stream '{}' is closed", self.name));
        answered(|job| self.thread.post(job), |side| guarded(|| work(side))).map_err(closed)?
    }

    fn note(&self, number: u64, path: Option<PathId>) {
        self.number.store(number, Relaxed);
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    fn path(&self) -> Option<&'static str> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner).map(PathId::name)
    }

    fn described(&self, kind: &str) -> String {
        let state = if !self.thread.mark().is_here() {
            "of another process".into()
        } else if self.thread.is_open() {
            format!("frame {}", self.number.load(Relaxed))
        } else {
            "closed".into()
        };
        format!("<pixelferry.{kind}: {}, {state}>", self.name)
    }
}

impl<S: 'static> Drop for StreamSide<S> {
    fn drop(&mut self) {
        // The socket is closed at once. That thread never waits for the interpreter.
        self.thread.close();
    }
}

/// The path for arrays of one place and size into a stream.
struct StreamRoute {
    place: MemoryLocation,
    link: Link,
    kernel: Option<Arc<dyn Kernel>>,
}

/// The publisher's side.
struct Publishes {
    // Declared before the stream, which it uses.
    way: Option<StreamRoute>,
    stream: Arc<StreamDisplay>,
}

impl Publishes {
    fn open(name: &str) -> Result<Self, Failure> {
        // Arrays may come from several devices, so frames are in host memory.
        let host = open_backend(BackendChoice::Cpu, &[])?;
        Ok(Self { way: None, stream: publish(name, host.as_ref(), StreamOptions::default())? })
    }

    /// Publishes an array. When this returns, the array is no longer read.
    fn publish(
        &mut self,
        array: &Readable<Plane>,
        format: PixelFormat,
        engine: &Engine,
    ) -> Result<(u64, PathId), Failure> {
        let plane = array.description();
        let image = ImageDesc::new(plane.width, plane.height, format).with_unwritten(Unwritten::Overwrite);
        let (place, desc) = (plane.span.place, SurfaceDesc::Image(image));
        let way = match self.way.take().filter(|way| way.place == place && *way.link.desc() == desc) {
            Some(way) => self.way.insert(way),
            None => {
                let backend = engine.backend()?;
                let link = Link::open(backend.clone(), self.stream.clone(), desc, LinkOptions::default())?;
                let kernel = kernel::<Plane>(engine, &backend, link.desc())?;
                self.way.insert(StreamRoute { place, link, kernel })
            }
        };
        let backend: Arc<dyn ComputeBackend> = Arc::clone(way.link.backend());
        match (&way.kernel, lent(array, engine, backend.as_ref())?) {
            (Some(kernel), Some(mut memory)) => {
                let arguments = plane.arguments(memory.as_ref(), None);
                way.link.frame(|frame| frame.launch(kernel.as_ref(), &arguments))?;
                // The kernel has read it: its owner may write it again.
                drop(arguments);
                memory.release()?;
            }
            _ => way.link.frame(|frame| plane.write(frame.target()?, array.bytes()?))?,
        }
        let published = self.stream.publish(&way.link.shown()?)?;
        Ok((published.number, way.link.path()))
    }
}

/// The format that keeps an array's numbers.
fn own_format(plane: &Plane) -> PixelFormat {
    use PixelFormat::{R8, R16, R16F, R32F, Rg8, Rg16F, Rg32F, Rgba8, Rgba16F, Rgba32F};
    match (plane.element, plane.channels) {
        (Element::U8, 1) => R8,
        (Element::U8, 2) => Rg8,
        (Element::U8, _) => Rgba8,
        (Element::U16, 1) => R16,
        (Element::F16, 1) => R16F,
        (Element::F16, 2) => Rg16F,
        (Element::F16, _) => Rgba16F,
        (_, 1) => R32F,
        (_, 2) => Rg32F,
        _ => Rgba32F,
    }
}

#[pyclass(module = "pixelferry", frozen)]
struct Publisher {
    side: StreamSide<Publishes>,
    engines: Engines,
    format: Option<PixelFormat>,
}

#[pymethods]
impl Publisher {
    #[new]
    #[pyo3(signature = (name, *, format=None, backend=None))]
    fn new(py: Python<'_>, name: String, format: Option<&str>, backend: Option<&str>) -> PyResult<Self> {
        let format = format.map(option_names::format).transpose()?;
        let engines = Engines::new(BackendRequest::parse(backend)?);
        Ok(Self { side: StreamSide::open(py, name, Publishes::open)?, engines, format })
    }

    #[pyo3(signature = (array, layout="HWC"))]
    fn publish(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<u64> {
        self.side.check_process()?;
        let py = array.py();
        let layout = Layout::named(layout).map_err(Failure::from)?;
        let of = |raw: &_| {
            let own = || Plane::data(raw, layout, PixelFormat::Rgba8).map(|plane| own_format(&plane));
            let format = self.format.map_or_else(own, Ok)?;
            Ok(Plane::data(raw, layout, format)?)
        };
        let source = Source::new(array, &of, &self.engines)?;
        let readable = *source.readable();
        let plane = readable.description();
        let (format, place) = (self.format.unwrap_or_else(|| own_format(plane)), plane.span.place);
        let published = py.detach(|| {
            let engine = self.engines.engine(place)?;
            self.side.run(move |side| side.publish(&readable, format, &engine))
        });
        // Release the array only now: its owner may write it from here on.
        drop(source);
        let (number, path) = published?;
        self.side.note(number, Some(path));
        Ok(number)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.side.name
    }

    #[getter]
    fn number(&self) -> u64 {
        self.side.number.load(Relaxed)
    }

    #[getter]
    fn subscribers(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(py.detach(|| self.side.run(|side| Ok(side.stream.subscribers())))?)
    }

    #[getter]
    fn path(&self) -> Option<&'static str> {
        self.side.path()
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.side.thread.close());
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        self.side.described("Publisher")
    }
}

/// A taken frame, as bytes in host memory.
struct Frame {
    number: u64,
    path: Option<PathId>,
    bytes: Vec<u8>,
    numbers: Numbers,
}

/// Result of a subscriber's wait.
enum FoundFrame {
    Frame(Frame),
    Nothing,
    Ended,
}

fn take(joined: &mut Joined, timeout: Duration) -> Result<FoundFrame, Failure> {
    let (number, bytes, numbers) = match joined.next(timeout)? {
        NextFrame::Frame(mut frame) => (frame.number(), frame.read()?, Numbers::of(frame.desc())?),
        NextFrame::Nothing => return Ok(FoundFrame::Nothing),
        NextFrame::Ended => return Ok(FoundFrame::Ended),
    };
    Ok(FoundFrame::Frame(Frame { number, path: joined.path(), bytes, numbers }))
}

#[pyclass(module = "pixelferry", frozen)]
struct Subscriber {
    side: StreamSide<Joined>,
    engines: Engines,
    wanted: ArrayLocation,
    host: DeviceIdentity,
}

impl Subscriber {
    /// Returns `None` if the publisher has ended; the inner value is `None` after a timeout.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Option<Array>>> {
        let limit = timeout.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX));
        let begun = Instant::now();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let now = left.map_or(TICK, |left| left.min(TICK));
            let found = py.detach(|| {
                let found = self.side.run(move |joined| take(joined, now))?;
                let FoundFrame::Frame(frame) = found else { return Ok::<_, Failure>((found, None)) };
                let device = self.engines.taker(self.wanted, &self.host)?;
                let array = Array::of_bytes(&frame.bytes, frame.numbers.clone(), device.as_ref())?;
                Ok((FoundFrame::Frame(frame), Some(array)))
            })?;
            match found {
                (FoundFrame::Frame(frame), array) => {
                    self.side.note(frame.number, frame.path);
                    return Ok(Some(array));
                }
                (FoundFrame::Ended, _) => return Ok(None),
                (FoundFrame::Nothing, _) if left.is_some_and(|left| left <= now) => return Ok(Some(None)),
                (FoundFrame::Nothing, _) => py.check_signals()?,
            }
        }
    }
}

#[pymethods]
impl Subscriber {
    #[new]
    #[pyo3(signature = (name, *, device="cpu"))]
    fn new(py: Python<'_>, name: String, device: &str) -> PyResult<Self> {
        let wanted = ArrayLocation::parse(device)?;
        let engines = Engines::new(BackendRequest::parse(None)?);
        let host = open_backend(BackendChoice::Cpu, &[]).map_err(Failure::from)?;
        let identity = host.device().clone();
        // Refuse an unknown device before waiting.
        py.detach(|| engines.taker(wanted, &identity))?;
        let side = StreamSide::open(py, name, move |name| Ok(Joined::open(name, &host)?))?;
        Ok(Self { side, engines, wanted, host: identity })
    }

    #[pyo3(signature = (timeout=None))]
    fn next(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Array>> {
        let ended = || Failure::Closed(format!("the publisher of the stream '{}' has ended", self.side.name));
        Ok(self.wait(py, timeout)?.ok_or_else(ended)?)
    }

    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Array>> {
        Ok(self.wait(py, None)?.flatten())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.side.name
    }

    #[getter]
    fn number(&self) -> u64 {
        self.side.number.load(Relaxed)
    }

    #[getter]
    fn path(&self) -> Option<&'static str> {
        self.side.path()
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.side.thread.close());
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        self.side.described("Subscriber")
    }
}

/// Returns the streams of this user.
#[pyfunction]
fn streams(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let found = py.detach(listed).map_err(Failure::from)?;
    let row = |stream: pixelferry::stream::StreamEntry| {
        let row = PyDict::new(py);
        row.set_item("name", stream.name)?;
        row.set_item("process", stream.process)?;
        row.set_item("program", stream.program)?;
        Ok(row)
    };
    found.into_iter().map(row).collect()
}

/// Adds them to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Publisher>()?;
    module.add_class::<Subscriber>()?;
    module.add_function(wrap_pyfunction!(streams, module)?)
}
