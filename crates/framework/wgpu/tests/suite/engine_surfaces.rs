//! Textures and buffers of an engine's: what it rendered is taken, and frames go into them.

use crate::common::{self, wgpu};
use crate::engine_objects::{
    Object, intake, noise, objects_are_made_anew, on_every_path, outlet, overwriting, refused, round, write,
};
use interop_core::{Display, PixelFormat, Surface, SurfaceDesc, SurfacePart};
use pixelferry_testing::{Dice, by_level};
use pixelferry_wgpu::{WgpuDisplay, WgpuImage};
use std::sync::Arc;

const BOTH: wgpu::TextureUsages = wgpu::TextureUsages::COPY_SRC.union(wgpu::TextureUsages::COPY_DST);

fn described(width: u32, height: u32, format: wgpu::TextureFormat) -> wgpu::TextureDescriptor<'static> {
    wgpu::TextureDescriptor {
        label: Some("the engine's"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: BOTH | wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    }
}

fn texture(display: &WgpuDisplay, width: u32, height: u32, format: wgpu::TextureFormat) -> wgpu::Texture {
    display.wgpu_device().create_texture(&described(width, height, format))
}

fn buffer(display: &WgpuDisplay, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    display.wgpu_device().create_buffer(&descriptor)
}

/// The format that the display's own textures of these pixels have.
fn wgpu_format(display: &WgpuDisplay, format: PixelFormat) -> wgpu::TextureFormat {
    let surface = display.create_surface(&SurfaceDesc::image(1, 1, format)).unwrap();
    match display.surface_image(&surface).unwrap() {
        WgpuImage::Texture(texture, _) => texture.format(),
        WgpuImage::Rows(..) => panic!("{format} in rows"),
    }
}

/// A texture of the engine's.
struct Picture<'d>(&'d Arc<WgpuDisplay>, wgpu::Texture);

impl Object for Picture<'_> {
    fn surface(&self) -> Surface {
        self.0.engine_image(&self.1).unwrap()
    }

    fn got(&self) -> Vec<u8> {
        let mut surface = self.surface();
        surface.read_back(&SurfacePart::full(&surface.desc().clone())).unwrap()
    }

    fn whiten(&self) -> bool {
        let bytes = self.surface().desc().byte_len().unwrap();
        let bytes_per_row = Some(bytes as u32 / self.1.height());
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
        self.0.wgpu_queue().write_texture(self.1.as_image_copy(), &vec![255; bytes], layout, self.1.size());
        self.0.wgpu_queue().submit([]);
        true
    }
}

#[test]
fn every_format_and_odd_sizes_go_there_and_back() {
    let Some(display) = common::display() else { return };
    let shown: Arc<dyn Display> = display.clone();
    for format in display.caps().image_formats.clone() {
        for (width, height) in [(33, 7), (64, 3), (1, 5)].into_iter().take(by_level(1, 3, 3)) {
            let texture = texture(&display, width, height, wgpu_format(&display, format));
            round(&shown, &Picture(&display, texture), None, 3).unwrap();
        }
    }
    for format in [wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::R8Unorm] {
        let picture = Picture(&display, texture(&display, 129, 65, format));
        assert!(on_every_path(&shown, &picture).len() >= 2);
    }
}

/// The first bytes of a buffer of the engine's; what lies behind them stays the engine's.
struct Bytes<'d>(&'d Arc<WgpuDisplay>, wgpu::Buffer, u64);

impl Object for Bytes<'_> {
    fn surface(&self) -> Surface {
        self.0.engine_buffer(&self.1, self.2).unwrap()
    }

    fn got(&self) -> Vec<u8> {
        let mut whole = self.0.engine_buffer(&self.1, self.1.size()).unwrap();
        let bytes = whole.read_back(&SurfacePart::full(&whole.desc().clone())).unwrap();
        let (own, behind) = bytes.split_at(self.2 as usize);
        assert!(behind.iter().all(|byte| *byte == behind[0]), "{behind:?}");
        own.to_vec()
    }

    fn whiten(&self) -> bool {
        self.0.wgpu_queue().write_buffer(&self.1, 0, &vec![255; self.1.size() as usize]);
        self.0.wgpu_queue().submit([]);
        true
    }
}

#[test]
fn buffers_go_there_and_back() {
    let Some(display) = common::display() else { return };
    let shown: Arc<dyn Display> = display.clone();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    for bytes in [4, 1000, 70_004] {
        let object = Bytes(&display, buffer(&display, bytes + 8, usage), bytes);
        assert!(on_every_path(&shown, &object).len() > 1);
        round(&shown, &object, None, 3).unwrap();
    }
}

#[test]
fn textures_are_made_anew_for_300_frames() {
    let Some(display) = common::display() else { return };
    let shown: Arc<dyn Display> = display.clone();
    objects_are_made_anew(&shown, by_level(5, 20, 20), |width, height, _| {
        Picture(&display, texture(&display, width, height, wgpu::TextureFormat::Bgra8UnormSrgb))
    });
}

