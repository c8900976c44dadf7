//! Cost of a resize: memory that has room is used again, and nothing is proved.

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::{
    BufferDesc, ComputeBackend, Error, Extent, ImageAccess, ImageDesc, Link, LinkCore, LinkOptions, PathId,
    PixelFormat, Policy, SurfaceDesc,
};
use std::sync::Arc;

const PATHS: [PathId; 4] =
    [PathId::PINNED_IN_PLACE, PathId::HOST_VISIBLE_UPLOAD, PathId::PBO_PERSISTENT, PathId::HOST_ROUND_TRIP];

fn image(width: u32, height: u32) -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

fn open(path: PathId, desc: SurfaceDesc) -> Link {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let options = LinkOptions::new(Policy::default().with_force(path));
    Link::open(backend, MemoryDisplay::new(), desc, options).unwrap()
}

/// Bytes of the memory that the next frame is written to.
fn memory(link: &mut LinkCore) -> usize {
    let mut frame = link.acquire().unwrap();
    frame.target().unwrap().into_parts().0.len()
}

#[test]
fn sizes_inside_the_room_use_the_memory_that_is_there() {
    for path in PATHS {
        let mut link = open(path, image(100, 100));
        let all = memory(&mut link);
        for (width, height) in [(99, 1), (1, 1), (100, 100), (50, 99)] {
            link.resize(image(width, height)).unwrap();
            assert_eq!(memory(&mut link), all, "{path}: {width}x{height}");
            link.frame(|frame| frame.write(&vec![7; (width * height * 4) as usize])).unwrap();
            assert_eq!(link.read_back().unwrap(), vec![7; (width * height * 4) as usize], "{path}");
            assert_eq!(link.report().surface, image(width, height));
        }
        link.resize(image(101, 100)).unwrap();
        let more = memory(&mut link);
        assert!(more > all, "{path}");
        link.resize(image(128, 100)).unwrap();
        assert_eq!(memory(&mut link), more, "{path}: a side that grew has room to grow on");
    }
}

#[test]
fn room_that_was_asked_for_takes_every_size_up_to_it() {
    for path in PATHS {
        let mut link = open(path, image(8, 8));
        link.resize_within(image(300, 200), image(9, 9)).unwrap();
        assert_eq!(*link.desc(), image(9, 9));
        let all = memory(&mut link);
        assert!(all >= 300 * 200 * 4);
        for (width, height) in [(300, 200), (8, 8), (299, 3)] {
            link.resize(image(width, height)).unwrap();
            assert_eq!(memory(&mut link), all, "{path}");
        }
        link.resize_within(image(10, 10), image(5, 5)).unwrap();
        assert_eq!(memory(&mut link), all, "{path}: room is not given back");
    }
}

#[test]
fn room_is_for_a_surface_of_the_same_kind() {
    let mut link = open(PathId::HOST_ROUND_TRIP, image(8, 8));
    let error = link.resize_within(SurfaceDesc::Buffer(BufferDesc::new(64)), image(4, 4)).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    link.resize_within(image(u32::MAX, u32::MAX), image(4, 4)).unwrap_err();
    assert_eq!(*link.desc(), image(8, 8), "after an error everything is as before");
    let other = SurfaceDesc::image(4, 4, PixelFormat::R32F);
    link.resize_within(SurfaceDesc::image(64, 64, PixelFormat::Rgba8), other).unwrap();
    assert_eq!(*link.desc(), other);
    assert!(memory(&mut link) >= 64 * 64 * 4, "only the size of the room counts");
}

#[test]
fn a_picture_stays_where_only_room_is_made() {
    let mut link = open(PathId::PINNED_IN_PLACE, image(4, 4));
    link.frame(|frame| frame.write(&[3; 64])).unwrap();
    link.resize_within(image(64, 64), image(4, 4)).unwrap();
    link.frame_region(Extent::new(4, 1).full(), |frame| frame.write(&[5; 16])).unwrap();
    assert_eq!(link.read_back().unwrap(), [[5; 16], [3; 16], [3; 16], [3; 16]].concat());
}
