//! Surfaces: the images and buffers that a display shows.

use super::content::{Bytes, Content, Pixels};
use super::staging::Staging;
use super::surface_part::SurfacePart;
use super::watch::{Call, Watch};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::pattern::lay_out;
use crate::describe::process::ForkGuard;
use crate::describe::surface::{ImageDesc, SurfaceDesc};
use crate::describe::view::View;
use crate::devices::capability::{DisplayCaps, HandleType};
use crate::devices::identity::DeviceIdentity;
use crate::devices::shared_handle::SharedHandle;
use crate::draw::{Manner, Plan};
use std::any::Any;

/// The driver of a surface, for either content. [`Surface`] checks its calls first.
pub trait SurfaceDriver<C: Content>: Any + Send + Sync {
    /// Returns what a viewer sees of `at`, in tight rows: the display draws images and copies buffers, and the result
    /// is read back.
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>>;

    /// Implements [`Surface::draw_back`].
    fn draw_back(&mut self, at: &C::At, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let (_, _, _) = (at, plan, manner);
        Ok(None)
    }
}

/// A surface with storage of its own, which other APIs may open.
pub trait StoredDriver<C: Content>: SurfaceDriver<C> {
    /// Implements [`Surface::check_upload`].
    fn check_upload(&self) -> Result<()> {
        Ok(())
    }

    /// Implements [`Surface::check_download`].
    fn check_download(&self) -> Result<()> {
        Ok(())
    }

    /// Copies from client memory, which may be reused when the call returns.
    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()>;

    /// Copies from a staging block of linear memory.
    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()>;

    /// True where the display itself copies into this block ([`StoredDriver::download`]). Otherwise the host does.
    fn downloads(&self, staging: &Staging) -> bool {
        let _ = staging;
        false
    }

    /// Copies into a staging block of linear memory. The display uses its bytes until the copy is done.
    fn download(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        let (_, _, _) = (at, staging, view);
        Ok(())
    }

    /// Exports the storage; `None` for a handle type that cannot name it.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        let _ = handle;
        Ok(None)
    }
}

/// A surface without storage of its own.
pub trait InPlaceDriver<C: Content>: SurfaceDriver<C> {
    /// Shows this part of a block of linear memory in place from now on.
    fn show(&mut self, staging: &Staging, view: &C::View) -> Result<()>;

    /// Copies what is shown into a staging block of a device's memory, where the display itself does that, as
    /// [`StoredDriver::download`] does. Otherwise returns false, and the host copies.
    fn download_shown(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<bool> {
        let (_, _, _) = (at, staging, view);
        Ok(false)
    }

    /// Lends what is shown to kernels in the display's `queue`: a texture, or linear memory with the layout that the
    /// surface shows. Audits read it. `None` where the display lends nothing.
    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<C::View>)>> {
        let _ = queue;
        Ok(None)
    }

    /// Shows a block that is a texture of the same size and format; returns `false` where it cannot show other
    /// textures.
    fn show_texture(&mut self, staging: &Staging) -> Result<bool> {
        let _ = staging;
        Ok(false)
    }
}

/// A surface of a display: an image or buffer that it shows. Regions are in the display's native row order; the paths
/// convert them.
///
/// A surface either has storage of its own and receives uploads, or it has none and reads a block in place. Calls of
/// the other kind return [`Error::InvalidInput`].
pub struct Surface(Either);

enum Either {
    Image(Front<Pixels>),
    Buffer(Front<Bytes>),
}

/// A driver, and the description that its calls are checked against.
struct Front<C: Content> {
    /// Name of the display in messages.
    device: String,
    desc: SurfaceDesc,
    watch: Option<Watch>,
    driver: ForkGuard<Driver<C>>,
}

enum Driver<C: Content> {
    Stored(Box<dyn StoredDriver<C>>),
    InPlace(Box<dyn InPlaceDriver<C>>),
}

/// Makes the same call on either content.
macro_rules! of_either {
    ($surface:expr, $front:ident => $call:expr) => {
        match $surface {
            Either::Image($front) => $call,
            Either::Buffer($front) => $call,
        }
    };
}

