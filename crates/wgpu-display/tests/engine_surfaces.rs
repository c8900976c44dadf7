//! Textures and buffers of an engine's: what it rendered is taken, and frames go into them.

// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::wgpu;
use cpu_fallback::CpuBackend;
use interop_core::{
    ComputeBackend, Display, Error, Intake, Outlet, OutletFrame, OutletOptions, Part, PathId, PixelFormat, Result,
    Surface, SurfaceDesc, Unwritten, View,
};
use pixelferry_testing::Dice;
use std::rc::Rc;
use std::sync::Arc;
use wgpu_display::{WgpuDisplay, WgpuImage};

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

fn backend() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

/// The format that the display's own textures of these pixels have.
fn wgpu_format(display: &WgpuDisplay, format: PixelFormat) -> wgpu::TextureFormat {
    let surface = display.create_surface(&SurfaceDesc::image(1, 1, format)).unwrap();
    match display.surface_image(surface.as_ref()).unwrap() {
        WgpuImage::Texture(texture, _) => texture.format(),
        WgpuImage::Rows(..) => panic!("{format} in rows"),
    }
}

/// The engine writes its texture itself.
fn put(display: &WgpuDisplay, texture: &wgpu::Texture, bytes: &[u8]) {
    let row = bytes.len() as u32 / texture.height();
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    display.wgpu_queue().write_texture(texture.as_image_copy(), bytes, layout, texture.size());
    display.wgpu_queue().submit([]);
}

/// And reads it.
fn got(display: &Rc<WgpuDisplay>, texture: &wgpu::Texture) -> Vec<u8> {
    let mut surface = display.engine_image(texture).unwrap();
    let all = Part::full(surface.desc());
    surface.read_back(&all).unwrap()
}

/// A frame of these tight rows or bytes.
fn write(bytes: &[u8]) -> impl FnMut(&mut OutletFrame<'_>) -> Result<()> {
    move |frame| {
        let (memory, view) = frame.target()?.into_parts();
        match view {
            View::Buffer(view) => memory.write(view.offset, bytes),
            View::Image(view) => {
                let rows = (0..).zip(bytes.chunks(view.row_len()));
                rows.into_iter().try_for_each(|(y, row)| memory.write(view.row(y).start, row))
            }
        }
    }
}

fn intake(display: &Rc<WgpuDisplay>, source: Box<dyn Surface>, by: Option<PathId>) -> Result<Intake> {
    match by {
        Some(path) => Intake::open_by(backend(), Rc::clone(display) as Rc<dyn Display>, source, path),
        None => Intake::open(backend(), Rc::clone(display) as Rc<dyn Display>, source),
    }
}

/// Frames that write every pixel, so that nothing is read.
fn overwriting(display: &Rc<WgpuDisplay>, target: Box<dyn Surface>) -> Result<Outlet> {
    let options = OutletOptions::default().with_unwritten(Unwritten::Overwrite);
    Outlet::open_with(backend(), Rc::clone(display) as Rc<dyn Display>, target, options)
}

fn outlet(display: &Rc<WgpuDisplay>, target: Box<dyn Surface>, by: Option<PathId>) -> Result<Outlet> {
    match by {
        Some(path) => Outlet::open_with(
            backend(),
            Rc::clone(display) as Rc<dyn Display>,
            target,
            OutletOptions::default().with_path(path),
        ),
        None => Outlet::open(backend(), Rc::clone(display) as Rc<dyn Display>, target),
    }
}

/// There and back by one path; the path.
fn round(display: &Rc<WgpuDisplay>, texture: &wgpu::Texture, by: Option<PathId>, dice: &mut Dice) -> Option<PathId> {
    let surface = || display.engine_image(texture).unwrap();
    let image = *surface().desc();
    let bytes = image.byte_len("test").unwrap();
    let mut taken = match intake(display, surface(), by) {
        Ok(taken) => taken,
        Err(Error::Unavailable { .. }) if by.is_some() => return None,
        Err(other) => panic!("{by:?}, {image:?}: {other}"),
    };
    let mut given = outlet(display, surface(), by).unwrap();
    for frame in 0..3 {
        let expected = pattern(dice, bytes);
        put(display, texture, &expected);
        assert!(taken.take().unwrap().read().unwrap() == expected, "{}, {image:?}, frame {frame}", taken.path());
        let expected = pattern(dice, bytes);
        given.frame(write(&expected)).unwrap();
        assert!(got(display, texture) == expected, "{}, {image:?}, frame {frame}", given.path());
    }
    Some(taken.path())
}

