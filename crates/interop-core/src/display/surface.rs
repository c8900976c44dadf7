//! What a display shows.

use super::part::Part;
use super::staging::Staging;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::pattern::lay_out;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::View;
use crate::devices::capability::HandleType;
use crate::devices::shared_handle::SharedHandle;
use crate::draw::{Manner, Plan};
use std::any::Any;

const NO_STORAGE: &str = "an in-place surface has no storage of its own; use read_in_place";

/// What is shown. Regions are in the display's native row order; the paths convert.
///
/// A surface has storage of its own and is uploaded to, or has none and is read in place; what it is not made for it refuses,
/// with [`Error::InvalidInput`].
pub trait Surface {
    /// What it was made for.
    fn desc(&self) -> &SurfaceDesc;

    /// Whether uploads reach it: an engine's own object may be made without what a copy needs. By default they do.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] names what is missing.
    fn check_upload(&self) -> Result<()> {
        Ok(())
    }

    /// Whether it can be read, as [`Surface::check_upload`] for the other direction.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] names what is missing.
    fn check_download(&self) -> Result<()> {
        Ok(())
    }

    /// Copies from client memory; `bytes` may be reused at once. `view` says where in `bytes` the pixels or bytes
    /// lie (rows in native order), `at` where they go; both have the same size.
    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        let (_, _, _) = (at, bytes, view);
        Err(Error::invalid("upload", NO_STORAGE))
    }

    /// Copies from a staging block. The block must be fenced ([`Staging::fence`]) before it is written again.
    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        let (_, _, _) = (at, staging, view);
        Err(Error::invalid("upload_staged", NO_STORAGE))
    }

    /// From now on shows this block in place. Only for surfaces made for it.
    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        let (_, _) = (staging, view);
        let problem = "this surface has storage of its own; use upload_staged, or make it with create_in_place_surface";
        Err(Error::invalid("read_in_place", problem))
    }

    /// What a viewer would see of `part`: images are drawn by the display and read back, buffers are copied by the
    /// display and read back. Tight rows in native order. Slow; for verification, tests and saving pictures.
    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>>;

    /// Draws a region of an image as programs do, and reads that: its pixels at their own size, drawn as planned in this manner into
    /// RGBA8 that was zero; tight rows in native order. `None` as the manner is that of a display which has one alone. For
    /// verification: what [`Surface::read_back`] draws may be copied where bytes go through as they are.
    ///
    /// By default there are no such draws: `None`, as where the display does not draw this surface so.
    ///
    /// # Errors
    /// Those of a draw that the display does.
    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let (_, _, _) = (region, plan, manner);
        Ok(None)
    }

    /// Copies what the surface holds into a staging block, behind all that the display was told before: `view` says where in
    /// the block (rows in native order), `part` from where; both have the same size. [`Staging::wait`] waits until it is there.
    /// Until then nobody has a slice of the block's [`Staging::host_block`]; a display's own block keeps that with
    /// [`crate::display::HostWrites`].
    ///
    /// By default the host copies.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of these bytes: it says who.
    /// [`Error::Unsupported`] for a block that neither the display nor the host writes.
    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        part.check_source(self.desc(), view, staging.len(), "download")?;
        let bytes = self.read_back(part)?;
        staging.map_write(&mut |to| {
            lay_out(&bytes, view, to);
            Ok(())
        })
    }

    /// Names the surface's own texture or buffer for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`crate::DisplayCaps::exports`] does not list the handle's type, or the surface has no
    /// storage of its own.
    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        let reason = format!("a {} cannot be named by a {handle}", self.desc());
        Err(Error::Unsupported { operation: "export", device: "this display".into(), reason })
    }

    /// For the display to find its own type again.
    fn as_any(&self) -> &dyn Any;
}
