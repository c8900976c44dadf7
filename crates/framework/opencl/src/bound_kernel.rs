//! [`BoundKernel`]: a kernel whose arguments stay from launch to launch.

use super::arg::KeptArg;
use super::kernel::OP;
use super::{Arg, Event, Kernel, NdRange, Param, Program, Queue};
use crate::ffi::{Failure, LaunchFailure};
#[cfg(doc)]
use interop_core::Error;
use interop_core::Result;
use interop_core::describe::words::counted;
use std::ffi::c_void;
use std::fmt;

/// Parameter of a kernel: by position, or by the name in its source (`CL_KERNEL_ARG_NAME`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKey<'a> {
    /// The number of the parameter, from 0: `arg_index` of `clSetKernelArg`.
    Position(usize),
    /// Its name: `CL_KERNEL_ARG_NAME`.
    Name(&'a str),
}

impl From<usize> for ParamKey<'_> {
    fn from(position: usize) -> Self {
        Self::Position(position)
    }
}

impl<'a> From<&'a str> for ParamKey<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

/// A kernel with arguments and work items that are set once (`clSetKernelArg`) and launched many times; created by
/// [`Kernel::bind`]. A launch calls only `clEnqueueNDRangeKernel`.
///
/// It has a kernel object of its own, so other launches do not change it. It keeps its buffers, images and samplers
/// until they are replaced. Any thread may launch it.
///
/// ```no_run
/// # fn run(kernel: &pixelferry_opencl::Kernel, queue: &pixelferry_opencl::Queue, a: &pixelferry_opencl::Buffer) -> interop_core::Result<()> {
/// // __kernel void scale(__global float *a, float by)
/// let mut scale = kernel.bind()?;
/// scale.set("a", a)?.set("by", 2.0f32)?.set_range([1024]);
/// scale.launch(queue, &[])?;
/// scale.set(1, 0.5f32)?;
/// scale.launch(queue, &[])?;
/// # Ok(())
/// # }
/// ```
pub struct BoundKernel {
    // Released before its arguments: the driver's kernel need not keep them.
    kernel: Kernel,
    args: Vec<Option<KeptArg>>,
    range: Option<NdRange>,
}

impl Kernel {
    /// Creates a separate kernel object for the same function, whose arguments persist (`clCreateKernel`). No argument
    /// is set yet.
    ///
    /// # Errors
    /// [`Error::Driver`] for errors of the driver.
    pub fn bind(&self) -> Result<BoundKernel> {
        let kernel = self.duplicate()?;
        let args = (0..kernel.param_count()).map(|_| None).collect();
        Ok(BoundKernel { kernel, args, range: None })
    }
}

impl BoundKernel {
    fn position(&self, which: ParamKey<'_>) -> Result<usize> {
        let invalid = |problem: String| self.kernel.invalid(problem);
        match which {
            ParamKey::Position(position) if position < self.args.len() => Ok(position),
            ParamKey::Position(position) => Err(invalid(format!(
                "it has {}; there is no parameter {position}",
                counted(self.args.len(), "parameter")
            ))),
            ParamKey::Name(name) => {
                let params = self.params().unwrap_or_default();
                params.iter().position(|param| param.name() == name).ok_or_else(|| {
                    let names: Vec<_> = params.iter().map(Param::name).collect();
                    invalid(format!("it has no parameter '{name}'; it has: {}", names.join(", ")))
                })
            }
        }
    }

    fn told(&self, position: usize, set: Result<(), Failure>) -> Result<()> {
        let error = |failure| self.program().context().error(failure);
        let failure = |failure| LaunchFailure { param: Some(position), error: error(failure) };
        set.map_err(|refused| self.kernel.refused(None, failure(refused)))
    }

