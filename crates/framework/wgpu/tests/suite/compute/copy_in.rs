//! Frames out of buffers that others write on the same device.

use interop_core::{
    BufferView, ComputeBackend, Display, Error, Extent, ImageAccess, ImageDesc, ImageView, Link, LinkOptions, PathId,
    PixelFormat, Policy, RawMemory, SurfaceDesc, Target, View,
};
use pixelferry_testing::{Need, has, need};
use pixelferry_wgpu::WgpuDisplay;
use pixelferry_wgpu::{WgpuBackend, WgpuDevice, WgpuOptions};
use std::sync::Arc;
use wgpu::BufferUsages as Usage;

/// Bytes before what is copied.
const SKIPPED: u64 = 8;

fn buffer(device: &WgpuDevice, bytes: u64, usage: Usage) -> wgpu::Buffer {
    let desc = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false };
    device.device.create_buffer(&desc)
}

/// Every byte tells its place and its frame.
fn numbered(bytes: usize, frame: usize) -> Vec<u8> {
    (0..bytes).map(|place| (7 * place + 31 * frame) as u8).collect()
}

/// One buffer, written anew for every frame with nothing waited for.
#[test]
fn every_frame_is_the_one_that_was_in_the_buffer() {
    // Fragment shaders of wgpu's OpenGL may read no memory.
    let vulkan = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD, PathId::HOST_ROUND_TRIP];
    for (api, driver, paths) in
        [(wgpu::Backends::VULKAN, Need::Lavapipe, &vulkan[..]), (wgpu::Backends::GL, Need::Egl, &vulkan[1..])]
    {
        let options = WgpuOptions::default().with_backends(api);
        let Some(display) = need(driver, WgpuDisplay::headless(options)) else { continue };
        let name = format!("{} ({})", display.device(), display.device().driver);
        let Some(backend) = has("compute shaders", &name, WgpuBackend::on(display.shared_device())) else { continue };
        let backend = Arc::new(backend);
        for &path in paths {
            // 37 pixels of four bytes: rows that no alignment packs tightly.
            let image = ImageDesc::new(37, 5, PixelFormat::Rgba8).with_access(ImageAccess::Any);
            let policy = Policy::default().with_force(path);
            let options = LinkOptions::new(policy);
            let mut link = Link::open(backend.clone(), display.clone(), SurfaceDesc::Image(image), options).unwrap();
            let bytes = 37 * 5 * 4;
            let from = buffer(backend.wgpu_device(), SKIPPED + bytes as u64, Usage::COPY_DST | Usage::COPY_SRC);
            let put = |frame| {
                display.wgpu_queue().write_buffer(&from, SKIPPED, &numbered(bytes, frame));
                display.wgpu_queue().submit([]);
            };
            for frame in 0..6 {
                put(frame);
                link.frame(|next| backend.copy_from_buffer(next.target()?, &from, SKIPPED)).unwrap();
                // The next frame's, before this one is looked at.
                put(frame + 100);
                assert!(link.read_back().unwrap() == numbered(bytes, frame), "{path}: frame {frame} is another's");
            }
            println!("RAN ON {name} by {path}");
        }
    }
}

#[test]
fn rows_lie_where_the_view_says_and_what_is_between_stays() {
    let Some(device) = need(Need::Lavapipe, WgpuDevice::open(&WgpuOptions::default())) else { return };
    let backend = WgpuBackend::on(device.clone()).unwrap();
    let from = buffer(&device, 16, Usage::COPY_DST | Usage::COPY_SRC);
    device.queue.write_buffer(&from, 0, &numbered(16, 0));
    let extent = Extent::new(2, 2);
    for (reversed, first) in [(false, 4), (true, 20)] {
        let mut memory = backend.allocate(40).unwrap();
        memory.write(0, &[0xee; 40]).unwrap();
        let view = ImageView::packed(extent, PixelFormat::Rgba8, 16, 4, reversed).unwrap();
        assert_eq!(view.offset, first);
        backend.copy_from_buffer(Target::new(memory.as_mut(), View::Image(view)).unwrap(), &from, 0).unwrap();
        let (mut found, mut expected) = (vec![0; 40], vec![0xee; 40]);
        memory.read(0, &mut found).unwrap();
        for (y, row) in numbered(16, 0).chunks(8).enumerate() {
            expected[view.row(y as u32)].copy_from_slice(row);
        }
        assert_eq!(found, expected, "reversed: {reversed}");
        // And back, without the gaps.
        let (to, mut again) = (buffer(&device, 20, Usage::COPY_DST | Usage::COPY_SRC), backend.allocate(20).unwrap());
        backend.copy_to_buffer(memory.as_ref(), View::Image(view), &to, 4).unwrap();
        backend.copy_from_buffer(Target::buffer(again.as_mut()), &to, 0).unwrap();
        let mut tight = [0; 20];
        again.read(0, &mut tight).unwrap();
        assert_eq!(tight[4..], numbered(16, 0), "reversed: {reversed}");
        let outside = View::Buffer(BufferView { offset: 36, len: 8 });
        let error = backend.copy_to_buffer(memory.as_ref(), outside, &to, 0).unwrap_err();
        assert!(matches!(&error, Error::InvalidInput { .. }) && error.to_string().contains("outside"), "{error}");
    }
}

