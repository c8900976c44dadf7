//! Building kernels from the user's OpenCL C.

use crate::backend_state::BackendState;
use crate::params::{Params, TargetKind};
use crate::source::{for_images, users_log, with_prelude};
use crate::work_size::GroupLimits;
use interop_core::{Error, Kernel, KernelSource, Language, Result};
use pixelferry_opencl::{self as cl, Program};
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

/// A kernel function with the work-group sizes that it supports.
pub struct BuiltKernel {
    // Dropped before the state that keeps its context.
    pub raw: cl::Kernel,
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
            shared.unsupported(format!(
                "kernel '{name}' has no OpenCL C source (its languages: {}); add one",
                source.languages()
            ))
        })?;
        // SAFETY: the caller of `KernelSource::with_text` vouches for the text.
        let built = unsafe { BuiltKernel::build(shared, name, &with_prelude(text)) }?;
        let all = built.raw.params().ok_or_else(|| {
            shared
                .unsupported(format!("kernel '{name}': the driver does not report its parameters (clGetKernelArgInfo)"))
        })?;
        let program = built.raw.program();
        // Launches pass values of 4 or 8 bytes.
        let size_of = |type_name: &str| [4, 8].into_iter().find(|bytes| program.fits(type_name, *bytes).is_ok());
        let params = Params::new(all, size_of).map_err(|log| build_error(shared, name, log))?;
        let image = for_images(text).filter(|_| shared.opens_images() && params.target == TargetKind::Image);
        // SAFETY: as above; `PF_STORE` writes the image's pixel instead of the memory's.
        let image = image.and_then(|text| match unsafe { BuiltKernel::build(shared, name, &text) } {
            Ok(built) => Some(built),
            Err(reason) => {
                tracing::debug!(kernel = name, %reason, "the kernel writes images through a copy");
                None
            }
        });
        let (params, built) = (Arc::new(params), Arc::new(built));
        Ok(Self { name: name.into(), params, items: source.items(), built, image })
    }
}

impl BuiltKernel {
    /// Compiles `text` and returns the kernel `name` from it.
    ///
    /// # Safety
    /// The caller vouches for the behaviour of the kernel in launches.
    pub unsafe fn build(shared: &Arc<BackendState>, name: &str, text: &str) -> Result<Self> {
        let device = &shared.device.raw;
        // SAFETY: the caller guarantees it.
        let program = unsafe { Program::build(shared.context(), text, "") }.map_err(|error| match error {
            Error::KernelBuild { log, .. } => build_error(shared, name, users_log(log)),
            other => other,
        })?;
        let log = program.log(device);
        if !log.is_empty() {
            tracing::debug!(kernel = name, "the OpenCL compiler says: {log}");
        }
        let raw = program.kernel(name).map_err(|error| match error {
            // Such an error means that the source is wrong.
            Error::InvalidInput { problem, .. } => build_error(shared, name, problem),
            other => other,
        })?;
        // Not needed for a launch that the driver accepts, so a missing answer is not an error.
        let info = raw.work_group_info(device).ok();
        let (items, required) = (info.map(|info| info.max_size), info.and_then(|info| info.required));
        let groups = GroupLimits::new(&shared.device.description.limits, items, required);
        if let Some([_, _, depth]) = groups.required.filter(|r| r[2] > 1) {
            let log = format!("reqd_work_group_size has depth {depth}; launches are two-dimensional, so it must be 1");
            return Err(build_error(shared, name, log));
        }
        Ok(Self { shared: shared.clone(), raw, groups })
    }
}

fn build_error(shared: &BackendState, name: &str, log: String) -> Error {
    Error::KernelBuild { kernel: name.to_owned(), device: shared.name().to_owned(), log }
}