impl Surface {
    /// For displays: creates a surface with storage of its own, an image or a buffer, with `make` after checking its
    /// size.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] and [`Error::Unsupported`] where it exceeds the display's limits; errors of `make`.
    pub fn stored<I: StoredDriver<Pixels>, B: StoredDriver<Bytes>>(
        (device, caps): (&DeviceIdentity, &DisplayCaps),
        desc: &SurfaceDesc,
        image: impl FnOnce(&ImageDesc, usize) -> Result<I>,
        buffer: impl FnOnce(usize) -> Result<B>,
    ) -> Result<Self> {
        let device = device.to_string();
        let bytes = desc.check(&device, caps)?;
        Ok(Self(match desc {
            SurfaceDesc::Image(of) => Either::Image(Front::stored(device, *desc, image(of, bytes)?)),
            SurfaceDesc::Buffer(_) => Either::Buffer(Front::stored(device, *desc, buffer(bytes)?)),
        }))
    }

    /// For displays: creates a surface that shows staging blocks in place.
    ///
    /// # Errors
    /// Those of [`Surface::stored`].
    pub fn in_place<I: InPlaceDriver<Pixels>, B: InPlaceDriver<Bytes>>(
        (device, caps): (&DeviceIdentity, &DisplayCaps),
        desc: &SurfaceDesc,
        image: impl FnOnce(&ImageDesc) -> Result<I>,
        buffer: impl FnOnce() -> Result<B>,
    ) -> Result<Self> {
        let device = device.to_string();
        desc.check(&device, caps)?;
        Ok(Self(match desc {
            SurfaceDesc::Image(of) => Either::Image(Front::in_place(device, *desc, image(of)?)),
            SurfaceDesc::Buffer(_) => Either::Buffer(Front::in_place(device, *desc, buffer()?)),
        }))
    }

    /// Returns a placeholder for a surface, where there is no display.
    pub(crate) fn of_no_display(
        device: String,
        desc: SurfaceDesc,
        image: impl InPlaceDriver<Pixels>,
        buffer: impl InPlaceDriver<Bytes>,
    ) -> Self {
        Self(match desc {
            SurfaceDesc::Image(_) => Either::Image(Front::in_place(device, desc, image)),
            SurfaceDesc::Buffer(_) => Either::Buffer(Front::in_place(device, desc, buffer)),
        })
    }

    /// For displays: wraps an engine's own image.
    ///
    /// # Errors
    /// Those of [`Surface::stored`].
    pub fn engine_image<D: StoredDriver<Pixels>>(
        (device, caps): (&DeviceIdentity, &DisplayCaps),
        desc: ImageDesc,
        make: impl FnOnce() -> Result<D>,
    ) -> Result<Self> {
        let desc = SurfaceDesc::Image(desc);
        let device = device.to_string();
        desc.check(&device, caps)?;
        Ok(Self(Either::Image(Front::stored(device, desc, make()?))))
    }

    /// For displays: wraps an engine's own buffer.
    ///
    /// # Errors
    /// Those of [`Surface::stored`].
    pub fn engine_buffer<D: StoredDriver<Bytes>>(
        (device, caps): (&DeviceIdentity, &DisplayCaps),
        bytes: u64,
        make: impl FnOnce(usize) -> Result<D>,
    ) -> Result<Self> {
        let desc = SurfaceDesc::buffer(bytes);
        let device = device.to_string();
        let bytes = desc.check(&device, caps)?;
        Ok(Self(Either::Buffer(Front::stored(device, desc, make(bytes)?))))
    }

