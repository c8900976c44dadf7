//! [`Kernel`] and its launch.

use super::kernel_facts::{Facts, Limits};
use super::{Arg, Context, Device, Event, Param, Program, Queue};
use crate::ffi::{self, LaunchFailure, Range};
use cl3::error_codes::{CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_WORK_GROUP_SIZE};
use cl3::kernel as k;
use interop_core::describe::words::counted;
use interop_core::{Error, Result};
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

pub(super) const OP: &str = "clEnqueueNDRangeKernel";

/// Work items of a launch: 1 to 3 dimensions (OpenCL 3.0 API, 5.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NdRange {
    dimensions: usize,
    global: [usize; 3],
    local: Option<[usize; 3]>,
    offset: Option<[usize; 3]>,
}

fn three<const N: usize>(sizes: [usize; N], rest: usize) -> [usize; 3] {
    const { assert!(N >= 1 && N <= 3, "launches have 1 to 3 dimensions") };
    let mut three = [rest; 3];
    three[..N].copy_from_slice(&sizes);
    three
}

impl NdRange {
    /// Creates a range of this number of work items (`global_work_size` of `clEnqueueNDRangeKernel`); the driver
    /// chooses the groups.
    pub fn new<const N: usize>(global: [usize; N]) -> Self {
        Self { dimensions: N, global: three(global, 1), local: None, offset: None }
    }

    /// Sets the size of the groups (`local_work_size` of `clEnqueueNDRangeKernel`). The number of items must be a
    /// multiple, unless `CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT` is true and the program was built with
    /// `-cl-std=CL2.0` or later.
    #[must_use]
    pub fn local<const N: usize>(self, local: [usize; N]) -> Self {
        Self { dimensions: self.dimensions.max(N), local: Some(three(local, 1)), ..self }
    }

    /// Checks the size of the groups, as given or as the kernel requires it.
    fn check_groups(&self, required: Option<[usize; 3]>, non_uniform: bool) -> Result<(), String> {
        if let (Some(local), Some(required)) = (self.local, required)
            && local != required
        {
            return Err(format!("groups of {local:?} items; its reqd_work_group_size is {required:?}"));
        }
        let parts = self.local.or(required).filter(|_| !non_uniform).and_then(|local| self.remainder(local));
        parts.map_or(Ok(()), Err)
    }

    /// Describes the remainder, if the items do not fill whole groups.
    fn remainder(&self, local: [usize; 3]) -> Option<String> {
        let (axis, (items, group)) =
            self.global.into_iter().zip(local).enumerate().find(|(_, (items, group))| !items.is_multiple_of(*group))?;
        Some(format!(
            "{items} work items in dimension {axis} are not a multiple of the group's {group}; use {} and let the \
             kernel return early for the rest",
            items.div_ceil(group).saturating_mul(group)
        ))
    }

    /// Sets the first value of `get_global_id` (`global_work_offset` of `clEnqueueNDRangeKernel`).
    #[must_use]
    pub fn offset<const N: usize>(self, offset: [usize; N]) -> Self {
        Self { dimensions: self.dimensions.max(N), offset: Some(three(offset, 0)), ..self }
    }

    pub(super) fn raw(&self) -> Range<'_> {
        let n = self.dimensions;
        Range {
            offset: self.offset.as_ref().map_or(&[], |offset| &offset[..n]),
            global: &self.global[..n],
            local: self.local.as_ref().map_or(&[], |local| &local[..n]),
        }
    }
}

impl<const N: usize> From<[usize; N]> for NdRange {
    fn from(global: [usize; N]) -> Self {
        Self::new(global)
    }
}

/// Properties of a kernel on a device that the driver reports (`clGetKernelWorkGroupInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkGroupInfo {
    /// Largest work group, in items (`CL_KERNEL_WORK_GROUP_SIZE`).
    pub max_size: usize,
    /// `reqd_work_group_size` of the source, if it has it (`CL_KERNEL_COMPILE_WORK_GROUP_SIZE`).
    pub required: Option<[usize; 3]>,
    /// Preferred multiple for the size of a group (`CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`).
    pub preferred_multiple: usize,
    /// Bytes of local memory that it uses in addition to its parameters (`CL_KERNEL_LOCAL_MEM_SIZE`).
    pub local_memory: usize,
    /// Minimum bytes of private memory of a work item (`CL_KERNEL_PRIVATE_MEM_SIZE`).
    pub private_memory: usize,
}

