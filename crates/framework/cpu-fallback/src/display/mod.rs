//! A display in plain host memory.

mod convert;
mod display_state;
mod staging;
mod surface;
mod target;

pub use convert::RgbaImage;
pub use target::OffscreenTarget;

use crate::host;
use display_state::DisplayState;
use interop_core::AnyThreadDisplay;
use interop_core::describe::error::call;
use interop_core::devices::maker_object::own;
use interop_core::display::DisplayDriver;
use interop_core::draw::Plan;
use interop_core::{
    DeviceIdentity, DisplayCaps, DrawOptions, HandleType, HostBlock, ImageDesc, Manner, MemoryCap, MemoryShape,
    PixelFormat, Region, Result, RowOrder, Staging, StagingKind, Support, Surface, SurfaceDesc, SurfacePart,
};
use staging::MemoryStaging;
use std::sync::Arc;
use surface::MemorySurface;

/// The display of last resort: surfaces are plain memory, whose content is what a viewer would see.
///
/// It needs no window system and no graphics driver. All work is done when a call returns, so fences never wait. Row 0
/// in memory is the top row.
///
/// ```
/// use cpu_fallback::{CpuBackend, MemoryDisplay};
/// use interop_core::{Link, LinkOptions, PixelFormat, SurfaceDesc};
/// use std::sync::Arc;
///
/// let display = MemoryDisplay::new();
/// let desc = SurfaceDesc::image(1, 1, PixelFormat::R8);
/// let mut link = Link::open(Arc::new(CpuBackend::new()?), display.clone(), desc, LinkOptions::default())?;
/// link.frame(|next| next.write(&[200]))?;
/// // As a picture to save: one channel becomes grey.
/// let picture = display.pixels_rgba8(link.shown()?.surface())?;
/// assert_eq!((picture.width, picture.data), (1, vec![200, 200, 200, 255]));
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct MemoryDisplay {
    shared: Arc<DisplayState>,
}

impl MemoryDisplay {
    /// Creates a display. It is an `Arc` because links share displays; other displays reject its objects.
    pub fn new() -> Arc<Self> {
        let host_pointer = MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes);
        // The limit is the memory, not the side.
        let caps = DisplayCaps::new(i32::MAX as u32, host::memory_bytes(), RowOrder::TopDown)
            .with_imports(vec![host_pointer.clone()])
            .with_exports(vec![host_pointer.aligned(HostBlock::PAGE, 1)])
            .with_orphaned_staging(Support::Yes)
            .with_persistent_staging(Support::Yes)
            .with_image_formats(PixelFormat::ALL)
            .with_in_place_images(Support::Yes)
            .with_in_place_buffers(Support::Yes)
            .with_max_in_place_pixels(u64::MAX);
        let driver = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let device = host::identity("plain memory".into(), driver);
        Arc::new(Self { shared: Arc::new(DisplayState { device, caps }) })
    }

    /// Returns an image as a viewer would see it: 8-bit RGBA with the top row first, ready to be saved.
    ///
    /// One channel becomes grey, and two become red and green; a missing alpha is opaque. Light is encoded as sRGB;
    /// floating-point channels are clamped to 0..=1 (NaN becomes 0) and rounded.
    ///
    /// # Errors
    /// [`interop_core::Error::Foreign`] for a surface of another display; [`interop_core::Error::InvalidInput`] for a
    /// buffer; [`interop_core::Error::NothingShown`] for an in-place surface without a frame.
    pub fn pixels_rgba8(&self, surface: &Surface) -> Result<RgbaImage> {
        call("MemoryDisplay::pixels_rgba8", || {
            let (of, surface) = (surface.desc(), self.own(surface)?);
            let image = of.pixels()?;
            let bytes = surface.pixels(&SurfacePart::full(of))?;
            RgbaImage::from_image(image, &bytes, &DrawOptions::default())
        })
    }

    /// Creates an RGBA8 target for draws; it is black and transparent at first.
    pub fn create_offscreen_target(&self, width: u32, height: u32) -> Result<OffscreenTarget> {
        self.create_offscreen_target_of(width, height, PixelFormat::Rgba8)
    }

    /// Creates a target of `format` for draws; [`PixelFormat::Rgba16F`] keeps light brighter than 1.
    pub fn create_offscreen_target_of(&self, width: u32, height: u32, format: PixelFormat) -> Result<OffscreenTarget> {
        let desc = ImageDesc::new(width, height, format);
        let len = self.shared.check(&SurfaceDesc::Image(desc))?;
        OffscreenTarget::new(desc.extent, format, len)
    }

    /// Draws an image surface into `viewport` of a target (`y` counts from the top), as the surface's [`ImageDesc`] and
    /// `options` say. By default every number is copied unchanged. A single thread draws pixel by pixel.
    ///
    /// # Errors
    /// - [`interop_core::Error::Foreign`] for a surface of another display.
    /// - [`interop_core::Error::InvalidInput`] for a buffer, for a viewport that is empty or reaches outside the
    ///   target, and for invalid options ([`Plan::new`]).
    /// - [`interop_core::Error::NothingShown`] for an in-place surface without a frame.
    pub fn draw(
        &self,
        surface: &Surface,
        target: &mut OffscreenTarget,
        viewport: Region,
        options: DrawOptions,
    ) -> Result<()> {
        call("MemoryDisplay::draw", || {
            let (of, surface) = (surface.desc(), self.own(surface)?);
            target.check(viewport)?;
            let plan = Plan::new(of.pixels()?, viewport.extent(), &options)?;
            let (bytes, view) = surface.shown()?;
            let bytes = bytes.read(0..bytes.len(), &"this surface")?;
            target.paint(&plan, &bytes, &view, (viewport.x, viewport.y))
        })
    }

    fn own<'s>(&self, surface: &'s Surface) -> Result<&'s MemorySurface> {
        own::<MemorySurface>(surface.driver(), &self.shared)
    }
}