    /// Installs a [`Watch`] around the later calls.
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        of_either!(&mut self.0, front => front.watch = Some(watch.over(front.watch.take())));
        self
    }

    /// Returns the description that it was made for.
    pub fn desc(&self) -> &SurfaceDesc {
        of_either!(&self.0, front => &front.desc)
    }

    /// Checks whether uploads are possible. An engine's own object may lack the usage that copies need.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] with the missing usage.
    pub fn check_upload(&self) -> Result<()> {
        Call::Upload.named(|| {
            of_either!(&self.0, front => match &*front.driver {
                Driver::Stored(driver) => driver.check_upload(),
                Driver::InPlace(_) => Err(no_storage()),
            })
        })
    }

    /// Checks whether it can be read; like [`Surface::check_upload`] for the other direction.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] with the missing usage.
    pub fn check_download(&self) -> Result<()> {
        Call::Download.named(|| of_either!(&self.0, front => front.driver.check_download()))
    }

    /// Copies from client memory; `bytes` may be reused at once. `view` is the position of the pixels or bytes in
    /// `bytes` (rows in native order), and `at` the part of the surface. Both have the same size.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for parts and views that do not fit, and for a surface without storage; errors of the
    /// driver.
    pub fn upload(&mut self, at: &SurfacePart, bytes: &[u8], view: &View) -> Result<()> {
        Call::Upload.named(|| of_either!(&mut self.0, front => front.upload(at, bytes, view)))
    }

    /// Copies from a staging block. The block must be fenced ([`Staging::fence`]) before it is written again.
    ///
    /// # Errors
    /// Those of [`Surface::upload`]; [`Error::Foreign`] for a block of another display.
    pub fn upload_staged(&mut self, at: &SurfacePart, staging: &mut Staging, view: &View) -> Result<()> {
        Call::UploadStaged.named(|| of_either!(&mut self.0, front => front.upload_staged(at, staging, view)))
    }

    /// Shows this block in place from now on. Only for surfaces made for it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a view or a block that does not fit, and for a surface with storage;
    /// [`Error::Foreign`] for a block of another display; errors of the driver.
    pub fn read_in_place(&mut self, staging: &Staging, view: &View) -> Result<()> {
        Call::ReadInPlace.named(|| of_either!(&mut self.0, front => front.read_in_place(staging, view)))
    }

    /// Returns what a viewer sees of `part`, as tight rows in native order: the display draws images and copies
    /// buffers, and the result is read back. This is slow; use it for verification, tests and saving pictures.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a part outside; [`Error::NothingShown`] for a surface that shows in place and has no
    /// frame yet.
    pub fn read_back(&mut self, part: &SurfacePart) -> Result<Vec<u8>> {
        Call::ReadBack.named(|| of_either!(&mut self.0, front => front.read_back(part)))
    }

    /// Draws a region of an image as programs do and reads the result: pixels at their own size, drawn by `plan` in
    /// this manner into RGBA8 that was zero; tight rows in native order. `None` as the manner selects the only manner
    /// of a display that has no choice. For verification, because [`Surface::read_back`] may copy instead of draw where
    /// bytes pass through unchanged. Returns `None` where the display does not draw this surface that way.
    ///
    /// # Errors
    /// Errors of the display's draw.
    pub fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        Call::DrawBack.named(|| of_either!(&mut self.0, front => front.draw_back(region, plan, manner)))
    }

    /// Copies the surface's content into a staging block after all earlier work of the display. `view` is the position
    /// in the block (rows in native order), and `part` the part of the surface. Both have the same size.
    /// [`Staging::wait`] waits for the copy. Until then the bytes of the block's [`Staging::host_block`] cannot be
    /// borrowed.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the bytes are borrowed; the error names the holder. [`Error::Unsupported`] for a
    /// block that neither the display nor the host can write.
    pub fn download(&mut self, part: &SurfacePart, staging: &mut Staging, view: &View) -> Result<()> {
        Call::Download.named(|| of_either!(&mut self.0, front => front.download(part, staging, view)))
    }

    /// Exports the surface's own texture or buffer, for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`crate::DisplayCaps::exports`] does not list the handle's type, or the surface has
    /// no storage of its own.
    pub fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        Call::Export.named(|| of_either!(&self.0, front => front.export(handle)))
    }

    /// Returns the memory that an in-place surface reads, for kernels in the display's `queue`: a texture, or linear
    /// memory with the layout that the surface shows. Returns `None` for surfaces that are downloaded instead: those with
    /// storage of their own, and those whose display lends nothing.
    ///
    /// # Errors
    /// [`Error::NothingShown`]; errors of the driver.
    pub(crate) fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<View>)>> {
        Call::Export.named(|| of_either!(&self.0, front => front.lend(queue)))
    }

    /// Returns the driver for a downcast by the display. No driver can pass for another.
    pub fn driver(&self) -> &dyn Any {
        of_either!(&self.0, front => front.driver.any())
    }
}

impl<C: Content> Driver<C> {
    fn any(&self) -> &dyn SurfaceDriver<C> {
        match self {
            Self::Stored(driver) => driver.as_ref(),
            Self::InPlace(driver) => driver.as_ref(),
        }
    }

    fn any_mut(&mut self) -> &mut dyn SurfaceDriver<C> {
        match self {
            Self::Stored(driver) => driver.as_mut(),
            Self::InPlace(driver) => driver.as_mut(),
        }
    }

    /// Returns the driver of a surface with storage that accepts uploads.
    fn written(&mut self) -> Result<&mut dyn StoredDriver<C>> {
        match self {
            Self::Stored(driver) => driver.check_upload().map(|()| driver.as_mut()),
            Self::InPlace(_) => Err(no_storage()),
        }
    }

    fn check_download(&self) -> Result<()> {
        match self {
            Self::Stored(driver) => driver.check_download(),
            Self::InPlace(_) => Ok(()),
        }
    }
}

