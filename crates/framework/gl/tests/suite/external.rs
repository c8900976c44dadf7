//! Memory of another API that GL opens by a descriptor.

use crate::suite::common::{
    FORMATS, assert_same, expected, headless, image_view, is_software, pattern, read_all, supports, tight,
};
use crate::suite::engine::Engine;
use crate::suite::vulkan::ExportedMemory;
use interop_core::display::{Display, Staging, StagingKind, SurfacePart};
use interop_core::{BufferView, Error, HandleType, MemoryHandle, PixelFormat, SharedHandle, SurfaceDesc, View};
use pixelferry_gl::glow::{self, HasContext as _};
use pixelferry_gl::{EngineOptions, GlDisplay};
use pixelferry_testing::{Need, Usage, need};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// A display that opens descriptors.
fn display() -> Option<Arc<GlDisplay>> {
    let display = headless(None)?;
    let opens = display.caps().can_import(HandleType::OpaqueFd, interop_core::MemoryShape::Linear);
    supports(&display, "memory by descriptor", opens).then_some(display)
}

/// Memory on the device that draws.
fn exported(display: &GlDisplay, bytes: usize) -> Option<ExportedMemory> {
    if !is_software(display, "memory that the host writes") {
        return None;
    }
    need(Need::Lavapipe, ExportedMemory::new(bytes))
}

fn open(display: &GlDisplay, handle: SharedHandle, bytes: usize) -> Result<Staging, Error> {
    display.create_staging(StagingKind::External(handle), bytes)
}

