//! Sources of an image's pixels for draws.

use crate::context::device_state::DeviceState;
use interop_core::describe::PlainMutex;
use interop_core::draw::wgsl::DrawParams;
use interop_core::{Error, Extent, ImageView, PixelFormat, Result};

/// The source from which shaders read an image.
pub(crate) enum Source {
    Texture(wgpu::Texture, wgpu::TextureView),
    /// Rows in a buffer.
    Memory(wgpu::Buffer, ImageView),
}

/// Number of different draws whose bindings are kept.
const KEPT: usize = 8;

/// An image that can be drawn. Bindings are created once for each way of drawing it and never written again, so that
/// draws in one encoder do not disturb each other.
pub(crate) struct Picture {
    source: Source,
    format: PixelFormat,
    extent: Extent,
    bindings: PlainMutex<Vec<(DrawParams, wgpu::BindGroup)>>,
}

/// The part of a buffer that is bound.
#[derive(Clone, Copy)]
struct Window {
    start: u64,
    len: u64,
}

impl Picture {
    pub(crate) fn texture(texture: wgpu::Texture, format: PixelFormat) -> Self {
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let extent = Extent::new(texture.width(), texture.height());
        Self { source: Source::Texture(texture, view), format, extent, bindings: PlainMutex::default() }
    }

    /// Makes a picture of pixels in a buffer, with rows in native order; the view was checked to lie inside.
    pub(crate) fn memory(shared: &DeviceState, buffer: wgpu::Buffer, view: ImageView) -> Result<Self> {
        let bpp = view.format.bytes_per_pixel();
        if !view.offset.is_multiple_of(bpp) || !view.pitch().is_multiple_of(bpp) || view.is_reversed() {
            let problem = format!("offset and row pitch must be multiples of the pixel, {bpp} bytes, rows in order");
            return Err(Error::refused(problem));
        }
        let limit = shared.limits.max_storage_buffer_binding_size.min(u64::from(u32::MAX));
        if window(shared, &view).len > limit {
            let reason = format!("{} {} is more than the {limit} bytes that a draw can read", view.extent, view.format);
            return Err(shared.unsupported(reason));
        }
        let (format, extent) = (view.format, view.extent);
        Ok(Self { source: Source::Memory(buffer, view), format, extent, bindings: PlainMutex::default() })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn format(&self) -> PixelFormat {
        self.format
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    /// Returns the bindings for a draw with these properties, by the layout of its source; the position of the image is
    /// filled in.
    pub(crate) fn bindings(
        &self,
        shared: &DeviceState,
        layout: &wgpu::BindGroupLayout,
        draw_params: DrawParams,
    ) -> wgpu::BindGroup {
        let mut kept = self.bindings.lock();
        if let Some((_, group)) = kept.iter().find(|(other, _)| *other == draw_params) {
            return group.clone();
        }
        let group = self.bind(shared, layout, draw_params);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((draw_params, group.clone()));
        group
    }

    fn bind(&self, shared: &DeviceState, layout: &wgpu::BindGroupLayout, draw_params: DrawParams) -> wgpu::BindGroup {
        let (draw_params, resource) = match &self.source {
            Source::Texture(_, view) => (draw_params, wgpu::BindingResource::TextureView(view)),
            Source::Memory(buffer, view) => {
                let window = window(shared, view);
                // Both lie inside the window, which 32 bits can count.
                let base = (view.offset as u64 - window.start) as u32;
                let draw_params = draw_params.in_memory(base, view.pitch() as u32);
                let (offset, size) = (window.start, wgpu::BufferSize::new(window.len));
                (draw_params, wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size }))
            }
        };
        let uniform = constants(shared, &draw_params.to_bytes());
        shared.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pixelferry image"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource },
            ],
        })
    }
}

/// Returns the pixels, extended at the front to the device's alignment of bindings.
fn window(shared: &DeviceState, view: &ImageView) -> Window {
    let span = view.span();
    let alignment = u64::from(shared.limits.min_storage_buffer_offset_alignment).max(1);
    let start = span.start as u64 / alignment * alignment;
    Window { start, len: crate::context::format::whole_words(span.end as u64 - start) }
}

/// Creates a uniform buffer that is never written again.
pub(crate) fn constants(shared: &DeviceState, bytes: &[u8]) -> wgpu::Buffer {
    let buffer = shared.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("pixelferry constants"),
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    // Written with the next submission, before its commands.
    shared.queue.write_buffer(&buffer, 0, bytes);
    buffer
}