impl<C: Content> Front<C> {
    fn stored(device: String, desc: SurfaceDesc, driver: impl StoredDriver<C>) -> Self {
        Self { device, desc, watch: None, driver: ForkGuard::new(Driver::Stored(Box::new(driver))) }
    }

    fn in_place(device: String, desc: SurfaceDesc, driver: impl InPlaceDriver<C>) -> Self {
        Self { device, desc, watch: None, driver: ForkGuard::new(Driver::InPlace(Box::new(driver))) }
    }

    fn upload(&mut self, at: &SurfacePart, bytes: &[u8], view: &View) -> Result<()> {
        let driver = self.driver.written()?;
        let (at, view) = C::transfer(&self.desc, at, view, bytes.len())?;
        Watch::around(self.watch.as_ref(), Call::Upload, || driver.upload(&at, bytes, &view))
    }

    fn upload_staged(&mut self, at: &SurfacePart, staging: &mut Staging, view: &View) -> Result<()> {
        let driver = self.driver.written()?;
        staging.check_linear()?;
        let (at, view) = C::transfer(&self.desc, at, view, staging.len())?;
        Watch::around(self.watch.as_ref(), Call::UploadStaged, || {
            staging.begin_read();
            driver.upload_staged(&at, staging, &view)
        })
    }

    fn read_in_place(&mut self, staging: &Staging, view: &View) -> Result<()> {
        let Driver::InPlace(driver) = &mut *self.driver else {
            let problem =
                "this surface has storage of its own; use upload_staged, or make it with create_in_place_surface";
            return Err(Error::refused(problem));
        };
        let desc = &self.desc;
        Watch::around(self.watch.as_ref(), Call::ReadInPlace, || {
            if staging.check_shown(desc)? {
                if !driver.show_texture(staging)? {
                    let reason = "it cannot show imported textures in place";
                    return Err(Error::unsupported(&self.device, reason));
                }
            } else {
                let (_, view) = C::transfer(desc, &SurfacePart::full(desc), view, staging.len())?;
                driver.show(staging, &view)?;
            }
            staging.show();
            Ok(())
        })
    }

    fn read_back(&mut self, part: &SurfacePart) -> Result<Vec<u8>> {
        self.driver.check_download()?;
        let at = C::at(part, &self.desc)?;
        Watch::around(self.watch.as_ref(), Call::ReadBack, || self.driver.any_mut().read_back(&at))
    }

    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let at = C::at(&SurfacePart::Image(region), &self.desc)?;
        Watch::around(self.watch.as_ref(), Call::DrawBack, || self.driver.any_mut().draw_back(&at, plan, manner))
    }

    fn download(&mut self, part: &SurfacePart, staging: &mut Staging, view: &View) -> Result<()> {
        self.driver.check_download()?;
        staging.check_linear()?;
        let (at, there) = C::transfer(&self.desc, part, view, staging.len())?;
        Watch::around(self.watch.as_ref(), Call::Download, || match &mut *self.driver {
            Driver::Stored(driver) if driver.downloads(staging) => {
                staging.begin_write()?;
                driver.download(&at, staging, &there)
            }
            driver => {
                if let (Driver::InPlace(driver), None) = (&mut *driver, staging.host_block()) {
                    staging.begin_write()?;
                    if driver.download_shown(&at, staging, &there)? {
                        return Ok(());
                    }
                }
                let bytes = driver.any_mut().read_back(&at)?;
                staging.map_write(&mut |to| {
                    lay_out(&bytes, view, to);
                    Ok(())
                })
            }
        })
    }

    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<View>)>> {
        let is_image = matches!(self.desc, SurfaceDesc::Image(_));
        let lent = Watch::around(self.watch.as_ref(), Call::Export, || match &*self.driver {
            Driver::InPlace(driver) => driver.lend(queue),
            // Not every texture is one that kernels may use.
            Driver::Stored(driver) if is_image => Ok(driver.export(queue).ok().flatten().map(|handle| (handle, None))),
            Driver::Stored(_) => Ok(None),
        })?;
        Ok(lent.map(|(handle, view)| (handle, view.map(|view| C::view(&view)))))
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        let made = match &*self.driver {
            Driver::Stored(driver) => Watch::around(self.watch.as_ref(), Call::Export, || driver.export(handle))?,
            Driver::InPlace(_) => None,
        };
        let reason = || format!("a {} cannot be exported as {handle}", self.desc);
        made.ok_or_else(|| Error::unsupported(&self.device, reason()))
    }
}

fn no_storage() -> Error {
    Error::refused("an in-place surface has no storage of its own; use read_in_place")
}
