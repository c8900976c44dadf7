//! Surfaces of the sharing display.

use super::handles::name_gl;
use super::staging::SharedStaging;
use super::turn::Turn;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::lay_out;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::driver::draw::Plan;
use pixelferry::driver::{HandleType, HostBlock, Part, SharedHandle, Staging, StagingKind};
use pixelferry::{
    BufferView, Display, Error, ImageView, Manner, MemoryDisplay, Region, Result, Surface, SurfaceDesc, View,
};
use pixelferry_faults::Faults;
use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;

/// A surface of the memory display, wrapped.
pub struct SharedSurface {
    inner: Box<dyn Surface>,
    /// Once others have opened it: a surface over the block that they write.
    shared: OnceCell<Box<dyn Surface>>,
    /// That block.
    named: OnceCell<HostBlock>,
    /// The block that is shown in place.
    shown: Option<Rc<Turn>>,
    display: Rc<MemoryDisplay>,
    faults: Faults,
}

impl SharedSurface {
    /// Over a surface of `display`.
    pub fn new(inner: Box<dyn Surface>, display: &Rc<MemoryDisplay>, faults: &Faults) -> Self {
        let (shared, named, display) = (OnceCell::new(), OnceCell::new(), Rc::clone(display));
        Self { inner, shared, named, shown: None, display, faults: faults.clone() }
    }

    /// Lets others who opened it see what the display wrote.
    fn share(&mut self, at: &Part) -> Result<()> {
        let Some(block) = self.named.get() else { return Ok(()) };
        let (desc, pixels) = (*self.inner.desc(), self.inner.read_back(at)?);
        let mut bytes =
            block.write(0..desc.byte_len("SharedSurface::upload")?, Holder::Staging, "SharedSurface::upload")?;
        let view = match (tight(&desc)?, at) {
            (View::Image(all), Part::Image(part)) => {
                let first = all.row_start(part.y) + part.x as usize * all.format.bytes_per_pixel();
                View::Image(ImageView { extent: part.extent(), ..all.moved_to(first) })
            }
            (_, Part::Buffer(range)) => View::Buffer(BufferView { offset: range.start, len: range.len() }),
            (all, Part::Image(_)) => all,
        };
        lay_out(&pixels, &view, &mut bytes);
        Ok(())
    }

    /// What there is to see.
    pub fn visible(&self) -> &dyn Surface {
        self.shared.get().unwrap_or(&self.inner).as_ref()
    }

    fn foreign(operation: &'static str) -> Error {
        Error::Foreign { operation, object: "staging block", device: "the sharing display".into() }
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

impl Surface for SharedSurface {
    pixelferry_faults::forward! {
        & desc() -> &SurfaceDesc;
        & check_upload() -> Result<()>;
        & check_download() -> Result<()>;
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        self.inner.upload(at, bytes, view)?;
        self.share(at)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        let staging: Option<&mut SharedStaging> = staging.as_any_mut().downcast_mut();
        let staging = staging.ok_or_else(|| Self::foreign("SharedSurface::upload_staged"))?;
        staging.turn.read(&self.faults);
        self.inner.upload_staged(at, staging.inner.as_mut(), view)?;
        self.share(at)
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        let staging: Option<&mut SharedStaging> = staging.as_any_mut().downcast_mut();
        let staging = staging.ok_or_else(|| Self::foreign("SharedSurface::download"))?;
        self.inner.download(part, staging.inner.as_mut(), view)
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        let staging: Option<&SharedStaging> = staging.as_any().downcast_ref();
        let staging = staging.ok_or_else(|| Self::foreign("SharedSurface::read_in_place"))?;
        if let Some(before) = self.shown.replace(Rc::clone(&staging.turn)) {
            before.hide();
        }
        staging.turn.show(&self.faults);
        self.inner.read_in_place(staging.inner.as_ref(), view)
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        self.shared.get_mut().unwrap_or(&mut self.inner).read_back(part)
    }

    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        self.shared.get_mut().unwrap_or(&mut self.inner).draw_back(region, plan, manner)
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        const OP: &str = "SharedSurface::export";
        if handle != HandleType::GlObject {
            return Err(Error::invalid(OP, format!("this surface is not named by a {handle}")));
        }
        if let Some(block) = self.named.get() {
            return Ok(name_gl(block));
        }
        let (desc, bytes) = (self.inner.desc(), self.inner.desc().byte_len(OP)?);
        let block = HostBlock::allocate(bytes)?;
        let staging = self.display.create_staging(StagingKind::Imported(block.clone()), bytes)?;
        let mut surface = self.display.create_in_place_surface(desc)?;
        // The surface keeps the block.
        surface.read_in_place(staging.as_ref(), &tight(desc)?)?;
        self.shared.get_or_init(|| surface);
        Ok(name_gl(self.named.get_or_init(|| block)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
