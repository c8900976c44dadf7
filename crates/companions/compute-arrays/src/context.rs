//! The arrays of one backend: its language, the kernels built so far, and memory between passes.

use crate::element::ElementType;
use crate::queue_context::QueueContext;
use crate::scratch::{Scratch, ScratchMemory};
use crate::text::{C, Dialect};
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, DeviceIdentity, DriverError, Error, Kernel, KernelSource, Language, Result,
    Target,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of kept kernels; beyond that, the cache is cleared.
const MOST_KERNELS: usize = 512;

/// The arrays of one backend. Cheap to clone; clones share kernels and memory between passes.
///
/// Kernels are generated as text, compiled once for each form of expression (numbers are arguments, not text), and
/// kept. Work is queued in the order of the calls; only calls that return values to the host wait.
///
/// Threads: arrays stay on the thread that created them; create one `Arrays` for each thread.
#[derive(Clone)]
pub struct Arrays {
    context: Rc<Context>,
    /// Queue for the operations; `None` means the backend's own. Arrays themselves have `None`.
    queue_context: Option<Rc<QueueContext>>,
}

struct Context {
    backend: Arc<dyn ComputeBackend>,
    dialect: Option<Dialect>,
    kernels: RefCell<HashMap<String, Arc<dyn Kernel>>>,
    scratch: RefCell<HashMap<Scratch, ScratchMemory>>,
    doubles: RefCell<Option<Result<()>>>,
}

impl fmt::Debug for Arrays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrays").field("device", &self.context.backend.device().to_string()).finish()
    }
}

impl Arrays {
    /// Creates the arrays of this backend.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a backend that supports no language known here. A missing compiler is reported when
    /// the first kernel is built ([`Error::Unavailable`], whose hint names the package to install).
    pub fn new(backend: Arc<dyn ComputeBackend>) -> Result<Self> {
        let languages = &backend.caps().languages;
        let dialect = if languages.contains(&Language::Wgsl) {
            Some(Dialect::Wgsl)
        } else if languages.iter().any(|l| matches!(l, Language::CudaCpp | Language::Ptx)) {
            // Without NVRTC, the build returns an error that says what to install.
            Some(Dialect::C(C::Cuda))
        } else if languages.contains(&Language::OpenClC) {
            Some(Dialect::C(C::OpenCl))
        } else if languages.contains(&Language::Rust) {
            None
        } else {
            return Err(Error::Unsupported {
                operation: "Arrays::new",
                device: backend.device().to_string(),
                reason: format!(
                    "arrays need OpenCL C, CUDA C++, WGSL or Rust, and it supports {languages:?}; \
                     use CUDA, OpenCL, wgpu or threads"
                ),
            });
        };
        Ok(Self {
            context: Rc::new(Context {
                backend,
                dialect,
                kernels: RefCell::default(),
                scratch: RefCell::default(),
                doubles: RefCell::default(),
            }),
            queue_context: None,
        })
    }

