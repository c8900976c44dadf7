//! Cost of a resize: memory that has room is used again, and nothing is proved.

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::{
    BufferDesc, ComputeBackend, Error, Extent, ImageAccess, ImageDesc, Link, LinkOptions, Mode, PathId, PixelFormat,
    Policy, Region, SurfaceDesc, Unwritten,
};
use pixelferry_testing::Dice;
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
fn memory(link: &mut Link) -> usize {
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

#[test]
fn whatever_comes_between_resizes_the_picture_is_that_of_the_frames() {
    const MOST: u32 = 24;
    let rules = [Unwritten::Keep, Unwritten::Clear, Unwritten::Overwrite];
    let cases = PATHS.into_iter().flat_map(|path| rules.map(|rule| (path, rule)));
    for ((path, rule), behind) in cases.flat_map(|case| [0, 2].map(|behind| (case, behind))) {
        let mut dice = Dice(7 + behind as u64);
        let mut below = |most: u32| dice.below(most as usize) as u32;
        let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        let of = |width, height| {
            let image = ImageDesc::new(width, height, PixelFormat::R8).with_access(ImageAccess::Any);
            SurfaceDesc::Image(image.with_unwritten(rule))
        };
        let mut size = (MOST, MOST);
        let policy = Policy::default().with_force(path).with_mode(Mode::FramesBehind(behind));
        let mut link = Link::open(backend, MemoryDisplay::new(), of(MOST, MOST), LinkOptions::new(policy)).unwrap();
        // The shown frame, and the content below the next part.
        let mut shown: Option<Vec<u8>> = None;
        let mut under = vec![0; (MOST * MOST) as usize];
        for step in 0..400 {
            match below(8) {
                0 | 1 => {
                    let to = (1 + below(MOST), 1 + below(MOST));
                    link.flush().unwrap();
                    link.resize(of(to.0, to.1)).unwrap();
                    if to != size {
                        (size, under) = (to, vec![0; (to.0 * to.1) as usize]);
                    }
                }
                2 => {
                    let given_up = link.frame(|frame| {
                        frame.write(&vec![99; (size.0 * size.1) as usize])?;
                        Err(Error::NothingShown)
                    });
                    assert!(given_up.is_err());
                }
                3 => {
                    let value = step as u8;
                    link.frame(|frame| frame.write(&vec![value; (size.0 * size.1) as usize])).unwrap();
                    under.fill(value);
                    shown = Some(under.clone());
                }
                _ => {
                    let (x, y) = (below(size.0), below(size.1));
                    let part = Region::new(x, y, 1 + below(size.0 - x), 1 + below(size.1 - y));
                    let value = step as u8;
                    let bytes = vec![value; (part.width * part.height) as usize];
                    link.frame_region(part, |frame| frame.write(&bytes)).unwrap();
                    for row in part.y..part.y + part.height {
                        let from = (row * size.0 + part.x) as usize;
                        under[from..from + part.width as usize].fill(value);
                    }
                    shown = Some(under.clone());
                }
            }
            if below(2) == 0
                && let Some(shown) = &shown
            {
                link.flush().unwrap();
                let found = link.read_back().unwrap();
                assert!(found == *shown, "{path}, {rule}, {behind} behind, step {step}: {found:?} is not {shown:?}");
            }
        }
    }
}