#[test]
fn what_no_copy_reaches_is_refused_and_says_why() {
    let Some(display) = common::display() else { return };
    let shown: Arc<dyn Display> = display.clone();
    let device = display.wgpu_device();
    let plain = || described(8, 8, wgpu::TextureFormat::Rgba8Unorm);
    let image = |made: wgpu::TextureDescriptor<'_>| display.engine_image(&device.create_texture(&made));
    let only = |usage| image(wgpu::TextureDescriptor { usage, ..plain() });
    refused(only(wgpu::TextureUsages::TEXTURE_BINDING), "add COPY_SRC");
    let draws = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    let samples = wgpu::TextureDescriptor { sample_count: 4, usage: draws, ..plain() };
    refused(image(samples), "4 samples");
    let layers = wgpu::Extent3d { width: 8, height: 8, depth_or_array_layers: 3 };
    refused(image(wgpu::TextureDescriptor { size: layers, ..plain() }), "3 layers");
    let deep = wgpu::TextureDescriptor { dimension: wgpu::TextureDimension::D3, usage: BOTH, ..plain() };
    refused(image(deep), "D3");
    refused(image(described(8, 8, wgpu::TextureFormat::R32Uint)), "frames cannot have the format R32Uint");
    let depth = wgpu::TextureDescriptor { format: wgpu::TextureFormat::Depth32Float, usage: BOTH, ..plain() };
    refused(image(depth), "Depth32Float");
    // By direction.
    refused(intake(&shown, only(wgpu::TextureUsages::COPY_DST).unwrap(), None), "without COPY_SRC");
    refused(outlet(&shown, only(wgpu::TextureUsages::COPY_SRC).unwrap(), None), "without COPY_DST");
    assert!(intake(&shown, only(wgpu::TextureUsages::COPY_SRC).unwrap(), None).is_ok());
    // Pixels that a frame does not write are kept by reading them first.
    refused(outlet(&shown, only(wgpu::TextureUsages::COPY_DST).unwrap(), None), "do not use Keep");
    assert!(overwriting(&shown, only(wgpu::TextureUsages::COPY_DST).unwrap()).is_ok());
    let both = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let bytes = |size, usage, bytes| display.engine_buffer(&buffer(&display, size, usage), bytes);
    refused(bytes(64, both, 68), "has 64 bytes, but 68 are needed");
    refused(bytes(64, both, 0), "");
    refused(bytes(64, both, 63), "not whole words");
    refused(bytes(64, wgpu::BufferUsages::VERTEX, 64), "add COPY_SRC");
    refused(intake(&shown, bytes(64, wgpu::BufferUsages::COPY_DST, 64).unwrap(), None), "without COPY_SRC");
    refused(outlet(&shown, bytes(64, wgpu::BufferUsages::COPY_SRC, 64).unwrap(), None), "without COPY_DST");
    // Those of another device.
    let other = WgpuDisplay::headless(common::options()).unwrap();
    refused(display.engine_image(&texture(&other, 8, 8, wgpu::TextureFormat::Rgba8Unorm)), "");
    refused(display.engine_buffer(&buffer(&other, 64, both), 64), "");
    // Nothing of that is left behind.
    let picture = Picture(&display, texture(&display, 9, 9, wgpu::TextureFormat::Rgba8Unorm));
    round(&shown, &picture, None, 3).unwrap();
}

#[test]
fn what_the_engine_destroys_is_refused_and_the_next_is_taken() {
    let Some(display) = common::display() else { return };
    let shown: Arc<dyn Display> = display.clone();
    let mut dice = Dice(22);
    let gone = texture(&display, 16, 4, wgpu::TextureFormat::Rgba8Unorm);
    let mut given = outlet(&shown, display.engine_image(&gone).unwrap(), None).unwrap();
    let mut taken = intake(&shown, display.engine_image(&gone).unwrap(), None).unwrap();
    let (paths, works) = (given.path(), given.rows().iter().filter(|row| row.found.is_ok()).count());
    given.frame(write(&noise(&mut dice, 16 * 4 * 4))).unwrap();
    gone.destroy();
    for _ in 0..3 {
        refused(given.frame(write(&[7; 16 * 4 * 4])), "destroyed");
        refused(taken.take().map(drop), "destroyed");
    }
    assert_eq!(given.path(), paths);
    assert_eq!(given.rows().iter().filter(|row| row.found.is_ok()).count(), works, "no path is left for it");
    refused(display.engine_image(&gone), "destroyed");
    let mapped = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let bytes = buffer(&display, 64, mapped);
    let mut given = overwriting(&shown, display.engine_buffer(&bytes, 64).unwrap()).unwrap();
    bytes.map_async(wgpu::MapMode::Read, .., |_| ());
    refused(given.frame(write(&[1; 64])), "map");
    display.wgpu_device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytes.unmap();
    given.frame(write(&[2; 64])).unwrap();
    bytes.destroy();
    refused(given.frame(write(&[3; 64])), "destroyed");
    let next = Picture(&display, texture(&display, 16, 4, wgpu::TextureFormat::Rgba8Unorm));
    round(&shown, &next, None, 3).unwrap();
}

#[test]
fn an_engines_own_object_is_not_drawn_by_the_display() {
    let Some(display) = common::display() else { return };
    let surface = display.engine_image(&texture(&display, 4, 4, wgpu::TextureFormat::Rgba8Unorm)).unwrap();
    refused(display.surface_image(&surface), "the engine's own");
    refused(display.draw_offscreen(&surface), "the engine's own");
}
