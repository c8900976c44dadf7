//! Helpers shared by the tests.

use crate::suite::engine::Engine;
use interop_core::conformance;
use interop_core::describe::format::ChannelKind;
use interop_core::display::{Display as _, Surface, SurfacePart};
use interop_core::{Error, Extent, ImageDesc, ImageView, PixelFormat, Support, SurfaceDesc, View};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, has, need};
use std::sync::Arc;

pub const FORMATS: [PixelFormat; interop_core::describe::format::COUNT] = PixelFormat::ALL;

/// Channels and their type in client memory, as a texture stores them.
pub fn stored(format: PixelFormat) -> (u32, u32) {
    let channels = match format.channels() {
        1 => glow::RED,
        2 => glow::RG,
        _ => glow::RGBA,
    };
    let ty = match format.channel_kind() {
        ChannelKind::Unorm8 => glow::UNSIGNED_BYTE,
        ChannelKind::Unorm16 => glow::UNSIGNED_SHORT,
        ChannelKind::Unorm10A2 => glow::UNSIGNED_INT_2_10_10_10_REV,
        ChannelKind::Float16 => glow::HALF_FLOAT,
        _ => glow::FLOAT,
    };
    (channels, ty)
}

/// A display with no window. `limit` tests what old drivers get.
pub fn headless(limit: Option<(u32, u32)>) -> Option<Arc<GlDisplay>> {
    let options = HeadlessOptions::default().with_version_limit(limit);
    match GlDisplay::headless(options) {
        Err(e) if !matches!(e, Error::Unavailable { .. }) => panic!("{e}"),
        found => need(Need::Egl, found),
    }
}

/// True where the driver has what a test is about; says SKIPPED where it does not.
pub fn supports(display: &GlDisplay, what: &str, support: Support) -> bool {
    let found = match support {
        Support::Yes => Ok(()),
        Support::No(reason) => Err(reason),
    };
    has(what, format!("{} ({})", display.device(), display.device().driver), found).is_some()
}

/// True where the CPU draws; says SKIPPED where a GPU does.
pub fn is_software(display: &GlDisplay, what: &str) -> bool {
    supports(display, what, if display.device().software { Support::Yes } else { Support::No("a GPU draws".into()) })
}

/// The driver's best, and the least that is supported; one after the other, since one context is current at a time.
pub fn displays() -> impl Iterator<Item = Arc<GlDisplay>> {
    [None, Some((3, 3))].into_iter().filter_map(headless)
}

/// Rows of `pitch` bytes from `offset` on.
pub fn image_view(width: u32, height: u32, format: PixelFormat, offset: usize, pitch: usize) -> View {
    View::Image(ImageView { offset, row_pitch: pitch as isize, extent: Extent::new(width, height), format })
}

pub use conformance::{expected, patterned as pattern};

pub fn tight(desc: &SurfaceDesc) -> View {
    conformance::tight(desc).unwrap()
}

pub fn assert_same(what: &str, expected: &[u8], found: &[u8]) {
    conformance::same_bytes(what, expected, found).unwrap();
}

pub fn read_all(surface: &mut Surface) -> Vec<u8> {
    let part = SurfacePart::full(surface.desc());
    surface.read_back(&part).unwrap()
}

/// An image surface that holds the first pattern.
pub fn patterned(display: &GlDisplay, image: ImageDesc) -> Surface {
    let desc = SurfaceDesc::Image(image);
    conformance::stored(display, &desc, &expected(&tight(&desc), 1)).unwrap()
}

pub fn plain(display: &GlDisplay) -> Surface {
    patterned(display, ImageDesc::new(5, 3, PixelFormat::Rgba8))
}

/// The driver's best, and what it would be without later versions and extensions; one after the other, since one context is
/// current at a time. Each keeps its context.
pub fn es_displays() -> impl Iterator<Item = Arc<GlDisplay>> {
    [None, Some((3, 1)), Some((3, 0))].into_iter().filter_map(|limit| Some(Engine::es()?.pixelferry(limit)))
}

/// Those of desktop OpenGL, too.
pub fn all_displays() -> impl Iterator<Item = Arc<GlDisplay>> {
    displays().chain(es_displays())
}

/// Returns what the display shows; all of them in desktop OpenGL.
pub fn formats(display: &GlDisplay) -> Vec<PixelFormat> {
    let formats = display.caps().image_formats.clone();
    assert!(display.is_es() || formats == PixelFormat::ALL);
    formats
}