#[test]
fn what_cannot_be_copied_is_refused_and_says_why() {
    let Some(device) = need(Need::Lavapipe, WgpuDevice::open(&WgpuOptions::default())) else { return };
    let backend = WgpuBackend::on(device.clone()).unwrap();
    let mut memory = backend.allocate(64).unwrap();
    let copies = Usage::COPY_DST | Usage::COPY_SRC;
    let from = buffer(&device, 64, copies);
    let mut told = |backend: &WgpuBackend, from: &wgpu::Buffer, offset| {
        backend.copy_from_buffer(Target::buffer(memory.as_mut()), from, offset).unwrap_err()
    };
    let error = told(&backend, &from, 4);
    assert!(
        matches!(&error, Error::InvalidInput { .. }) && error.to_string().contains("64 bytes from byte 4"),
        "{error}"
    );
    assert!(matches!(told(&backend, &from, u64::MAX), Error::InvalidInput { .. }));
    let error = told(&backend, &buffer(&device, 80, copies), 2);
    assert!(matches!(&error, Error::Unsupported { .. }) && error.to_string().contains("whole words"), "{error}");
    // wgpu's own words: no right to be copied from, and another device's.
    let error = told(&backend, &buffer(&device, 64, Usage::COPY_DST), 0);
    assert!(matches!(&error, Error::Driver(_)) && error.to_string().contains("COPY_SRC"), "{error}");
    let stranger = WgpuDevice::open(&WgpuOptions::default()).unwrap();
    assert!(matches!(told(&backend, &buffer(&stranger, 64, copies), 0), Error::Driver(_)));
    let other = WgpuBackend::on(stranger).unwrap();
    assert!(matches!(told(&other, &from, 0), Error::Foreign { .. }));
    // Rows of three bytes.
    let view = ImageView::packed(Extent::new(3, 2), PixelFormat::R8, 4, 0, false).unwrap();
    let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
    let error = backend.copy_from_buffer(target, &from, 0).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { .. }), "{error}");
    // Nothing was lost by it.
    backend.copy_from_buffer(Target::buffer(memory.as_mut()), &from, 0).unwrap();
}

/// The frame's own buffer, written by the engine's queue with no copy in between.
#[test]
fn a_frame_is_a_buffer_of_wgpus() {
    let Some(display) = need(Need::Lavapipe, WgpuDisplay::headless(WgpuOptions::default())) else { return };
    let backend = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    let desc = SurfaceDesc::buffer(64);
    let policy = Policy::default().with_force(PathId::IN_QUEUE_IN_PLACE);
    let mut link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::new(policy)).unwrap();
    for frame in 0..6 {
        link.frame(|next| {
            let (buffer, view) = backend.buffer_of(next.target()?)?;
            display.wgpu_queue().write_buffer(&buffer, view.span().start as u64, &numbered(64, frame));
            display.wgpu_queue().submit([]);
            // SAFETY: the names are compared only.
            match unsafe { next.raw() }?.memory() {
                RawMemory::Vulkan { buffer, device, queue } => assert!(buffer != 0 && device != 0 && queue != 0),
                other => panic!("{other:?}"),
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(link.read_back().unwrap(), numbered(64, frame), "frame {frame}");
    }
}