/// Bytes that copies must keep, whatever their format.
fn pattern(dice: &mut Dice, len: usize) -> Vec<u8> {
    (0..len).map(|_| dice.below(256) as u8).collect()
}

#[test]
fn every_format_and_odd_sizes_go_there_and_back() {
    let Some(display) = common::display() else { return };
    let mut dice = Dice(18);
    for format in display.caps().image_formats.clone() {
        for (width, height) in [(33, 7), (64, 3), (1, 5)] {
            let texture = texture(&display, width, height, wgpu_format(&display, format));
            round(&display, &texture, None, &mut dice).unwrap();
        }
    }
    let mut ran = Vec::new();
    for format in [wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::R8Unorm] {
        let texture = texture(&display, 129, 65, format);
        ran = PathId::ALL.into_iter().filter_map(|path| round(&display, &texture, Some(path), &mut dice)).collect();
    }
    println!("{ran:?}");
    assert!(ran.len() >= 2, "{ran:?}");
}

#[test]
fn buffers_go_there_and_back() {
    let Some(display) = common::display() else { return };
    let (mut dice, mut ran) = (Dice(19), 0);
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    for by in PathId::ALL.into_iter().map(Some).chain([None]) {
        for bytes in [4_u64, 1000, 70_004] {
            let engines = buffer(&display, bytes + 8, usage);
            let surface = || display.engine_buffer(&engines, bytes).unwrap();
            let mut taken = match intake(&display, surface(), by) {
                Ok(taken) => taken,
                Err(Error::Unavailable { .. }) if by.is_some() => continue,
                Err(other) => panic!("{by:?}: {other}"),
            };
            let mut given = outlet(&display, surface(), by).unwrap();
            for frame in 0..3 {
                let expected = pattern(&mut dice, bytes as usize + 8);
                display.wgpu_queue().write_buffer(&engines, 0, &expected);
                let found = taken.take().unwrap().read().unwrap();
                assert!(found == expected[..bytes as usize], "{}, {bytes} bytes, frame {frame}", taken.path());
                let mut after = pattern(&mut dice, bytes as usize);
                given.frame(write(&after)).unwrap();
                // What lies behind is the engine's.
                after.extend_from_slice(&expected[bytes as usize..]);
                let mut whole = display.engine_buffer(&engines, bytes + 8).unwrap();
                let all = Part::full(whole.desc());
                assert!(whole.read_back(&all).unwrap() == after, "{}, {bytes} bytes, frame {frame}", given.path());
            }
            ran += 1;
        }
    }
    assert!(ran > 3, "{ran}");
}

/// An engine's window is dragged: it has another texture every few frames, and draws in between.
#[test]
fn textures_are_made_anew_for_300_frames() {
    let Some(display) = common::display() else { return };
    let mut dice = Dice(20);
    let mut left = 300;
    while left > 0 {
        let (width, height) = (1 + dice.below(90) as u32, 1 + dice.below(60) as u32);
        let texture = texture(&display, width, height, wgpu::TextureFormat::Bgra8UnormSrgb);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut given = outlet(&display, display.engine_image(&texture).unwrap(), None).unwrap();
        let mut taken = intake(&display, display.engine_image(&texture).unwrap(), None).unwrap();
        let len = (width * height * 4) as usize;
        for _ in 0..15 {
            let expected = pattern(&mut dice, len);
            given.frame(write(&expected)).unwrap();
            assert!(taken.take().unwrap().read().unwrap() == expected, "{width}x{height}, {left} left");
            let device = display.wgpu_device();
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::WHITE),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..wgpu::RenderPassDescriptor::default()
            }));
            display.wgpu_queue().submit([encoder.finish()]);
            assert!(taken.take().unwrap().read().unwrap() == vec![255; len], "the engine draws on");
            left -= 1;
        }
    }
}

