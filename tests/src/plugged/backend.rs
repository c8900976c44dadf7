//! A backend: one thread that does what it is told in order, as a small device with a queue would.

use crate::plugged::lent_bytes::{BYTES, SharedBytes};
use interop_core::compute::{BackendDriver, CheckToken, MemoryDriver};
use interop_core::describe::pattern::{Pattern, rows};
use interop_core::{
    Api, Arg, ComputeCaps, ComputeMemory, DeviceIdentity, Error, HandleType, Kernel, KernelSource, Language, MemoryCap,
    MemoryKind, MemoryShape, Result, SharedHandle, Support, Target, View, compute::SourceCode, compute::check_range,
    describe::panics,
};

use std::any::Any;
use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The language of its kernels.
pub const PIXEL_FUNCTION: Language = Language::Other("pixel function");

/// A kernel: writes the bytes of the pixel (or of the four bytes of a buffer) at x and y.
#[derive(Clone)]
pub struct PixelFunction(pub Arc<Function>);

type Function = dyn Fn(u32, u32, &[Value], &mut [u8]) + Send + Sync;

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// 32-bit signed.
    I32(i32),
    /// 32-bit unsigned.
    U32(u32),
    /// binary32.
    F32(f32),
}

/// The backend. Calls return before the work is done; what failed is told by the next that waits.
pub struct Worker {
    device: Arc<DeviceIdentity>,
    caps: ComputeCaps,
    queue: Arc<Queue>,
}

type Job = Box<dyn FnOnce() -> Result<()> + Send>;

struct Queue {
    jobs: Mutex<Sender<Job>>,
    failed: Arc<Mutex<Option<Error>>>,
    device: Arc<DeviceIdentity>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    fn start(device: &Arc<DeviceIdentity>) -> Result<Arc<Self>> {
        let (jobs, todo) = channel::<Job>();
        let failed: Arc<Mutex<Option<Error>>> = Arc::default();
        let keep = Arc::clone(&failed);
        let work = move || {
            for job in todo {
                if let Err(error) = panics::as_error("a kernel", job) {
                    lock(&keep).get_or_insert(error);
                }
            }
        };
        // It ends with the last sender: nobody waits for it, as what it works on is its own.
        std::thread::Builder::new().name("worker".into()).spawn(work).map_err(|e| Error::Unavailable {
            what: "a thread".into(),
            reason: e.to_string(),
            hint: "End other programs.".into(),
        })?;
        Ok(Arc::new(Self { jobs: Mutex::new(jobs), failed, device: Arc::clone(device) }))
    }

    fn put(&self, job: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        lock(&self.jobs).send(Box::new(job)).map_err(|_| self.gone())
    }

    fn wait(&self) -> Result<()> {
        let (done, all_done) = channel();
        self.put(move || {
            // Nobody listens where the caller is gone.
            let _ = done.send(());
            Ok(())
        })?;
        all_done.recv().map_err(|_| self.gone())?;
        lock(&self.failed).take().map_or(Ok(()), Err)
    }

    fn gone(&self) -> Error {
        Error::Unavailable {
            what: self.device.to_string(),
            reason: "its thread has ended".into(),
            hint: "Open it anew.".into(),
        }
    }
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the system gives no thread.
    pub fn new() -> Result<Self> {
        let device = Arc::new(
            DeviceIdentity::new(Api::Other("worker"), "one thread")
                .with_vendor("a test")
                .with_driver(env!("CARGO_PKG_VERSION"))
                .with_memory(MemoryKind::Host)
                .with_software(true),
        );
        let caps = ComputeCaps::new(vec![PIXEL_FUNCTION], 1 << 30).with_exports(vec![MemoryCap::new(
            HandleType::Other(BYTES),
            MemoryShape::Linear,
            Support::Yes,
        )]);
        Ok(Self { queue: Queue::start(&device)?, device, caps })
    }

    fn own<'m>(&self, memory: Option<&'m WorkerMemory>, operation: &'static str) -> Result<&'m WorkerMemory> {
        let own = memory.filter(|memory| Arc::ptr_eq(&memory.queue, &self.queue));
        own.ok_or_else(|| Error::Foreign { operation, object: "memory", device: self.device.to_string() })
    }

    fn memory(&self, bytes: usize) -> Result<WorkerMemory> {
        let memory = Arc::new(Mutex::new(vec![0; bytes]));
        Ok(WorkerMemory { bytes: memory, len: bytes, queue: Arc::clone(&self.queue) })
    }

    fn unsupported(&self, operation: &'static str, reason: String) -> Error {
        Error::Unsupported { operation, device: self.device.to_string(), reason }
    }
}

struct BuiltKernel {
    name: String,
    function: PixelFunction,
}

