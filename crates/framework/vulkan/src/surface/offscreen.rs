//! Reading a whole surface once, for measurements.

use crate::context::device_state::{BUFFER_USAGE, DeviceState};
use crate::queue::commands::Rows;
use crate::staging::transfer::{copy_bytes, copy_to_rows};
use crate::surface::surface_content::SurfaceContent;
use ash::vk;
use interop_core::Result;

/// Returns the target buffer, of at least this many bytes.
fn target(shared: &DeviceState, bytes: u64) -> Result<vk::Buffer> {
    let mut kept = shared.target.0.lock();
    if let Some((raw, _)) = kept.as_ref().filter(|(_, made)| made.bytes() >= bytes) {
        return Ok(*raw);
    }
    let made = shared.sharing.local_buffer(bytes, BUFFER_USAGE)?;
    let raw = made.buffer()?;
    if let Some((_, smaller)) = kept.replace((raw, made)) {
        shared.submissions.retire(Box::new(smaller));
    }
    Ok(raw)
}

/// Copies a surface's content to offscreen memory.
pub(crate) fn read_through(shared: &DeviceState, shown: &SurfaceContent) -> Result<()> {
    match shown {
        SurfaceContent::Image(place, desc) => {
            let bytes = desc.extent.pixels() * desc.format.bytes_per_pixel() as u64;
            let to = Rows { buffer: target(shared, bytes)?, offset: 0, row_length: 0 };
            copy_to_rows(shared, *place, desc.extent.full(), to).map(drop)
        }
        SurfaceContent::Rows(buffer, view) => {
            let span = view.span();
            let bytes = span.len() as u64;
            let to = target(shared, bytes)?;
            copy_bytes(shared, (*buffer, span.start as u64), (to, 0), bytes).map(drop)
        }
        SurfaceContent::Bytes(buffer, view) => {
            let to = target(shared, view.len as u64)?;
            copy_bytes(shared, (*buffer, view.offset as u64), (to, 0), view.len as u64).map(drop)
        }
    }
}
