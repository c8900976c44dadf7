//! [`ComputeDisplay`].

use crate::display_state::DisplayState;
use crate::draw::Source;
use crate::kernels::{Kernels, Work};
use crate::staging::ComputeStaging;
use crate::surface::ComputeSurface;
use crate::target::ComputeTarget;
use interop_core::describe::error::call;
use interop_core::devices::owned::own;
use interop_core::display::DisplayDriver;
use interop_core::draw::Plan;
use interop_core::{
    ComputeBackend, ComputeCaps, DeviceIdentity, DisplayCaps, DrawOptions, HandleType, HostBlock, Manner, MemoryCap,
    MemoryShape, Part, PixelFormat, Region, Result, RowOrder, Staging, StagingKind, Support, Surface, SurfaceDesc,
};
use std::rc::Rc;
use std::sync::Arc;

/// Kernels are launched in groups of at least 8 rows, of which CUDA has 65535.
const MAX_SIDE: u32 = 8 * 65535;

/// A display whose surfaces are memory of a compute device, drawn by kernels in its queue. See the crate.
///
/// It needs no window system and no graphics driver. Row 0 in memory is the top row.
pub struct ComputeDisplay {
    shared: Rc<DisplayState>,
}

impl ComputeDisplay {
    /// Draws by kernels of this backend, in its queue. `Rc`, as links hold displays.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] for a backend that takes neither OpenCL C nor PTX (threads, OpenGL, wgpu: they have displays of
    /// their own); [`interop_core::Error::KernelBuild`], [`interop_core::Error::Driver`].
    pub fn on(backend: Arc<dyn ComputeBackend>) -> Result<Rc<Self>> {
        let kernels = Kernels::default();
        Kernels::check(&backend.device().to_string(), backend.caps())?;
        let caps = caps(backend.caps());
        // A device whose compiler refuses the text is found out here, not by the first frame.
        kernels.get(backend.as_ref(), Work::Draw)?;
        let shared = DisplayState { backend, caps, kernels, scratch: None.into() };
        Ok(Rc::new(Self { shared: Rc::new(shared) }))
    }

    /// The backend that draws. What it computes is shown with no copy.
    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.shared.backend
    }

    /// The backend that draws, where it drives the device of `backend` and is another: kernels that are built and launched by it
    /// run in the display's queue. `None` where there is nothing to gain.
    pub fn beside(&self, backend: &dyn ComputeBackend) -> Option<Arc<dyn ComputeBackend>> {
        let own = self.backend();
        let is_other = own.caps().display_queue() != backend.caps().display_queue();
        (is_other && own.device() == backend.device()).then(|| Arc::clone(own))
    }

    /// Makes an RGBA8 picture to draw into; black and transparent at first.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for a size of 0, [`interop_core::Error::Unsupported`] for one that the device does not allocate, and what the
    /// backend reports.
    pub fn create_offscreen_target(&self, width: u32, height: u32) -> Result<ComputeTarget> {
        self.create_offscreen_target_of(width, height, PixelFormat::Rgba8)
    }

    /// Makes a picture of `format` to draw into; [`PixelFormat::Rgba16F`] keeps light brighter than 1.
    ///
    /// # Errors
    /// The errors of [`ComputeDisplay::create_offscreen_target`].
    pub fn create_offscreen_target_of(&self, width: u32, height: u32, format: PixelFormat) -> Result<ComputeTarget> {
        ComputeTarget::new(&self.shared, width, height, format)
    }

    /// Draws an image surface into `viewport` of a target (`y` counts from the top), as the surface's
    /// [`interop_core::ImageDesc`] and `options` say: by default every number goes there as it is. Does not wait.
    ///
    /// # Errors
    /// - [`interop_core::Error::Foreign`] for a surface or target of another display.
    /// - [`interop_core::Error::InvalidInput`] for a buffer, a viewport that is empty or reaches outside the target, or options that
    ///   mean nothing ([`Plan::new`]).
    /// - [`interop_core::Error::NothingShown`] for an in-place surface with no frame yet.
    /// - What the backend reports.
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

/// Returns what a display on a device with these capabilities can do.
fn caps(backend: &ComputeCaps) -> DisplayCaps {
    let is_read = |cap: &&MemoryCap| {
        cap.shape == MemoryShape::Linear && matches!(cap.handle, HandleType::HostPointer | HandleType::QueueBuffer(_))
    };
    // Shared by the host, it is shown where it lies, so that kernels must read it there.
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

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        Staging::new((DisplayDriver::device(self), DisplayDriver::caps(self)), kind, bytes, |kind| {
            ComputeStaging::new(&self.shared, kind, bytes)
        })
    }

    fn draw_offscreen_by(&self, surface: &Surface, _: Option<Manner>) -> Result<()> {
        self.own(surface)?.seen(&Part::full(surface.desc()), |_, _| Ok(()))
    }

    fn finish(&self) -> Result<()> {
        self.shared.backend.finish()
    }

    fn set_timeline(&self, _: bool) -> Result<Support> {
        Ok(Support::No("its draws are kernels of the compute device, which times them".into()))
    }
}
