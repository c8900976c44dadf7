//! Surfaces of a display, which it shows.

use super::content::{Bytes, Content, Pixels};
use super::part::Part;
use super::staging::Staging;
use super::watch::{Call, Watch};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::pattern::lay_out;
use crate::describe::process::ProcessOwned;
use crate::describe::surface::{ImageDesc, SurfaceDesc};
use crate::describe::view::View;
use crate::devices::capability::{DisplayCaps, HandleType};
use crate::devices::identity::DeviceIdentity;
use crate::devices::shared_handle::SharedHandle;
use crate::draw::{Manner, Plan};
use std::any::Any;

/// The driver of a display's surface, of either content. Its calls come checked, from [`Surface`].
pub trait SurfaceDriver<C: Content>: Any {
    /// Returns what a viewer would see of `at`: images are drawn by the display and read back, buffers are copied by the display and read
    /// back. Tight rows.
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>>;

    /// See [`Surface::draw_back`].
    fn draw_back(&mut self, at: &C::At, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let (_, _, _) = (at, plan, manner);
        Ok(None)
    }
}

/// A surface with storage of its own, which others may open.
pub trait StoredDriver<C: Content>: SurfaceDriver<C> {
    /// See [`Surface::check_upload`].
    fn check_upload(&self) -> Result<()> {
        Ok(())
    }

    /// See [`Surface::check_download`].
    fn check_download(&self) -> Result<()> {
        Ok(())
    }

    /// Copies from client memory, which may be reused at once.
    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()>;

    /// Copies from a block of linear memory.
    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()>;

    /// True where the display itself copies into this block ([`StoredDriver::download`]). Else the host does.
    fn downloads(&self, staging: &Staging) -> bool {
        let _ = staging;
        false
    }

    /// Copies into a block of linear memory, whose bytes are the display's until they are there.
    fn download(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        let (_, _, _) = (at, staging, view);
        Ok(())
    }

    /// Names the storage; `None` for a type of handle that cannot name it.
    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        let _ = handle;
        Ok(None)
    }
}

/// A surface without storage.
pub trait InPlaceDriver<C: Content>: SurfaceDriver<C> {
    /// Shows this part of a block of linear memory from now on, where it lies.
    fn show(&mut self, staging: &Staging, view: &C::View) -> Result<()>;

    /// Shows a block that is a texture of the same size and format; `false` where it shows none of others.
    fn show_texture(&mut self, staging: &Staging) -> Result<bool> {
        let _ = staging;
        Ok(false)
    }
}

/// A surface of a display: the image or buffer that is shown. Regions are in the display's native row order; the paths
/// convert.
///
/// A surface either has storage of its own and is uploaded to, or it has none and reads a block in place. Calls of the
/// other kind return [`Error::InvalidInput`].
pub struct Surface(Either);

enum Either {
    Image(Front<Pixels>),
    Buffer(Front<Bytes>),
}

/// A driver, and what its calls are checked against.
struct Front<C: Content> {
    /// As messages call it.
    device: String,
    desc: SurfaceDesc,
    watch: Option<Watch>,
    driver: ProcessOwned<Driver<C>>,
}

enum Driver<C: Content> {
    Stored(Box<dyn StoredDriver<C>>),
    InPlace(Box<dyn InPlaceDriver<C>>),
}

/// The same call of either content.
macro_rules! of_either {
    ($surface:expr, $front:ident => $call:expr) => {
        match $surface {
            Either::Image($front) => $call,
            Either::Buffer($front) => $call,
        }
    };
}

impl Surface {
    /// For displays: an image with storage of its own, which `make` makes once its size is checked.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] and [`Error::Unsupported`] for what the display's limits do not allow; those of `make`.
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

    /// For displays: a surface that shows staging blocks in place.
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

    /// Returns what stands for a surface where there is none.
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

    /// For displays: an engine's own image.
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

    /// For displays: an engine's own buffer.
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

