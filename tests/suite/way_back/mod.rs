//! The way back: what an engine rendered into its texture or buffer is an argument of a kernel, whose result is shown.
//! On every path of every driver, byte for byte.

pub mod engine;
pub mod gl_engine;
pub mod into_engine;
mod vulkan_engine;
mod wgpu_engine;

#[cfg(target_os = "linux")]
use crate::exported::share;
use engine::{BYTES, Engine, HEIGHT, WIDTH};
use gl_engine::GlEngine;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::gl::{EngineTexture, GlDisplay, HeadlessOptions};
use pixelferry::api::vulkan::{VulkanDisplay, VulkanOptions};
use pixelferry::api::wgpu::{WgpuDisplay, WgpuOptions, wgpu};
use pixelferry::driver::backend_in;
use pixelferry::driver::{SurfacePart, conformance::tight};
use pixelferry::{
    BackendChoice, ComputeBackend, CpuBackend, Display, EnginePath, Error, Extent, Intake, MemoryDisplay, Outlet,
    OutletFrame, PathId, PixelFormat, Surface, SurfaceDesc, View, open_backend,
};
use pixelferry_tests::{Need, has, need, on_each_backend};
use pixelferry_wgpu::WgpuBackend;
use std::collections::BTreeSet;
use std::sync::Arc;
use vulkan_engine::VulkanEngine;
use wgpu_engine::WgpuEngine;

/// Both ways, by each of these paths and by the one that is chosen. The names of those that were offered.
pub fn both_ways(backend: &Arc<dyn ComputeBackend>, engine: &dyn Engine, paths: &[PathId]) -> BTreeSet<&'static str> {
    let mut taken = engine::check(backend, engine, paths);
    let mut given = into_engine::check(backend, engine, paths);
    // Another may be chosen for each way.
    let asked: Vec<_> = paths.iter().map(|path| path.name()).collect();
    taken.retain(|name| asked.contains(name));
    given.retain(|name| asked.contains(name));
    assert!(!taken.is_empty() && taken == given, "{taken:?} {given:?}");
    taken
}

/// On Vulkan, where the backend computes if that can be.
fn pixelferry_wgpu(beside: Option<&dyn ComputeBackend>) -> Option<Arc<WgpuDisplay>> {
    let beside = beside.map(|backend| backend.device().clone());
    let vulkan = WgpuOptions::default().with_same_device_as(beside).with_backends(wgpu::Backends::VULKAN);
    need(Need::Lavapipe, WgpuDisplay::headless(vulkan))
}

fn check(backend: &Arc<dyn ComputeBackend>) {
    if let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) {
        let backend = backend_in(backend, display.as_ref());
        let paths = both_ways(&backend, &GlEngine::new(display), &PathId::ALL);
        assert!(paths.len() >= 2, "{paths:?}");
    }
    if let Some(display) = pixelferry_wgpu(Some(backend.as_ref())) {
        let paths = both_ways(backend, &WgpuEngine::new(display), &PathId::ALL);
        assert!(paths.len() >= 2, "{paths:?}");
    }
    let options = VulkanOptions::default().with_same_device_as(backend.device().clone());
    if let Some(display) = need(Need::Lavapipe, VulkanDisplay::headless(&options)) {
        let paths = both_ways(backend, &VulkanEngine::new(display), &PathId::ALL);
        assert!(paths.len() >= 2, "{paths:?}");
    }
}

/// Kernels in the engine's own queue.
#[test]
fn on_wgpu() {
    let Some(display) = pixelferry_wgpu(None) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    let paths = both_ways(&backend, &WgpuEngine::new(display), &PathId::ALL);
    assert!(paths.contains("in-queue-upload"), "{paths:?}");
}

