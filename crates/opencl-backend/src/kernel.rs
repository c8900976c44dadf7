//! Building kernels from the user's OpenCL C.

use crate::backend_state::BackendState;
use crate::params::{Params, TargetKind};
use crate::source::{for_images, users_log, with_prelude};
use crate::work_size::GroupLimits;
use interop_core::{Error, Kernel, KernelSource, Language, Result};
use opencl3::error_codes::CL_BUILD_PROGRAM_FAILURE;
use opencl3::kernel::{CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_WORK_GROUP_SIZE};
use pixelferry_opencl::base::Text;
use pixelferry_opencl::base::{Failure, Kernel as RawKernel, Program, no_kernel};
use std::ffi::CString;
use std::sync::Arc;

/// A kernel that was built for one backend.
pub struct OpenClKernel {
    pub(crate) name: Arc<str>,
    pub(crate) params: Arc<Params>,
    pub(crate) items: Option<usize>,
    pub(crate) built: Arc<BuiltKernel>,
    /// The kernel for targets that are images.
    pub(crate) image: Option<BuiltKernel>,
}

/// A kernel function with the groups that it may run in.
pub struct BuiltKernel {
    // Before what keeps its context.
    pub raw: Arc<RawKernel>,
    pub shared: Arc<BackendState>,
    pub groups: GroupLimits,
}

impl Kernel for OpenClKernel {
    fn name(&self) -> &str {
        &self.name
    }
}

interop_core::owned!(OpenClKernel: BackendState, "kernel", |kernel| &kernel.built.shared);

impl OpenClKernel {
    pub fn build(shared: &Arc<BackendState>, source: &KernelSource) -> Result<Self> {
        let name = source.name();
        let text = source.text(Language::OpenClC)?.ok_or_else(|| {
            shared.unsupported(format!("kernel '{name}' has no OpenCL C; the languages given: {}", source.languages()))
        })?;
        // SAFETY: `KernelSource::with_text` had the caller's word for the text.
        let built = unsafe { BuiltKernel::build(shared, name, &with_prelude(text)) }?;
        let count = built.raw.param_count().map_err(|f| shared.error(f))?;
        let all = (0..count).map(|i| built.raw.param(i)).collect::<Result<Vec<_>, Failure>>();
        let all = all.map_err(|f| shared.error(f))?;
        let own = Text {
            text: with_prelude(text),
            options: c"".to_owned(),
            headers: Vec::new(),
            devices: vec![shared.session.device.clone()],
        };
        // Launches pass values of 4 and of 8 bytes.
        let size_of = |type_name: &str| [4, 8].into_iter().find(|b| own.has(&shared.session.context, type_name, *b));
        let params = Params::new(all, size_of).map_err(|log| build_error(shared, name, log))?;
        let image = for_images(text).filter(|_| shared.opens_images() && params.target == TargetKind::Image);
        // SAFETY: as above; `PF_STORE` writes the image's pixel in the place of the memory's.
        let image = image.and_then(|text| match unsafe { BuiltKernel::build(shared, name, &text) } {
            Ok(built) => Some(built),
            Err(reason) => {
                tracing::debug!(kernel = name, %reason, "writes images by way of a copy");
                None
            }
        });
        let (params, built) = (Arc::new(params), Arc::new(built));
        Ok(Self { name: name.into(), params, items: source.items(), built, image })
    }
}

impl BuiltKernel {
    /// Compiles `text` and takes the kernel `name` from it.
    ///
    /// # Safety
    /// The caller vouches for what the kernel does when it is launched.
    pub unsafe fn build(shared: &Arc<BackendState>, name: &str, text: &str) -> Result<Self> {
        let c_name = CString::new(name).map_err(|_| Error::refused("a kernel's name holds a zero byte"))?;
        let error = |failure| shared.error(failure);
        // SAFETY: the caller's word.
        let program = unsafe { Program::source(&shared.session.context, text) }.map_err(error)?;
        let device = &shared.session.device;
        let built = program.build(std::slice::from_ref(device), c"-cl-kernel-arg-info");
        let log = program.log(device);
        match built {
            Ok(()) if !log.is_empty() => tracing::debug!(kernel = name, "the OpenCL compiler says: {log}"),
            Ok(()) => {}
            Err(failure) if !log.is_empty() => {
                tracing::debug!(kernel = name, code = failure.code, "{} failed", failure.operation);
                return Err(build_error(shared, name, users_log(log)));
            }
            Err(failure) if failure.code == CL_BUILD_PROGRAM_FAILURE => {
                return Err(build_error(shared, name, "the driver refused the program and gave no log".into()));
            }
            Err(failure) => return Err(error(failure)),
        }
        // Asked first: drivers differ in what they answer to a name that does not exist.
        let present = program.kernel_names().map_err(error)?;
        if !present.split(';').any(|n| n == name) {
            return Err(build_error(shared, name, no_kernel(name, &present)));
        }
        let raw = program.kernel(&c_name).map_err(error)?;
        // Neither answer is needed for a launch that the driver accepts, so no answer is none.
        let items = raw.work_group_sizes(device, CL_KERNEL_WORK_GROUP_SIZE).ok().and_then(|s| s.first().copied());
        let required =
            raw.work_group_sizes(device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE).ok().and_then(|s| s.try_into().ok());
        let groups = GroupLimits::new(&shared.device.description.limits, items, required);
        if let Some([_, _, depth]) = groups.required.filter(|r| r[2] > 1) {
            let log = format!("reqd_work_group_size has depth {depth}; launches are two-dimensional, so it must be 1");
            return Err(build_error(shared, name, log));
        }
        Ok(Self { shared: shared.clone(), raw: Arc::new(raw), groups })
    }
}

fn build_error(shared: &BackendState, name: &str, log: String) -> Error {
    Error::KernelBuild { kernel: name.to_owned(), device: shared.name().to_owned(), log }
}
