//! The way back: what OpenGL rendered into an engine's texture or buffer is an argument of a kernel, whose result is shown.
//! On every path of every driver, byte for byte.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod engine;
mod into_engine;

use engine::{BYTES, Engine, HEIGHT, WIDTH};
use pixelferry::cuda_backend::CudaBackend;
use pixelferry::driver::{Part, conformance::tight};
use pixelferry::gl_display::glow::{self, HasContext as _};
use pixelferry::gl_display::{EngineTexture, GlDisplay, HeadlessOptions};
use pixelferry::opencl_backend::OpenClBackend;
use pixelferry::wgpu_display::{WgpuDisplay, WgpuOptions, wgpu};
use pixelferry::{
    ComputeBackend, CpuBackend, Display, EnginePath, Error, Extent, Intake, MemoryDisplay, Outlet, OutletFrame,
    PixelFormat, Surface, SurfaceDesc, backend_in,
};
use pixelferry_tests::{Need, asked, given, need, pass_in_child};
use std::rc::Rc;
use std::sync::Arc;

fn check(backend: &Arc<dyn ComputeBackend>) {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let backend = backend_in(backend, display.as_ref());
    let taken = engine::check(&backend, Rc::clone(&display));
    let given = into_engine::check(&backend, display);
    assert!(taken.len() >= 2 && taken == given, "{taken:?} {given:?}");
}

#[test]
fn to_threads() {
    check(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child_opencl() {
    let Some(backend) = need(given(), OpenClBackend::open_best()) else { return };
    check(&(Arc::new(backend) as Arc<dyn ComputeBackend>));
}

#[test]
fn to_pocl() {
    pass_in_child("child_opencl", Some(Need::Pocl), &[], &["TAKEN BY host-round-trip"]);
}

#[test]
fn to_rusticl() {
    pass_in_child("child_opencl", Some(Need::Rusticl), &[], &["TAKEN BY host-round-trip"]);
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child_cuda() {
    check(&(Arc::new(CudaBackend::open_best().unwrap()) as Arc<dyn ComputeBackend>));
}

#[test]
fn to_nvidia() {
    if !asked(Need::Nvidia) {
        return;
    }
    pass_in_child("child_opencl", None, &[], &["TAKEN BY host-round-trip"]);
    pass_in_child("child_cuda", None, &[], &["TAKEN BY direct"]);
}

/// What a number may not be.
#[test]
fn what_is_not_the_engines_is_refused() {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let engine = Engine::new(display);
    let (texture, buffer) = (engine.texture.0.get(), engine.buffer.0.get());
    let extent = Extent::new(WIDTH as u32, HEIGHT as u32);
    // SAFETY: nothing is done with what is refused.
    unsafe {
        let display = &engine.display;
        for (named, format) in [
            (EngineTexture::new(texture + 1000, extent), PixelFormat::Rgba8),
            (EngineTexture::new(texture, Extent::new(1, 1)), PixelFormat::Rgba8),
            (EngineTexture::new(texture, extent), PixelFormat::Rgba16F),
            (EngineTexture::new(texture, extent).with_level(1, extent), PixelFormat::Rgba8),
        ] {
            let refused = display.engine_image(named, format).err().unwrap();
            assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
        }
        for (id, bytes) in [(buffer + 1000, 4), (buffer, BYTES + 25), (buffer, 0)] {
            let refused = display.engine_buffer(id, bytes).err().unwrap();
            assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
        }
        // A texture that is gone is refused by the next call.
        let mut gone = engine.image();
        display.gl().delete_texture(engine.texture);
        let all = Part::full(gone.desc());
        assert!(matches!(gone.read_back(&all), Err(Error::InvalidInput { .. })));
    }
}

/// An engine that makes its texture anew goes on once it has the size again; no path is left for that.
#[test]
fn a_texture_that_changes_is_refused_and_taken_again() {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let mut engine = Engine::new(display);
    // SAFETY: the context is current, and the texture is the engine's own.
    engine.texture = unsafe { engine.display.gl().create_texture() }.unwrap();
    let specify = |width| {
        let (gl, to, rgba) = (engine.display.gl(), glow::TEXTURE_2D, glow::RGBA);
        // SAFETY: as above; the driver gets no pixels.
        unsafe {
            gl.bind_texture(to, Some(engine.texture));
            let none = glow::PixelUnpackData::Slice(None);
            gl.tex_image_2d(to, 0, glow::RGBA8 as i32, width, HEIGHT, 0, rgba, glow::UNSIGNED_BYTE, none);
        }
    };
    specify(WIDTH);
    let of = || (Arc::clone(&backend), Rc::clone(&engine.display) as Rc<dyn Display>);
    let mut outlet = Outlet::open(of().0, of().1, engine.image()).unwrap();
    let mut intake = Intake::open(of().0, of().1, engine.image()).unwrap();
    let works = |rows: &[EnginePath]| rows.iter().filter(|row| row.found.is_ok()).count();
    let before = (works(outlet.rows()), works(intake.rows()));
    for n in 0..3 {
        let picture: Vec<u8> = (0..WIDTH * HEIGHT * 4).map(|at| at as u8 ^ n).collect();
        let write = |frame: &mut OutletFrame<'_>| {
            let (memory, _) = frame.target()?.into_parts();
            memory.write(0, &picture)
        };
        outlet.frame(write).unwrap();
        assert!(intake.take().unwrap().read().unwrap() == picture);
        specify(WIDTH * 2);
        let refused = outlet.frame(write).unwrap_err();
        assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
        assert!(matches!(intake.take().err(), Some(Error::InvalidInput { .. })));
        specify(WIDTH);
    }
    assert_eq!((works(outlet.rows()), works(intake.rows())), before);
}

/// By way of the host, where the display copies nothing itself.
#[test]
fn other_displays_lead_back_too() {
    let vulkan = WgpuOptions::default().with_backends(wgpu::Backends::VULKAN);
    let vulkan = need(Need::Lavapipe, WgpuDisplay::headless(vulkan)).map(|display| display as Rc<dyn Display>);
    for display in [Some(MemoryDisplay::new() as Rc<dyn Display>), vulkan].into_iter().flatten() {
        let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        for desc in [SurfaceDesc::image(33, 7, PixelFormat::Rgba8), SurfaceDesc::buffer(1000)] {
            let mut rendered = display.create_surface(&desc).unwrap();
            let (all, view) = (Part::full(&desc), tight(&desc).unwrap());
            let put = |to: &mut dyn Surface, n: u8| {
                let bytes: Vec<u8> = (0..view.payload_len()).map(|at| (at as u8).wrapping_mul(7) ^ n).collect();
                to.upload(&all, &bytes, &view).unwrap();
                bytes
            };
            put(rendered.as_mut(), 99);
            let mut intake = Intake::open(Arc::clone(&backend), Rc::clone(&display), rendered).unwrap();
            for n in 0..3 {
                let expected = put(intake.source(), n);
                assert!(intake.take().unwrap().read().unwrap() == expected, "{desc} of {}", display.device());
            }
            intake.rows().iter().for_each(|row| println!("{desc} of {}: {row}", display.device()));
        }
    }
}
