//! `pixelferry.Publisher` and `pixelferry.Subscriber`: arrays to and from other processes. Callers wait with the
//! interpreter released.

use crate::array::{Array, Layout as Numbers};
use crate::array_kernel::{kernel, lent};
use crate::engine::{ArrayLocation, BackendRequest, Engine, Engines};
use crate::failure::{Failure, check_process};
use crate::job::{TICK, guarded};
use crate::option_names;
use crate::raw::memory::Readable;
use crate::raw::owned_bytes::{BytesKeeper, CudaBytes, Memory};
use crate::source::Source;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::driver::describe::process::ForkGuard;
use pixelferry::driver::describe::threads;
use pixelferry::stream::{
    HeldStreamFrame, NextFrame, StreamDisplay, StreamOptions, Subscriber as Joined, publish, streams as listed,
};
use pixelferry::{
    AnyThread, BackendChoice, ComputeBackend, ComputeMemory, ImageDesc, Kernel, Link, LinkOptions, PathId, PixelFormat,
    SurfaceDesc, Unwritten, open_backend,
};
use pixelferry_look::{Element, Layout, MemoryLocation, Plane};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::iter;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One side of a stream, which one thread uses at a time.
struct StreamSide<S> {
    /// `None` after closing.
    side: ForkGuard<Mutex<Option<S>>>,
    /// Whoever waits for a frame lets the side go at once.
    is_closing: AtomicBool,
    name: String,
    /// Number of the last frame; then the path that it took.
    number: AtomicU64,
    path: Mutex<Option<PathId>>,
}

impl<S: Send> StreamSide<S> {
    fn open(py: Python<'_>, name: String, make: impl FnOnce(&str) -> Result<S, Failure> + Send) -> PyResult<Self> {
        let side = py.detach(|| guarded(|| make(&name)))?;
        let side = ForkGuard::new(Mutex::new(Some(side)));
        Ok(Self { side, is_closing: AtomicBool::new(false), name, number: AtomicU64::new(0), path: Mutex::new(None) })
    }

    /// Refuses a forked process before any driver is called.
    fn check_process(&self) -> Result<(), Failure> {
        check_process(self.side.mark(), &format!("the stream '{}'", self.name))
    }

    fn locked(&self) -> MutexGuard<'_, Option<S>> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with the interpreter released.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut S) -> Result<R, Failure> + Send,
    ) -> Result<R, Failure> {
        self.check_process()?;
        py.detach(|| {
            let mut side = self.locked();
            let open = side.as_mut().filter(|_| !self.is_closing.load(Relaxed));
            let open = open.ok_or_else(|| Failure::Closed(format!("the stream '{}' is closed", self.name)))?;
            guarded(|| work(open))
        })
    }

    fn close(&self, py: Python<'_>) {
        if self.side.mark().is_here() {
            self.is_closing.store(true, Relaxed);
            py.detach(|| self.locked().take());
        }
    }

    fn note(&self, number: u64, path: Option<PathId>) {
        self.number.store(number, Relaxed);
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    fn path(&self) -> Option<&'static str> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner).map(PathId::name)
    }

    fn described(&self, kind: &str) -> String {
        let state = if !self.side.mark().is_here() {
            "of another process".into()
        } else if !self.is_closing.load(Relaxed) {
            format!("frame {}", self.number.load(Relaxed))
        } else {
            "closed".into()
        };
        format!("<pixelferry.{kind}: {}, {state}>", self.name)
    }
}

/// The path for arrays of one place and size into a stream.
struct StreamRoute {
    place: MemoryLocation,
    link: Link<AnyThread>,
    kernel: Option<Arc<dyn Kernel>>,
}

/// The publisher's side.
struct PublishingSide {
    // Declared before the stream, which it uses.
    route: Option<StreamRoute>,
    stream: Arc<StreamDisplay>,
}

impl PublishingSide {
    /// Frames are in memory of the host, where arrays of all devices come together, or of that device.
    fn open(name: &str, device: Option<&CudaBackend>) -> Result<Self, Failure> {
        let stream = match device {
            Some(cuda) => publish(name, cuda, StreamOptions::default())?,
            None => publish(name, open_backend(BackendChoice::Cpu, &[])?.as_ref(), StreamOptions::default())?,
        };
        Ok(Self { route: None, stream })
    }

