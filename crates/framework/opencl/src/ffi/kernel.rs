//! Kernels: what they take, and their launch.

use super::handle::{Handle, KernelKind};
use super::query::{array, sizes, text};
use super::track::MemoryUse;
use super::{Failure, Mem, check};
use crate::{Arg, Device, Event, Param, Queue};
use cl3::error_codes::CL_INVALID_WORK_DIMENSION;
use cl3::kernel as k;
use interop_core::Error;
use interop_core::describe::PlainMutex;
use std::ffi::c_void;
use std::ptr;

/// Reason why a launch failed.
pub struct LaunchFailure {
    /// The parameter that was refused, if it was one.
    pub param: Option<usize>,
    pub error: Error,
}

impl LaunchFailure {
    /// The driver's code, where it is the driver that refused.
    pub fn code(&self) -> Option<i32> {
        match &self.error {
            Error::Driver(refused) => i32::try_from(refused.code).ok(),
            _ => None,
        }
    }
}

impl From<Error> for LaunchFailure {
    fn from(error: Error) -> Self {
        Self { param: None, error }
    }
}

/// Number of work items, in 1 to 3 dimensions.
#[derive(Clone, Copy)]
pub struct Range<'a> {
    /// Empty for none.
    pub offset: &'a [usize],
    pub global: &'a [usize],
    /// Empty where the driver is to choose.
    pub local: &'a [usize],
}

/// A kernel. The lock keeps one launch's arguments together.
pub struct Kernel(PlainMutex<Handle<KernelKind>>);

impl Kernel {
    pub(crate) fn new(handle: Handle<KernelKind>) -> Self {
        Self(PlainMutex::new(handle))
    }

    fn with<R>(&self, f: impl FnOnce(&Handle<KernelKind>) -> R) -> R {
        // A panic elsewhere leaves at most stale arguments, and every launch sets all of them.
        f(&self.0.lock())
    }

    pub fn raw(&self) -> *mut c_void {
        self.with(Handle::raw)
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.with(Handle::references)
    }

    fn info(&self, param: u32) -> Result<Vec<u8>, Failure> {
        self.with(|kernel| check("clGetKernelInfo", k::get_kernel_data(kernel.raw(), param)))
    }

    /// The kernel's attributes as the source writes them, e.g. `reqd_work_group_size(8,8,1)`.
    pub fn attributes(&self) -> Result<String, Failure> {
        self.info(k::CL_KERNEL_ATTRIBUTES).map(|b| text(&b))
    }

    pub fn param_count(&self) -> Result<u32, Failure> {
        array("clGetKernelInfo", &self.info(k::CL_KERNEL_NUM_ARGS)?).map(u32::from_ne_bytes)
    }

    /// Needs a program built with `-cl-kernel-arg-info`; some drivers do not have it nonetheless.
    pub fn param(&self, index: u32) -> Result<Param, Failure> {
        const CALL: &str = "clGetKernelArgInfo";
        self.with(|kernel| {
            let get = |param| check(CALL, k::get_kernel_arg_data(kernel.raw(), index, param));
            Ok(Param {
                name: text(&get(k::CL_KERNEL_ARG_NAME)?),
                type_name: text(&get(k::CL_KERNEL_ARG_TYPE_NAME)?),
                address: u32::from_ne_bytes(array(CALL, &get(k::CL_KERNEL_ARG_ADDRESS_QUALIFIER)?)?),
                access: u32::from_ne_bytes(array(CALL, &get(k::CL_KERNEL_ARG_ACCESS_QUALIFIER)?)?),
                qualifiers: u64::from_ne_bytes(array(CALL, &get(k::CL_KERNEL_ARG_TYPE_QUALIFIER)?)?),
                bytes: None,
            })
        })
    }

