//! One window by each way to one, and what is said where there is none.

use pixelferry::api::gl::winit::dpi::PhysicalSize;
use pixelferry::api::gl::{
    DrawOptions, Flow, GlDisplay, GlWindow, HeadlessOptions, Viewport, WindowApp, WindowOptions, run_window,
};
use pixelferry::driver::SurfacePart;
use pixelferry::{Display as _, Error, Extent, ImageDesc, ImageView, PixelFormat, Surface, SurfaceDesc, View};
use pixelferry_tests::{Need, Xvfb, need, pass_in_child, ramp_pixel, wait_until};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Wayland compositor without a screen.
fn weston(runtime_dir: &Path) -> Result<Server, String> {
    let spawned = Command::new("weston")
        .args(["--backend=headless-backend.so", "--socket=pixelferry-test", "--idle-time=0"])
        .env("XDG_RUNTIME_DIR", runtime_dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut server = Server(spawned.map_err(|e| format!("weston does not start: {e}"))?);
    let mut ended = None;
    wait_until("weston's socket", || {
        ended = server.0.try_wait().unwrap();
        ended.is_some() || runtime_dir.join("pixelferry-test").exists()
    });
    ended.map_or(Ok(server), |status| Err(format!("weston ended by itself: {status}")))
}

struct App {
    surface: Option<Surface>,
    display: Option<Arc<GlDisplay>>,
    frames: u32,
    closed: bool,
}

/// A picture of 32 x 16.
fn pixels() -> Vec<u8> {
    (0..32 * 16).flat_map(|i| ramp_pixel(i % 32, i / 32, 1)).collect()
}

impl App {
    const fn new() -> Self {
        Self { surface: None, display: None, frames: 0, closed: false }
    }
}

impl WindowApp for App {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<(), Error> {
        println!("window of {:?}", window.display().device());
        let desc = ImageDesc::new(32, 16, PixelFormat::Rgba8);
        let mut surface = window.display().create_surface(&SurfaceDesc::Image(desc))?;
        let view = View::Image(ImageView::packed(desc.extent, desc.format, 1, 0, false)?);
        surface.upload(&SurfacePart::full(surface.desc()), &pixels(), &view)?;
        self.surface = Some(surface);
        self.display = Some(Arc::clone(window.display()));
        Ok(())
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, Error> {
        let (size, display) = (window.size(), window.display());
        let surface = self.surface.as_mut().unwrap();
        display.clear([0.0, 0.0, 0.0, 1.0])?;
        display.draw(surface, Viewport::full(size.width, size.height), DrawOptions::default())?;
        let part = SurfacePart::full(surface.desc());
        assert!(surface.read_back(&part)? == pixels(), "another picture in the window's context");
        self.frames += 1;
        window.set_title(&format!("frame {}", self.frames));
        if self.frames == 3 {
            let _ = window.window().request_inner_size(PhysicalSize::new(200, 150));
        }
        Ok(Flow::Continue)
    }

    fn resized(&mut self, _: &GlWindow, size: Extent) -> Result<(), Error> {
        println!("resized to {size}");
        Ok(())
    }

    fn closing(&mut self, _: &GlWindow) {
        self.surface = None;
        self.closed = true;
    }
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_window() {
    let size = Extent::new(160, 120);
    let options = WindowOptions::default().with_size(size).with_vsync(false).with_max_frames(20);
    let mut app = App::new();
    let frames = run_window(&options, &mut app).unwrap();
    assert_eq!((frames, app.frames, app.closed), (20, 20, true));
    // A display that outlives its window and loop still answers.
    let display = app.display.take().unwrap();
    println!("after the loop: current {}", display.is_current());
    // Beside a window that is drawn by a compute shader there is one.
    let kept = usize::from(display.drawn().is_some_and(|drawn| drawn.copies));
    assert!(display.object_counts().textures <= kept);
    // The second loop of a process is an error, not a panic.
    assert!(matches!(run_window(&options, &mut app), Err(Error::Unavailable { .. })));
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_no_display_server() {
    let mut app = App::new();
    let refused = run_window(&WindowOptions::default(), &mut app);
    let Err(e @ Error::Unavailable { .. }) = refused else { panic!("{refused:?}") };
    println!("{e}");
    // Options of a command are the command's to name.
    assert!(e.to_string().contains("xvfb-run") && !e.to_string().contains("--"), "{e}");
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_failing_app() {
    struct FailingApp(u32);
    impl WindowApp for FailingApp {
        type Error = Error;
        fn init(&mut self, _: &GlWindow) -> Result<(), Error> {
            Ok(())
        }
        fn frame(&mut self, _: &GlWindow) -> Result<Flow, Error> {
            self.0 += 1;
            if self.0 == 2 { Err(Error::NothingShown) } else { Ok(Flow::Continue) }
        }
    }
    let failed = run_window(&WindowOptions::default().with_vsync(false), &mut FailingApp(0));
    assert!(matches!(failed, Err(Error::NothingShown)), "{failed:?}");
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_vsync() {
    struct AskingApp;
    impl WindowApp for AskingApp {
        type Error = Error;
        fn init(&mut self, window: &GlWindow) -> Result<(), Error> {
            println!("vsync: {}.", window.vsync());
            Ok(())
        }
        fn frame(&mut self, _: &GlWindow) -> Result<Flow, Error> {
            Ok(Flow::Exit)
        }
    }
    let wished = std::env::var("WISHED").is_ok_and(|wished| wished == "on");
    run_window(&WindowOptions::default().with_vsync(wished), &mut AskingApp).unwrap();
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_no_egl() {
    let refused = GlDisplay::headless(HeadlessOptions::default());
    let Err(e @ Error::Unavailable { .. }) = refused else { panic!("{refused:?}") };
    println!("{e}");
    assert!(e.to_string().contains("libegl1"));
}

/// In a process with this environment.
fn pass(child: &str, env: &[(&str, &str)]) {
    pass_in_child(&format!("windows::once::{child}"), None, env, &["1 passed"]);
}

#[test]
fn x11() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    pass("child_window", &[("DISPLAY", server.display())]);
}

#[test]
fn wayland() {
    let dir = std::env::temp_dir().join(format!("pixelferry-wayland-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    if let Some(_server) = need(Need::Weston, weston(&dir)) {
        let runtime = dir.to_str().unwrap();
        let environment = [("XDG_RUNTIME_DIR", runtime), ("WAYLAND_DISPLAY", "pixelferry-test")];
        pass("child_window", &environment);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// That frames then wait can be seen on a real screen only: llvmpipe takes every wish and keeps to none.
#[test]
fn a_window_tells_what_became_of_its_vsync() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    for wished in ["on", "off"] {
        let env = [("DISPLAY", server.display()), ("WISHED", wished)];
        let (taken, refused) = (format!("vsync: {wished}."), format!("refused to switch it {wished}: "));
        pass_in_child("windows::once::child_vsync", None, &env, &[&taken, &refused]);
    }
}

#[test]
fn an_error_of_the_app_comes_out() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    pass("child_failing_app", &[("DISPLAY", server.display())]);
}

#[test]
fn no_display_server() {
    pass("child_no_display_server", &[]);
    pass("child_no_display_server", &[("DISPLAY", ":4999")]);
}

#[test]
fn no_egl_vendor() {
    pass("child_no_egl", &[("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null/none.json")]);
}

#[test]
fn no_egl_library() {
    // The loader takes the first file of that name, and this is no library.
    let dir = std::env::temp_dir().join(format!("pixelferry-noegl-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for name in ["libEGL.so.1", "libEGL.so"] {
        std::fs::write(dir.join(name), "not a library").unwrap();
    }
    pass("child_no_egl", &[("LD_LIBRARY_PATH", dir.to_str().unwrap())]);
    std::fs::remove_dir_all(&dir).unwrap();
}
