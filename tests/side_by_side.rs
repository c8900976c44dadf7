//! Displays come and go beside others that go on: their drivers share state in the process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use pixelferry::{
    CpuBackend, DisplayChoice, Headless, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, open_headless,
};
use pixelferry_tests::{Driver, need};
use std::sync::Arc;

/// A new link on `display` shows what was written.
fn works(display: &Headless, when: &str) {
    if let Some(gl) = display.gl() {
        gl.make_current().unwrap_or_else(|e| panic!("{when}: {e}"));
    }
    let desc = SurfaceDesc::image(40, 30, PixelFormat::Rgba8);
    let options = LinkOptions { policy: Policy { force: Some(PathId::HostRoundTrip), ..Policy::default() } };
    let link = Link::open(Arc::new(CpuBackend::new().unwrap()), display.display(), desc, options);
    let mut link = link.unwrap_or_else(|e| panic!("{when}: {e}"));
    let mut frame = link.acquire().unwrap();
    frame.write(&[9; 40 * 30 * 4]).unwrap();
    frame.finish().unwrap();
    assert!(link.read_back().unwrap().iter().all(|b| *b == 9), "{when}: other pixels");
    println!("{when}: works");
}

#[test]
fn each_goes_on_when_the_other_is_gone() {
    let open_gl = || need(Driver::Egl, open_headless(DisplayChoice::Gl));
    let open_wgpu = || need(Driver::Lavapipe, open_headless(DisplayChoice::Wgpu));
    let Some(gl) = open_gl() else { return };
    let check = |when: &str| works(&gl, when);
    check("OpenGL alone");
    let second = open_gl().unwrap();
    works(&second, "a second OpenGL");
    check("OpenGL, with a second");
    drop(second);
    check("OpenGL, the second gone");
    let Some(wgpu) = open_wgpu() else { return };
    check("OpenGL, beside wgpu");
    works(&wgpu, "wgpu beside OpenGL");
    check("OpenGL, beside wgpu in use");
    drop(wgpu);
    check("OpenGL, wgpu gone");
    let wgpu = open_wgpu().unwrap();
    drop(gl);
    works(&wgpu, "wgpu, OpenGL gone");
}
