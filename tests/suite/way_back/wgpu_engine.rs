//! An engine on wgpu.

use super::engine::{BYTES, Engine, HEIGHT, Scene, WIDTH, filling};
use pixelferry::api::wgpu::{WgpuDisplay, wgpu};
use pixelferry::{Display, Surface};
use std::sync::Arc;

/// The engine: a texture and a buffer of its own, in the display's device.
pub struct WgpuEngine {
    display: Arc<WgpuDisplay>,
    texture: wgpu::Texture,
    buffer: wgpu::Buffer,
}

const SIZE: wgpu::Extent3d = wgpu::Extent3d { width: WIDTH as u32, height: HEIGHT as u32, depth_or_array_layers: 1 };

impl WgpuEngine {
    pub fn new(display: Arc<WgpuDisplay>) -> Self {
        use wgpu::{BufferUsages, TextureUsages};
        let device = display.wgpu_device();
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("the engine's"),
            size: SIZE,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: TextureUsages::RENDER_ATTACHMENT
                | TextureUsages::COPY_SRC
                | TextureUsages::COPY_DST
                | TextureUsages::STORAGE_BINDING,
            view_formats: &[],
        });
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("the engine's"),
            size: BYTES + 24,
            usage: BufferUsages::VERTEX | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { display, texture, buffer }
    }

    /// Bytes that `copy` copies into a buffer of this size, read by the engine itself.
    fn read(&self, size: u64, copy: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer)) -> Vec<u8> {
        let device = self.display.wgpu_device();
        let to = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        copy(&mut encoder, &to);
        self.display.wgpu_queue().submit([encoder.finish()]);
        to.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        to.get_mapped_range(..).unwrap().to_vec()
    }
}

impl Engine for WgpuEngine {
    fn display(&self) -> Arc<dyn Display> {
        Arc::clone(&self.display) as _
    }

    fn render(&self, n: u32) -> Vec<u8> {
        let scene = Scene::new(n);
        let (device, queue) = (self.display.wgpu_device(), self.display.wgpu_queue());
        let view = self.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let [r, g, b, a] = scene.background.map(|c| f64::from(c) / 255.0);
        drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        }));
        queue.submit([encoder.finish()]);
        let [x, y, width, height] = scene.at.map(|at| at as u32);
        let to = wgpu::TexelCopyTextureInfo { origin: wgpu::Origin3d { x, y, z: 0 }, ..self.texture.as_image_copy() };
        let rows = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: None };
        let square = scene.square.repeat((width * height) as usize);
        queue.write_texture(to, &square, rows, wgpu::Extent3d { width, height, depth_or_array_layers: 1 });
        queue.submit([]);
        scene.rows()
    }

    fn fill(&self, n: u8) -> Vec<u8> {
        let bytes = filling(n);
        self.display.wgpu_queue().write_buffer(&self.buffer, 0, &bytes);
        bytes
    }

    fn image(&self) -> Surface {
        self.display.engine_image(&self.texture).unwrap()
    }

    fn bytes(&self) -> Surface {
        self.display.engine_buffer(&self.buffer, BYTES).unwrap()
    }

    fn pixels(&self) -> Vec<u8> {
        let pitch = (4 * WIDTH as u32).next_multiple_of(256);
        let all = self.read(u64::from(pitch) * HEIGHT as u64, |encoder, buffer| {
            let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
            let to = wgpu::TexelCopyBufferInfo { buffer, layout };
            encoder.copy_texture_to_buffer(self.texture.as_image_copy(), to, SIZE);
        });
        all.chunks(pitch as usize).flat_map(|row| row[..4 * WIDTH as usize].to_vec()).collect()
    }

    fn contents(&self) -> Vec<u8> {
        self.read(BYTES, |encoder, to| encoder.copy_buffer_to_buffer(&self.buffer, 0, to, 0, BYTES))
    }
}