    /// PublishingSide an array. When this returns, the array is no longer read.
    fn publish(
        &mut self,
        array: &Readable<Plane>,
        format: PixelFormat,
        engine: &Engine,
    ) -> Result<(u64, PathId), Failure> {
        let plane = array.description();
        let image = ImageDesc::new(plane.width, plane.height, format).with_unwritten(Unwritten::Overwrite);
        let (place, desc) = (plane.span.place, SurfaceDesc::Image(image));
        let route = match self.route.take().filter(|route| route.place == place && *route.link.desc() == desc) {
            Some(route) => self.route.insert(route),
            None => {
                let backend = engine.backend()?;
                let link = Link::open(backend.clone(), self.stream.clone(), desc, LinkOptions::default())?;
                let kernel = kernel::<Plane>(engine, &backend, link.desc())?;
                let link = link.for_any_thread(&self.stream).map_err(|_| Failure::Device("internal error".into()))?;
                self.route.insert(StreamRoute { place, link, kernel })
            }
        };
        let backend: Arc<dyn ComputeBackend> = Arc::clone(route.link.backend());
        match (&route.kernel, lent(array, engine, backend.as_ref())?) {
            (Some(kernel), Some(mut memory)) => {
                let arguments = plane.arguments(memory.as_ref(), None);
                route.link.frame(|frame| frame.launch(kernel.as_ref(), &arguments))?;
                // The kernel has read it: its owner may write it again.
                drop(arguments);
                memory.release()?;
            }
            _ => route.link.frame(|frame| plane.write(frame.target()?, array.bytes()?))?,
        }
        let published = self.stream.publish(&route.link.shown()?)?;
        Ok((published.number, route.link.path()))
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
    side: StreamSide<PublishingSide>,
    engines: Engines,
    format: Option<PixelFormat>,
}

#[pymethods]
impl Publisher {
    #[new]
    #[pyo3(signature = (name, *, format=None, backend=None, device="cpu"))]
    fn new(py: Python<'_>, name: String, format: Option<&str>, backend: Option<&str>, device: &str) -> PyResult<Self> {
        let format = format.map(option_names::format).transpose()?;
        let engines = Engines::new(BackendRequest::parse(backend)?);
        let wanted = ArrayLocation::parse(device)?;
        let device = py.detach(|| engines.taker(wanted, None))?;
        let side = StreamSide::open(py, name, |name| PublishingSide::open(name, device.as_deref()))?;
        Ok(Self { side, engines, format })
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
        let published = self.side.run(py, |side| side.publish(&readable, format, &self.engines.engine(place)?));
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
        Ok(self.side.run(py, |side| Ok(side.stream.subscribers()))?)
    }

    #[getter]
    fn path(&self) -> Option<&'static str> {
        self.side.path()
    }

