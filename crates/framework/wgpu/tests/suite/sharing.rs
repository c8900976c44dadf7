//! Memory that two devices share, and who keeps it alive.

use crate::common::{self, wgpu};
use crate::shared_memory::{self, BYTES, export, exported_image, in_place};
use interop_core::conformance::fill;
use interop_core::devices::borrows::Holder;
use interop_core::{Display, Error, HostBlock, MemoryHandle, SharedHandle, StagingKind, SurfaceDesc, SurfacePart};
use pixelferry_wgpu::{WgpuDisplay, WgpuImage};
use std::sync::Arc;

#[test]
fn surfaces_and_blocks_are_as_every_displays() {
    if common::display().is_some() {
        let open = || Ok(WgpuDisplay::headless(common::options())? as Arc<dyn Display>);
        shared_memory::surfaces_and_blocks_are_as_every_displays(&open);
    }
}

/// A drawing of one device into a texture is found by another device in the memory behind the descriptor.
#[test]
fn a_texture_of_one_device_is_memory_of_another() {
    let Some(display) = common::display() else { return };
    if !common::is_software(&display, "textures of a known layout") {
        return;
    }
    let other = WgpuDisplay::headless(common::options()).unwrap();
    let (staging, mut surface, pixels) = exported_image(&*display);
    let WgpuImage::Texture(texture, _) = display.surface_image(&surface).unwrap() else {
        panic!("a shared image is a texture")
    };
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(256), rows_per_image: None };
    display.wgpu_queue().write_texture(texture.as_image_copy(), &pixels, layout, texture.size());
    display.finish().unwrap();
    assert!(surface.read_back(&SurfacePart::full(surface.desc())).unwrap() == pixels);

    let handle = export(&staging);
    assert!(handle.is_dedicated() && handle.bytes() >= 64 * 8 * 4);
    let bytes = handle.bytes();
    // SAFETY: it is memory of so many bytes, which these drivers let be opened as any object.
    let handle = SharedHandle::Memory(unsafe { MemoryHandle::new(handle.into_handle(), bytes, false) });
    // llvmpipe's buffers need room behind them.
    let some = if common::is_opengl() { pixels.len() - 256 } else { pixels.len() };
    let opened = other.create_staging(StagingKind::External(handle), some).unwrap();
    let mut seen = in_place(&*other, &opened, some);
    // The memory stays after its maker has gone.
    drop((surface, texture, staging, display));
    assert!(seen.read_back(&SurfacePart::Buffer(0..some)).unwrap() == pixels[..some]);
    assert!(opened.host_block().is_none());
}

#[test]
fn memory_is_shared_and_what_is_none_is_refused() {
    let Some(display) = common::display() else { return };
    shared_memory::every_format_is_exported(&*display);
    shared_memory::blocks_that_nothing_was_written_to_are_refused(&*display);
    let error = shared_memory::a_descriptor_of_something_else_is_refused(&*display);
    // OpenGL would open it, were it what it says.
    let refused = match error {
        Error::Driver(_) => common::is_opengl(),
        Error::Unsupported { .. } => !common::is_opengl(),
        _ => false,
    };
    assert!(refused, "{error}");
    if common::is_software(&display, "memory that the host writes") {
        let other = WgpuDisplay::headless(common::options()).unwrap();
        shared_memory::linear_memory_of_one_device_is_memory_of_another(display, &*other);
    }
}

#[test]
fn pages_of_the_host_outlive_whatever_reads_them() {
    let Some(display) = common::display() else { return };
    let host = HostBlock::allocate(BYTES).unwrap();
    let mut staging = display.create_staging(StagingKind::Imported(host), BYTES).unwrap();
    fill(&mut staging, &[7; BYTES]).unwrap();
    let mut surface = in_place(&*display, &staging, BYTES);
    drop(staging);
    assert!(surface.read_back(&SurfacePart::Buffer(0..BYTES)).unwrap().iter().all(|b| *b == 7));
    let lent = display.surface_buffer(&surface).unwrap();
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
    assert_eq!(common::bytes_of(&device, &to), [7; 64]);
}

#[test]
fn a_mapped_block_outlives_its_display() {
    let Some(display) = common::display() else { return };
    let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
    let host = staging.host_block().unwrap();
    let surface = in_place(&*display, &staging, BYTES);
    // Destroying the buffer is the engine's right; the compute side still has the address.
    display.surface_buffer(&surface).unwrap().buffer.destroy();
    drop((surface, staging, display));
    let mut bytes = host.write(0..host.len(), Holder::Guard).unwrap();
    bytes.fill(9);
    assert!(bytes.iter().all(|b| *b == 9));
}

#[test]
fn descriptors_are_not_leaked() {
    if !common::is_opengl() {
        shared_memory::descriptors_are_counted_in_a_child("sharing::child_descriptors");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_descriptors() {
    let Some(display) = common::display() else { return };
    shared_memory::descriptors_are_closed_whatever_becomes_of_them(&*display);
}

#[test]
fn hostile_drivers_get_errors() {
    let Some(display) = common::display() else { return };
    crate::hostile::hostile_drivers_get_errors(&*display, true);
}
