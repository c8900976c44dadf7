//! Memory that two devices share, and who keeps it alive.

#![cfg(target_os = "linux")]
// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::wgpu;
use interop_core::devices::borrows::Holder;
use interop_core::{
    BufferView, Display, Error, Extent, HandleType, HostBlock, ImageAccess, ImageDesc, ImageView, MemoryHandle, Part,
    PixelFormat, SharedHandle, Staging, StagingKind, Surface, SurfaceDesc, SyncKind, View,
};
use std::rc::Rc;
use wgpu_display::{WgpuDisplay, WgpuImage};

const BYTES: usize = 10_000;

fn whole(bytes: usize) -> View {
    View::Buffer(BufferView { offset: 0, len: bytes })
}

/// A buffer of `staging`, read where it lies.
fn in_place(display: &WgpuDisplay, staging: &dyn Staging, bytes: usize) -> Box<dyn Surface> {
    let mut surface = display.create_in_place_surface(&SurfaceDesc::buffer(bytes as u64)).unwrap();
    surface.read_in_place(staging, &whole(bytes)).unwrap();
    surface
}

fn export(staging: &dyn Staging) -> MemoryHandle {
    match staging.export(HandleType::OpaqueFd).unwrap() {
        SharedHandle::Memory(handle) => handle,
        other => panic!("not a descriptor: {other:?}"),
    }
}

fn texture(display: &WgpuDisplay, staging: &dyn Staging, image: ImageDesc) -> (Box<dyn Surface>, wgpu::Texture) {
    let mut surface = display.create_in_place_surface(&SurfaceDesc::Image(image)).unwrap();
    let view = ImageView::packed(image.extent, image.format, 1, 0, false).unwrap();
    surface.read_in_place(staging, &View::Image(view)).unwrap();
    let WgpuImage::Texture(texture, _) = display.surface_image(surface.as_ref()).unwrap() else {
        panic!("a shared image is a texture")
    };
    (surface, texture)
}

/// What one device draws into a texture, another finds in the memory behind its descriptor.
#[test]
fn a_texture_of_one_device_is_memory_of_another() {
    let Some(display) = common::display() else { return };
    if !common::is_software(&display, "textures of a known layout") {
        return;
    }
    let other = WgpuDisplay::headless(common::options()).unwrap();
    // Rows of 256 bytes, which lavapipe does not pad.
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let staging = display.create_staging(StagingKind::ExportedImage(image), 64 * 8 * 4).unwrap();
    let (mut surface, texture) = texture(&display, staging.as_ref(), image);
    let pixels: Vec<u8> = (0..64 * 8 * 4).map(|i| (i * 7 + i / 256) as u8).collect();
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(256), rows_per_image: None };
    display.wgpu_queue().write_texture(texture.as_image_copy(), &pixels, layout, texture.size());
    display.finish().unwrap();
    assert!(surface.read_back(&Part::Image(Extent::new(64, 8).full())).unwrap() == pixels);

    let handle = export(staging.as_ref());
    assert!(handle.is_dedicated() && handle.bytes() >= 64 * 8 * 4);
    let bytes = handle.bytes();
    // SAFETY: it is memory of so many bytes, which these drivers let be opened as any object.
    let handle = SharedHandle::Memory(unsafe { MemoryHandle::new(handle.into_handle(), bytes, false) });
    // llvmpipe's buffers need room behind them.
    let some = if common::is_opengl() { pixels.len() - 256 } else { pixels.len() };
    let opened = other.create_staging(StagingKind::External(handle), some).unwrap();
    let mut seen = in_place(&other, opened.as_ref(), some);
    // The memory stays after its maker has gone.
    drop((surface, texture, staging, display));
    assert!(seen.read_back(&Part::Buffer(0..some)).unwrap() == pixels[..some]);
    assert!(opened.host_block().is_none());
}

/// Linear memory that one device made, another opens; what is written behind the descriptor both see.
#[test]
fn linear_memory_of_one_device_is_memory_of_another() {
    use std::os::unix::fs::FileExt as _;
    let Some(display) = common::display() else { return };
    if !common::is_software(&display, "memory that the host writes") {
        return;
    }
    let other = WgpuDisplay::headless(common::options()).unwrap();
    let staging = display.create_staging(StagingKind::Exported, BYTES).unwrap();
    assert!(staging.host_block().is_none());
    let mut own = in_place(&display, staging.as_ref(), BYTES);
    let handle = export(staging.as_ref());
    // lavapipe's memory is a file, which begins with a page of its own.
    let file = std::fs::File::from(handle.handle().try_clone().unwrap());
    let len = file.metadata().unwrap().len();
    let written = vec![0x5a; usize::try_from(len).unwrap() - HostBlock::PAGE];
    file.write_all_at(&written, HostBlock::PAGE as u64).unwrap();
    let handle = SharedHandle::Memory(handle);
    let opened = other.create_staging(StagingKind::External(handle), BYTES).unwrap();
    let mut seen = in_place(&other, opened.as_ref(), BYTES);
    let all = Part::Buffer(0..BYTES);
    let tail = BYTES - 2 * HostBlock::PAGE..BYTES;
    assert!(own.read_back(&all).unwrap()[tail.clone()].iter().all(|b| *b == 0x5a));
    drop((own, staging, display));
    assert!(seen.read_back(&all).unwrap()[tail].iter().all(|b| *b == 0x5a));
}

