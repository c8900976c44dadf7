//! Descriptors are not leaked. Alone in its process, as it counts them.

#![cfg(target_os = "linux")]
// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use interop_core::{Display, HandleType, ImageDesc, MemoryHandle, PixelFormat, SharedHandle, StagingKind};
use pixelferry_testing::{Need, Usage, need};
use vulkan_display::{VulkanDisplay, VulkanOptions};

#[test]
fn descriptors_are_closed_whatever_becomes_of_them() {
    let options = VulkanOptions::default().with_name("llvmpipe");
    let Some(display) = need(Need::Lavapipe, VulkanDisplay::headless(&options)) else { return };
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let round = || {
        let staging = display.create_staging(StagingKind::ExportedImage(image), 2048).unwrap();
        let SharedHandle::Memory(made) = staging.export(HandleType::OpaqueFd).unwrap() else {
            panic!("not a descriptor")
        };
        let bytes = made.bytes();
        // SAFETY: memory of so many bytes, which this driver lets be opened as any object, or what it refuses.
        let handle = |handle| SharedHandle::Memory(unsafe { MemoryHandle::new(handle, bytes, false) });
        let too_many = usize::try_from(bytes).unwrap() + 4096;
        let again = made.try_clone().unwrap().into_handle();
        assert!(display.create_staging(StagingKind::External(handle(again)), too_many).is_err());
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(display.create_staging(StagingKind::External(handle(null.into())), 1024).is_err());
        drop(display.create_staging(StagingKind::External(handle(made.into_handle())), 1024).unwrap());
        drop(staging);
        display.finish().unwrap();
    };
    round();
    let before = Usage::here().unwrap().descriptors;
    (0..20).for_each(|_| round());
    assert_eq!(Usage::here().unwrap().descriptors, before);
}
