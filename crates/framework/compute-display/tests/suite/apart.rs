//! A double: any backend, as if its kernels could not read the host's memory, as with NVIDIA's OpenCL; or with other texts of kernels.

use interop_core::compute::SourceCode;
use interop_core::compute::{BackendDriver, CheckToken};
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, DeviceIdentity, HandleType, HostBlock, Kernel, KernelSource,
    Language, Result, SharedHandle, Support, SurfaceDesc, Target,
};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

pub struct Apart {
    inner: Arc<dyn ComputeBackend>,
    caps: ComputeCaps,
    /// Text to replace in kernels, and its replacement.
    replaced: (String, String),
}

impl Apart {
    pub fn over(inner: Arc<dyn ComputeBackend>) -> Arc<dyn ComputeBackend> {
        let mut caps = inner.caps().clone();
        for cap in caps.imports.iter_mut().filter(|cap| cap.handle == HandleType::HostPointer) {
            cap.support = Support::No("memory apart".into());
        }
        Arc::new(Self { inner, caps, replaced: Default::default() })
    }

    /// The backend as it is, but for the texts in OpenCL C that it is given.
    pub fn with_text(inner: Arc<dyn ComputeBackend>, replaced: (String, String)) -> Arc<dyn ComputeBackend> {
        let caps = inner.caps().clone();
        Arc::new(Self { inner, caps, replaced })
    }
}

// SAFETY: all calls are handed on unchanged, or refused.
unsafe impl BackendDriver for Apart {
    pixelferry_tests::forward! {
        & device() -> &DeviceIdentity;
        & allocate(bytes: usize) -> Result<Box<dyn ComputeMemory>>;
        & prepare_host(block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>>;
        & allocate_shared(bytes: usize, handle: HandleType, display: &DeviceIdentity)
            -> Result<(Box<dyn ComputeMemory>, SharedHandle)>;
        & launch(kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()>;
        & write_pattern(target: Target<'_>, pattern: &Pattern) -> Result<()>;
        & finish() -> Result<()>;
    }

    fn caps(&self) -> &ComputeCaps {
        &self.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        match source.source(Language::OpenClC) {
            Some(SourceCode::Text(text)) if !self.replaced.0.is_empty() => {
                assert!(text.contains(&self.replaced.0), "{}", self.replaced.0);
                let text = text.replace(&self.replaced.0, &self.replaced.1);
                // SAFETY: only the numbers of formats are others, all of as many bytes.
                self.inner.build(&unsafe { KernelSource::new(source.name().to_owned()).opencl_c(text) })
            }
            _ => self.inner.build(source),
        }
    }

    fn import_surface(
        &self,
        _: CheckToken,
        handle: &SharedHandle,
        desc: &SurfaceDesc,
    ) -> Result<Box<dyn ComputeMemory>> {
        self.inner.import_surface(handle, desc)
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        self.inner.copy(from, to, range)
    }
}