#[test]
fn a_descriptor_of_something_else_is_refused() {
    let Some(display) = common::display() else { return };
    // SAFETY: it is no memory, which the driver finds out.
    let null = || unsafe { MemoryHandle::new(std::fs::File::open("/dev/null").unwrap().into(), 4096, false) };
    let handle = SharedHandle::Memory(null());
    let error = display.create_staging(StagingKind::External(handle), 4096).map(drop);
    println!("{error:?}");
    assert!(error.is_err());
    let image = ImageDesc::new(4, 4, PixelFormat::R8);
    let handle = SharedHandle::Memory(null());
    let error = display.create_staging(StagingKind::ExternalImage(handle, image), 16).map(drop).unwrap_err();
    // OpenGL would open it, were it what it says.
    let refused = if common::is_opengl() {
        matches!(error, Error::Driver(_))
    } else {
        matches!(error, Error::Unsupported { .. })
    };
    assert!(refused, "{error}");
}

#[test]
fn pages_of_the_host_outlive_whatever_reads_them() {
    let Some(display) = common::display() else { return };
    let host = HostBlock::allocate(BYTES).unwrap();
    let mut staging = display.create_staging(StagingKind::Imported(host), BYTES).unwrap();
    staging
        .map_write(&mut |bytes| {
            bytes.fill(7);
            Ok(())
        })
        .unwrap();
    let mut surface = in_place(&display, staging.as_ref(), BYTES);
    drop(staging);
    assert!(surface.read_back(&Part::Buffer(0..BYTES)).unwrap().iter().all(|b| *b == 7));
    let lent = display.surface_buffer(surface.as_ref()).unwrap();
    let shows = display.create_surface(&SurfaceDesc::buffer(4)).unwrap();
    let (device, queue) = (display.wgpu_device().clone(), display.wgpu_queue().clone());
    // The engine keeps the buffer beyond the display: the pages are not freed under it.
    drop((surface, shows, display));
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let to = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 64,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    encoder.copy_buffer_to_buffer(&lent.buffer, 4096, &to, 0, 64);
    queue.submit([encoder.finish()]);
    to.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    assert!(to.get_mapped_range(..).unwrap().iter().all(|b| *b == 7));
}

#[test]
fn a_mapped_block_outlives_its_display() {
    let Some(display) = common::display() else { return };
    let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
    let host = staging.host_block().unwrap();
    let surface = in_place(&display, staging.as_ref(), BYTES);
    // Destroying the buffer is the engine's right; the compute side still has the address.
    display.surface_buffer(surface.as_ref()).unwrap().buffer.destroy();
    drop((surface, staging, display));
    let mut bytes = host.write(0..host.len(), Holder::Guard, "a test").unwrap();
    bytes.fill(9);
    assert!(bytes.iter().all(|b| *b == 9));
}

#[test]
fn every_format_is_read_in_place_and_exported() {
    let Some(display) = common::display() else { return };
    for format in display.caps().image_formats.clone() {
        let image = ImageDesc::new(21, 5, format).with_access(ImageAccess::Any);
        let view = ImageView::packed(image.extent, format, 256, 0, false).unwrap();
        let mut staging = display.create_staging(StagingKind::Persistent, view.span().end).unwrap();
        let pattern = interop_core::describe::pattern::Pattern::for_view(&View::Image(view), 3);
        staging
            .map_write(&mut |bytes| {
                pattern.write(&View::Image(view), bytes);
                Ok(())
            })
            .unwrap();
        let mut surface = display.create_in_place_surface(&SurfaceDesc::Image(image)).unwrap();
        surface.read_in_place(staging.as_ref(), &View::Image(view)).unwrap();
        let tight = View::Image(ImageView::packed(image.extent, format, 1, 0, false).unwrap());
        let mut expected = vec![0; tight.payload_len()];
        pattern.write(&tight, &mut expected);
        assert!(surface.read_back(&Part::Image(image.extent.full())).unwrap() == expected, "{format}");
        let exported = display.create_staging(StagingKind::ExportedImage(image), expected.len()).unwrap();
        export(exported.as_ref());
    }
}

#[test]
fn semaphores_are_made_or_the_reason_is_said() {
    let Some(display) = common::display() else { return };
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore, SyncKind::HostFence] {
        let listed = display.caps().can_make_semaphore(kind);
        match display.create_semaphore(kind) {
            Ok((mut semaphore, handle)) => {
                assert!(listed.is_yes(), "{listed:?}");
                assert!(matches!(handle, SharedHandle::Semaphore { .. }));
                let mut staging = display.create_staging(StagingKind::Persistent, 4).unwrap();
                for value in 1..4 {
                    semaphore.signal(value, staging.as_mut()).unwrap();
                    semaphore.wait(value, staging.as_mut()).unwrap();
                }
                display.finish().unwrap();
            }
            Err(error) => {
                assert!(!listed.is_yes(), "{error}");
                assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            }
        }
    }
}

#[test]
fn blocks_are_not_taken_from_another_display() {
    let Some(display) = common::display() else { return };
    let other: Rc<WgpuDisplay> = WgpuDisplay::headless(common::options()).unwrap();
    let mut staging = other.create_staging(StagingKind::Orphaned, 16).unwrap();
    let desc = SurfaceDesc::buffer(16);
    let mut surface = display.create_surface(&desc).unwrap();
    let error = surface.upload_staged(&Part::full(&desc), staging.as_mut(), &whole(16)).unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    let mut own = other.create_surface(&desc).unwrap();
    let error = own.upload_staged(&Part::full(&desc), staging.as_mut(), &whole(16)).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "not filled yet: {error}");
    assert!(staging.map_write(&mut |_| Err(Error::NothingShown)).is_err());
    staging
        .map_write(&mut |bytes| {
            bytes.fill(5);
            Ok(())
        })
        .unwrap();
    own.upload_staged(&Part::full(&desc), staging.as_mut(), &whole(16)).unwrap();
    assert_eq!(own.read_back(&Part::full(&desc)).unwrap(), [5; 16]);
}