    /// A value of `clGetKernelWorkGroupInfo` that is a `size_t`, a `cl_ulong`, or several.
    pub fn work_group_sizes(&self, device: &Device, param: u32) -> Result<Vec<usize>, Failure> {
        self.with(|kernel| {
            let data = k::get_kernel_work_group_data(kernel.raw(), device.raw(), param);
            check("clGetKernelWorkGroupInfo", data).map(|b| sizes(&b))
        })
    }

    /// Queues the kernel as one step for all threads. `args` are set before, unless it `has_args`: then all were set, and
    /// live.
    pub fn launch(
        &self,
        queue: &Queue,
        (args, has_args): (&[Arg<'_>], bool),
        range: Range<'_>,
        wait: &[Event],
    ) -> Result<Event, LaunchFailure> {
        let uses: Vec<_> = args.iter().filter_map(|arg| arg.mem().map(Mem::used_by_kernel)).collect();
        self.with(|kernel| {
            if has_args {
                return Ok(enqueue(kernel, queue, &uses, range, wait)?);
            }
            for (index, arg) in args.iter().enumerate() {
                set_arg(kernel, index, arg).map_err(|f| LaunchFailure { param: Some(index), error: queue.error(f) })?;
            }
            let queued = enqueue(kernel, queue, &uses, range, wait);
            // rusticl's kernels keep what they were last given; host memory must come free.
            for (index, arg) in args.iter().enumerate() {
                if arg.mem().is_some_and(Mem::is_in_place) {
                    set_arg(kernel, index, &Arg::Null).map_err(|f| queue.error(f))?;
                }
            }
            queued.map_err(LaunchFailure::from)
        })
    }

    /// Sets one argument, for launches that have their arguments.
    pub fn set(&self, index: usize, arg: &Arg<'_>) -> Result<(), Failure> {
        self.with(|kernel| set_arg(kernel, index, arg))
    }
}

fn enqueue(
    kernel: &Handle<KernelKind>,
    queue: &Queue,
    uses: &[MemoryUse<'_>],
    range: Range<'_>,
    wait: &[Event],
) -> Result<Event, Error> {
    const CALL: &str = "clEnqueueNDRangeKernel";
    let dimensions = range.global.len();
    let fits = |list: &[usize]| list.is_empty() || list.len() == dimensions;
    if !(1..=3).contains(&dimensions) || !fits(range.local) || !fits(range.offset) {
        return Err(queue.error(Failure { operation: CALL, code: CL_INVALID_WORK_DIMENSION }));
    }
    let address = |list: &[usize]| if list.is_empty() { ptr::null() } else { list.as_ptr() };
    // SAFETY: queue, kernel and arguments are live. The arrays hold as many sizes as there are dimensions, and the
    // driver refuses sizes that do not fit. Who made the program vouched for what the kernel does.
    queue.enqueue_using(CALL, uses, wait, |queue, n, list| unsafe {
        cl3::command_queue::enqueue_nd_range_kernel(
            queue,
            kernel.raw(),
            dimensions as u32,
            address(range.offset),
            range.global.as_ptr(),
            address(range.local),
            n,
            list,
        )
    })
}

fn set_arg(kernel: &Handle<KernelKind>, index: usize, arg: &Arg<'_>) -> Result<(), Failure> {
    let set = |size: usize, value: *const c_void| {
        // SAFETY: the driver copies `size` bytes from the address, unless it is null, before the call returns. It
        // refuses sizes that do not fit the parameter.
        check("clSetKernelArg", unsafe { k::set_kernel_arg(kernel.raw(), index as u32, size, value) })
    };
    let object = |raw: *mut c_void| set(size_of_val(&raw), (&raw const raw).cast());
    match arg {
        Arg::Value(value) => set(value.bytes().len(), value.bytes().as_ptr().cast()),
        Arg::Buffer(buffer) => object(buffer.raw()),
        Arg::Image(image) => object(image.raw()),
        Arg::Sampler(sampler) => object(sampler.raw()),
        Arg::Null => object(ptr::null_mut()),
        Arg::Local(size) => set(*size, ptr::null()),
    }
}
