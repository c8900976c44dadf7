//! What the tests share.
// Each test file uses its part; helpers may panic as tests may.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use gl_display::{GlDisplay, HeadlessOptions};
use interop_core::conformance;
use interop_core::describe::format::ChannelKind;
use interop_core::describe::pattern::Pattern;
use interop_core::display::{Display as _, Part, Surface};
use interop_core::{BufferView, Error, Extent, ImageDesc, ImageView, PixelFormat, Support, SurfaceDesc, View};
use pixelferry_testing::{Need, has, need};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard};

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
pub fn headless(limit: Option<(u32, u32)>) -> Option<Rc<GlDisplay>> {
    let options = HeadlessOptions::default().with_version_limit(limit);
    match GlDisplay::headless(options) {
        Err(e) if !matches!(e, Error::Unavailable { .. }) => panic!("{e}"),
        found => need(Need::Egl, found),
    }
}

/// Whether the driver has what a test is about; says SKIPPED where it does not.
pub fn supports(display: &GlDisplay, what: &str, support: Support) -> bool {
    let found = match support {
        Support::Yes => Ok(()),
        Support::No(reason) => Err(reason),
    };
    has(what, format!("{} ({})", display.device(), display.device().driver), found).is_some()
}

/// Whether the CPU draws; says SKIPPED where a GPU does.
pub fn is_software(display: &GlDisplay, what: &str) -> bool {
    supports(display, what, if display.device().software { Support::Yes } else { Support::No("a GPU draws".into()) })
}

/// The driver's best, and the least that is supported; one after the other, since one context is current at a time.
pub fn displays() -> impl Iterator<Item = Rc<GlDisplay>> {
    [None, Some((3, 3))].into_iter().filter_map(headless)
}

/// Rows of `pitch` bytes from `offset` on.
pub fn image_view(width: u32, height: u32, format: PixelFormat, offset: usize, pitch: usize) -> View {
    View::Image(ImageView { offset, row_pitch: pitch as isize, extent: Extent::new(width, height), format })
}

pub fn tight(desc: &SurfaceDesc) -> View {
    conformance::tight(desc).unwrap()
}

/// Memory that holds the pattern in `view`, with 0xA5 around it.
pub fn pattern(view: &View, nonce: u32) -> Vec<u8> {
    let mut bytes = vec![0xA5; view.checked_span().unwrap().end + 7];
    Pattern::for_view(view, nonce).write(view, &mut bytes);
    bytes
}

/// The pattern in tight rows.
pub fn expected(view: &View, nonce: u32) -> Vec<u8> {
    let tight = match *view {
        View::Image(i) => image_view(i.extent.width, i.extent.height, i.format, 0, i.row_len()),
        View::Buffer(b) => View::Buffer(BufferView { offset: 0, len: b.len }),
    };
    let mut bytes = pattern(&tight, nonce);
    bytes.truncate(tight.payload_len());
    bytes
}

pub fn assert_same(what: &str, expected: &[u8], found: &[u8]) {
    conformance::same_bytes(what, expected, found).unwrap();
}

pub fn read_all(surface: &mut dyn Surface) -> Vec<u8> {
    let part = Part::full(surface.desc());
    surface.read_back(&part).unwrap()
}

/// One test at a time, for those that count open descriptors.
pub fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An image surface that holds the first pattern.
pub fn patterned(display: &GlDisplay, image: ImageDesc) -> Box<dyn Surface> {
    let desc = SurfaceDesc::Image(image);
    let view = tight(&desc);
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&Part::full(&desc), &pattern(&view, 1), &view).unwrap();
    surface
}

pub fn plain(display: &GlDisplay) -> Box<dyn Surface> {
    patterned(display, ImageDesc::new(5, 3, PixelFormat::Rgba8))
}
