//! Opens memory behind a handle of the operating system.

use crate::backend_state::BackendState;
use crate::memory::OpenClMemory;
use crate::os::duplicate_memory;
use crate::sharing::handle_memory::{HandleFns, open_buffer, open_image};
use crate::sharing::image::OpenClImage;
use crate::sharing::image_format::image_format;
use crate::sharing::turns::Turns;
use interop_core::{ComputeMemory, Error, Result, SharedHandle, SurfaceDesc};
use std::sync::Arc;

/// Implements [`interop_core::ComputeBackend::import_surface`]; the caller has checked the capabilities.
pub fn import(shared: &Arc<BackendState>, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
    let len = desc.byte_len()?;
    let SharedHandle::Memory(memory) = handle else {
        return Err(handle.names_no(desc));
    };
    let turns = Turns::of_handle(HandleFns::of(&shared.device.raw)?);
    // The driver gets a handle of its own.
    let handle = duplicate_memory(memory.handle()).map_err(no_duplicate(shared))?;
    Ok(match desc {
        SurfaceDesc::Image(image) => {
            let format = image_format(image.format);
            let format =
                format.ok_or_else(|| shared.unsupported(format!("it has no images of format {}", image.format)))?;
            let opened = open_image(shared.context(), handle, format, image.extent)?;
            Box::new(OpenClImage::new(shared, opened, turns, *image)?)
        }
        SurfaceDesc::Buffer(_) => {
            let whole = usize::try_from(memory.bytes()).unwrap_or(usize::MAX);
            let buffer = open_buffer(shared.context(), handle, whole)?;
            Box::new(OpenClMemory::with_turns(shared, buffer, len, turns))
        }
    })
}

/// Converts the error of a handle that could not be duplicated.
pub fn no_duplicate(shared: &BackendState) -> impl FnOnce(std::io::Error) -> Error {
    move |error| shared.unsupported(format!("the handle cannot be duplicated: {error}"))
}
