//! One backend as arrays see it: its language, the kernels built so far, and memory between passes.

use crate::array::{Array, Store};
use crate::element::{Constant, Element, Kind};
use crate::expr::{Bound, Expr, Leaf, Role};
use crate::layout::{Layout, count, elements};
use crate::operations::elementwise;
use crate::queue::Lane;
use crate::text::Dialect;
use interop_core::{Arg, BufferView, ComputeBackend, ComputeMemory, Error, Event, Kernel, KernelSource, Language};
use interop_core::{Result, Target, View};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// Kernels kept; a program that makes more texts than this begins anew.
const MOST_KERNELS: usize = 512;

/// Arrays of one backend. Cheap to clone; clones share kernels and memory between passes.
///
/// Kernels are generated as text, compiled once for each form of expression (numbers are arguments, not text) and kept.
/// Work is queued in the order of the calls; only what returns values to the host waits.
///
/// Threads: arrays stay on the thread that made them; make one `Arrays` for each thread.
#[derive(Clone)]
pub struct Arrays {
    context: Rc<Context>,
    /// Where operations go; none is the backend's own queue. No array has one.
    lane: Option<Rc<Lane>>,
}

struct Context {
    backend: Arc<dyn ComputeBackend>,
    dialect: Option<Dialect>,
    kernels: RefCell<HashMap<String, Arc<dyn Kernel>>>,
    scratch: RefCell<HashMap<Scratch, Kept>>,
    doubles: RefCell<Option<Result<()>>>,
}

/// Memory between the passes of one operation, kept from call to call: the queue is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scratch {
    /// One value for each work group.
    Partials,
    /// A reduction's result.
    Result,
    /// One value for each tile of a scan.
    Tiles,
    /// A one-pass scan's state. What is left there never looks like a state of today's.
    State,
}

/// Memory between passes.
pub(crate) struct Kept {
    pub memory: Box<dyn ComputeMemory>,
    /// Number of the latest one-pass scan that used it, in [`Scratch::State`]: the tag of its values.
    pub epoch: u32,
    /// What used it last, in a queue.
    pub last: Option<Event>,
}

impl fmt::Debug for Arrays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrays").field("device", &self.context.backend.device().to_string()).finish()
    }
}

impl Arrays {
    /// Arrays of this backend.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a backend that takes kernels in no language known here. Whether the compiler for it
    /// is installed shows when the first kernel is built ([`Error::Unavailable`] says what to install).
    pub fn new(backend: Arc<dyn ComputeBackend>) -> Result<Self> {
        let languages = &backend.caps().languages;
        let dialect = if languages.iter().any(|l| matches!(l, Language::CudaCpp | Language::Ptx)) {
            // Where NVRTC is missing, the build says so and what to install.
            Some(Dialect::CudaCpp)
        } else if languages.contains(&Language::OpenClC) {
            Some(Dialect::OpenClC)
        } else if languages.contains(&Language::Rust) {
            None
        } else {
            return Err(Error::Unsupported {
                operation: "Arrays::new",
                device: backend.device().to_string(),
                reason: format!("arrays need OpenCL C, CUDA C++ or Rust; it takes {languages:?}"),
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
            lane: None,
        })
    }

    /// The backend.
    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.context.backend
    }

    /// An array with the host's values, of one axis.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device lacks the type, and what the backend reports.
    pub fn from_slice<T: Element>(&self, values: &[T]) -> Result<Array<T>> {
        let mut array = self.empty(&[values.len()])?;
        array.write(values)?;
        Ok(array)
    }

    /// An array whose content is arbitrary.
    ///
    /// # Errors
    /// As [`Arrays::from_slice`]; [`Error::InvalidInput`] for a shape that cannot be counted.
    pub fn empty<T: Element>(&self, shape: &[usize]) -> Result<Array<T>> {
        self.check_kind(T::KIND, "Arrays::empty")?;
        let bytes = count(shape)?.checked_mul(size_of::<T>()).ok_or_else(|| {
            Error::invalid("Arrays::empty", format!("shape {shape:?} has more bytes than can be counted"))
        })?;
        let memory = if bytes == 0 { None } else { Some(self.context.backend.allocate(bytes)?) };
        Ok(Array::new(self.without_lane(), Store::new(memory), Layout::contiguous(shape)?))
    }

    /// Memory of the backend as an array: its first elements, as many as `shape` has.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the memory is too small. Memory of another backend is found out
    /// ([`Error::Foreign`]) when it is first used.
    pub fn from_memory<T: Element>(&self, memory: Box<dyn ComputeMemory>, shape: &[usize]) -> Result<Array<T>> {
        const OP: &str = "Arrays::from_memory";
        self.check_kind(T::KIND, OP)?;
        let wanted = count(shape)?.checked_mul(size_of::<T>());
        if wanted.is_none_or(|bytes| bytes > memory.len()) {
            let problem = format!("{} bytes are too few for shape {shape:?} of {}", memory.len(), T::KIND);
            return Err(Error::invalid(OP, problem));
        }
        Ok(Array::new(self.without_lane(), Store::new(Some(memory)), Layout::contiguous(shape)?))
    }

