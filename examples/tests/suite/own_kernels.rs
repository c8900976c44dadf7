//! Frames that opencl3, cudarc and a pointer wrote, on every path of every driver, byte for byte.

use pixelferry::driver::backend_in;
use pixelferry::{
    ComputeBackend, CpuBackend, Display, DisplayChoice, Error, ImageAccess, ImageDesc, Link, LinkOptions,
    MemoryDisplay, Mode, PathId, PixelFormat, Policy, Profiles, RawMemory, Region, RowOrder, SurfaceDesc,
    open_headless,
};
use pixelferry_examples::own_kernels::{OwnKernels, pixel};
use pixelferry_tests::{Need, need, on_each_backend};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const WIDTH: u32 = 45;
const HEIGHT: u32 = 19;

fn expected(region: Region, t: u32, part: Option<u32>) -> Vec<u8> {
    let inside = |x, y| x >= region.x && x < region.x + region.width && y >= region.y && y < region.y + region.height;
    (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
        .flat_map(|(x, y)| match part {
            Some(t) if inside(x, y) => pixel(x - region.x, y - region.y, t),
            _ => pixel(x, y, t),
        })
        .collect()
}

/// Every path that opens between the two; their names.
fn paths(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    let image = ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8);
    for desc in [image, image.with_access(ImageAccess::Any).with_row_order(RowOrder::BottomUp)] {
        for (path, mode) in
            PathId::ALL.into_iter().flat_map(|path| [(path, Mode::Latency), (path, Mode::FramesBehind(1))])
        {
            let policy = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off);
            let options = LinkOptions::new(policy.with_force(path).with_mode(mode));
            let mut link = match Link::open(Arc::clone(backend), Arc::clone(display), SurfaceDesc::Image(desc), options)
            {
                Ok(link) => link,
                Err(Error::NoPath { .. }) => continue,
                Err(other) => panic!("{path}: {other}"),
            };
            let mut kernels = OwnKernels::default();
            for t in 0..5 {
                link.frame(|frame| kernels.write(frame, t)).unwrap();
            }
            let region = Region::new(5, 3, 20, 9);
            let mut part = link.acquire_region(region).unwrap();
            kernels.write(&mut part, 77).unwrap();
            part.finish().unwrap();
            link.flush().unwrap();
            assert_eq!(link.path(), path);
            assert!(
                link.read_back().unwrap() == expected(region, 4, Some(77)),
                "{path} to {}, {mode:?}",
                display.device()
            );
            names.insert(path.name());
        }
    }
    names
}

fn check(backend: &Arc<dyn ComputeBackend>) {
    let memory: Arc<dyn Display> = MemoryDisplay::new();
    let gl = need(Need::Egl, open_headless(DisplayChoice::Gl)).map(|screen| screen.display());
    for display in [Some(memory), gl].into_iter().flatten() {
        let backend = backend_in(backend, display.as_ref());
        let names = paths(&backend, &display);
        println!("OWN KERNELS ON {} to {}: {names:?}", backend.device(), display.device());
        assert!(!names.is_empty());
    }
}

on_each_backend!(check, "OWN KERNELS ON");

/// Memory of a buffer, and of a backend that has no names outside.
#[test]
fn bytes_have_names_too() {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let mut link = Link::open(backend, MemoryDisplay::new(), SurfaceDesc::buffer(100), LinkOptions::default()).unwrap();
    let mut frame = link.acquire().unwrap();
    // SAFETY: the view's bytes are written at once.
    let raw = unsafe { frame.raw() }.unwrap();
    let RawMemory::Host { address } = raw.memory() else { panic!("{raw:?}") };
    let span = raw.view().span();
    for (n, at) in span.enumerate() {
        // SAFETY: inside the view.
        unsafe { address.add(at).write(n as u8) };
    }
    frame.finish().unwrap();
    assert_eq!(link.read_back().unwrap(), (0..100).collect::<Vec<u8>>());
    let mut kernels = OwnKernels::default();
    let refused = link.frame(|frame| kernels.write(frame, 0)).unwrap_err();
    assert!(refused.to_string().contains("not an RGBA8 picture"), "{refused}");
}
