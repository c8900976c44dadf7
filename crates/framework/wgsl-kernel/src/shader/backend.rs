//! [`ShaderBackend`].

use super::device::{CopyMethod, Session, ShaderDevice, Target, Writes};
use super::image::MemorySide;
use super::kernel::{ShaderKernel, made};
use crate::pattern::{FLAT, PatternEntry, flat_color, pattern};
use crate::text::KernelText;
use interop_core::compute::AuditKernels;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::maker_object::own;
use interop_core::{
    Arg, ComputeMemory, Display, Error, HandleType, Kernel, KernelSource, MemoryShape, PixelFormat, Result, View,
};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A compute backend whose kernels are compute shaders in a device's queue.
pub struct ShaderBackend<D: ShaderDevice> {
    device: Arc<D>,
    /// The pattern's kernels, built at first use except the first.
    patterns: [OnceLock<ShaderKernel<D>>; PatternEntry::COUNT],
    /// A kernel that stores one colour in the manner of programs' kernels.
    flat: OnceLock<ShaderKernel<D>>,
    /// The kernels of audits.
    pub audits: AuditKernels,
}

impl<D: ShaderDevice> ShaderBackend<D> {
    /// Creates a backend on a device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the pattern's kernel cannot be built there.
    pub fn new(device: D) -> Result<Self> {
        let made = Self {
            device: Arc::new(device),
            patterns: Default::default(),
            flat: OnceLock::new(),
            audits: AuditKernels::default(),
        };
        let built = made.pattern(PatternEntry::Words).map(drop);
        let identity = &made.device.session().identity;
        let refused = |error| Error::unsupported(identity, format!("its compute shaders cannot be built: {error}"));
        built.map_err(refused)?;
        Ok(made)
    }

    /// Returns the API's own object.
    pub fn device(&self) -> &Arc<D> {
        &self.device
    }

    /// Returns a kernel of this backend.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a kernel of another backend.
    pub fn kernel<'k>(&self, kernel: &'k dyn Kernel) -> Result<&'k ShaderKernel<D>> {
        own(kernel, self.device.session())
    }

    /// Returns true where this device is not the display's, or the backend is already in its queue: a backend there
    /// would have no advantage.
    pub fn gains_nothing_in(&self, display: &dyn Display) -> bool {
        let Session { identity, caps, .. } = self.device.session();
        let takes = |queue| display.caps().can_import(HandleType::QueueBuffer(queue), MemoryShape::Linear).is_yes();
        caps.display_queue().is_some_and(takes) || !identity.same_device(display.device()).is_yes()
    }

    fn pattern(&self, entry: PatternEntry) -> Result<&ShaderKernel<D>> {
        let make = || ShaderKernel::unbuilt(&self.device, KernelText::pattern(entry))?.built();
        made(&self.patterns[entry as usize], make).map_err(|error| match error {
            Error::KernelBuild { log, .. } => {
                let reason = format!("its compute shaders cannot be built: {log}");
                Error::unsupported(&self.device.session().identity, reason)
            }
            other => other,
        })
    }

    fn pattern_into(&self, memory: &D::Buffer, view: &View, wanted: &Pattern) -> Result<()> {
        let (entry, launch) = pattern(view, wanted, &self.device.session().limits)?;
        self.pattern(entry)?.queue(Target::Memory(memory), &[], (PixelFormat::Rgba8, Writes::Memory), launch)
    }

    /// Implements [`interop_core::ComputeBackend::write_pattern`].
    pub fn write_pattern(&self, memory: &dyn ComputeMemory, view: &View, wanted: &Pattern) -> Result<()> {
        let session = self.device.session();
        let target = MemorySide::of(memory, session)?;
        match target {
            MemorySide::Linear(memory) => self.pattern_into(memory.buffer(), view, wanted),
            MemorySide::Image(image) => match flat_color(image.format(), wanted) {
                Some(color) => {
                    let source = || KernelSource::new("flat").wgsl(FLAT);
                    let make = || ShaderKernel::unbuilt(&self.device, KernelText::of(&source(), &session.limits)?);
                    made(&self.flat, make)?.launch(target, view, None, &color.map(Arg::F32))
                }
                None => image.through_linear(view, |memory, view| self.pattern_into(memory, view, wanted)),
            },
        }
    }

    /// Implements [`interop_core::ComputeBackend::copy`].
    pub fn copy(&self, from: &dyn ComputeMemory, to: &dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        use MemorySide::{Image, Linear};
        let session = self.device.session();
        match (MemorySide::<D>::of(from, session)?, MemorySide::<D>::of(to, session)?) {
            (Linear(from), Linear(to)) => self.device.copy(from.buffer(), to.buffer(), range),
            (Linear(from), Image(to)) => to.copy_range(CopyMethod::Store, &range, (from.buffer(), range.start)),
            (Image(from), Linear(to)) => from.copy_range(CopyMethod::Load, &range, (to.buffer(), range.start)),
            (Image(from), Image(to)) => from.copy_to(to, &range),
        }
    }
}

