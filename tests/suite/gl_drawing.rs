//! Content that OpenGL drew into a surface stays when a later frame replaces only a part.

use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::{
    ComputeBackend, CpuBackend, DisplayChoice, HeadlessDisplay, Link, LinkOptions, PathId, PixelFormat, Policy, Region,
    SurfaceDesc, open_headless,
};
use pixelferry_tests::{Need, by_level, need, offered};
use std::sync::Arc;

/// A link by every path that is offered for `desc`.
fn links(screen: &HeadlessDisplay, desc: SurfaceDesc) -> Vec<(PathId, Link)> {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let open = |path| {
        let options = LinkOptions::new(Policy::default().with_force(path));
        Link::open(Arc::clone(&backend), screen.display(), desc, options).unwrap()
    };
    let paths = offered(&backend, &screen.display(), &desc);
    let links: Vec<_> = paths.into_iter().map(|path| (path, open(path))).collect();
    assert!(links.len() >= 4, "{} paths are offered", links.len());
    links
}

#[test]
fn pixels_that_opengl_drew_stay_around_a_region() {
    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let display = screen.gl().unwrap();
    let gl = display.gl();
    for (path, mut link) in links(&screen, SurfaceDesc::image(40, 30, PixelFormat::Rgba8)) {
        let mut frame = link.acquire().unwrap();
        frame.write(&[9; 40 * 30 * 4]).unwrap();
        frame.finish().unwrap();
        let texture = display.surface_texture(link.shown().unwrap().surface()).unwrap();
        // SAFETY: the display's context is current here; the framebuffer is deleted before the texture can go.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (point, target) = (glow::COLOR_ATTACHMENT0, texture.target);
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, point, target, Some(texture.name), 0);
            assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
            gl.clear_color(1.0, 0.0, 1.0, 1.0);
            gl.clear(glow::COLOR_BUFFER_BIT);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_framebuffer(framebuffer);
        }
        let region = Region::new(7, 4, 11, 6);
        for value in [50, 60] {
            let mut frame = link.acquire_region(region).unwrap();
            frame.write(&vec![value; 11 * 6 * 4]).unwrap();
            frame.finish().unwrap();
            let shown = link.read_back().unwrap();
            for (i, pixel) in shown.chunks_exact(4).enumerate() {
                let (x, y) = (i as u32 % 40, i as u32 / 40);
                let inside = (7..18).contains(&x) && (4..10).contains(&y);
                let expected = if inside { [value; 4] } else { [255, 0, 255, 255] };
                assert_eq!(pixel, expected, "{path}: pixel {x}, {y}");
            }
        }
    }
}

#[test]
fn bytes_that_opengl_wrote_stay_around_a_range() {
    if let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) {
        bytes_around_a_range(&screen);
    }
}

/// Drivers order the work of each context, whatever other threads do in theirs. An NVIDIA H200 with driver 580.159 once
/// returned the bytes from before an upload, while other tests of the same process used other contexts.
#[test]
fn bytes_stay_in_order_with_many_contexts_at_once() {
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() {
        return;
    }
    let rounds = by_level(1, 4, 100);
    let run = || (0..rounds).for_each(|_| bytes_around_a_range(&open_headless(DisplayChoice::Gl).unwrap()));
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run))));
}

fn bytes_around_a_range(screen: &HeadlessDisplay) {
    let display = screen.gl().unwrap();
    let gl = display.gl();
    for (path, mut link) in links(screen, SurfaceDesc::buffer(500)) {
        let mut frame = link.acquire().unwrap();
        frame.write(&[9; 500]).unwrap();
        frame.finish().unwrap();
        // The second time, the ring's other slots hold earlier frames.
        for (drawn, value) in [(77, 50), (77, 60), (88, 70), (99, 80)] {
            let buffer = display.surface_buffer(link.shown().unwrap().surface()).unwrap();
            // SAFETY: the display's context is current here. Copies of the GL go into mapped buffers, too.
            let write = |drawn: u8| unsafe {
                let source = gl.create_buffer().unwrap();
                gl.bind_buffer(glow::COPY_READ_BUFFER, Some(source));
                gl.buffer_data_u8_slice(glow::COPY_READ_BUFFER, &[drawn; 500], glow::STATIC_DRAW);
                gl.bind_buffer(glow::COPY_WRITE_BUFFER, Some(buffer.name));
                let (read, write) = (glow::COPY_READ_BUFFER, glow::COPY_WRITE_BUFFER);
                gl.copy_buffer_sub_data(read, write, 0, buffer.offset as i32, 500);
                gl.bind_buffer(glow::COPY_READ_BUFFER, None);
                gl.bind_buffer(glow::COPY_WRITE_BUFFER, None);
                gl.delete_buffer(source);
            };
            write(if drawn == 88 { 5 } else { drawn });
            if drawn == 88 {
                // A frame that is dropped has prepared its slot before OpenGL wrote.
                drop(link.acquire_bytes(100..120).unwrap());
                write(drawn);
            }
            let mut frame = link.acquire_bytes(100..120).unwrap();
            frame.write(&[value; 20]).unwrap();
            frame.finish().unwrap();
            let shown = link.read_back().unwrap();
            for (i, byte) in shown.iter().enumerate() {
                let expected = if (100..120).contains(&i) { value } else { drawn };
                assert_eq!(*byte, expected, "{path}: byte {i}, frame {value}");
            }
        }
    }
}
