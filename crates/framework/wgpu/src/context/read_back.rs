//! Reads of device bytes to the host.

use crate::context::device::WgpuDevice;
use crate::context::format::{WORD, whole_words};
use interop_core::compute::host_bytes;
use interop_core::{Region, Result};
use std::ops::Range;

/// Records copies into a buffer of `bytes` bytes that the host then reads. Waits for the device.
fn read<T>(
    device: &WgpuDevice,
    bytes: u64,
    record: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    take: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let buffer = device.scoped(|| {
        device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixelferry read back"),
            size: whole_words(bytes),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        })
    })?;
    let index = device.submit(|encoder| record(encoder, &buffer))?;
    device.scoped(|| buffer.map_async(wgpu::MapMode::Read, .., |_| ()))?;
    device.wait(Some(index))?;
    // Fails if the mapping failed.
    let mapped = buffer.get_mapped_range(..).map_err(|e| device.failure(e.to_string(), ""))?;
    take(&mapped)
}

impl WgpuDevice {
    /// Reads a range of a buffer's bytes, after all earlier work in the queue; the buffer's size must be in whole words
    /// of 4 bytes.
    ///
    /// # Errors
    /// Errors of wgpu; [`interop_core::Error::Unavailable`] where the host lacks memory.
    pub fn read_buffer(&self, from: &wgpu::Buffer, range: Range<u64>) -> Result<Vec<u8>> {
        let start = range.start / WORD * WORD;
        let skip = (range.start - start) as usize;
        let wanted = (range.end - range.start) as usize;
        let bytes = whole_words(range.end - start);
        let record = |encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer| {
            encoder.copy_buffer_to_buffer(from, start, to, 0, bytes)
        };
        read(self, bytes, record, |mapped| {
            let mut found = host_bytes(wanted)?;
            found.extend_from_slice(&mapped[skip..skip + wanted]);
            Ok(found)
        })
    }
}

/// Reads a region of a texture that `draw` creates in the same submission, in tight rows.
pub(crate) fn image(
    device: &WgpuDevice,
    region: Region,
    bytes_per_pixel: usize,
    draw: impl FnOnce(&mut wgpu::CommandEncoder) -> wgpu::Texture,
) -> Result<Vec<u8>> {
    let extent = region.extent();
    // The extent is part of a surface, whose size was checked against the device's limits.
    let row = extent.width as usize * bytes_per_pixel;
    let pitch = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize);
    let record = |encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer| {
        let texture = draw(encoder);
        let origin = wgpu::Origin3d { x: region.x, y: region.y, z: 0 };
        let from = wgpu::TexelCopyTextureInfo { origin, ..texture.as_image_copy() };
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch as u32), rows_per_image: None };
        let size = wgpu::Extent3d { width: extent.width, height: extent.height, depth_or_array_layers: 1 };
        let to = wgpu::TexelCopyBufferInfo { buffer: to, layout };
        encoder.copy_texture_to_buffer(from, to, size);
    };
    read(device, pitch as u64 * u64::from(extent.height), record, |mapped| {
        let mut found = host_bytes(row * extent.height as usize)?;
        mapped.chunks_exact(pitch).for_each(|line| found.extend_from_slice(&line[..row]));
        Ok(found)
    })
}
