//! Every kind of draw into a window of OpenGL, by either manner.

use interop_core::conformance::Drawing;
use interop_core::describe::color::TargetEncoding;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::gl::{Flow, GlDisplay, GlWindow, Viewport, WindowApp, WindowOptions, run_window};
use pixelferry::driver::Part;
use pixelferry::{Display as _, Error, Extent, ImageView, Manner, PixelFormat, SurfaceDesc, View};
use pixelferry_tests::{Need, Xvfb, by_level, need, pass_in_child};

const AREA: Extent = Drawing::AREA;

/// Place in the window.
const VIEWPORT: Viewport = Viewport { x: 9, y: 5, width: AREA.width, height: AREA.height };

/// OpenGL counts rows from the bottom.
fn flipped(bytes: &[u8], row: usize) -> Vec<u8> {
    bytes.chunks_exact(row).rev().flatten().copied().collect()
}

/// Returns what the window holds after a draw, but for its alpha, which it lacks.
fn drawn(display: &GlDisplay, case: &Drawing, manner: Manner) -> Result<Vec<u8>, Error> {
    let desc = SurfaceDesc::Image(case.image);
    let view = View::Image(ImageView::packed(case.image.extent, case.image.format, 1, 0, false)?);
    let row = case.image.extent.width as usize * case.image.format.bytes_per_pixel();
    let mut surface = display.create_surface(&desc)?;
    surface.upload(&Part::full(&desc), &flipped(&case.pixels, row), &view)?;
    display.clear(case.before)?;
    display.draw(&surface, VIEWPORT, case.options.with_manner(manner))?;
    let row = AREA.width as usize * 4;
    let mut bytes = vec![0; row * AREA.height as usize];
    let (data, gl) = (glow::PixelPackData::Slice(Some(&mut bytes)), display.gl());
    let [x, y, width, height] = [VIEWPORT.x, VIEWPORT.y, VIEWPORT.width as i32, VIEWPORT.height as i32];
    // SAFETY: the window's context is current; rows of 4-byte pixels are aligned as they are tight.
    unsafe { gl.read_pixels(x, y, width, height, glow::RGBA, glow::UNSIGNED_BYTE, data) };
    let mut found = flipped(&bytes, row);
    found.chunks_exact_mut(4).zip(case.expected()?.chunks_exact(4)).for_each(|(found, e)| found[3] = e[3]);
    Ok(found)
}

struct App(usize);

impl WindowApp for App {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<(), Error> {
        let display = window.display();
        let fits = |c: &Drawing| (c.target, c.options.target) == (PixelFormat::Rgba8, TargetEncoding::Srgb);
        for case in Drawing::all().into_iter().filter(fits).step_by(by_level(32, 2, 2)) {
            for manner in Manner::ALL {
                case.check(&drawn(display, &case, manner)?)?;
                let done = display.drawn().unwrap();
                assert_eq!((done.manner, done.copies), (manner, manner == Manner::Compute), "{done}");
            }
            self.0 += 1;
        }
        Ok(())
    }

    fn frame(&mut self, _: &GlWindow) -> Result<Flow, Error> {
        Ok(Flow::Exit)
    }
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child() {
    let options = WindowOptions::default().with_size(Extent::new(64, 48)).with_vsync(false);
    let mut app = App(0);
    run_window(&options, &mut app).unwrap();
    assert!(app.0 > by_level(2, 50, 50), "{} cases", app.0);
}

#[test]
fn windows_show_what_is_drawn() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    pass_in_child("windows::drawings::child", None, &[("DISPLAY", server.display())], &["1 passed"]);
}
