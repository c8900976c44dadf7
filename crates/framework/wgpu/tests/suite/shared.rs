//! A link on a thread of its own, whose frames a render thread draws with the engine's device.

use crate::common;
use crate::common::wgpu;
use cpu_fallback::CpuBackend;
use interop_core::{LinkOptions, PixelFormat, SharedLink, Surface, SurfaceDesc};
use pixelferry_wgpu::WgpuDisplay;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FRAMES: u32 = 60;

fn desc(frame: u32) -> SurfaceDesc {
    // Rows of 256 bytes, as copies to buffers want them.
    SurfaceDesc::image(64, 8 + frame / 10, PixelFormat::Rgba8)
}

/// Returns what the render thread sees of a texture: it records, submits, lets the frame go, and then looks.
fn copy(device: &wgpu::Device, queue: &wgpu::Queue, link: &SharedLink<wgpu::TextureView>) -> (u64, Vec<u8>) {
    let frame = link.shown().unwrap();
    let number = frame.number();
    let texture = frame.get().texture();
    let size = u64::from(256 * texture.height());
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let buffer = device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(256), rows_per_image: None };
    let into = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), into, texture.size());
    queue.submit([encoder.finish()]);
    drop(frame);
    let bytes = common::bytes_of(device, &buffer);
    (number, bytes)
}

#[test]
fn a_render_thread_draws_what_another_computes() {
    let Some(own) = common::display() else { return };
    let adapter = common::adapter_of(&own);
    let (device, queue) = pixelferry_wgpu::open_device(&adapter, &wgpu::DeviceDescriptor::default()).unwrap();
    let engine = (device.clone(), queue.clone());
    let display = move || WgpuDisplay::from_engine(&adapter, engine.0, engine.1);
    let view = |display: &WgpuDisplay, surface: &Surface| display.surface_texture(surface).cloned();
    let backend = Arc::new(CpuBackend::new().unwrap());
    let link = SharedLink::open(backend, display, desc(0), LinkOptions::default(), view).unwrap();
    let frame = |n: u32| {
        link.resize(desc(n)).unwrap();
        let bytes = desc(n).byte_len().unwrap();
        link.frame(move |frame| frame.write(&vec![n as u8; bytes])).unwrap();
    };
    frame(0);
    let over = AtomicBool::new(false);
    let seen = std::thread::scope(|threads| {
        let drawing = threads.spawn(|| {
            let mut seen = Vec::new();
            while !over.load(Ordering::Acquire) {
                let (number, bytes) = copy(&device, &queue, &link);
                let n = number as u32 - 1;
                assert_eq!(bytes.len(), desc(n).byte_len().unwrap(), "frame {n}");
                assert!(bytes.iter().all(|byte| *byte == n as u8), "frame {n}");
                seen.push(number);
            }
            seen
        });
        (1..FRAMES).for_each(frame);
        over.store(true, Ordering::Release);
        drawing.join().unwrap()
    });
    assert!(seen.is_sorted() && seen.len() > 1, "{seen:?}");
    let (number, bytes) = copy(&device, &queue, &link);
    assert_eq!((number, bytes[0]), (u64::from(FRAMES), FRAMES as u8 - 1));
}