    /// Returns the backend.
    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.context.backend
    }

    /// Waits for all queued work.
    pub fn finish(&self) -> Result<()> {
        self.context.backend.finish()
    }

    pub(crate) fn check_same(&self, other: &Self, operation: &'static str) -> Result<()> {
        if Rc::ptr_eq(&self.context, &other.context) {
            return Ok(());
        }
        Err(Error::Foreign { operation, object: "array", device: self.context.backend.device().to_string() })
    }

    /// Returns the language; `None` for Rust on the CPU.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.context.dialect
    }

    /// Returns the number of elements for one work item: several where work items are many and cheap.
    pub(crate) fn per_item(&self) -> usize {
        if self.is_software() { 1 } else { 4 }
    }

    /// Returns true for a device that is a program on the CPU.
    pub(crate) fn is_software(&self) -> bool {
        self.context.backend.device().software
    }

    /// Returns true where a group of work items may wait for those with smaller numbers: groups begin in that order,
    /// and running groups make progress. NVIDIA's GPUs keep this order under NVIDIA's own driver, whose platform is
    /// also called CUDA in OpenCL. Mesa's drivers for the same GPUs have another vendor and platform; whether they keep
    /// the order is unknown.
    pub(crate) fn groups_may_wait(&self) -> bool {
        let device = self.context.backend.device();
        let by_nvidia = device.vendor == "NVIDIA Corporation" && device.driver.contains(" CUDA ");
        self.context.dialect == Some(Dialect::C(C::Cuda))
            || (self.context.dialect == Some(Dialect::C(C::OpenCl)) && by_nvidia)
    }

    /// # Errors
    /// [`Error::Unsupported`] for `f64` on a device without `cl_khr_fp64`, and for types that WGSL lacks.
    pub(crate) fn check_kind(&self, kind: ElementType, operation: &'static str) -> Result<()> {
        if self.context.dialect == Some(Dialect::Wgsl)
            && let Some(instead) = kind.in_32_bits()
        {
            let device = self.context.backend.device().to_string();
            let reason = format!("WGSL has no {kind}; use {instead}, or CUDA, OpenCL or threads");
            return Err(Error::Unsupported { operation, device, reason });
        }
        if kind != ElementType::F64 || self.context.dialect != Some(Dialect::C(C::OpenCl)) {
            return Ok(());
        }
        if let Some(known) = &*self.context.doubles.borrow() {
            return known.clone();
        }
        // The query in the language itself: the compiler defines the macro where the device has the type.
        let text = "__kernel void pf_doubles(PF_BUFFER(int, out)) {\n#if defined(cl_khr_fp64) || \
                    defined(__opencl_c_fp64)\n#else\n#error no f64\n#endif\n}";
        // SAFETY: the kernel does nothing.
        let probe = unsafe { KernelSource::new("pf_doubles").opencl_c(text) };
        let answer = match self.context.backend.build(&probe) {
            Ok(_) => Ok(()),
            Err(Error::KernelBuild { device, .. }) => Err(Error::Unsupported {
                operation,
                device,
                reason: "its compiler defines neither cl_khr_fp64 nor __opencl_c_fp64: it has no f64; use f32".into(),
            }),
            Err(other) => return Err(other),
        };
        *self.context.doubles.borrow_mut() = Some(answer.clone());
        answer
    }

    /// Returns the kernel of that name in `text`, built once.
    pub(crate) fn kernel(&self, name: &'static str, text: &str, dialect: Dialect) -> Result<Arc<dyn Kernel>> {
        let key = format!("{name}\n{text}");
        if let Some(kernel) = self.context.kernels.borrow().get(&key) {
            return Ok(Arc::clone(kernel));
        }
        tracing::debug!(kernel = name, device = %self.context.backend.device(), "building\n{text}");
        // SAFETY: this crate writes all its texts from typed expressions. Indices come from layouts that were checked
        // against their memory, lengths from the launches. Besides the target, texts write only memory of this crate.
        // Operators are defined for all values. No text comes from a user.
        let source = unsafe { KernelSource::new(name).with_text(dialect.language(), text.to_owned()) };
        let kernel = self.context.backend.build(&source)?;
        let mut kernels = self.context.kernels.borrow_mut();
        if kernels.len() >= MOST_KERNELS {
            kernels.clear();
        }
        kernels.insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Queues a kernel here.
    pub(crate) fn run(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        match &self.queue_context {
            Some(queue_context) => queue_context.launch(kernel, target, args),
            None => self.context.backend.launch(kernel, target, args),
        }
    }

    /// Returns these arrays with operations in a queue.
    pub(crate) fn with_queue_context(&self, queue_context: &Rc<QueueContext>) -> Self {
        Self { context: self.context.clone(), queue_context: Some(queue_context.clone()) }
    }

    /// Returns these arrays with operations in the backend's own queue.
    pub(crate) fn without_queue_context(&self) -> Self {
        Self { context: self.context.clone(), queue_context: None }
    }

    /// Allocates memory of the backend.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        let backend = &self.context.backend;
        long_enough(backend.allocate(bytes)?, bytes, backend.device())
    }

    /// Lends the memory of that name, with at least `bytes` bytes; new memory is zeroed.
    pub(crate) fn with_scratch<R>(
        &self,
        which: Scratch,
        bytes: usize,
        f: impl FnOnce(&mut ScratchMemory) -> Result<R>,
    ) -> Result<R> {
        // Removed while it is in use, so that operations nest. After an error it is not put back, because its state is
        // unknown.
        let scratch = self.queue_context.as_ref().map_or(&self.context.scratch, |queue_context| &queue_context.scratch);
        let kept = scratch.borrow_mut().remove(&which);
        let may_reuse = |kept: &ScratchMemory| {
            self.queue_context.as_ref().is_none_or(|queue_context| queue_context.may_reuse(which, kept))
        };
        let mut kept = match kept.filter(may_reuse) {
            Some(kept) if kept.memory.len() >= bytes && kept.epoch < u32::MAX => kept,
            _ => {
                let mut memory = self.allocate(bytes.next_power_of_two())?;
                let zeros = vec![0u8; memory.len()];
                memory.write(0, &zeros)?;
                ScratchMemory { memory, epoch: 0, last: None }
            }
        };
        let result = f(&mut kept)?;
        kept.last = self.queue_context.as_ref().and_then(|queue_context| queue_context.last());
        scratch.borrow_mut().insert(which, kept);
        Ok(result)
    }
}

/// Checks the length of a backend's memory, because kernels use every byte.
fn long_enough(
    memory: Box<dyn ComputeMemory>,
    bytes: usize,
    device: &DeviceIdentity,
) -> Result<Box<dyn ComputeMemory>> {
    if memory.len() >= bytes {
        return Ok(memory);
    }
    let given = format!("{} bytes were allocated instead of {bytes}", memory.len());
    let error = DriverError::new("ComputeBackend::allocate", device.to_string(), 0, given);
    Err(error.with_hint("The backend violates its contract; report this to its author.").into())
}

#[test]
fn memory_shorter_than_asked_for_is_refused() {
    let backend = cpu_fallback::CpuBackend::new().unwrap();
    assert!(long_enough(backend.allocate(64).unwrap(), 64, backend.device()).is_ok());
    let error = long_enough(backend.allocate(64).unwrap(), 68, backend.device()).err().unwrap();
    assert!(
        matches!(&error, Error::Driver(_)) && error.to_string().contains("64 bytes were allocated instead of 68"),
        "{error}"
    );
}
