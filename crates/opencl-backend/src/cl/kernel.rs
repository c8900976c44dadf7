//! [`Kernel`] and its launch.

use super::{Arg, Context, Device, Event, Param, Program, Queue};
use crate::ffi::{self, LaunchFailure, Range};
use cl3::error_codes::{CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE};
use cl3::kernel as k;
use interop_core::{Error, Result};
use std::fmt;
use std::sync::{Arc, OnceLock};

const OP: &str = "clEnqueueNDRangeKernel";

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
    /// So many work items (`global_work_size` of `clEnqueueNDRangeKernel`); the driver chooses the groups.
    pub fn new<const N: usize>(global: [usize; N]) -> Self {
        Self { dimensions: N, global: three(global, 1), local: None, offset: None }
    }

    /// In groups of this size (`local_work_size` of `clEnqueueNDRangeKernel`). Where a device wants whole groups
    /// (before OpenCL 2.0), the number of items must be a multiple.
    #[must_use]
    pub fn local<const N: usize>(self, local: [usize; N]) -> Self {
        Self { dimensions: self.dimensions.max(N), local: Some(three(local, 1)), ..self }
    }

    /// `get_global_id` begins here (`global_work_offset` of `clEnqueueNDRangeKernel`).
    #[must_use]
    pub fn offset<const N: usize>(self, offset: [usize; N]) -> Self {
        Self { dimensions: self.dimensions.max(N), offset: Some(three(offset, 0)), ..self }
    }
}

impl<const N: usize> From<[usize; N]> for NdRange {
    fn from(global: [usize; N]) -> Self {
        Self::new(global)
    }
}

/// What the driver says of a kernel on a device (`clGetKernelWorkGroupInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkGroupInfo {
    /// Largest work group, items (`CL_KERNEL_WORK_GROUP_SIZE`).
    pub max_size: usize,
    /// `reqd_work_group_size` of the source, if it has it (`CL_KERNEL_COMPILE_WORK_GROUP_SIZE`).
    pub required: Option<[usize; 3]>,
    /// Good multiple for the group's size (`CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`).
    pub preferred_multiple: usize,
    /// Bytes of local memory that it uses besides its parameters (`CL_KERNEL_LOCAL_MEM_SIZE`).
    pub local_memory: usize,
    /// Bytes of private memory of a work item, at least (`CL_KERNEL_PRIVATE_MEM_SIZE`).
    pub private_memory: usize,
}

/// A function of a program (OpenCL 3.0 API, 5.9; `clCreateKernel`). Cheap to clone. Any thread may launch it: a launch sets
/// all arguments and enqueues as one step.
#[derive(Clone)]
pub struct Kernel {
    raw: Arc<ffi::Kernel>,
    program: Program,
    name: String,
    params: Arc<Params>,
}

struct Params {
    count: usize,
    /// None where the driver does not tell.
    all: Option<Vec<Param>>,
    /// Asked once for each device of the context.
    limits: Vec<OnceLock<Limits>>,
}

/// What a launch on a device is checked against.
struct Limits {
    items: usize,
    local_used: u64,
    local_has: u64,
}

impl Kernel {
    pub(super) fn new(raw: ffi::Kernel, program: &Program, name: &str, known: Option<&[Param]>) -> Result<Self> {
        let context = program.context();
        let count = raw.param_count().map_err(|f| context.error(f))? as usize;
        let asked: Result<Vec<_>, _> = (0..count as u32).map(|i| raw.param(i).map(|raw| Param { raw })).collect();
        // Drivers may have none for programs made from binaries.
        let all = asked.ok().or_else(|| known.filter(|known| known.len() == count).map(<[Param]>::to_vec));
        let limits = context.devices().iter().map(|_| OnceLock::new()).collect();
        let params = Arc::new(Params { count, all, limits });
        Ok(Self { raw: Arc::new(raw), program: program.clone(), name: name.to_owned(), params })
    }

    /// Name of the function (`CL_KERNEL_FUNCTION_NAME`).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its program (`CL_KERNEL_PROGRAM`).
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn context(&self) -> &Context {
        self.program.context()
    }

    /// Number of parameters (`CL_KERNEL_NUM_ARGS`).
    pub fn param_count(&self) -> usize {
        self.params.count
    }

    /// Its parameters (`clGetKernelArgInfo`). `None` where the driver does not tell, as some do for programs made from
    /// binaries; then the driver alone checks the arguments of a launch, and that they fit is the caller's promise, as
    /// the binary is.
    pub fn params(&self) -> Option<&[Param]> {
        self.params.all.as_deref()
    }

    /// Its attributes as written, e.g. `reqd_work_group_size(8,8,1)` (`CL_KERNEL_ATTRIBUTES`).
    pub fn attributes(&self) -> Result<String> {
        self.raw.attributes().map_err(|f| self.context().error(f))
    }