impl AnyThreadDisplay for MemoryDisplay {}

impl DisplayDriver for MemoryDisplay {
    fn device(&self) -> &DeviceIdentity {
        &self.shared.device
    }

    fn caps(&self) -> &DisplayCaps {
        &self.shared.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let make = |bytes| MemorySurface::stored(&self.shared, desc, bytes);
        Surface::stored((DisplayDriver::device(self), DisplayDriver::caps(self)), desc, |_, bytes| make(bytes), make)
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let make = || Ok(MemorySurface::in_place(&self.shared));
        Surface::in_place((DisplayDriver::device(self), DisplayDriver::caps(self)), desc, |_| make(), make)
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        Staging::new((DisplayDriver::device(self), DisplayDriver::caps(self)), kind, bytes, |kind| {
            MemoryStaging::new(&self.shared, kind, bytes)
        })
    }

    fn draw_offscreen_by(&self, surface: &Surface, _: Option<Manner>) -> Result<()> {
        // A viewer would see the memory itself.
        std::hint::black_box(self.own(surface)?.pixels(&SurfacePart::full(surface.desc()))?);
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuBackend;
    use interop_core::{Link, LinkOptions, PixelFormat, Policy, Profiles, Trials};
    use std::thread;
    use std::time::Duration;

    /// Small, because Miri runs it, too.
    #[test]
    fn links_move_between_threads_and_work_beside_each_other() {
        let (backend, display) = (Arc::new(CpuBackend::new().unwrap()), MemoryDisplay::new());
        let policy =
            Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off).with_trials(Trials::Off);
        let desc = SurfaceDesc::image(2, 2, PixelFormat::R8);
        let open = || {
            let link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::new(policy.clone())).unwrap();
            link.for_any_thread(&display).unwrap()
        };
        let turns = |mut link: Link<interop_core::AnyThread>| {
            for n in 0..3 {
                link.frame(|next| next.write(&[n; 4])).unwrap();
                assert_eq!(link.read_back().unwrap(), [n; 4]);
            }
            link
        };
        let other = thread::spawn({
            let link = open();
            move || turns(link)
        });
        let own = turns(open());
        let moved = other.join().unwrap();
        thread::spawn(move || drop((moved, own))).join().unwrap();
    }
}