impl Kernel for BuiltKernel {
    fn name(&self) -> &str {
        &self.name
    }
}

// SAFETY: memories own their bytes; kernels are closures, which get pixels of the target alone.
unsafe impl BackendDriver for Worker {
    fn device(&self) -> &DeviceIdentity {
        &self.device
    }

    fn caps(&self) -> &ComputeCaps {
        &self.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        let function = match source.source(PIXEL_FUNCTION) {
            Some(SourceCode::Native(code)) => code.downcast_ref::<PixelFunction>(),
            _ => None,
        };
        let function = function.ok_or_else(|| {
            let reason = format!("'{}' is given in {}, not as a {PIXEL_FUNCTION}", source.name(), source.languages());
            self.unsupported("build", reason)
        })?;
        Ok(Arc::new(BuiltKernel { name: source.name().into(), function: function.clone() }))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(self.memory(bytes)?))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        _: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        if handle != HandleType::Other(BYTES) {
            return Err(self.unsupported("allocate_shared", format!("nothing of it is named by a {handle}")));
        }
        let memory = self.memory(bytes)?;
        let lent = SharedHandle::Other { name: BYTES, handle: Box::new(Arc::clone(&memory.bytes)) };
        Ok((Box::new(memory), lent))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let built = (kernel as &dyn Any).downcast_ref::<BuiltKernel>().ok_or_else(|| Error::Foreign {
            operation: "launch",
            object: "kernel",
            device: self.device.to_string(),
        })?;
        let value = |arg: &Arg<'_>| match arg {
            Arg::I32(value) => Ok(Value::I32(*value)),
            Arg::U32(value) => Ok(Value::U32(*value)),
            Arg::F32(value) => Ok(Value::F32(*value)),
            other => Err(self.unsupported("launch", format!("kernels take no {}", other.kind()))),
        };
        let args = args.iter().map(value).collect::<Result<Vec<_>>>()?;
        let (memory, view) = target.into_parts();
        let bytes = Arc::clone(&self.own(memory.downcast_ref(), "launch")?.bytes);
        let (name, device) = (built.name.clone(), Arc::clone(&self.device));
        let PixelFunction(function) = built.function.clone();
        let item = match view {
            View::Image(image) => image.format.bytes_per_pixel(),
            View::Buffer(_) => 4,
        };
        self.queue.put(move || {
            let mut bytes = lock(&bytes);
            let work = || {
                // A buffer's rows follow each other: its items have one number, and no row.
                let mut first = 0;
                for (y, range) in rows(&view) {
                    let y = if matches!(view, View::Image(_)) { y } else { 0 };
                    let mut x = first;
                    for pixel in bytes[range].chunks_mut(item) {
                        function(x, y, &args, pixel);
                        x += 1;
                    }
                    first = if matches!(view, View::Image(_)) { 0 } else { x };
                }
            };
            let done = panics::catch(work);
            done.map_err(|panicked| Error::KernelFailed {
                kernel: name,
                device: device.to_string(),
                reason: panicked.to_string(),
            })
        })
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        let (bytes, pattern) = (Arc::clone(&self.own(memory.downcast_ref(), "write_pattern")?.bytes), *pattern);
        self.queue.put(move || {
            pattern.write(&view, &mut lock(&bytes));
            Ok(())
        })
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        let (from, to) = (self.own(from.downcast_ref(), "copy")?, self.own(to.downcast_ref(), "copy")?);
        check_range(&range, from.len.min(to.len))?;
        let (from, to) = (Arc::clone(&from.bytes), Arc::clone(&to.bytes));
        self.queue.put(move || {
            lock(&to)[range.clone()].copy_from_slice(&lock(&from)[range]);
            Ok(())
        })
    }

    fn finish(&self) -> Result<()> {
        self.queue.wait()
    }
}

struct WorkerMemory {
    bytes: SharedBytes,
    len: usize,
    queue: Arc<Queue>,
}

impl WorkerMemory {
    /// The bytes of a range, once everything queued is done.
    fn within<R>(
        &self,
        range: Range<usize>,
        _operation: &'static str,
        f: impl FnOnce(&mut [u8]) -> Result<R>,
    ) -> Result<R> {
        self.queue.wait()?;
        f(&mut lock(&self.bytes)[range])
    }
}

impl MemoryDriver for WorkerMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.within(offset..offset.saturating_add(into.len()), "read", |bytes| {
            into.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.within(offset..offset.saturating_add(from.len()), "write", |bytes| {
            bytes.copy_from_slice(from);
            Ok(())
        })
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.within(range, "view", |bytes| f(bytes))
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.within(range, "fill", f)
    }

    fn release(&mut self) -> Result<()> {
        self.queue.wait()
    }
}
