//! Programs and kernels.

use super::handle::{Handle, KernelKind, ProgramKind, enqueued};
use super::query::{array, sizes, text};
use super::{Buffer, Failure, Session, check};
use opencl3::kernel as k;
use opencl3::program as p;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// A program built for the session's device.
pub struct Program {
    program: Handle<ProgramKind>,
    session: Arc<Session>,
}

/// What the compiler says of one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamInfo {
    pub name: String,
    /// As written, e.g. `uchar4*`.
    pub type_name: String,
    /// `CL_KERNEL_ARG_ADDRESS_*`.
    pub address: u32,
}

impl Program {
    pub fn new(session: &Arc<Session>, source: &str) -> Result<Self, Failure> {
        // A length of 0 tells the driver to look for a NUL, which a Rust string does not have.
        let source = if source.is_empty() { " " } else { source };
        // One string only: cl3 takes the slice of strings for a slice of pointers.
        let raw = p::create_program_with_source(session.context.raw(), &[source]);
        // SAFETY: a program that was just created, whose one reference is ours.
        let program = unsafe { Handle::own("clCreateProgramWithSource", raw) }?;
        Ok(Self { program, session: session.clone() })
    }

    /// Compiles and links. See [`Program::log`] for what the compiler said.
    pub fn build(&self, options: &CStr) -> Result<(), Failure> {
        let devices = [self.session.device.0];
        check("clBuildProgram", p::build_program(self.program.raw(), &devices, options, None, ptr::null_mut()))
    }

    /// The compiler's output; empty where the driver gives none.
    pub fn log(&self) -> String {
        let (program, device) = (self.program.raw(), self.session.device.0);
        p::get_program_build_data(program, device, p::CL_PROGRAM_BUILD_LOG).map(|b| text(&b)).unwrap_or_default()
    }

    /// Names of the kernels, separated by semicolons.
    pub fn kernel_names(&self) -> Result<String, Failure> {
        let get = |param| check("clGetProgramInfo", p::get_program_data(self.program.raw(), param));
        // Asked for the names of none, NVIDIA's driver crashes, and PoCL leaves the answer uninitialised.
        if sizes(&get(p::CL_PROGRAM_NUM_KERNELS)?).first().is_none_or(|n| *n == 0) {
            return Ok(String::new());
        }
        get(p::CL_PROGRAM_KERNEL_NAMES).map(|b| text(&b))
    }

    pub fn kernel(&self, name: &CStr) -> Result<Kernel, Failure> {
        let raw = k::create_kernel(self.program.raw(), name);
        // SAFETY: a kernel that was just created, whose one reference is ours.
        let kernel = unsafe { Handle::own("clCreateKernel", raw) }?;
        Ok(Kernel { kernel: Mutex::new(kernel), session: self.session.clone() })
    }
}

/// Value of one parameter.
#[derive(Clone, Copy)]
pub enum ArgValue<'a> {
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    Buffer(&'a Buffer),
}

/// Why a launch failed.
pub struct LaunchFailure {
    /// The parameter that was refused, if it was one.
    pub param: Option<usize>,
    pub failure: Failure,
}

impl From<Failure> for LaunchFailure {
    fn from(failure: Failure) -> Self {
        Self { param: None, failure }
    }
}

/// A kernel of a session. The lock keeps one launch's arguments together.
pub struct Kernel {
    kernel: Mutex<Handle<KernelKind>>,
    session: Arc<Session>,
}

impl Kernel {
    fn with<R>(&self, f: impl FnOnce(&Handle<KernelKind>) -> R) -> R {
        // A panic elsewhere leaves at most stale arguments, and every launch sets all of them.
        f(&self.kernel.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn param_count(&self) -> Result<u32, Failure> {
        const OP: &str = "clGetKernelInfo";
        let bytes = self.with(|kernel| check(OP, k::get_kernel_data(kernel.raw(), k::CL_KERNEL_NUM_ARGS)))?;
        array(OP, &bytes).map(u32::from_ne_bytes)
    }

    /// Needs a program built with `-cl-kernel-arg-info`; some drivers do not have it nonetheless.
    pub fn param(&self, index: u32) -> Result<ParamInfo, Failure> {
        const OP: &str = "clGetKernelArgInfo";
        self.with(|kernel| {
            let get = |param| check(OP, k::get_kernel_arg_data(kernel.raw(), index, param));
            Ok(ParamInfo {
                name: text(&get(k::CL_KERNEL_ARG_NAME)?),
                type_name: text(&get(k::CL_KERNEL_ARG_TYPE_NAME)?),
                address: u32::from_ne_bytes(array(OP, &get(k::CL_KERNEL_ARG_ADDRESS_QUALIFIER)?)?),
            })
        })
    }

    /// A value of `clGetKernelWorkGroupInfo` that is a `size_t` or several.
    pub fn work_group_sizes(&self, param: u32) -> Result<Vec<usize>, Failure> {
        self.with(|kernel| {
            let data = k::get_kernel_work_group_data(kernel.raw(), self.session.device.0, param);
            check("clGetKernelWorkGroupInfo", data).map(|b| sizes(&b))
        })
    }

    /// Sets all arguments and queues the kernel; `global` and `local` have the same number of dimensions, 1 to 3.
    pub fn run(&self, args: &[ArgValue<'_>], global: &[usize], local: &[usize]) -> Result<(), LaunchFailure> {
        for arg in args {
            if let ArgValue::Buffer(buffer) = arg {
                buffer.take_back()?;
            }
        }
        self.with(|kernel| {
            for (index, arg) in args.iter().enumerate() {
                set_arg(kernel, index, arg).map_err(|failure| LaunchFailure { param: Some(index), failure })?;
            }
            // SAFETY: queue and kernel are live; the arrays hold as many sizes as there are dimensions, and the
            // driver refuses sizes that do not fit. What the kernel's own text does is its author's promise.
            let queued = unsafe {
                let event = opencl3::command_queue::enqueue_nd_range_kernel(
                    self.session.queue.raw(),
                    kernel.raw(),
                    global.len().min(local.len()) as u32,
                    ptr::null(),
                    global.as_ptr(),
                    local.as_ptr(),
                    0,
                    ptr::null(),
                );
                enqueued("clEnqueueNDRangeKernel", event)
            };
            queued.map_err(LaunchFailure::from)
        })?;
        Ok(self.session.flush()?)
    }
}

fn set_arg(kernel: &Handle<KernelKind>, index: usize, arg: &ArgValue<'_>) -> Result<(), Failure> {
    fn set<T>(kernel: &Handle<KernelKind>, index: usize, value: &T) -> Result<(), Failure> {
        let value: *const T = value;
        // SAFETY: the driver copies `size_of::<T>()` bytes, which the reference covers, before the call returns, and
        // refuses sizes that do not fit the parameter.
        let set = unsafe { k::set_kernel_arg(kernel.raw(), index as u32, size_of::<T>(), value.cast::<c_void>()) };
        check("clSetKernelArg", set)
    }
    match arg {
        ArgValue::I32(v) => set(kernel, index, v),
        ArgValue::U32(v) => set(kernel, index, v),
        ArgValue::I64(v) => set(kernel, index, v),
        ArgValue::U64(v) => set(kernel, index, v),
        ArgValue::F32(v) => set(kernel, index, v),
        ArgValue::F64(v) => set(kernel, index, v),
        ArgValue::Buffer(buffer) => set(kernel, index, &buffer.raw()),
    }
}
