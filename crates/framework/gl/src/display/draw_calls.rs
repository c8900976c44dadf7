//! What a draw calls of OpenGL, counted.

use crate::context::call_counters::{COUNTERS, calls};
use crate::{DrawOptions, EngineOptions, GlDisplay, HeadlessOptions, Manner, Viewport};
use glow::HasContext as _;
use interop_core::display::Display as _;
use interop_core::{PixelFormat, SurfaceDesc};
use pixelferry_testing::{Need, need};
use std::collections::BTreeMap;
use std::ffi::CStr;

#[test]
fn a_draw_asks_nothing_of_a_framebuffer_that_was_made_here() {
    COUNTERS.set(Some(BTreeMap::new()));
    let Some(own) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let counters = COUNTERS.take();
    let load = |name: &CStr| {
        counters
            .as_ref()
            .and_then(|all| all.get(name.to_str().ok()?))
            .map_or(std::ptr::null(), |(_, function)| *function)
    };
    // SAFETY: the context is current, the functions are its own, and it outlives the display.
    let engine = unsafe { GlDisplay::from_loader(load, EngineOptions::default()) }.unwrap();
    COUNTERS.set(counters.clone());
    let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
    let options = DrawOptions::default().with_manner(Manner::Triangle);
    let mut found = Vec::new();
    for (whose, display) in [("own", &own), ("an engine's", &engine)] {
        let surface = display.create_surface(&desc).unwrap();
        let target = display.create_offscreen_target(8, 8).unwrap();
        let draw = || display.draw(&surface, Viewport::full(8, 8), options).unwrap();
        target.bind().unwrap();
        draw();
        let ours = calls(draw);
        // The same texture behind a framebuffer of the program's own.
        let gl = display.gl();
        // SAFETY: the context is current, and the names are of it.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            gl.framebuffer_texture_2d(
                glow::FRAMEBUFFER,
                glow::COLOR_ATTACHMENT0,
                glow::TEXTURE_2D,
                Some(target.texture()),
                0,
            );
        }
        draw();
        let theirs = calls(draw);
        target.unbind().unwrap();
        let sum = |calls: &BTreeMap<String, u64>| calls.values().sum::<u64>();
        println!(
            "{whose} context, version {:?}: {} calls, {} into the program's framebuffer",
            display.version(),
            sum(&ours),
            sum(&theirs)
        );
        println!("  {ours:?}\n  {theirs:?}");
        found.push((ours, theirs));
    }
    COUNTERS.set(None);
    let count = |calls: &BTreeMap<String, u64>, name: &str| calls.get(name).copied().unwrap_or(0);
    for (ours, theirs) in &found {
        for (name, least) in [("glCheckFramebufferStatus", 1), ("glGetFramebufferAttachmentParameteriv", 2)] {
            assert_eq!((count(ours, name), count(theirs, name) >= least), (0, true), "{name}");
        }
    }
    // A query makes a threaded driver wait; glGetError is that of a debug build.
    let is_query = |name: &str| ["glGet", "glIs", "glCheck"].iter().any(|kind| name.starts_with(kind));
    let asked: Vec<_> = found[0].0.iter().filter(|(name, _)| is_query(name) && *name != "glGetError").collect();
    assert_eq!(asked, [(&"glGetIntegerv".to_owned(), &1)], "an own context is asked for more than what is bound");
}