/// Implements [`interop_core::compute::BackendDriver`] for a type whose field `0` is a [`ShaderBackend`]. The
/// expression opens the backend on a display of its API, and the function returns the raw handles of a target
/// ([`interop_core::ComputeBackend::raw`]): `shader_backend!(GlBackend, |display: &GlDisplay| GlBackend::on(display),
/// GlBackend::names);`.
#[macro_export]
macro_rules! shader_backend {
    ($backend:ty, |$inside:ident: &$display:ty| $open:expr, $names:path) => {
        const _: () = {
            use interop_core::compute::{AuditKernels, BackendDriver, CheckToken};
            use interop_core::describe::pattern::Pattern;
            use interop_core::*;
            use std::{ops::Range, sync::Arc};
            use $crate::shader::{MemorySide, ShaderDevice as _, ShaderImage, ShaderKernel, ShaderMemory};

            // SAFETY: memories keep their buffer and its length; kernels run unchanged, with the arguments that they
            // declare.
            unsafe impl BackendDriver for $backend {
                fn device(&self) -> &DeviceIdentity {
                    &self.0.device().session().identity
                }
                fn caps(&self) -> &ComputeCaps {
                    &self.0.device().session().caps
                }
                fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
                    match display.downcast_ref::<$display>() {
                        Some($inside) if !self.0.gains_nothing_in(display) => Ok(Some(Arc::new($open?))),
                        _ => Ok(None),
                    }
                }
                fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
                    Ok(Arc::new(ShaderKernel::build(self.0.device(), source)?))
                }
                fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
                    Ok(Box::new(ShaderMemory::new(self.0.device(), bytes)?))
                }
                fn allocate_shared(
                    &self,
                    bytes: usize,
                    _: HandleType,
                    _: &DeviceIdentity,
                ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
                    let memory = ShaderMemory::new(self.0.device(), bytes)?;
                    let handle = self.0.device().share(memory.buffer())?;
                    Ok((Box::new(memory), handle))
                }
                fn import_surface(
                    &self,
                    _: CheckToken,
                    handle: &SharedHandle,
                    desc: &SurfaceDesc,
                ) -> Result<Box<dyn ComputeMemory>> {
                    let device = self.0.device();
                    Ok(match desc {
                        SurfaceDesc::Image(image) => Box::new(ShaderImage::open(device, handle, *image)?),
                        SurfaceDesc::Buffer(_) => Box::new(ShaderMemory::open(device, handle, desc.byte_len()?)?),
                    })
                }
                fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
                    self.0.device().semaphore(handle)
                }
                fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
                    let (session, items) = (self.0.device().session(), target.items());
                    let kernel = self.0.kernel(kernel)?;
                    let (memory, view) = target.into_parts();
                    kernel.launch(MemorySide::of(memory, session)?, &view, items, args)
                }
                fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
                    let (memory, view) = target.into_parts();
                    self.0.write_pattern(memory, &view, pattern)
                }
                fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
                    let (memory, view) = target.into_parts();
                    $names(self, MemorySide::of(memory, self.0.device().session())?, view)
                }
                fn copy(
                    &self,
                    _: CheckToken,
                    from: &dyn ComputeMemory,
                    to: &mut dyn ComputeMemory,
                    range: Range<usize>,
                ) -> Result<()> {
                    self.0.copy(from, to, range)
                }
                fn audit_kernels(&self) -> Option<&AuditKernels> {
                    Some(&self.0.audits)
                }
                fn finish(&self) -> Result<()> {
                    self.0.device().finish()
                }
            }
        };
    };
}
