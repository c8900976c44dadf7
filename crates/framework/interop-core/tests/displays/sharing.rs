//! Memory that two devices share, and who keeps it: what displays on Vulkan and on wgpu do alike. Their suites have this file.

use interop_core::conformance::{Surfaces, fill, tight};
use interop_core::{
    BufferView, Display, Error, HandleType, HostBlock, ImageAccess, ImageDesc, MemoryHandle, PixelFormat, Result,
    SharedHandle, Staging, StagingKind, Surface, SurfaceDesc, SurfacePart, View,
};
use pixelferry_testing::{Child, Usage, by_level};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

pub const BYTES: usize = 10_000;
/// Memory of Mesa's drivers is a file, which begins with a page of its own.
pub const HEAD: usize = HostBlock::PAGE;

/// A buffer of `staging`, read where it lies.
pub fn in_place(display: &dyn Display, staging: &Staging, bytes: usize) -> Surface {
    let mut surface = display.create_in_place_surface(&SurfaceDesc::buffer(bytes as u64)).unwrap();
    surface.read_in_place(staging, &View::Buffer(BufferView { offset: 0, len: bytes })).unwrap();
    surface
}

pub fn export(staging: &Staging) -> MemoryHandle {
    match staging.export(HandleType::OpaqueFd).unwrap() {
        SharedHandle::Memory(handle) => handle,
        other => panic!("not a descriptor: {other:?}"),
    }
}

/// An image of 64x8 pixels made for others, in rows of 256 bytes, which Mesa does not pad; and pixels for it.
pub fn exported_image(display: &dyn Display) -> (Staging, Surface, Vec<u8>) {
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let desc = SurfaceDesc::Image(image);
    let staging = display.create_staging(StagingKind::ExportedImage(image), 64 * 8 * 4).unwrap();
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    surface.read_in_place(&staging, &tight(&desc).unwrap()).unwrap();
    (staging, surface, (0..64 * 8 * 4).map(|i| (i * 7 + i / 256) as u8).collect())
}

/// Tests that both sides see what is written behind the shared descriptor.
pub fn linear_memory_of_one_device_is_memory_of_another(display: Arc<dyn Display>, other: &dyn Display) {
    let staging = display.create_staging(StagingKind::Exported, BYTES).unwrap();
    assert!(staging.host_block().is_none());
    let mut own = in_place(&*display, &staging, BYTES);
    let handle = export(&staging);
    let file = File::from(handle.handle().try_clone().unwrap());
    let len = file.metadata().unwrap().len();
    file.write_all_at(&vec![0x5a; usize::try_from(len).unwrap() - HEAD], HEAD as u64).unwrap();
    let mut opened = other.create_staging(StagingKind::External(SharedHandle::Memory(handle)), BYTES).unwrap();
    assert!(opened.host_block().is_none());
    let mut seen = in_place(other, &opened, BYTES);
    let written = |surface: &mut Surface| {
        let bytes = surface.read_back(&SurfacePart::Buffer(0..BYTES)).unwrap();
        assert!(bytes[BYTES - 2 * HEAD..].iter().all(|b| *b == 0x5a));
    };
    written(&mut own);
    // The memory stays after its maker has gone, and can be copied from.
    drop((own, staging, display));
    written(&mut seen);
    let desc = SurfaceDesc::buffer(BYTES as u64);
    let mut copied = other.create_surface(&desc).unwrap();
    copied.upload_staged(&SurfacePart::full(&desc), &mut opened, &tight(&desc).unwrap()).unwrap();
    written(&mut copied);
}

/// Neither memory nor an image; what the second is refused with.
pub fn a_descriptor_of_something_else_is_refused(display: &dyn Display) -> Error {
    // SAFETY: it is no memory, which the driver finds out.
    let null =
        || SharedHandle::Memory(unsafe { MemoryHandle::new(File::open("/dev/null").unwrap().into(), 4096, false) });
    assert!(display.create_staging(StagingKind::External(null()), 4096).is_err());
    let image = ImageDesc::new(4, 4, PixelFormat::R8);
    display.create_staging(StagingKind::ExternalImage(null(), image), 16).map(drop).unwrap_err()
}

pub fn every_format_is_exported(display: &dyn Display) {
    for format in display.caps().image_formats.clone() {
        let image = ImageDesc::new(21, 5, format).with_access(ImageAccess::Any);
        let bytes = SurfaceDesc::Image(image).byte_len().unwrap();
        export(&display.create_staging(StagingKind::ExportedImage(image), bytes).unwrap());
    }
}

pub fn blocks_that_nothing_was_written_to_are_refused(display: &dyn Display) {
    let desc = SurfaceDesc::buffer(16);
    let (all, view) = (SurfacePart::full(&desc), tight(&desc).unwrap());
    let mut staging = display.create_staging(StagingKind::Orphaned, 16).unwrap();
    let mut surface = display.create_surface(&desc).unwrap();
    let error = surface.upload_staged(&all, &mut staging, &view).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "not filled yet: {error}");
    fill(&mut staging, &[5; 16]).unwrap();
    surface.upload_staged(&all, &mut staging, &view).unwrap();
    assert_eq!(surface.read_back(&all).unwrap(), [5; 16]);
}

pub fn surfaces_and_blocks_are_as_every_displays(open: &dyn Fn() -> Result<Arc<dyn Display>>) {
    let sizes = [(33, 17), (1, 1), (101, 3), (64, 20)];
    let sizes = by_level(&sizes[..1], &sizes, &sizes);
    let ways = Surfaces { open, sizes, any_rows: false }.check().unwrap();
    assert!(ways.staged > 0 && ways.in_place > 0, "{ways:?}");
}

/// Runs a test that calls the next function in a process of its own.
pub fn descriptors_are_counted_in_a_child(test: &str) {
    // Mesa opens a file for each shader that it keeps, on a thread of its own.
    Child::of(test).unwrap().env("MESA_SHADER_CACHE_DISABLE", "true").run().unwrap().passed();
}

/// Counts those of the process: nothing else may run beside it.
pub fn descriptors_are_closed_whatever_becomes_of_them(display: &dyn Display) {
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let round = || {
        let staging = display.create_staging(StagingKind::ExportedImage(image), 2048).unwrap();
        let made = export(&staging);
        let bytes = made.bytes();
        // SAFETY: memory of so many bytes, which these drivers let be opened as any object, or what they refuse.
        let handle = |handle| SharedHandle::Memory(unsafe { MemoryHandle::new(handle, bytes, false) });
        let open = |handle, bytes| display.create_staging(StagingKind::External(handle), bytes).map(drop);
        let too_many = usize::try_from(bytes).unwrap() + 4096;
        open(handle(made.try_clone().unwrap().into_handle()), too_many).unwrap_err();
        open(handle(File::open("/dev/null").unwrap().into()), 1024).unwrap_err();
        // Memory of an image opens as anything on Mesa, and on NVIDIA as an image only.
        let _ = open(handle(made.into_handle()), 1024);
        drop(staging);
        display.finish().unwrap();
    };
    round();
    let before = Usage::here().unwrap().descriptors;
    (0..20).for_each(|_| round());
    assert_eq!(Usage::here().unwrap().descriptors, before);
}
