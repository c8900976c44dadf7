//! Surfaces of the display's double.

use crate::faults::Faults;
use crate::step::Step;
use interop_core::draw::{Manner, Plan};
use interop_core::{HandleType, Part, Region, Result, SharedHandle, Staging, Surface, SurfaceDesc, View};
use std::any::Any;

/// The display's surface, wrapped.
pub(crate) struct SurfaceDouble {
    pub inner: Box<dyn Surface>,
    pub faults: Faults,
}

impl Surface for SurfaceDouble {
    fn desc(&self) -> &SurfaceDesc {
        self.inner.desc()
    }

    fn check_upload(&self) -> Result<()> {
        self.inner.check_upload()
    }

    fn check_download(&self) -> Result<()> {
        self.inner.check_download()
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        if self.faults.check_or_lie(Step::Upload)? {
            return Ok(());
        }
        self.inner.upload(at, bytes, view)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        if self.faults.check_or_lie(Step::UploadStaged)? {
            return Ok(());
        }
        self.inner.upload_staged(at, staging, view)
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        self.faults.check(Step::Download)?;
        self.inner.download(part, staging, view)
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        self.faults.check(Step::ReadInPlace)?;
        self.inner.read_in_place(staging, view)
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        self.faults.check(Step::ReadBack)?;
        self.inner.read_back(part)
    }

    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        self.inner.draw_back(region, plan, manner)
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        self.faults.check(Step::Export)?;
        self.inner.export(handle)
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }
}