/// A kernel without its context, which would otherwise create a reference cycle with the context that keeps it.
#[derive(Clone)]
pub(super) struct LoneKernel {
    raw: Arc<ffi::Kernel>,
    program: ffi::Program,
    name: String,
    facts: Arc<Facts>,
}

/// A function of a program (OpenCL 3.0 API, 5.9; `clCreateKernel`). Cheap to clone. Any thread may launch it: a launch
/// sets all arguments and enqueues the kernel as one step.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) raw: Arc<ffi::Kernel>,
    program: Program,
    name: String,
    facts: Arc<Facts>,
}

impl Kernel {
    pub(super) fn new(raw: ffi::Kernel, program: &Program, name: &str, known: Option<&[Param]>) -> Result<Self> {
        let context = program.context();
        let count = raw.param_count().map_err(|f| context.error(f))? as usize;
        let known = known.filter(|known| known.len() == count);
        let asked: Result<Vec<_>, _> = (0..count as u32).map(|i| raw.param(i)).collect();
        let with_bytes = |(i, asked): (usize, Param)| {
            let recorded = known.and_then(|known| known.get(i)).filter(|param| param.type_name == asked.type_name);
            Param { bytes: recorded.and_then(|param| param.bytes), ..asked }
        };
        // Drivers may not report parameters for programs created from binaries.
        let all = match asked {
            Ok(asked) => Some(asked.into_iter().enumerate().map(with_bytes).collect()),
            Err(_) => known.map(<[Param]>::to_vec),
        };
        let facts = Arc::new(Facts::new(count, all, context.devices().len()));
        Ok(Self { raw: Arc::new(raw), program: program.clone(), name: name.to_owned(), facts })
    }

    /// Returns the kernel without its context.
    pub(super) fn apart(&self) -> LoneKernel {
        let (raw, program) = (self.raw.clone(), self.program.raw.clone());
        LoneKernel { raw, program, name: self.name.clone(), facts: self.facts.clone() }
    }

    /// Returns the kernel with its context, for a program on all devices of the context.
    pub(super) fn of_apart(apart: LoneKernel, context: &Context) -> Self {
        let LoneKernel { raw, program, name, facts } = apart;
        Self { raw, program: Program::of(program, context, context.devices()), name, facts }
    }

    /// Returns the name of the function (`CL_KERNEL_FUNCTION_NAME`).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its program (`CL_KERNEL_PROGRAM`).
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn context(&self) -> &Context {
        self.program.context()
    }

    /// Returns the number of parameters (`CL_KERNEL_NUM_ARGS`).
    pub fn param_count(&self) -> usize {
        self.facts.count
    }

    /// States the kernel's parameters, where its driver does not report them ([`Kernel::params`] is `None`). Launches
    /// check arguments against them, instead of `clGetKernelArgInfo`.
    ///
    /// # Safety
    /// The kernel has these parameters, in this order. Types that the program defines are not samplers, images or
    /// events, and have the size given to [`Param::with_bytes`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where their number differs from `CL_KERNEL_NUM_ARGS`.
    pub unsafe fn with_params(self, params: &[Param]) -> Result<Self> {
        let (count, given) = (self.facts.count, params.len());
        if count != given {
            return Err(self.invalid(format!("{} stated; it has {count}", counted(given, "parameter"))));
        }
        let facts = Facts::new(count, Some(params.to_vec()), self.context().devices().len());
        Ok(Self { facts: Arc::new(facts), ..self })
    }

    /// Returns its parameters (`clGetKernelArgInfo`), or those that [`Program::binaries`] recorded. `None` where
    /// neither exists, for example for programs from a driver's own binaries on some drivers. Launches then return an
    /// error until [`Kernel::with_params`] states the parameters.
    pub fn params(&self) -> Option<&[Param]> {
        self.facts.params.as_deref()
    }

    /// Returns its attributes as written, e.g. `reqd_work_group_size(8,8,1)` (`CL_KERNEL_ATTRIBUTES`).
    pub fn attributes(&self) -> Result<String> {
        self.raw.attributes().map_err(|f| self.context().error(f))
    }