/// Descriptors of things that are no memory of a GPU's.
fn impostors() -> Vec<(&'static str, OwnedFd)> {
    let file = std::env::temp_dir().join(format!("pixelferry-{}", std::process::id()));
    std::fs::write(&file, vec![0; 1 << 20]).unwrap();
    let zeros = File::options().read(true).write(true).open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let (reader, _) = std::io::pipe().unwrap();
    vec![
        ("device", File::open("/dev/null").unwrap().into()),
        ("file of zeros", zeros.into()),
        ("read-only file", File::open("/proc/self/exe").unwrap().into()),
        ("pipe", reader.into()),
    ]
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn bad_descriptors_are_errors_and_nothing_leaks() {
    let Some(display) = display() else { return };
    let (counts, descriptors) = (display.object_counts(), Usage::here().unwrap().descriptors);
    for _ in 0..20 {
        for (name, fd) in impostors() {
            // SAFETY: it is no memory, which the driver finds out.
            let handle = SharedHandle::Memory(unsafe { MemoryHandle::new(fd, 1 << 20, false) });
            match open(&display, handle, 4096).map(|_| ()) {
                Err(Error::Driver(e)) => assert!(!e.hint.is_empty(), "{name}: {e}"),
                Err(Error::InvalidInput { .. }) if display.device().vendor.contains("NVIDIA") => {}
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(Usage::here().unwrap().descriptors, descriptors);
    }
    assert_eq!(display.object_counts(), counts);
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn impossible_sizes_and_wrong_handles_are_refused() {
    let Some(display) = display() else { return };
    let descriptors = Usage::here().unwrap().descriptors;
    let null = |bytes| {
        let fd = File::open("/dev/null").unwrap().into();
        // SAFETY: it is no memory, which is refused before or by the driver.
        SharedHandle::Memory(unsafe { MemoryHandle::new(fd, bytes, false) })
    };
    for (whole, bytes) in [(0, 1), (4096, 0), (4096, 4097), (u64::MAX, 1 << 31), (u64::MAX, usize::MAX)] {
        let refused = open(&display, null(whole), bytes).map(|_| ());
        let right = matches!(refused, Err(Error::InvalidInput { .. } | Error::Unsupported { .. }));
        assert!(right, "{bytes} of {whole}: {refused:?}");
    }
    let buffer = open(&display, SharedHandle::GlBuffer { name: 1 }, 4);
    assert!(matches!(buffer.map(|_| ()), Err(Error::Unsupported { .. })));
    // Without the extension.
    let limited = headless(Some((3, 3))).unwrap();
    let reason = open(&limited, null(4096), 4096).map(|_| ()).unwrap_err().to_string();
    assert!(reason.contains("GL_EXT_memory_object_fd"), "{reason}");
    drop(limited);
    display.make_current().unwrap();
    // SAFETY: the context is current until the end, and this display is dropped before it.
    let engine = unsafe { GlDisplay::from_engine(display.gl().clone(), EngineOptions::default()) }.unwrap();
    // Functions that its glow lacks are found by the window system.
    let refused = open(&engine, null(4096), 4096).map(|_| ());
    assert!(matches!(refused, Err(Error::Driver(_) | Error::InvalidInput { .. })), "{refused:?}");
    assert_eq!(engine.device().uuid, display.device().uuid);
    assert_eq!(Usage::here().unwrap().descriptors, descriptors);
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn gl_reads_what_the_other_api_writes() {
    let Some(display) = display() else { return };
    let Some(mut memory) = exported(&display, 1 << 17) else { return };
    let descriptors = Usage::here().unwrap().descriptors;
    let mut staging = open(&display, memory.handle(), 100_001).unwrap();
    assert!(
        Usage::here().unwrap().descriptors <= descriptors,
        "the driver keeps no descriptor open, and neither do we"
    );
    assert_eq!((staging.len(), staging.host_block().is_none()), (100_001, true));
    assert!(matches!(staging.map_write(&mut |_| Ok(())), Err(Error::Unsupported { .. })));
    for format in FORMATS {
        let desc = SurfaceDesc::image(33, 17, format);
        let mut texture = display.create_surface(&desc).unwrap();
        let mut in_place = display.create_in_place_surface(&desc).unwrap();
        let bpp = format.bytes_per_pixel();
        for (nonce, (offset, pitch)) in (1..).zip([(0, 33 * bpp), (3 * bpp, 35 * bpp)]) {
            let view = image_view(33, 17, format, offset, pitch);
            staging.wait().unwrap();
            memory.write(&pattern(&view, nonce));
            texture.upload_staged(&SurfacePart::full(&desc), &mut staging, &view).unwrap();
            in_place.read_in_place(&staging, &view).unwrap();
            assert_same("uploaded", &expected(&view, nonce), &read_all(&mut texture));
            assert_same("in place", &expected(&view, nonce), &read_all(&mut in_place));
            staging.fence().unwrap();
        }
    }
    let desc = SurfaceDesc::buffer(5000);
    let view = View::Buffer(BufferView { offset: 7, len: 5000 });
    let mut own = display.create_surface(&desc).unwrap();
    let mut in_place = display.create_in_place_surface(&desc).unwrap();
    staging.wait().unwrap();
    memory.write(&pattern(&view, 9));
    own.upload_staged(&SurfacePart::full(&desc), &mut staging, &view).unwrap();
    in_place.read_in_place(&staging, &view).unwrap();
    assert_same("copied", &expected(&view, 9), &read_all(&mut own));
    assert_same("in place", &expected(&view, 9), &read_all(&mut in_place));
    assert_eq!(display.surface_buffer(&in_place).unwrap().offset, 7);
    // The shown surface outlives both ends.
    drop((staging, memory));
    assert_same("afterwards", &expected(&view, 9), &read_all(&mut in_place));
    drop((own, in_place));
    let counts = display.object_counts();
    assert_eq!((counts.buffers, counts.memory_objects, counts.syncs), (0, 0, 0));
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn many_frames_round_a_ring() {
    let Some(display) = display() else { return };
    let desc = SurfaceDesc::image(65, 33, PixelFormat::Rgba8);
    let view = tight(&desc);
    let bytes = desc.byte_len().unwrap();
    let mut ring = Vec::new();
    for _ in 0..3 {
        let Some(memory) = exported(&display, bytes) else { return };
        let staging = open(&display, memory.handle(), bytes).unwrap();
        ring.push((memory, staging));
    }
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    let mut before = None;
    for nonce in 0..60u32 {
        let slot = nonce as usize % ring.len();
        let (memory, staging) = &mut ring[slot];
        staging.wait().unwrap();
        memory.write(&expected(&view, nonce));
        surface.read_in_place(staging, &view).unwrap();
        assert_same("frame", &expected(&view, nonce), &read_all(&mut surface));
        staging.fence().unwrap();
        if slot == 2 {
            let now = (display.object_counts(), Usage::here().unwrap().descriptors);
            assert_eq!(*before.get_or_insert(now), now);
        }
    }
}

#[test]
fn names_are_deleted_in_the_right_context() {
    let Some(engine) = Engine::new() else { return };
    let display = engine.pixelferry(None);
    let Some(memory) = exported(&display, 4096) else { return };
    let staging = open(&display, memory.handle(), 4096).unwrap();
    let stranger = headless(None).unwrap();
    assert!(matches!(open(&display, memory.handle(), 4096).map(|_| ()), Err(Error::WrongContext { .. })));
    drop(staging);
    let counts = display.object_counts();
    assert_eq!((counts.buffers, counts.memory_objects, counts.awaiting_context), (1, 1, 2));
    drop(stranger);
    engine.make_current();
    display.delete_dropped().unwrap();
    assert_eq!(display.object_counts(), pixelferry_gl::ObjectCounts::default());
}

/// Memory that the display makes for others: what is written through one opening of it is seen through the other.
#[test]
fn exported_memory_is_one_memory_for_all_who_open_it() {
    let Some(display) = display() else { return };
    let exports = display.caps().can_export(HandleType::OpaqueFd, interop_core::MemoryShape::Linear);
    if !supports(&display, "memory for others", exports) {
        return;
    }
    for bytes in [1usize, 100, 4096, 70_001] {
        let desc = SurfaceDesc::buffer(bytes as u64);
        let view = View::Buffer(BufferView { offset: 0, len: bytes });
        let made = match display.create_staging(StagingKind::Exported, bytes) {
            Err(e) if !matches!(e, Error::Unsupported { .. }) => panic!("{e}"),
            made => need(Need::Lavapipe, made),
        };
        let Some(made) = made else { return };
        assert_eq!((made.len(), made.host_block().is_none()), (bytes, true));
        made.export(HandleType::HostPointer).unwrap_err();
        let handle = made.export(HandleType::OpaqueFd).unwrap();
        let SharedHandle::Memory(memory) = &handle else { panic!("{handle:?}") };
        assert!(memory.bytes() >= bytes as u64);
        let opened = display.create_staging(StagingKind::External(handle), bytes).unwrap();
        let show = |staging: &Staging| {
            let mut surface = display.create_in_place_surface(&desc).unwrap();
            surface.read_in_place(staging, &view).unwrap();
            surface
        };
        let (written, mut read) = (show(&made), show(&opened));
        let pattern: Vec<u8> = (0..bytes).map(|i| (i * 13 + 5) as u8).collect();
        let name = display.surface_buffer(&written).unwrap().name;
        // SAFETY: the display's context is current, and the buffer is of it and has so many bytes.
        unsafe {
            display.gl().bind_buffer(glow::ARRAY_BUFFER, Some(name));
            display.gl().buffer_sub_data_u8_slice(glow::ARRAY_BUFFER, 0, &pattern);
            display.gl().bind_buffer(glow::ARRAY_BUFFER, None);
        }
        assert_eq!(read.read_back(&SurfacePart::full(&desc)).unwrap(), pattern, "{bytes} bytes");
    }
    assert_eq!(display.object_counts().memory_objects, 0);
    display.create_staging(StagingKind::Exported, 0).map(drop).unwrap_err();
}
