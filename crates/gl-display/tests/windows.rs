//! Windows under real display servers, and machines without one or without OpenGL. An event loop can be made once in
//! a process and EGL is loaded once, so each case runs in a process of its own.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may panic as tests may

mod common;

use gl_display::{
    DrawOptions, Flow, GlDisplay, GlWindow, HeadlessOptions, Viewport, WindowApp, WindowOptions, run_window,
};
use interop_core::display::{Display, Part, Surface};
use interop_core::{Error, Extent, PixelFormat, SurfaceDesc};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// X11 without a screen, on a free display.
fn xvfb() -> Option<(Server, String)> {
    let spawned = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else {
        common::skip("xvfb", "Xvfb is not installed");
        return None;
    };
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Some((Server(child), format!(":{}", line.trim())))
}

/// A Wayland compositor without a screen.
fn weston(runtime_dir: &Path) -> Option<Server> {
    let spawned = Command::new("weston")
        .args(["--backend=headless-backend.so", "--socket=pixelferry-test", "--idle-time=0"])
        .env("XDG_RUNTIME_DIR", runtime_dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = spawned else {
        common::skip("weston", "weston is not installed");
        return None;
    };
    let server = Server(child);
    for _ in 0..100 {
        if runtime_dir.join("pixelferry-test").exists() {
            return Some(server);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    common::skip("weston", "weston made no socket in 5 s");
    None
}

struct App {
    surface: Option<Box<dyn Surface>>,
    display: Option<std::rc::Rc<GlDisplay>>,
    frames: u32,
    closed: bool,
}

impl WindowApp for App {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<(), Error> {
        println!("window of {:?}", window.display().device());
        let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
        let mut surface = window.display().create_surface(&desc)?;
        let view = common::tight(&desc);
        surface.upload(&Part::full(&desc), &common::pattern(&view, 1), &view)?;
        self.surface = Some(surface);
        self.display = Some(std::rc::Rc::clone(window.display()));
        Ok(())
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, Error> {
        let size = window.size();
        let surface = self.surface.as_mut().unwrap();
        let display = window.display();
        display.clear([0.0, 0.0, 0.0, 1.0])?;
        display.draw(surface.as_ref(), Viewport::full(size.width, size.height), DrawOptions::default())?;
        let part = Part::full(surface.desc());
        let shown = surface.read_back(&part)?;
        let view = common::tight(surface.desc());
        common::assert_same("in the window's context", &common::expected(&view, 1), &shown);
        self.frames += 1;
        window.set_title(&format!("frame {}", self.frames));
        if self.frames == 3 {
            let _ = window.window().request_inner_size(gl_display::winit::dpi::PhysicalSize::new(200, 150));
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
    let prefer_egl = std::env::var("PREFER_EGL").is_ok();
    let size = Extent::new(160, 120);
    let options = WindowOptions { size, prefer_egl, vsync: false, max_frames: Some(20), ..WindowOptions::default() };
    let mut app = App { surface: None, display: None, frames: 0, closed: false };
    let frames = run_window(&options, &mut app).unwrap();
    assert_eq!((frames, app.frames, app.closed), (20, 20, true));
    // A display that outlives its window and loop still answers.
    let display = app.display.take().unwrap();
    println!("after the loop: current {}", display.is_current());
    assert_eq!(display.object_counts().textures, 0);
    // The second loop of a process is an error, not a panic.
    assert!(matches!(run_window(&options, &mut app), Err(Error::Unavailable { .. })));
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_no_display_server() {
    let mut app = App { surface: None, display: None, frames: 0, closed: false };
    let refused = run_window(&WindowOptions::default(), &mut app);
    let Err(e @ Error::Unavailable { .. }) = refused else { panic!("{refused:?}") };
    println!("{e}");
    assert!(e.to_string().contains("--headless"));
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_failing_app() {
    struct Failing(u32);
    impl WindowApp for Failing {
        type Error = Error;
        fn init(&mut self, _: &GlWindow) -> Result<(), Error> {
            Ok(())
        }
        fn frame(&mut self, _: &GlWindow) -> Result<Flow, Error> {
            self.0 += 1;
            if self.0 == 2 { Err(Error::NothingShown) } else { Ok(Flow::Continue) }
        }
    }
    let failed = run_window(&WindowOptions { vsync: false, ..WindowOptions::default() }, &mut Failing(0));
    assert!(matches!(failed, Err(Error::NothingShown)), "{failed:?}");
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_no_egl() {
    let refused = GlDisplay::headless(HeadlessOptions::default());
    let Err(e @ Error::Unavailable { .. }) = refused else { panic!("{refused:?}") };
    println!("{e}");
    assert!(e.to_string().contains("libegl1"));
}

#[test]
fn x11_by_glx() {
    let Some((_server, display)) = xvfb() else { return };
    println!("{}", common::child("child_window", &[("DISPLAY", &display)]));
}

#[test]
fn x11_by_egl() {
    let Some((_server, display)) = xvfb() else { return };
    println!("{}", common::child("child_window", &[("DISPLAY", &display), ("PREFER_EGL", "1")]));
}

#[test]
fn wayland() {
    let dir = std::env::temp_dir().join(format!("pixelferry-wayland-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    if let Some(_server) = weston(&dir) {
        let runtime = dir.to_str().unwrap();
        let environment = [("XDG_RUNTIME_DIR", runtime), ("WAYLAND_DISPLAY", "pixelferry-test")];
        println!("{}", common::child("child_window", &environment));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn an_error_of_the_app_comes_out() {
    let Some((_server, display)) = xvfb() else { return };
    common::child("child_failing_app", &[("DISPLAY", &display)]);
}

#[test]
fn no_display_server() {
    println!("{}", common::child("child_no_display_server", &[]));
    println!("{}", common::child("child_no_display_server", &[("DISPLAY", ":4999")]));
}

#[test]
fn no_egl_vendor() {
    println!("{}", common::child("child_no_egl", &[("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent.json")]));
}

#[test]
fn no_egl_library() {
    // The loader takes the first file of that name, and this is no library.
    let dir = std::env::temp_dir().join(format!("pixelferry-noegl-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for name in ["libEGL.so.1", "libEGL.so"] {
        std::fs::write(dir.join(name), "not a library").unwrap();
    }
    println!("{}", common::child("child_no_egl", &[("LD_LIBRARY_PATH", dir.to_str().unwrap())]));
    std::fs::remove_dir_all(&dir).unwrap();
}