    /// Returns the limits of its work groups on a device for which its program was built (`clGetKernelWorkGroupInfo`).
    pub fn work_group_info(&self, device: &Device) -> Result<WorkGroupInfo> {
        self.context().check_device(device, "clGetKernelWorkGroupInfo")?;
        let sizes = |param| self.raw.work_group_sizes(device, param).map_err(|f| self.context().error(f));
        let size = |param| Ok::<_, Error>(sizes(param)?.first().copied().unwrap_or(0));
        let required: Option<[usize; 3]> = sizes(k::CL_KERNEL_COMPILE_WORK_GROUP_SIZE)?.try_into().ok();
        Ok(WorkGroupInfo {
            max_size: size(k::CL_KERNEL_WORK_GROUP_SIZE)?,
            required: required.filter(|sides| !sides.contains(&0)),
            preferred_multiple: size(k::CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)?,
            local_memory: size(k::CL_KERNEL_LOCAL_MEM_SIZE)?,
            private_memory: size(k::CL_KERNEL_PRIVATE_MEM_SIZE)?,
        })
    }

    /// Creates a separate kernel object for the same function (`clCreateKernel`): its launches do not wait for this
    /// kernel's launches to set their arguments.
    pub fn duplicate(&self) -> Result<Self> {
        Ok(Self { facts: self.facts.clone(), ..self.program.kernel(&self.name)? })
    }

    pub(super) fn invalid(&self, problem: impl fmt::Display) -> Error {
        Error::invalid(OP, format!("kernel '{}': {problem}", self.name))
    }

    pub(super) fn check_count(&self, given: usize) -> Result<()> {
        if given == self.facts.count {
            return Ok(());
        }
        let list = self
            .params()
            .map(|all| all.iter().map(|p| format!("{} {}", p.type_name(), p.name())).collect::<Vec<_>>().join(", "));
        let list = list.map_or_else(String::new, |list| format!(" ({list})"));
        Err(self.invalid(format!("takes {}{list}, {given} given", counted(self.facts.count, "argument"))))
    }

    /// Checks that an argument belongs to this context and fits its parameter.
    pub(super) fn check_arg(&self, index: usize, arg: &Arg<'_>) -> Result<()> {
        if let Some((context, what)) = arg.owner() {
            self.context().check_same(context, OP, what)?;
        }
        let Some(param) = self.params().and_then(|all| all.get(index)) else {
            return Err(self.invalid(
                "the driver does not report its parameters (clGetKernelArgInfo): load the program by \
                 Program::binaries, or state them by Kernel::with_params",
            ));
        };
        let checked = arg.check(param, |type_name, bytes| self.program.fits(type_name, bytes));
        checked.map_err(|problem| self.invalid(format!("argument {index}, {problem}")))
    }

    /// Returns the error where the driver rejected an argument or a launch.
    pub(super) fn refused(&self, range: Option<&NdRange>, failure: LaunchFailure) -> Error {
        match (failure.param, failure.code()) {
            (Some(index), Some(CL_INVALID_ARG_SIZE | CL_INVALID_ARG_VALUE)) => {
                let name = self.params().and_then(|all| all.get(index)).map_or("", Param::name);
                self.invalid(format!("the driver rejects argument {index} '{name}'"))
            }
            (_, Some(CL_INVALID_WORK_GROUP_SIZE)) => {
                let left = range.and_then(|range| range.remainder(range.local?));
                left.map_or(failure.error, |left| {
                    self.invalid(format!("{left}, or build the program with -cl-std=CL2.0 or later"))
                })
            }
            _ => failure.error,
        }
    }