fn refused(found: Result<impl Sized>, says: &str) {
    match found.err() {
        Some(error @ Error::InvalidInput { .. }) if error.to_string().contains(says) => println!("{error}"),
        other => panic!("{says}: {other:?}"),
    }
}

#[test]
fn what_no_copy_reaches_is_refused_and_says_why() {
    let Some(display) = common::display() else { return };
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
    refused(image(described(8, 8, wgpu::TextureFormat::R32Uint)), "no frame has the format R32Uint");
    let depth = wgpu::TextureDescriptor { format: wgpu::TextureFormat::Depth32Float, usage: BOTH, ..plain() };
    refused(image(depth), "Depth32Float");
    // By direction.
    refused(intake(&display, only(wgpu::TextureUsages::COPY_DST).unwrap(), None), "without COPY_SRC");
    refused(outlet(&display, only(wgpu::TextureUsages::COPY_SRC).unwrap(), None), "without COPY_DST");
    assert!(intake(&display, only(wgpu::TextureUsages::COPY_SRC).unwrap(), None).is_ok());
    // What a frame does not write is kept by reading it first.
    refused(outlet(&display, only(wgpu::TextureUsages::COPY_DST).unwrap(), None), "do not ask for Keep");
    assert!(overwriting(&display, only(wgpu::TextureUsages::COPY_DST).unwrap()).is_ok());
    let both = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let bytes = |size, usage, bytes| display.engine_buffer(&buffer(&display, size, usage), bytes);
    refused(bytes(64, both, 68), "it has 64 bytes");
    refused(bytes(64, both, 0), "");
    refused(bytes(64, both, 63), "no whole words");
    refused(bytes(64, wgpu::BufferUsages::VERTEX, 64), "add COPY_SRC");
    refused(intake(&display, bytes(64, wgpu::BufferUsages::COPY_DST, 64).unwrap(), None), "without COPY_SRC");
    refused(outlet(&display, bytes(64, wgpu::BufferUsages::COPY_SRC, 64).unwrap(), None), "without COPY_DST");
    // Those of another device.
    let other = WgpuDisplay::headless(common::options()).unwrap();
    refused(display.engine_image(&texture(&other, 8, 8, wgpu::TextureFormat::Rgba8Unorm)), "");
    refused(display.engine_buffer(&buffer(&other, 64, both), 64), "");
    // Nothing of that is left behind.
    round(&display, &texture(&display, 9, 9, wgpu::TextureFormat::Rgba8Unorm), None, &mut Dice(21)).unwrap();
}

#[test]
fn what_the_engine_destroys_is_refused_and_the_next_is_taken() {
    let Some(display) = common::display() else { return };
    let mut dice = Dice(22);
    let gone = texture(&display, 16, 4, wgpu::TextureFormat::Rgba8Unorm);
    let mut given = outlet(&display, display.engine_image(&gone).unwrap(), None).unwrap();
    let mut taken = intake(&display, display.engine_image(&gone).unwrap(), None).unwrap();
    let (paths, works) = (given.path(), given.rows().iter().filter(|row| row.found.is_ok()).count());
    given.frame(write(&pattern(&mut dice, 16 * 4 * 4))).unwrap();
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
    let mut given = overwriting(&display, display.engine_buffer(&bytes, 64).unwrap()).unwrap();
    bytes.map_async(wgpu::MapMode::Read, .., |_| ());
    refused(given.frame(write(&[1; 64])), "map");
    display.wgpu_device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytes.unmap();
    given.frame(write(&[2; 64])).unwrap();
    bytes.destroy();
    refused(given.frame(write(&[3; 64])), "destroyed");
    round(&display, &texture(&display, 16, 4, wgpu::TextureFormat::Rgba8Unorm), None, &mut dice).unwrap();
}

#[test]
fn an_engines_own_object_is_not_drawn_by_the_display() {
    let Some(display) = common::display() else { return };
    let surface = display.engine_image(&texture(&display, 4, 4, wgpu::TextureFormat::Rgba8Unorm)).unwrap();
    refused(display.surface_image(surface.as_ref()), "the engine's own");
    refused(display.draw_offscreen(surface.as_ref()), "the engine's own");
}