    fn close(&self, py: Python<'_>) {
        self.side.close(py);
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

/// A subscription, and who takes back what arrays kept.
struct ReceivingSide {
    joined: Joined,
    /// The device whose arrays are wanted.
    cuda: Option<Arc<CudaBackend>>,
    /// Starts with the first frame that is kept.
    returns: Option<Sender<HeldStreamFrame>>,
}

/// A frame in memory of a CUDA device, for as long as an array or another library uses it.
struct KeptFrame(Option<HeldStreamFrame>, Sender<HeldStreamFrame>);

impl BytesKeeper for KeptFrame {
    fn memory(&self) -> Result<&dyn ComputeMemory, Failure> {
        let memory = self.0.as_ref().and_then(HeldStreamFrame::memory);
        memory.ok_or_else(|| Failure::Closed("the frame is of another process".into()))
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), Failure> {
        let Some(frame) = &mut self.0 else { return Ok(()) };
        let copied = frame.read_with(|bytes| {
            into.copy_from_slice(bytes);
            Ok(())
        });
        Ok(copied?)
    }

    fn is_complete(&self) -> bool {
        true
    }
}

impl Drop for KeptFrame {
    fn drop(&mut self) {
        // The other end is gone only in a forked process.
        if let Some(frame) = self.0.take() {
            let _ = self.1.send(frame);
        }
    }
}

/// Returns frames that arrays kept. Other libraries drop an array while their kernels still read it, so this waits for the
/// device.
fn take_back(backend: &CudaBackend, frames: &Receiver<HeldStreamFrame>) {
    while let Ok(frame) = frames.recv() {
        let all: Vec<_> = iter::once(frame).chain(frames.try_iter()).collect();
        if let Err(error) = backend.finish_context() {
            tracing::debug!(%error, "a frame is returned to its publisher while kernels may be reading it");
        }
        drop(all);
    }
}

impl ReceivingSide {
    fn open(name: &str, cuda: Option<Arc<CudaBackend>>) -> Result<Self, Failure> {
        let backend = match &cuda {
            Some(cuda) => cuda.clone(),
            None => open_backend(BackendChoice::Cpu, &[])?,
        };
        Ok(Self { joined: Joined::open(name, &backend)?, cuda, returns: None })
    }

    fn take(&mut self, timeout: Duration) -> Result<FoundFrame, Failure> {
        let Self { joined, cuda, returns } = self;
        let (number, view, layout) = match joined.next(timeout)? {
            NextFrame::Frame(frame) => (frame.number(), frame.view(), Numbers::of(frame.desc())?),
            NextFrame::Nothing => return Ok(FoundFrame::Nothing),
            NextFrame::Ended => return Ok(FoundFrame::Ended),
        };
        let path = joined.path();
        let is_whole = view.span() == (0..layout.len());
        if let Some(cuda) = cuda.as_ref().filter(|_| is_whole && path == Some(PathId::EXPORTED_IN_PLACE))
            && let Some(returns) = started(returns, cuda)
            && let Some(frame) = joined.hold()
        {
            let owner = KeptFrame(Some(frame), returns.clone());
            let memory = Memory::Cuda(CudaBytes::kept_by(cuda, owner, layout.len())?);
            return Ok(FoundFrame::Frame(number, path, Array::new(memory, layout)));
        }
        let Some(mut frame) = joined.frame() else { return Ok(FoundFrame::Nothing) };
        let array = match cuda {
            // The next frame waits for the copy.
            Some(cuda) if is_whole => {
                let (from, len) = (frame.memory(), layout.len());
                let copy = CudaBytes::filled(cuda, len, |to| Ok(cuda.copy(from, to, 0..len)?))?;
                Array::new(Memory::Cuda(copy), layout)
            }
            _ => Array::of_bytes(&frame.read()?, layout, cuda.as_ref())?,
        };
        Ok(FoundFrame::Frame(number, path, array))
    }
}

/// Starts the thread that takes frames back; `None` without one.
fn started<'s>(
    returns: &'s mut Option<Sender<HeldStreamFrame>>,
    cuda: &Arc<CudaBackend>,
) -> Option<&'s Sender<HeldStreamFrame>> {
    if returns.is_none() {
        let (sender, frames) = channel();
        let backend = cuda.clone();
        threads::spawn("pixelferry-stream-returns", move || take_back(&backend, &frames)).ok()?;
        *returns = Some(sender);
    }
    returns.as_ref()
}

/// Result of a subscriber's wait.
enum FoundFrame {
    Frame(u64, Option<PathId>, Array),
    Nothing,
    Ended,
}

#[pyclass(module = "pixelferry", frozen)]
struct Subscriber {
    side: StreamSide<ReceivingSide>,
}

impl Subscriber {
    /// Returns `None` if the publisher has ended; the inner value is `None` after a timeout.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Option<Array>>> {
        let limit = timeout.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX));
        let begun = Instant::now();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let now = left.map_or(TICK, |left| left.min(TICK));
            match self.side.run(py, |side| side.take(now))? {
                FoundFrame::Frame(number, path, array) => {
                    self.side.note(number, path);
                    return Ok(Some(Some(array)));
                }
                FoundFrame::Ended => return Ok(None),
                FoundFrame::Nothing if left.is_some_and(|left| left <= now) => return Ok(Some(None)),
                FoundFrame::Nothing => py.check_signals()?,
            }
        }
    }
}

#[pymethods]
impl Subscriber {
    #[new]
    #[pyo3(signature = (name, *, device="cpu"))]
    fn new(py: Python<'_>, name: String, device: &str) -> PyResult<Self> {
        let engines = Engines::new(BackendRequest::parse(None)?);
        let wanted = ArrayLocation::parse(device)?;
        let cuda = py.detach(|| engines.taker(wanted, None))?;
        Ok(Self { side: StreamSide::open(py, name, |name| ReceivingSide::open(name, cuda))? })
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
        self.side.close(py);
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
