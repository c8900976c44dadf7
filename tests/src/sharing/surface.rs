//! Surfaces of the sharing display.

use super::handles::{name_gl, name_in_queue, queue};
use super::staging::SharedStaging;
use super::turn::Turn;
use crate::faults::Faults;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::lay_out;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::driver::{
    Content, HandleType, HostBlock, InPlaceDriver, SharedHandle, Staging, StagingKind, StoredDriver, SurfaceDriver,
    SurfacePart,
};
use pixelferry::{BufferView, Display, Error, ImageView, Result, Surface, View};
use std::sync::{Arc, OnceLock};

/// A surface of the memory display, wrapped.
pub struct SharedSurface {
    inner: Surface,
    /// Once others have opened it: a surface over the block that they write.
    shared: OnceLock<Surface>,
    /// That block.
    named: OnceLock<HostBlock>,
    /// The block that is shown in place.
    shown: Option<Arc<Turn>>,
    display: Arc<dyn Display>,
    faults: Faults,
}

impl SharedSurface {
    /// Over a surface of `display`.
    pub fn new(inner: Surface, display: &Arc<dyn Display>, faults: &Faults) -> Self {
        let (shared, named, display) = (OnceLock::new(), OnceLock::new(), Arc::clone(display));
        Self { inner, shared, named, shown: None, display, faults: faults.clone() }
    }

    /// Lets others who opened it see what the display wrote.
    fn share(&mut self, at: &SurfacePart) -> Result<()> {
        let Some(block) = self.named.get() else { return Ok(()) };
        let (desc, pixels) = (*self.inner.desc(), self.inner.read_back(at)?);
        let mut bytes = block.write(0..desc.byte_len()?, Holder::Staging)?;
        let view = match (tight(&desc)?, at) {
            (View::Image(all), SurfacePart::Image(part)) => {
                let first = all.row_start(part.y) + part.x as usize * all.format.bytes_per_pixel();
                View::Image(ImageView { extent: part.extent(), ..all.moved_to(first) })
            }
            (_, SurfacePart::Buffer(range)) => View::Buffer(BufferView { offset: range.start, len: range.len() }),
            (all, SurfacePart::Image(_)) => all,
        };
        lay_out(&pixels, &view, &mut bytes);
        Ok(())
    }

    /// Returns what there is to see.
    pub fn visible(&self) -> &Surface {
        self.shared.get().unwrap_or(&self.inner)
    }

    fn block<'s>(staging: &'s Staging, operation: &'static str) -> Result<&'s SharedStaging> {
        let device = || "the sharing display".into();
        let foreign = || Error::Foreign { operation, object: "staging block", device: device() };
        staging.driver().downcast_ref().ok_or_else(foreign)
    }

    fn show_at(&mut self, staging: &SharedStaging, view: &View) -> Result<()> {
        if let Some(before) = self.shown.replace(Arc::clone(&staging.turn)) {
            before.hide();
        }
        staging.turn.show(&self.faults);
        self.inner.read_in_place(&staging.inner, view)
    }
}

/// A path that keeps its memory at another size makes a new surface for it.
impl Drop for SharedSurface {
    fn drop(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.gone();
        }
    }
}

impl<C: Content> SurfaceDriver<C> for SharedSurface {
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>> {
        self.shared.get_mut().unwrap_or(&mut self.inner).read_back(&C::part(at))
    }
}

impl<C: Content> StoredDriver<C> for SharedSurface {
    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()> {
        self.inner.upload(&C::part(at), bytes, &C::view(view))?;
        self.share(&C::part(at))
    }

    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        Self::block(staging, "SharedSurface::upload_staged")?.turn.read(&self.faults);
        if let Some(staging) = staging.driver_mut().downcast_mut::<SharedStaging>() {
            self.inner.upload_staged(&C::part(at), &mut staging.inner, &C::view(view))?;
        }
        self.share(&C::part(at))
    }

    /// Into memory that the host has not.
    fn downloads(&self, staging: &Staging) -> bool {
        staging.host_block().is_none()
    }

    fn download(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        match staging.driver_mut().downcast_mut::<SharedStaging>() {
            Some(staging) => self.inner.download(&C::part(at), &mut staging.inner, &C::view(view)),
            None => Self::block(staging, "SharedSurface::download").map(drop),
        }
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        let name = |block: &HostBlock| match handle {
            HandleType::GlObject => Some(name_gl(block, self.inner.desc())),
            HandleType::QueueBuffer(asked) if asked == queue() => Some(name_in_queue(block)),
            _ => None,
        };
        if let Some(block) = self.named.get() {
            return Ok(name(block));
        }
        let (desc, bytes) = (self.inner.desc(), self.inner.desc().byte_len()?);
        let block = HostBlock::allocate(bytes)?;
        let staging = self.display.create_staging(StagingKind::Imported(block.clone()), bytes)?;
        let mut surface = self.display.create_in_place_surface(desc)?;
        // The surface keeps the block.
        surface.read_in_place(&staging, &tight(desc)?)?;
        self.shared.get_or_init(|| surface);
        Ok(name(self.named.get_or_init(|| block)))
    }
}

impl<C: Content> InPlaceDriver<C> for SharedSurface {
    fn show(&mut self, staging: &Staging, view: &C::View) -> Result<()> {
        self.show_at(Self::block(staging, "SharedSurface::read_in_place")?, &C::view(view))
    }

    fn show_texture(&mut self, staging: &Staging) -> Result<bool> {
        let view = tight(self.inner.desc())?;
        self.show_at(Self::block(staging, "SharedSurface::read_in_place")?, &view).map(|()| true)
    }
}
