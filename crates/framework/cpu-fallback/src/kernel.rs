//! Kernels as Rust closures.

use crate::args::CpuArgs;
use crate::buffer::CpuBuffer;
use crate::image::CpuImage;
use interop_core::compute::SourceCode;
use interop_core::{DeviceIdentity, Error, Kernel, KernelSource, Language, Result};
use std::sync::Arc;

type ImageFn = dyn Fn(&mut CpuImage<'_>, &CpuArgs<'_>) -> Result<()> + Send + Sync;
type BufferFn = dyn Fn(&mut CpuBuffer<'_>, &CpuArgs<'_>) -> Result<()> + Send + Sync;

/// Content of a source in [`Language::Rust`].
#[derive(Clone, Default)]
pub(crate) struct CpuCode {
    pub(crate) image: Option<Arc<ImageFn>>,
    pub(crate) buffer: Option<Arc<BufferFn>>,
}

/// Adds Rust closures for the CPU to a [`KernelSource`].
///
/// The closure is called once for each launch and distributes the work with `par_*`. Its own errors are
/// [`Error::InvalidInput`] or [`Error::KernelFailed`]; a panic becomes [`Error::KernelFailed`] with its message.
/// [`KernelSource::with_items`] has no effect here; `Target::with_items` determines whether other threads are woken.
///
/// ```
/// use cpu_fallback::CpuKernelExt;
/// use interop_core::KernelSource;
///
/// let source = KernelSource::new("gradient").cpu_image(|out, args| {
///     let blue = args.u32(0)? as u8;
///     out.par_pixels(|x, y| [x as u8, y as u8, blue, 255])
/// });
/// ```
pub trait CpuKernelExt: Sized {
    /// Adds a closure for image targets. A closure for buffer targets stays.
    #[must_use]
    fn cpu_image<F>(self, f: F) -> Self
    where
        F: Fn(&mut CpuImage<'_>, &CpuArgs<'_>) -> Result<()> + Send + Sync + 'static;

    /// Adds a closure for buffer targets. A closure for image targets stays.
    #[must_use]
    fn cpu_buffer<F>(self, f: F) -> Self
    where
        F: Fn(&mut CpuBuffer<'_>, &CpuArgs<'_>) -> Result<()> + Send + Sync + 'static;
}

impl CpuKernelExt for KernelSource {
    fn cpu_image<F>(self, f: F) -> Self
    where
        F: Fn(&mut CpuImage<'_>, &CpuArgs<'_>) -> Result<()> + Send + Sync + 'static,
    {
        let code = CpuCode { image: Some(Arc::new(f)), ..code_of(&self) };
        self.with_native(Language::Rust, Arc::new(code))
    }

    fn cpu_buffer<F>(self, f: F) -> Self
    where
        F: Fn(&mut CpuBuffer<'_>, &CpuArgs<'_>) -> Result<()> + Send + Sync + 'static,
    {
        let code = CpuCode { buffer: Some(Arc::new(f)), ..code_of(&self) };
        self.with_native(Language::Rust, Arc::new(code))
    }
}

fn find(source: &KernelSource) -> Option<&CpuCode> {
    match source.source(Language::Rust)? {
        SourceCode::Native(code) => code.downcast_ref(),
        SourceCode::Text(_) => None,
    }
}

fn code_of(source: &KernelSource) -> CpuCode {
    find(source).cloned().unwrap_or_default()
}

/// A kernel of one backend.
#[derive(Clone)]
pub(crate) struct CpuKernel {
    pub(crate) name: Arc<str>,
    pub(crate) code: CpuCode,
    pub(crate) device: Arc<DeviceIdentity>,
}

impl CpuKernel {
    pub(crate) fn build(source: &KernelSource, device: &Arc<DeviceIdentity>) -> Result<Self> {
        let code = find(source).cloned().ok_or_else(|| Error::Unsupported {
            operation: "CpuBackend::build",
            device: device.to_string(),
            reason: format!(
                "kernel '{}' has no host function (its languages: {}); add one: CpuKernelExt::cpu_image or cpu_buffer in \
                 Rust, pf_kernel_source.host in C",
                source.name(),
                source.languages()
            ),
        })?;
        Ok(Self { name: source.name().into(), code, device: Arc::clone(device) })
    }
}

interop_core::owned!(CpuKernel: DeviceIdentity, "kernel", |kernel| &kernel.device);

impl Kernel for CpuKernel {
    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_for_both_targets_live_side_by_side() {
        let source = KernelSource::new("k").cpu_image(|_, _| Ok(())).cpu_buffer(|_, _| Ok(()));
        let code = code_of(&source);
        assert!(code.image.is_some() && code.buffer.is_some());
        // SAFETY: nothing runs it.
        let text = unsafe { KernelSource::new("k").with_text(Language::Rust, "fn k() {}") };
        assert!(code_of(&text).image.is_none());
    }
}
