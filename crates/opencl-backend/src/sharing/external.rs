//! Opening memory behind a handle of the operating system.

use crate::backend_state::BackendState;
use crate::memory::OpenClMemory;
use crate::sharing::image::OpenClImage;
use interop_core::{ComputeMemory, Error, Result, SharedHandle, SurfaceDesc};
use pixelferry_opencl::base::{External, Pixels, TurnFns};
use std::sync::Arc;

/// Implements [`interop_core::ComputeBackend::import_surface`]; the caller has asked the capabilities.
pub fn import(shared: &Arc<BackendState>, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
    let len = desc.byte_len()?;
    let SharedHandle::Memory(memory) = handle else {
        return Err(Error::refused(format!("the handle does not name a {desc}")));
    };
    let bytes = memory.bytes();
    let whole = usize::try_from(bytes).unwrap_or(usize::MAX);
    let fns = TurnFns::external(shared.device.raw.ids().0).map_err(|f| shared.error(f))?;
    let external = External::of(memory, fns).map_err(no_duplicate(shared))?;
    let session = &shared.session;
    Ok(match desc {
        SurfaceDesc::Image(image) => {
            let pixels = Pixels::of(image);
            let image_object = external.image(session, pixels)?;
            Box::new(OpenClImage::new(shared, image_object, *image)?)
        }
        SurfaceDesc::Buffer(_) => {
            let buffer = external.buffer(session, whole, len)?;
            Box::new(OpenClMemory::with_turns(shared, buffer))
        }
    })
}

/// A handle that could not be duplicated.
pub fn no_duplicate(shared: &BackendState) -> impl FnOnce(std::io::Error) -> Error {
    move |error| shared.unsupported(format!("the handle cannot be duplicated: {error}"))
}