    /// Limits of its work groups on a device of its program (`clGetKernelWorkGroupInfo`).
    pub fn work_group_info(&self, device: &Device) -> Result<WorkGroupInfo> {
        self.context().check_device(device, "clGetKernelWorkGroupInfo")?;
        let sizes = |param| self.raw.work_group_sizes(&device.raw, param).map_err(|f| self.context().error(f));
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

    /// A kernel object of its own for the same function (`clCreateKernel` again): its launches do not wait for this
    /// one's to set their arguments.
    pub fn duplicate(&self) -> Result<Self> {
        self.program.kernel(&self.name)
    }

    fn invalid(&self, problem: impl fmt::Display) -> Error {
        Error::invalid(OP, format!("kernel '{}': {problem}", self.name))
    }

    fn check_args(&self, args: &[Arg<'_>]) -> Result<()> {
        if args.len() != self.params.count {
            let list = self.params().map(|all| {
                all.iter().map(|p| format!("{} {}", p.type_name(), p.name())).collect::<Vec<_>>().join(", ")
            });
            let list = list.map_or_else(String::new, |list| format!(" ({list})"));
            return Err(self.invalid(format!("takes {} arguments{list}, {} given", self.params.count, args.len())));
        }
        for (index, arg) in args.iter().enumerate() {
            if let Some((context, what)) = arg.owner() {
                self.context().check_same(context, OP, what)?;
            }
            if let Some(param) = self.params().and_then(|all| all.get(index)) {
                arg.check(param).map_err(|problem| self.invalid(format!("argument {index}, {problem}")))?;
            }
        }
        Ok(())
    }

    fn check_range(&self, range: &NdRange, device: &Device, args: &[Arg<'_>]) -> Result<()> {
        if range.global.contains(&0) || range.local.is_some_and(|local| local.contains(&0)) {
            return Err(self.invalid(format!("{range:?} has a side of 0")));
        }
        let index = self.context().devices().iter().position(|own| own.is(device));
        let Some(limits) = index.and_then(|index| self.params.limits.get(index)) else {
            return Err(self.context().foreign(OP, "device"));
        };
        let limits = limits.get_or_init(|| self.limits(device));
        if let Some(local) = range.local {
            let items = local.iter().try_fold(1usize, |a, b| a.checked_mul(*b)).unwrap_or(usize::MAX);
            if items > limits.items {
                return Err(self.invalid(format!("groups of {local:?} are {items} items; at most {}", limits.items)));
            }
        }
        let asked = args.iter().map(|arg| if let Arg::Local(bytes) = arg { *bytes as u64 } else { 0 });
        let asked = asked.fold(limits.local_used, u64::saturating_add);
        if asked > limits.local_has {
            let has = limits.local_has;
            return Err(self.invalid(format!("{asked} bytes of local memory; {} has {has}", device.name())));
        }
        Ok(())
    }

    /// No answer is no limit: then the driver alone checks.
    fn limits(&self, device: &Device) -> Limits {
        let info = self.work_group_info(device).ok();
        Limits {
            items: info.map(|info| info.max_size).filter(|n| *n > 0).unwrap_or(usize::MAX),
            local_used: info.map_or(0, |info| info.local_memory as u64),
            local_has: device.local_mem_size().unwrap_or(u64::MAX),
        }
    }
}

impl Queue {
    /// Launches a kernel (`clEnqueueNDRangeKernel`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] naming the parameter where an argument does not fit it, or the work items do not fit the
    /// kernel, or an argument's memory is mapped; [`Error::Foreign`] for objects of another context.
    pub fn launch(
        &self,
        kernel: &Kernel,
        args: &[Arg<'_>],
        range: impl Into<NdRange>,
        wait: &[Event],
    ) -> Result<Event> {
        self.context().check_same(kernel.context(), OP, "kernel")?;
        kernel.check_args(args)?;
        let range = range.into();
        kernel.check_range(&range, self.device(), args)?;
        let values: Vec<_> = args.iter().map(Arg::raw).collect();
        let n = range.dimensions;
        let raw_range = Range {
            offset: range.offset.as_ref().map_or(&[], |offset| &offset[..n]),
            global: &range.global[..n],
            local: range.local.as_ref().map_or(&[], |local| &local[..n]),
        };
        let wait = self.context().wait_list(OP, wait)?;
        let launched = kernel.raw.launch(&self.raw, &values, raw_range, &wait);
        let event = launched.map_err(|LaunchFailure { param, failure }| match (param, failure.code) {
            (Some(index), CL_INVALID_ARG_SIZE | CL_INVALID_ARG_VALUE) => {
                let name = kernel.params().and_then(|all| all.get(index)).map_or("", Param::name);
                kernel.invalid(format!("the driver refuses argument {index} '{name}'"))
            }
            _ => self.context().error(failure),
        })?;
        Ok(Event::of(event, self.context()))
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({}, {:?})", self.name, self.params())
    }
}