/// Kernels in a queue of their own take what an engine of another API rendered on the same GPU.
#[cfg(target_os = "linux")]
#[test]
fn in_another_queue() {
    let take = |backend: &Arc<dyn ComputeBackend>, engine: &dyn Engine| {
        if share(backend.as_ref(), engine.display().as_ref()) {
            let paths = both_ways(backend, engine, &[PathId::EXPORTED_UPLOAD]);
            assert!(paths.contains("exported-upload"), "{} to {}", backend.device(), engine.display().device());
        }
    };
    let rows = [
        (BackendChoice::Wgpu, Need::Lavapipe),
        (BackendChoice::Vulkan, Need::Lavapipe),
        (BackendChoice::Gl, Need::Egl),
    ];
    for (choice, needed) in rows {
        let opened = match open_backend(choice, &[]) {
            Err(Error::Unsupported { reason, .. }) => has("compute shaders", format!("{choice:?}"), Err(reason)),
            other => need(needed, other),
        };
        let Some(backend) = opened else { continue };
        if let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) {
            take(&backend, &GlEngine::new(display));
        }
        if let Some(display) = pixelferry_wgpu(Some(backend.as_ref())) {
            take(&backend, &WgpuEngine::new(display));
        }
        let options = VulkanOptions::default().with_same_device_as(backend.device().clone());
        if let Some(display) = need(Need::Lavapipe, VulkanDisplay::headless(&options)) {
            take(&backend, &VulkanEngine::new(display));
        }
    }
}

on_each_backend!(check, "TAKEN BY host-round-trip", "TAKEN BY direct");

/// Numbers that name nothing of the engine are refused.
#[test]
fn what_is_not_the_engines_is_refused() {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let engine = GlEngine::new(display);
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
        let all = SurfacePart::full(gone.desc());
        assert!(matches!(gone.read_back(&all), Err(Error::InvalidInput { .. })));
    }
}

/// An engine that makes its texture anew goes on once it has the size again; no path is left for that.
#[test]
fn a_texture_that_changes_is_refused_and_taken_again() {
    let Some(display) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let mut engine = GlEngine::new(display);
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
    let of = || (Arc::clone(&backend), Arc::clone(&engine.display) as Arc<dyn Display>);
    let mut outlet = Outlet::open(of().0, of().1, engine.image()).unwrap();
    let mut intake = Intake::open(of().0, of().1, engine.image()).unwrap();
    let works = |rows: &[EnginePath]| rows.iter().filter(|row| row.found.is_ok()).count();
    let before = (works(outlet.rows()), works(intake.rows()));
    for n in 0..3 {
        let picture: Vec<u8> = (0..WIDTH * HEIGHT * 4).map(|at| at as u8 ^ n).collect();
        let write = |frame: &mut OutletFrame<'_>| {
            let (memory, View::Image(view)) = frame.target()?.into_parts() else { panic!("no image") };
            let rows = (0..).zip(picture.chunks(view.row_len()));
            rows.into_iter().try_for_each(|(y, row)| memory.write(view.row(y).start, row))
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
    let vulkan = need(Need::Lavapipe, WgpuDisplay::headless(vulkan)).map(|display| display as Arc<dyn Display>);
    for display in [Some(MemoryDisplay::new() as Arc<dyn Display>), vulkan].into_iter().flatten() {
        let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        for desc in [SurfaceDesc::image(33, 7, PixelFormat::Rgba8), SurfaceDesc::buffer(1000)] {
            let mut rendered = display.create_surface(&desc).unwrap();
            let (all, view) = (SurfacePart::full(&desc), tight(&desc).unwrap());
            let put = |to: &mut Surface, n: u8| {
                let bytes: Vec<u8> = (0..view.payload_len()).map(|at| (at as u8).wrapping_mul(7) ^ n).collect();
                to.upload(&all, &bytes, &view).unwrap();
                bytes
            };
            put(&mut rendered, 99);
            let mut intake = Intake::open(Arc::clone(&backend), Arc::clone(&display), rendered).unwrap();
            for n in 0..3 {
                let expected = put(intake.source(), n);
                assert!(intake.take().unwrap().read().unwrap() == expected, "{desc} of {}", display.device());
            }
            intake.rows().iter().for_each(|row| println!("{desc} of {}: {row}", display.device()));
        }
    }
}
