//! Sizes at the edges of what links take, on every path. What links show at other sizes is a matter of `fuzz::links`.

use pixelferry::{
    ComputeBackend, CpuBackend, Display, DisplayChoice, ImageAccess, ImageDesc, Link, LinkOptions, MemoryDisplay,
    PathId, PixelFormat, Policy, RowOrder, SurfaceDesc, open_headless,
};
use pixelferry_tests::{Need, few, need, offered};
use std::sync::Arc;

fn image(width: u32, height: u32, format: PixelFormat, order: RowOrder) -> ImageDesc {
    ImageDesc::new(width, height, format).with_access(ImageAccess::Any).with_row_order(order)
}

fn threads() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

/// The paths between threads and `display`.
fn paths(display: &Arc<dyn Display>) -> Vec<PathId> {
    offered(&threads(), display, &SurfaceDesc::Image(image(20, 10, PixelFormat::Rgba8, RowOrder::TopDown)))
}

#[test]
fn large_and_impossible_sizes() {
    let displays = need(Need::Egl, open_headless(DisplayChoice::Gl)).map(|gl| gl.display());
    for display in displays.into_iter().chain([MemoryDisplay::new() as Arc<dyn Display>]) {
        let backend = threads();
        for path in paths(&display) {
            let options = LinkOptions::new(Policy::default().with_force(path));
            let open = |w, h, format| {
                let desc = SurfaceDesc::Image(image(w, h, format, RowOrder::TopDown));
                Link::open(Arc::clone(&backend), Arc::clone(&display), desc, options.clone())
            };
            // Opening proves the pixels.
            for (w, h) in few(&[(8191, 3), (3, 8191), (8192, 8192)], 2).iter().copied() {
                let link = open(w, h, PixelFormat::R8).unwrap_or_else(|e| panic!("{path} {w}x{h}: {e}"));
                assert_eq!(link.path(), path);
            }
            for (w, h) in [(0, 1), (1, 0), (0, 0), (u32::MAX, u32::MAX), (u32::MAX, 1), (1, u32::MAX)] {
                let e = open(w, h, PixelFormat::Rgba32F).expect_err("an impossible size was taken");
                assert!(!e.to_string().is_empty());
            }
        }
    }
}
