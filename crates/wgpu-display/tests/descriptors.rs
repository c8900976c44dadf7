//! Descriptors are not leaked. Alone in its process, as it counts them.

#![cfg(target_os = "linux")]
// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use interop_core::{Display, HandleType, ImageDesc, PixelFormat, SharedHandle, StagingKind};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn descriptors_are_closed_whatever_becomes_of_them() {
    let Some(display) = common::display() else { return };
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let round = || {
        let staging = display.create_staging(StagingKind::ExportedImage(image), 2048).unwrap();
        let SharedHandle::Memory { handle: fd, bytes, .. } = staging.export(HandleType::OpaqueFd).unwrap() else {
            panic!("not a descriptor")
        };
        let handle = |handle| SharedHandle::Memory { handle, bytes, dedicated: false };
        let too_many = usize::try_from(bytes).unwrap() + 4096;
        let again = fd.try_clone().unwrap();
        assert!(display.create_staging(StagingKind::External(handle(again)), too_many).is_err());
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(display.create_staging(StagingKind::External(handle(null.into())), 1024).is_err());
        drop(display.create_staging(StagingKind::External(handle(fd)), 1024).unwrap());
        drop(staging);
        display.finish().unwrap();
    };
    round();
    let before = descriptors();
    (0..20).for_each(|_| round());
    assert_eq!(descriptors(), before);
}
