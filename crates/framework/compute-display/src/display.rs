//! The type [`ComputeDisplay`].

use crate::display_state::DisplayState;
use crate::draw::Source;
use crate::kernels::{Kernels, Work};
use crate::staging::ComputeStaging;
use crate::surface::ComputeSurface;
use crate::target::ComputeTarget;
use interop_core::AnyThreadDisplay;
use interop_core::describe::PlainMutex;
use interop_core::describe::error::call;
use interop_core::devices::maker_object::own;
use interop_core::display::DisplayDriver;
use interop_core::draw::Plan;
use interop_core::{
    ComputeBackend, ComputeCaps, DeviceIdentity, DisplayCaps, DrawOptions, HandleType, HostBlock, Manner, MemoryCap,
    MemoryShape, PixelFormat, Region, Result, RowOrder, Staging, StagingKind, Support, Surface, SurfaceDesc,
    SurfacePart,
};
use std::any::Any;
use std::sync::Arc;

/// Kernels are launched in groups of at least 8 rows, and CUDA allows 65535 groups.
const MAX_SIDE: u32 = 8 * 65535;

/// A display whose surfaces are memory of a compute device, drawn by kernels in its queue. See the crate's
/// documentation.
///
/// It needs no window system and no graphics driver. Row 0 in memory is the top row.
pub struct ComputeDisplay {
    shared: Arc<DisplayState>,
}

impl ComputeDisplay {
    /// Creates a display that draws with kernels of this backend, in its queue. It is an `Arc` because links share
    /// displays.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] for a backend that supports neither OpenCL C nor PTX (the CPU backend,
    /// OpenGL and wgpu have displays of their own); [`interop_core::Error::KernelBuild`];
    /// [`interop_core::Error::Driver`].
    pub fn on(backend: Arc<dyn ComputeBackend>) -> Result<Arc<Self>> {
        let kernels = Kernels::default();
        Kernels::check(&backend.device().to_string(), backend.caps())?;
        let caps = caps(backend.caps());
        // A device whose compiler rejects the text fails here, not at the first frame.
        kernels.get(backend.as_ref(), Work::Draw)?;
        let shared = DisplayState { backend, caps, kernels, scratch: PlainMutex::default() };
        Ok(Arc::new(Self { shared: Arc::new(shared) }))
    }

    /// Returns the backend that draws. Its frames are shown without a copy.
    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.shared.backend
    }

    /// Returns the backend that draws, if it drives the same device as `backend` and is another object: kernels built
    /// and launched with it run in the display's queue. `None` where nothing is gained.
    pub fn beside(&self, backend: &dyn ComputeBackend) -> Option<Arc<dyn ComputeBackend>> {
        let own = self.backend();
        let is_other = own.caps().display_queue() != backend.caps().display_queue();
        (is_other && own.device() == backend.device()).then(|| Arc::clone(own))
    }

    /// Creates an RGBA8 target for draws; it is black and transparent at first.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for a size of 0; [`interop_core::Error::Unsupported`] for a size that the
    /// device cannot allocate; errors of the backend.
    pub fn create_offscreen_target(&self, width: u32, height: u32) -> Result<ComputeTarget> {
        self.create_offscreen_target_of(width, height, PixelFormat::Rgba8)
    }

    /// Creates a target of `format` for draws; [`PixelFormat::Rgba16F`] keeps light brighter than 1.
    ///
    /// # Errors
    /// The errors of [`ComputeDisplay::create_offscreen_target`].
    pub fn create_offscreen_target_of(&self, width: u32, height: u32, format: PixelFormat) -> Result<ComputeTarget> {
        ComputeTarget::new(&self.shared, width, height, format)
    }

    /// Draws an image surface into `viewport` of a target (`y` counts from the top), as the surface's
    /// [`interop_core::ImageDesc`] and `options` say. By default every number is copied unchanged. Does not wait.
    ///
    /// # Errors
    /// - [`interop_core::Error::Foreign`] for a surface or target of another display.
    /// - [`interop_core::Error::InvalidInput`] for a buffer, for a viewport that is empty or reaches outside the
    ///   target, and for invalid options ([`Plan::new`]).
    /// - [`interop_core::Error::NothingShown`] for an in-place surface without a frame.
    /// - Errors of the backend.
    pub fn draw(
        &self,
        surface: &Surface,
        target: &mut ComputeTarget,
        viewport: Region,
        options: DrawOptions,
    ) -> Result<()> {
        call("ComputeDisplay::draw", || {
            let (desc, surface) = (surface.desc(), self.own(surface)?);
            own::<ComputeTarget>(target, &self.shared)?;
            target.check(viewport)?;
            let plan = Plan::new(desc.pixels()?, viewport.extent(), &options)?;
            let (memory, view) = surface.shown()?;
            let memory = memory.get()?;
            let source = Source { memory: memory.as_ref(), view: *view.pixels()? };
            self.shared.draw(&plan, source, target.canvas(), (viewport.x, viewport.y))
        })
    }

    fn own<'s>(&self, surface: &'s Surface) -> Result<&'s ComputeSurface> {
        own::<ComputeSurface>(surface.driver(), &self.shared)
    }
}

/// Returns the capabilities of a display on a device with these capabilities.
fn caps(backend: &ComputeCaps) -> DisplayCaps {
    let is_read = |cap: &&MemoryCap| {
        cap.shape == MemoryShape::Linear && matches!(cap.handle, HandleType::HostPointer | HandleType::QueueBuffer(_))
    };
    // Host memory is shown in place, so kernels must be able to read it there.
    let read = backend.can_import(HandleType::HostPointer, MemoryShape::Linear).of_the("its kernels");
    let pages = MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, read);
    DisplayCaps::new(MAX_SIDE, backend.max_allocation, RowOrder::TopDown)
        .with_imports(backend.imports.iter().filter(is_read).cloned().collect())
        .with_exports(vec![pages.aligned(HostBlock::PAGE, 1)])
        .with_orphaned_staging(Support::Yes)
        .with_persistent_staging(Support::Yes)
        .with_image_formats(PixelFormat::ALL)
        .with_in_place_images(Support::Yes)
        .with_in_place_buffers(Support::Yes)
        .with_max_in_place_pixels(u64::MAX)
}

impl AnyThreadDisplay for ComputeDisplay {}

impl DisplayDriver for ComputeDisplay {
    fn device(&self) -> &DeviceIdentity {
        self.shared.backend.device()
    }

    fn caps(&self) -> &DisplayCaps {
        &self.shared.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let make = |bytes| ComputeSurface::stored(&self.shared, desc, bytes);
        Surface::stored((DisplayDriver::device(self), DisplayDriver::caps(self)), desc, |_, bytes| make(bytes), make)
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let make = || Ok(ComputeSurface::in_place(&self.shared));
        Surface::in_place((DisplayDriver::device(self), DisplayDriver::caps(self)), desc, |_| make(), make)
    }

    fn backend_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        Ok(Some(Box::new(Arc::clone(&self.shared.backend))))
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        Staging::new((DisplayDriver::device(self), DisplayDriver::caps(self)), kind, bytes, |kind| {
            ComputeStaging::new(&self.shared, kind, bytes)
        })
    }

    fn draw_offscreen_by(&self, surface: &Surface, _: Option<Manner>) -> Result<()> {
        self.own(surface)?.seen(&SurfacePart::full(surface.desc()), |_, _| Ok(()))
    }

    fn finish(&self) -> Result<()> {
        self.shared.backend.finish()
    }

    fn set_timeline(&self, _: bool) -> Result<Support> {
        Ok(Support::No("its draws are kernels of the compute device, which times them".into()))
    }
}