    /// Watched from now on, see [`Watch`].
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        of_either!(&mut self.0, front => front.watch = Some(watch.over(front.watch.take())));
        self
    }

    /// Returns what it was made for.
    pub fn desc(&self) -> &SurfaceDesc {
        of_either!(&self.0, front => &front.desc)
    }

    /// Checks whether uploads reach it: an engine's own object may be made without what a copy needs.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] names what is missing.
    pub fn check_upload(&self) -> Result<()> {
        Call::Upload.named(|| {
            of_either!(&self.0, front => match &*front.driver {
                Driver::Stored(driver) => driver.check_upload(),
                Driver::InPlace(_) => Err(no_storage()),
            })
        })
    }

    /// Checks whether it can be read, as [`Surface::check_upload`] for the other direction.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] names what is missing.
    pub fn check_download(&self) -> Result<()> {
        Call::Download.named(|| of_either!(&self.0, front => front.driver.check_download()))
    }

    /// Copies from client memory; `bytes` may be reused at once. `view` says where in `bytes` the pixels or bytes
    /// lie (rows in native order), `at` where they go; both have the same size.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for parts and views that do not fit, and for a surface without storage; what the driver reports.
    pub fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        Call::Upload.named(|| of_either!(&mut self.0, front => front.upload(at, bytes, view)))
    }

    /// Copies from a staging block. The block must be fenced ([`Staging::fence`]) before it is written again.
    ///
    /// # Errors
    /// Those of [`Surface::upload`]; [`Error::Foreign`] for a block of another display.
    pub fn upload_staged(&mut self, at: &Part, staging: &mut Staging, view: &View) -> Result<()> {
        Call::UploadStaged.named(|| of_either!(&mut self.0, front => front.upload_staged(at, staging, view)))
    }

    /// From now on shows this block in place. Only for surfaces made for it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a view or a block that does not fit, and for a surface with storage; [`Error::Foreign`] for a
    /// block of another display; what the driver reports.
    pub fn read_in_place(&mut self, staging: &Staging, view: &View) -> Result<()> {
        Call::ReadInPlace.named(|| of_either!(&mut self.0, front => front.read_in_place(staging, view)))
    }

    /// Returns what a viewer would see of `part`: images are drawn by the display and read back, buffers are copied by the
    /// display and read back. Tight rows in native order. Slow; for verification, tests and saving pictures.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a part outside, [`Error::NothingShown`] for a surface that shows in place and has no frame yet.
    pub fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        Call::ReadBack.named(|| of_either!(&mut self.0, front => front.read_back(part)))
    }

    /// Draws a region of an image as programs do, and reads that: its pixels at their own size, drawn as planned in this manner into
    /// RGBA8 that was zero; tight rows in native order. `None` as the manner is that of a display which has one alone. For
    /// verification: what [`Surface::read_back`] draws may be copied where bytes go through as they are. `None` also where the
    /// display does not draw this surface so.
    ///
    /// # Errors
    /// Those of a draw that the display does.
    pub fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        Call::DrawBack.named(|| of_either!(&mut self.0, front => front.draw_back(region, plan, manner)))
    }

    /// Copies what the surface holds into a staging block, behind all that the display was told before: `view` says where in
    /// the block (rows in native order), `part` from where; both have the same size. [`Staging::wait`] waits until it is there.
    /// Until then nobody has a slice of the block's [`Staging::host_block`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of these bytes: it says who.
    /// [`Error::Unsupported`] for a block that neither the display nor the host writes.
    pub fn download(&mut self, part: &Part, staging: &mut Staging, view: &View) -> Result<()> {
        Call::Download.named(|| of_either!(&mut self.0, front => front.download(part, staging, view)))
    }

    /// Names the surface's own texture or buffer for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`crate::DisplayCaps::exports`] does not list the handle's type, or the surface has no
    /// storage of its own.
    pub fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        Call::Export.named(|| of_either!(&self.0, front => front.export(handle)))
    }

    /// The driver's own type, for the display to find again. No driver can pass for another.
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

    /// The driver of a surface with storage that takes uploads.
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
        Self { device, desc, watch: None, driver: ProcessOwned::new(Driver::Stored(Box::new(driver))) }
    }

    fn in_place(device: String, desc: SurfaceDesc, driver: impl InPlaceDriver<C>) -> Self {
        Self { device, desc, watch: None, driver: ProcessOwned::new(Driver::InPlace(Box::new(driver))) }
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        let driver = self.driver.written()?;
        let (at, view) = C::transfer(&self.desc, at, view, bytes.len())?;
        Watch::around(self.watch.as_ref(), Call::Upload, || driver.upload(&at, bytes, &view))
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut Staging, view: &View) -> Result<()> {
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
                    let reason = "it shows no textures of others in place";
                    return Err(Error::unsupported(&self.device, reason));
                }
            } else {
                let (_, view) = C::transfer(desc, &Part::full(desc), view, staging.len())?;
                driver.show(staging, &view)?;
            }
            staging.show();
            Ok(())
        })
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        self.driver.check_download()?;
        let at = C::at(part, &self.desc)?;
        Watch::around(self.watch.as_ref(), Call::ReadBack, || self.driver.any_mut().read_back(&at))
    }

    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let at = C::at(&Part::Image(region), &self.desc)?;
        Watch::around(self.watch.as_ref(), Call::DrawBack, || self.driver.any_mut().draw_back(&at, plan, manner))
    }

    fn download(&mut self, part: &Part, staging: &mut Staging, view: &View) -> Result<()> {
        self.driver.check_download()?;
        staging.check_linear()?;
        let (at, there) = C::transfer(&self.desc, part, view, staging.len())?;
        Watch::around(self.watch.as_ref(), Call::Download, || match &mut *self.driver {
            Driver::Stored(driver) if driver.downloads(staging) => {
                staging.begin_write()?;
                driver.download(&at, staging, &there)
            }
            driver => {
                let bytes = driver.any_mut().read_back(&at)?;
                staging.map_write(&mut |to| {
                    lay_out(&bytes, view, to);
                    Ok(())
                })
            }
        })
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        let made = match &*self.driver {
            Driver::Stored(driver) => Watch::around(self.watch.as_ref(), Call::Export, || driver.export(handle))?,
            Driver::InPlace(_) => None,
        };
        let reason = || format!("a {} cannot be named by a {handle}", self.desc);
        made.ok_or_else(|| Error::unsupported(&self.device, reason()))
    }
}

fn no_storage() -> Error {
    Error::refused("an in-place surface has no storage of its own; use read_in_place")
}