    /// An array of the expression's values, in one kernel. Its shape is that of the arrays in it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the expression has no array (give a shape: [`Arrays::tabulate`]) or arrays of
    /// different shapes, [`Error::Foreign`] for arrays of another `Arrays`, and what the backend reports.
    pub fn eval<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<Array<T>> {
        const OP: &str = "Arrays::eval";
        let bound = Bound::new(&expr.into().tree, Role::Plain, OP)?;
        let shape = bound.shape().map(<[usize]>::to_vec).ok_or_else(|| no_shape(OP))?;
        self.fill(&shape, &bound, OP)
    }

    /// An array of a given shape, of an expression that may have no array in it: a number, or [`Expr::index`].
    ///
    /// ```no_run
    /// # fn f(arrays: &compute_arrays::Arrays) -> interop_core::Result<()> {
    /// use compute_arrays::Expr;
    /// let ramp = arrays.tabulate(&[1000], Expr::index().cast::<f32>() * 0.001)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Arrays::eval`].
    pub fn tabulate<'a, T: Element>(&self, shape: &[usize], expr: impl Into<Expr<'a, T>>) -> Result<Array<T>> {
        const OP: &str = "Arrays::tabulate";
        self.fill(shape, &Bound::new(&expr.into().tree, Role::Plain, OP)?, OP)
    }

    fn fill<T: Element>(&self, shape: &[usize], bound: &Bound<'_>, operation: &'static str) -> Result<Array<T>> {
        let array = self.empty(shape)?;
        self.check_shape(bound, shape, operation)?;
        if let Some(mut memory) = array.memory_mut(operation)? {
            let target = Target::buffer(memory.as_mut());
            elementwise::run::<T>(self, bound, target, array.len(), operation)?;
        }
        Ok(array)
    }

    /// Writes the expression's values to a buffer target: a frame of a link
    /// (`arrays.write(frame.target()?, &expr)`), or a part of other memory. As many elements as the target holds, which
    /// must be as many as the expression's arrays have.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an image target, a target that does not begin and end at an element, or that has
    /// another number of elements; else as [`Arrays::eval`].
    pub fn write<'a, T: Element>(&self, target: Target<'_>, expr: impl Into<Expr<'a, T>>) -> Result<()> {
        const OP: &str = "Arrays::write";
        self.check_kind(T::KIND, OP)?;
        let bound = Bound::new(&expr.into().tree, Role::Plain, OP)?;
        let View::Buffer(BufferView { offset, len }) = target.view() else {
            return Err(Error::invalid(OP, "the target is an image; expressions are written to buffers"));
        };
        let size = size_of::<T>();
        if !offset.is_multiple_of(size) || !len.is_multiple_of(size) {
            return Err(Error::invalid(
                OP,
                format!("the target, bytes {offset}..{}, is no whole number of {} elements", offset + len, T::KIND),
            ));
        }
        let len = len / size;
        if let Some(arrays) = bound.arrays() {
            self.check_same(arrays, OP)?;
        }
        if let Some(shape) = bound.shape().filter(|shape| elements(shape) != len) {
            return Err(Error::invalid(
                OP,
                format!("the target has {len} elements, the expression's shape is {shape:?}"),
            ));
        }
        if len == 0 { Ok(()) } else { elementwise::run::<T>(self, &bound, target, len, OP) }
    }

    /// Waits for everything queued.
    pub fn finish(&self) -> Result<()> {
        self.context.backend.finish()
    }

    /// That the expression's arrays belong here and have this shape.
    pub(crate) fn check_shape(&self, bound: &Bound<'_>, shape: &[usize], operation: &'static str) -> Result<()> {
        if let Some(arrays) = bound.arrays() {
            self.check_same(arrays, operation)?;
        }
        match bound.shape().filter(|s| *s != shape) {
            None => Ok(()),
            Some(other) => Err(Error::invalid(
                operation,
                format!("the expression's shape is {other:?}, the result's is {shape:?}; View::broadcast_to repeats"),
            )),
        }
    }

    pub(crate) fn check_same(&self, other: &Self, operation: &'static str) -> Result<()> {
        if Rc::ptr_eq(&self.context, &other.context) {
            return Ok(());
        }
        Err(Error::Foreign { operation, object: "array", device: self.context.backend.device().to_string() })
    }

    /// `None` for Rust on the CPU.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.context.dialect
    }

    /// Elements that one work item does: several where threads are many and cheap.
    pub(crate) fn per_item(&self) -> usize {
        if self.is_software() { 1 } else { 4 }
    }

    /// A device that is a program on the CPU.
    pub(crate) fn is_software(&self) -> bool {
        self.context.backend.device().software
    }

    /// Whether a group of work items may wait for those of smaller numbers: groups begin in that order, and those that
    /// began go on. So it is on NVIDIA's GPUs by NVIDIA's own driver, whose platform is called CUDA in OpenCL too; Mesa's
    /// drivers for the same GPUs have another vendor and platform, and are not known to keep the order.
    pub(crate) fn groups_may_wait(&self) -> bool {
        let device = self.context.backend.device();
        let by_nvidia = device.vendor == "NVIDIA Corporation" && device.driver.contains(" CUDA ");
        self.context.dialect == Some(Dialect::CudaCpp) || by_nvidia
    }

    /// # Errors
    /// [`Error::Unsupported`] for `f64` on a device without `cl_khr_fp64`.
    pub(crate) fn check_kind(&self, kind: Kind, operation: &'static str) -> Result<()> {
        if kind != Kind::F64 || self.context.dialect != Some(Dialect::OpenClC) {
            return Ok(());
        }
        if let Some(known) = &*self.context.doubles.borrow() {
            return known.clone();
        }
        // The language's own query: the compiler defines the macro where the device has the type.
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

    pub(crate) fn check_kinds(&self, bound: &Bound<'_>, operation: &'static str) -> Result<()> {
        if bound.program.uses(Kind::F64) { self.check_kind(Kind::F64, operation) } else { Ok(()) }
    }

    /// The kernel of that name in `text`, built once.
    pub(crate) fn kernel(&self, name: &'static str, text: &str, dialect: Dialect) -> Result<Arc<dyn Kernel>> {
        let key = format!("{name}\n{text}");
        if let Some(kernel) = self.context.kernels.borrow().get(&key) {
            return Ok(Arc::clone(kernel));
        }
        tracing::debug!(kernel = name, device = %self.context.backend.device(), "building\n{text}");
        // SAFETY: this crate writes all its texts: from typed expressions, with indices of layouts that were checked
        // against their memory, lengths that the launches give, and memory of its own for what they write besides the
        // target. Operators are defined for all values. No text comes from a user.
        let source = unsafe { KernelSource::new(name).with_text(dialect.language(), text.to_owned()) };
        let kernel = self.context.backend.build(&source)?;
        let mut kernels = self.context.kernels.borrow_mut();
        if kernels.len() >= MOST_KERNELS {
            kernels.clear();
        }
        kernels.insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Queues `kernel` with the leaves' memory lent to it.
    pub(crate) fn launch(
        &self,
        kernel: &dyn Kernel,
        target: Target<'_>,
        before: &[Arg<'_>],
        leaves: &[Leaf<'_>],
        after: &[Parameter],
        operation: &'static str,
    ) -> Result<()> {
        let lent = leaves.iter().map(|leaf| leaf.store.borrow(operation)).collect::<Result<Vec<_>>>()?;
        let memories = lent.iter().map(|memory| Arg::Memory(&***memory)).collect::<Vec<_>>();
        let args = before.iter().copied().chain(after.iter().map(|p| match p {
            Parameter::Leaf(at) => memories[*at],
            Parameter::Number(constant) => constant.arg(),
        }));
        self.run(kernel, target, &args.collect::<Vec<_>>())
    }

    /// Queues a kernel here.
    pub(crate) fn run(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        match &self.lane {
            Some(lane) => lane.launch(kernel, target, args),
            None => self.context.backend.launch(kernel, target, args),
        }
    }

    /// The same arrays, with operations in a queue.
    pub(crate) fn with_lane(&self, lane: &Rc<Lane>) -> Self {
        Self { context: self.context.clone(), lane: Some(lane.clone()) }
    }

    /// The same arrays, with operations in the backend's own queue.
    pub(crate) fn without_lane(&self) -> Self {
        Self { context: self.context.clone(), lane: None }
    }

    /// Lends the memory of that name, at least `bytes` long; new memory is zeros.
    pub(crate) fn with_scratch<R>(
        &self,
        which: Scratch,
        bytes: usize,
        f: impl FnOnce(&mut Kept) -> Result<R>,
    ) -> Result<R> {
        // Taken out while it is in use, so that operations nest. After an error it is not put back: its state is not
        // known.
        let scratch = self.lane.as_ref().map_or(&self.context.scratch, |lane| &lane.scratch);
        let kept = scratch.borrow_mut().remove(&which);
        let may_reuse = |kept: &Kept| self.lane.as_ref().is_none_or(|lane| lane.may_reuse(which, kept));
        let mut kept = match kept.filter(may_reuse) {
            Some(kept) if kept.memory.len() >= bytes && kept.epoch < u32::MAX => kept,
            _ => {
                let mut memory = self.context.backend.allocate(bytes.next_power_of_two())?;
                let zeros = vec![0u8; memory.len()];
                memory.write(0, &zeros)?;
                Kept { memory, epoch: 0, last: None }
            }
        };
        let result = f(&mut kept)?;
        kept.last = self.lane.as_ref().and_then(|lane| lane.last());
        scratch.borrow_mut().insert(which, kept);
        Ok(result)
    }
}

/// An argument that belongs to an expression.
pub(crate) enum Parameter {
    /// The memory of this leaf.
    Leaf(usize),
    Number(Constant),
}

pub(crate) fn no_shape(operation: &'static str) -> Error {
    Error::invalid(operation, "the expression has no array that would give it a shape; use Arrays::tabulate first")
}
