//! What the tests share.
// Each test file uses its part; helpers may panic as tests may.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use gl_display::{GlDisplay, HeadlessOptions};
use interop_core::display::{Part, Surface};
use interop_core::pattern::Pattern;
use interop_core::{BufferView, Error, Extent, ImageView, PixelFormat, SurfaceDesc, View};
use std::process::Command;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard};

pub const FORMATS: [PixelFormat; 6] = [
    PixelFormat::R8,
    PixelFormat::Rg8,
    PixelFormat::Rgba8,
    PixelFormat::Rgba16F,
    PixelFormat::R32F,
    PixelFormat::Rgba32F,
];

/// True where a test that cannot run must fail instead.
fn required(thing: &str) -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
        || std::env::var("PIXELFERRY_REQUIRE").is_ok_and(|v| v.split(',').any(|t| t.trim() == thing))
}

/// Says why a test did not run.
pub fn skip(thing: &str, why: &str) {
    assert!(!required(thing), "{thing} is required here but: {why}");
    println!("SKIPPED: {why}");
}

/// A display with no window. `limit` tests what old drivers get.
pub fn headless(limit: Option<(u32, u32)>) -> Option<Rc<GlDisplay>> {
    match GlDisplay::headless(HeadlessOptions { version_limit: limit, ..HeadlessOptions::default() }) {
        Ok(display) => Some(display),
        Err(e @ Error::Unavailable { .. }) => {
            skip("opengl", &e.to_string());
            None
        }
        Err(e) => panic!("{e}"),
    }
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
    match desc {
        SurfaceDesc::Image(i) => {
            let pitch = i.extent.width as usize * i.format.bytes_per_pixel();
            image_view(i.extent.width, i.extent.height, i.format, 0, pitch)
        }
        SurfaceDesc::Buffer(b) => View::Buffer(BufferView { offset: 0, len: b.bytes as usize }),
    }
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
    assert_eq!(expected.len(), found.len(), "{what}: length");
    if let Some(at) = expected.iter().zip(found).position(|(a, b)| a != b) {
        panic!("{what}: byte {at} of {} is {:#04x}, should be {:#04x}", found.len(), found[at], expected[at]);
    }
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

/// File descriptors of this process.
pub fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Runs one of the tests marked `ignore` in a process without any display server but those of `environment`.
pub fn child(test: &str, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    let output = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{test} with {environment:?}: {}\n{text}", output.status);
    assert!(text.contains("1 passed"), "{text}");
    text
}
