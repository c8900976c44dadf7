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
    crate::forward! {
        & desc() -> &SurfaceDesc;
        & check_upload() -> Result<()>;
        & check_download() -> Result<()>;
        Download before &mut download(part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()>;
        ReadInPlace before &mut read_in_place(staging: &dyn Staging, view: &View) -> Result<()>;
        ReadBack before &mut read_back(part: &Part) -> Result<Vec<u8>>;
        &mut draw_back(region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>>;
        Export before & export(handle: HandleType) -> Result<SharedHandle>;
        & as_any() -> &dyn Any;
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
}
