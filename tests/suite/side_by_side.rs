//! Displays come and go beside others that go on: their drivers share state in the process.

use pixelferry::api::wgpu::{WgpuDisplay, WgpuOptions, wgpu};
use pixelferry::{
    CpuBackend, DisplayChoice, Error, HeadlessDisplay, ImageAccess, ImageDesc, Link, LinkOptions, PathId, PixelFormat,
    Policy, SurfaceDesc, open_headless,
};
use pixelferry_tests::{Need, need};
use std::sync::Arc;

/// A new link on `display` shows what was written.
fn works(display: &HeadlessDisplay, when: &str) {
    works_by(display, PathId::HOST_ROUND_TRIP, when);
}

fn works_by(display: &HeadlessDisplay, path: PathId, when: &str) {
    if let Some(gl) = display.gl() {
        gl.make_current().unwrap_or_else(|e| panic!("{when}: {e}"));
    }
    let desc = SurfaceDesc::Image(ImageDesc::new(40, 30, PixelFormat::Rgba8).with_access(ImageAccess::Any));
    // NVIDIA gives wgpu an OpenGL 3.3, whose fragment shaders read no storage buffers.
    let is_old = display.gl().is_none() && !display.display().device().software;
    let policy = Policy::default();
    let policy = if is_old { policy.with_prefer(path) } else { policy.with_force(path) };
    let link = Link::open(Arc::new(CpuBackend::new().unwrap()), display.display(), desc, LinkOptions::new(policy));
    let mut link = link.unwrap_or_else(|e| panic!("{when}: {e}"));
    let mut frame = link.acquire().unwrap();
    frame.write(&[9; 40 * 30 * 4]).unwrap();
    frame.finish().unwrap();
    assert!(link.read_back().unwrap().iter().all(|b| *b == 9), "{when}: other pixels");
    println!("{when}: works");
}

#[test]
fn each_goes_on_when_the_other_is_gone() {
    let open_gl = || need(Need::Egl, open_headless(DisplayChoice::Gl));
    let open_wgpu = || need(Need::Lavapipe, open_headless(DisplayChoice::Wgpu));
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

/// wgpu draws by OpenGL here, with contexts of its own.
#[test]
fn opengl_goes_on_beside_wgpus() {
    let open_wgpu = || {
        let options = WgpuOptions::default().with_backends(wgpu::Backends::GL);
        need(Need::Egl, WgpuDisplay::headless(options).map(HeadlessDisplay::from))
    };
    let Some(gl) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let Some(wgpu) = open_wgpu() else { return };
    for round in 0..2 {
        works(&gl, "OpenGL, beside wgpu's");
        works_by(&wgpu, PathId::PBO_PERSISTENT, "wgpu's OpenGL beside OpenGL");
        println!("round {round}");
    }
    // wgpu leaves no context current; that is said, and harms nothing.
    let desc = SurfaceDesc::image(4, 4, PixelFormat::Rgba8);
    let refused = gl.display().create_surface(&desc).map(drop).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    let second = open_wgpu().unwrap();
    works_by(&second, PathId::HOST_VISIBLE_IN_PLACE, "a second of wgpu's");
    works_by(&wgpu, PathId::PINNED_IN_PLACE, "wgpu's OpenGL beside a second");
    // Each has a context of its own, so threads do not meet.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let own = open_wgpu().unwrap();
                for _ in 0..3 {
                    works_by(&own, PathId::HOST_VISIBLE_UPLOAD, "wgpu's OpenGL on a thread");
                }
            });
        }
        works_by(&wgpu, PathId::PBO_PERSISTENT, "wgpu's OpenGL beside those on threads");
    });
    drop(second);
    works_by(&wgpu, PathId::PINNED_UPLOAD, "wgpu's OpenGL, the second gone");
    drop(wgpu);
    works(&gl, "OpenGL, wgpu's gone");
    let wgpu = open_wgpu().unwrap();
    drop(gl);
    works_by(&wgpu, PathId::HOST_VISIBLE_UPLOAD, "wgpu's OpenGL, OpenGL gone");
}