    /// Sets one argument, which stays for all later launches (`clSetKernelArg`). Objects are kept; a value is copied.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there is no such parameter or the argument does not fit it; [`Error::Foreign`] for
    /// an object of another context. The argument then stays unchanged.
    pub fn set<'a>(&mut self, which: impl Into<ParamKey<'a>>, arg: impl Into<Arg<'a>>) -> Result<&mut Self> {
        let (position, arg) = (self.position(which.into())?, arg.into());
        self.kernel.check_arg(position, &arg)?;
        let set = self.kernel.raw.set(position, &arg);
        self.told(position, set)?;
        self.args[position] = Some(arg.keep());
        Ok(self)
    }

    /// Sets all arguments, in their order (`clSetKernelArg` for each).
    ///
    /// # Errors
    /// Those of [`BoundKernel::set`]; [`Error::InvalidInput`] for a wrong number of arguments. The arguments before a
    /// rejected one are set.
    pub fn set_all(&mut self, args: &[Arg<'_>]) -> Result<&mut Self> {
        self.kernel.check_count(args.len())?;
        for (position, arg) in args.iter().enumerate() {
            self.set(position, *arg)?;
        }
        Ok(self)
    }

    /// Releases an argument; launches return an error until it is set again. The driver's kernel gets null for a buffer
    /// (`clSetKernelArg`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there is no such parameter.
    pub fn unset<'a>(&mut self, which: impl Into<ParamKey<'a>>) -> Result<&mut Self> {
        let position = self.position(which.into())?;
        if let Some(Arg::Buffer(_)) = self.args[position].as_ref().map(KeptArg::arg) {
            let set = self.kernel.raw.set(position, &Arg::Null);
            self.told(position, set)?;
        }
        self.args[position] = None;
        Ok(self)
    }

    /// Sets the work items of [`BoundKernel::launch`] (`global_work_size`, `local_work_size` and `global_work_offset`
    /// of
    /// `clEnqueueNDRangeKernel`).
    pub fn set_range(&mut self, range: impl Into<NdRange>) -> &mut Self {
        self.range = Some(range.into());
        self
    }

    /// Returns the range last given to [`BoundKernel::set_range`], without an OpenCL call.
    pub fn range(&self) -> Option<NdRange> {
        self.range
    }

    /// Returns an argument, if it is set (the last value given to `clSetKernelArg`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there is no such parameter.
    pub fn arg<'a>(&self, which: impl Into<ParamKey<'a>>) -> Result<Option<Arg<'_>>> {
        let position = self.position(which.into())?;
        Ok(self.args[position].as_ref().map(KeptArg::arg))
    }

    /// Returns the name of the function (`CL_KERNEL_FUNCTION_NAME`).
    pub fn name(&self) -> &str {
        self.kernel.name()
    }

    /// Returns its program (`CL_KERNEL_PROGRAM`).
    pub fn program(&self) -> &Program {
        self.kernel.program()
    }

    /// Returns its parameters (`clGetKernelArgInfo`); see [`Kernel::params`].
    pub fn params(&self) -> Option<&[Param]> {
        self.kernel.params()
    }

    /// Returns the `cl_kernel`, for calls of the user; it lives as long as this. Arguments that are set there are not
    /// kept.
    pub fn raw(&self) -> *mut c_void {
        self.kernel.raw()
    }

    /// Launches it with the arguments and work items that were set (`clEnqueueNDRangeKernel`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where no work items or not all arguments are set; those of [`Queue::launch`].
    pub fn launch(&self, queue: &Queue, wait: &[Event]) -> Result<Event> {
        let Some(range) = self.range else {
            return Err(self.kernel.invalid("no work items are set; use BoundKernel::set_range or launch_over"));
        };
        self.launch_over(queue, range, wait)
    }

    /// Launches it with the arguments that were set, over other work items (`clEnqueueNDRangeKernel`). Does not block.
    ///
    /// # Errors
    /// Those of [`BoundKernel::launch`].
    pub fn launch_over(&self, queue: &Queue, range: impl Into<NdRange>, wait: &[Event]) -> Result<Event> {
        queue.context().check_same(self.program().context(), OP, "kernel")?;
        let args: Vec<_> = self.args.iter().flatten().map(KeptArg::arg).collect();
        if args.len() < self.args.len() {
            let names = self.params().unwrap_or_default();
            let name = |at: usize| names.get(at).map_or_else(|| at.to_string(), |param| format!("'{}'", param.name()));
            let missing: Vec<_> =
                self.args.iter().enumerate().filter(|(_, arg)| arg.is_none()).map(|(at, _)| name(at)).collect();
            return Err(self.kernel.invalid(format!("not set: {}", missing.join(", "))));
        }
        let range = self.kernel.check_range(range.into(), queue.device(), &args)?;
        let launched = self.kernel.raw.launch(queue, (&args, true), range.raw(), wait);
        launched.map_err(|refused| self.kernel.refused(Some(&range), refused))
    }
}

impl fmt::Debug for BoundKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.args.iter().flatten().count();
        write!(f, "BoundKernel({}, {set} of {}, {:?})", self.name(), counted(self.args.len(), "argument"), self.range)
    }
}