    /// Returns the range with the groups that the kernel requires, if the caller has not set them: PoCL 3.1 rejects it
    /// otherwise.
    pub(super) fn check_range(&self, range: NdRange, device: &Device, args: &[Arg<'_>]) -> Result<NdRange> {
        if range.global.contains(&0) || range.local.is_some_and(|local| local.contains(&0)) {
            return Err(self.invalid(format!("{range:?} has a side of 0")));
        }
        // PoCL 3.1 counts them in a `size_t`, and crashes if that overflows.
        let offset = range.offset.unwrap_or_default();
        let mut ends = range.global.iter().zip(offset).map(|(items, offset)| items.checked_add(offset));
        if ends.try_fold(1usize, |n, end| n.checked_mul(end?)).is_none_or(|n| isize::try_from(n).is_err()) {
            return Err(self.invalid(format!("{range:?} has more work items than can be counted")));
        }
        if !self.program.devices().iter().any(|built| built.is(device)) {
            return Err(self.invalid(format!("its program was not built for {}", device.name())));
        }
        let index = self.context().devices().iter().position(|own| own.is(device));
        let Some(limits) = index.and_then(|index| self.facts.limits.get(index)) else {
            return Err(self.context().foreign(OP, "device"));
        };
        let limits = limits.get_or_init(|| self.limits(device));
        if let Some(local) = range.local {
            let items = local.iter().try_fold(1usize, |a, b| a.checked_mul(*b)).unwrap_or(usize::MAX);
            if items > limits.items {
                return Err(
                    self.invalid(format!("groups of {local:?} are {items} items; the maximum is {}", limits.items))
                );
            }
        }
        range.check_groups(limits.required, limits.non_uniform).map_err(|problem| self.invalid(problem))?;
        let asked = args.iter().map(|arg| if let Arg::Local(bytes) = arg { *bytes as u64 } else { 0 });
        let asked = asked.fold(limits.local_used, u64::saturating_add);
        if asked > limits.local_has {
            let has = limits.local_has;
            return Err(self.invalid(format!("{asked} bytes of local memory; {} has {has}", device.name())));
        }
        Ok(NdRange { local: range.local.or(limits.required), ..range })
    }

    /// If the query fails, only the driver checks the limit.
    fn limits(&self, device: &Device) -> Limits {
        let info = self.work_group_info(device).ok();
        Limits {
            items: info.map(|info| info.max_size).filter(|n| *n > 0).unwrap_or(usize::MAX),
            required: info.and_then(|info| info.required),
            // Every device of OpenCL 2 supports it; earlier versions do not have it.
            non_uniform: match device.cl_version() {
                version if version >= (3, 0) => device.non_uniform_work_group_support().unwrap_or(false),
                version => version >= (2, 0),
            },
            local_used: info.map_or(0, |info| info.local_memory as u64),
            local_has: device.local_mem_size().unwrap_or(u64::MAX),
        }
    }
}

/// Returns the message where a program has no kernel of that name; `present` are its kernels.
fn no_kernel(name: &str, present: &[String]) -> String {
    if present.iter().any(|own| own.strip_prefix("_cl_") == Some(name)) {
        // PoCL's macros rename its builtin functions.
        return format!(
            "'{name}' is a builtin function of OpenCL C, which this driver turns into '_cl_{name}'; rename the kernel"
        );
    }
    let present = if present.is_empty() { "none".to_owned() } else { present.join(", ") };
    format!("the source has no __kernel function '{name}'; its kernels are: {present}")
}

impl Program {
    /// Returns a kernel by name (`clCreateKernel`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an unknown name, with the known ones.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let present = self.kernel_names()?;
        // Checked first, because drivers return different errors for a name that does not exist.
        let (true, Ok(c_name)) = (present.iter().any(|n| n == name), CString::new(name)) else {
            return Err(Error::invalid("clCreateKernel", no_kernel(name, &present)));
        };
        let raw = self.raw.kernel(&c_name).map_err(|f| self.context().error(f))?;
        Kernel::new(raw, self, name, self.known(name))
    }

    /// Returns all its kernels (`clCreateKernel` for each name).
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        self.kernel_names()?.iter().map(|name| self.kernel(name)).collect()
    }
}

impl Queue {
    /// Launches a kernel (`clEnqueueNDRangeKernel`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`], which names the parameter, where an argument does not fit it or its memory is mapped,
    /// and where the work items do not fit the kernel; [`Error::Foreign`] for objects of another context.
    pub fn launch(
        &self,
        kernel: &Kernel,
        args: &[Arg<'_>],
        range: impl Into<NdRange>,
        wait: &[Event],
    ) -> Result<Event> {
        self.context().check_same(kernel.context(), OP, "kernel")?;
        kernel.check_count(args.len())?;
        args.iter().enumerate().try_for_each(|(index, arg)| kernel.check_arg(index, arg))?;
        let range = kernel.check_range(range.into(), self.device(), args)?;
        let launched = kernel.raw.launch(self, (args, false), range.raw(), wait);
        launched.map_err(|refused| kernel.refused(Some(&range), refused))
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({}, {:?})", self.name, self.params())
    }
}
