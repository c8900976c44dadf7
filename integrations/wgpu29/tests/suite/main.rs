//! Frames in textures of wgpu 29, read back by wgpu 29 and compared.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use pixelferry::{
    Arg, ComputeBackend, CpuBackend, CpuKernelExt, ImageAccess, ImageDesc, KernelSource, Link, LinkOptions,
    PixelFormat, SurfaceDesc,
};
use pixelferry_testing::{Need, need};
use pixelferry_wgpu29::Engine;
use std::sync::{Arc, mpsc};

/// Mesa's Vulkan on the CPU, or the device that `PIXELFERRY_VULKAN_DEVICE` names.
fn device() -> String {
    std::env::var("PIXELFERRY_VULKAN_DEVICE").unwrap_or_else(|_| "llvmpipe".into())
}

fn pixel(x: u32, y: u32, n: u32) -> [u8; 4] {
    [(x * 3 + n) as u8, (y * 5) as u8, (x ^ y) as u8, 255 - n as u8]
}

fn picture(width: u32, height: u32, n: u32) -> Vec<u8> {
    (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y, n))).collect()
}

fn kernel() -> KernelSource {
    KernelSource::new("fill").cpu_image(|out, args| {
        let n = args.u32(0)?;
        out.par_pixels(|x, y| pixel(x, y, n))
    })
}

fn read(engine: &Engine, texture: &wgpu::Texture) -> Vec<u8> {
    let (width, height) = (texture.width(), texture.height());
    let pitch = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = engine.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(pitch * height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = engine.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        texture.size(),
    );
    engine.queue().submit([encoder.finish()]);
    let (tell, told) = mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| tell.send(result).unwrap());
    engine.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    told.recv().unwrap().unwrap();
    let bytes = buffer.get_mapped_range(..);
    bytes.chunks(pitch as usize).flat_map(|row| row[..width as usize * 4].to_vec()).collect()
}

#[test]
fn frames_are_in_textures_of_wgpu_29() {
    let Some(engine) = need(Need::Lavapipe, pollster::block_on(Engine::open(&device()))) else { return };
    println!("RAN ON {:?}", engine.display());
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let built = backend.build(&kernel()).unwrap();
    for (width, height, access) in
        [(64, 48, ImageAccess::Texture), (67, 41, ImageAccess::Texture), (67, 41, ImageAccess::Any)]
    {
        let surface = SurfaceDesc::Image(ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(access));
        let mut link = Link::open(Arc::clone(&backend), engine.display(), surface, LinkOptions::default()).unwrap();
        let texture = engine.texture(width, height);
        for n in 0..5 {
            link.frame(|next| next.launch(built.as_ref(), &[Arg::U32(n)])).unwrap();
            engine.copy(&link.shown().unwrap(), &texture).unwrap();
            assert!(
                read(&engine, &texture) == picture(width, height, n),
                "frame {n} of {width}x{height} by {}",
                link.path()
            );
        }
        println!("{width}x{height} by {}", link.path());
    }
}

#[test]
fn a_frame_is_stretched_to_a_larger_texture() {
    let Some(engine) = need(Need::Lavapipe, pollster::block_on(Engine::open(&device()))) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let built = backend.build(&kernel()).unwrap();
    let surface = SurfaceDesc::Image(ImageDesc::new(8, 4, PixelFormat::Rgba8).with_access(ImageAccess::Texture));
    let mut link = Link::open(backend, engine.display(), surface, LinkOptions::default()).unwrap();
    let texture = engine.texture(16, 8);
    link.frame(|next| next.launch(built.as_ref(), &[Arg::U32(7)])).unwrap();
    engine.copy(&link.shown().unwrap(), &texture).unwrap();
    let expected: Vec<u8> = (0..8).flat_map(|y| (0..16).flat_map(move |x| pixel(x / 2, y / 2, 7))).collect();
    assert!(read(&engine, &texture) == expected);
}
