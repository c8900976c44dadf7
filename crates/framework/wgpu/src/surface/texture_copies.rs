//! Copies between textures and memory, for textures of any owner.

use crate::context::device_state::DeviceState;
use crate::draw::splice::PitchedRows;
use crate::draw::tools::Tools;
use crate::staging::WgpuStaging;
use interop_core::{Error, ImageView, Region, Result, Staging};
use std::sync::Arc;

/// Alignment of the row pitch in buffers that wgpu copies.
const ALIGNMENT: usize = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;

/// Returns the corner of a region in a texture.
fn corner(texture: &wgpu::Texture, region: Region) -> wgpu::TexelCopyTextureInfo<'_> {
    wgpu::TexelCopyTextureInfo { origin: wgpu::Origin3d { x: region.x, y: region.y, z: 0 }, ..texture.as_image_copy() }
}

const fn size(region: Region) -> wgpu::Extent3d {
    wgpu::Extent3d { width: region.width, height: region.height, depth_or_array_layers: 1 }
}

/// Returns the layout of rows in memory; one row needs no pitch.
fn layout(view: &ImageView) -> Result<wgpu::TexelCopyBufferLayout> {
    let pitch = || {
        u32::try_from(view.pitch())
            .map_err(|_| Error::refused(format!("a row pitch of {} bytes is too large", view.pitch())))
    };
    let bytes_per_row = if view.extent.height == 1 { None } else { Some(pitch()?) };
    Ok(wgpu::TexelCopyBufferLayout { offset: view.offset as u64, bytes_per_row, rows_per_image: None })
}

/// Returns true where wgpu can copy the rows: they start at a whole pixel, and the row pitch has its alignment.
fn is_aligned(view: &ImageView) -> bool {
    let begins = view.offset.is_multiple_of(view.format.bytes_per_pixel());
    begins && (view.extent.height == 1 || view.pitch().is_multiple_of(ALIGNMENT))
}

/// Copies from host memory.
pub(crate) fn from_host(
    shared: &DeviceState,
    to: &wgpu::Texture,
    region: Region,
    bytes: &[u8],
    view: &ImageView,
) -> Result<()> {
    let layout = layout(view)?;
    // Recorded kernels are submitted first.
    shared.submit_recorded()?;
    shared.scoped(|| {
        shared.queue.write_texture(corner(to, region), bytes, layout, size(region));
        // Otherwise the written bytes wait, in memory of their own, for the next submission.
        shared.queue.submit([]);
    })
}

/// Copies from a staging block.
pub(crate) fn from_staging(
    shared: &Arc<DeviceState>,
    to: &wgpu::Texture,
    region: Region,
    staging: &mut Staging,
    view: &ImageView,
) -> Result<()> {
    let staging = WgpuStaging::of_mut(staging, shared)?;
    if !is_aligned(view) {
        let pixel = view.format.bytes_per_pixel();
        let problem =
            format!("rows in staging memory need a pitch in multiples of {ALIGNMENT} bytes, and an offset of {pixel}");
        return Err(Error::refused(problem));
    }
    let from = wgpu::TexelCopyBufferInfo { buffer: staging.buffer()?, layout: layout(view)? };
    let index = shared.submit(|encoder| encoder.copy_buffer_to_texture(from, corner(to, region), size(region)))?;
    staging.read_until(index);
    Ok(())
}

/// Copies into a staging block. Rows without wgpu's alignment must be tight: a compute shader packs them.
pub(crate) fn to_staging(
    tools: &Tools,
    from: &wgpu::Texture,
    region: Region,
    staging: &mut Staging,
    view: &ImageView,
) -> Result<()> {
    let shared = &tools.shared;
    let staging = WgpuStaging::of_mut(staging, shared)?;
    let from = corner(from, region);
    let index = if is_aligned(view) {
        let to = wgpu::TexelCopyBufferInfo { buffer: staging.buffer()?, layout: layout(view)? };
        shared.submit(|encoder| encoder.copy_texture_to_buffer(from, to, size(region)))?
    } else if view.is_contiguous() {
        let row = view.row_len();
        let rows = PitchedRows { row, pitch: row.next_multiple_of(ALIGNMENT), count: region.height as usize };
        let pitched = ImageView { offset: 0, row_pitch: rows.pitch as isize, ..*view };
        let layout = layout(&pitched)?;
        tools.splicer.pack(shared, &rows, (staging.buffer()?, view.offset as u64), |encoder, buffer| {
            encoder.copy_texture_to_buffer(from, wgpu::TexelCopyBufferInfo { buffer, layout }, size(region));
        })?
    } else {
        let problem =
            format!("rows of {} bytes must have a pitch in multiples of {ALIGNMENT} bytes or be tight", view.row_len());
        return Err(Error::refused(problem));
    };
    staging.written_until(index)
}
