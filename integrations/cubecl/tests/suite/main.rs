//! Frames by CubeCL, compared with the same text on the host and with WGSL.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use cubecl_wgpu::wgpu::Backends;
use pixelferry::api::wgpu::wgpu_adapters;
use pixelferry::{
    Arg, ComputeBackend, CpuBackend, CpuKernelExt, Display, Error, Extent, ImageAccess, ImageDesc, KernelSource, Link,
    LinkCore, LinkOptions, MemoryDisplay, PathId, PixelFormat, Policy, SurfaceDesc,
};
use pixelferry_cubecl::rings::{rings, shade};
use pixelferry_cubecl::{CubeGuest, Pixels};
use pixelferry_testing::{Need, need};
use std::sync::Arc;

const EXTENT: Extent = Extent::new(67, 41);

const WGSL: &str = "
@compute @workgroup_size(8, 8)
fn rings(@builtin(global_invocation_id) id: vec3<u32>) {
  let v = 0.5 + 0.5 * sin(0.1 * length(vec2<f32>(id.xy)) - pf_arg_f32(0));
  pf_store(id.xy, vec4<f32>(v, 89.0 / 255.0, 161.0 / 255.0, 1.0));
}";

fn guest() -> Option<CubeGuest> {
    guest_on(Backends::VULKAN, Need::Lavapipe)
}

fn guest_on(api: Backends, driver: Need) -> Option<CubeGuest> {
    let adapter = wgpu_adapters(api).into_iter().next().ok_or("no adapter");
    let guest = CubeGuest::open(&need(driver, adapter)?).unwrap();
    println!("RAN ON {} ({})", guest.backend().device(), guest.backend().device().driver);
    Some(guest)
}

fn surface() -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(EXTENT.width, EXTENT.height, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

fn draw(guest: &CubeGuest, link: &mut LinkCore, pixels: &Pixels, t: f32) -> pixelferry::Result<()> {
    link.frame(|next| {
        rings::launch(guest.client(), pixels.cubes(), pixels.cube(), pixels.arg(), EXTENT.width, t);
        guest.copy(pixels, next.target()?)
    })
}

/// Fails where a byte differs by more than 1: each device rounds its sine.
fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    assert_eq!(found.len(), expected.len());
    let worst = found.iter().zip(expected).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(worst <= Some(1), "{what}: off by {worst:?}");
}

/// By the function that CubeCL made a kernel of, on threads.
fn on_threads(t: f32) -> Vec<u8> {
    let source = KernelSource::new("rings").cpu_image(|out, args| {
        let t = args.f32(0)?;
        out.par_pixels(|x, y| shade(x, y, t).to_le_bytes())
    });
    let backend = Arc::new(CpuBackend::new().unwrap());
    let kernel = backend.build(&source).unwrap();
    let mut link = Link::open(backend, MemoryDisplay::new(), surface(), LinkOptions::default()).unwrap();
    link.frame(|next| next.launch(kernel.as_ref(), &[Arg::F32(t)])).unwrap();
    link.read_back().unwrap()
}

#[test]
fn one_text_gives_one_picture_on_devices_and_on_threads() {
    // Fragment shaders of wgpu's OpenGL may read no memory.
    let vulkan = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD, PathId::HOST_ROUND_TRIP];
    for (api, driver, paths) in
        [(Backends::VULKAN, Need::Lavapipe, &vulkan[..]), (Backends::GL, Need::Egl, &vulkan[1..])]
    {
        let Some(guest) = guest_on(api, driver) else { continue };
        let pixels = guest.pixels(EXTENT).unwrap();
        for &path in paths {
            let policy = Policy::default().with_force(path);
            let mut link = Link::open(guest.backend(), guest.display(), surface(), LinkOptions::new(policy)).unwrap();
            for frame in 0..4 {
                let t = 0.7 * frame as f32;
                draw(&guest, &mut link, &pixels, t).unwrap();
                // Launches the next frame before this one is looked at: the queue keeps them apart.
                rings::launch(guest.client(), pixels.cubes(), pixels.cube(), pixels.arg(), EXTENT.width, t + 2.0);
                guest.client().flush().unwrap();
                assert_same(&link.read_back().unwrap(), &on_threads(t), &format!("{api:?}, {path}, frame {frame}"));
            }
        }
    }
}

#[test]
fn it_takes_turns_with_wgsl_on_one_link() {
    let Some(guest) = guest() else { return };
    let backend = guest.backend();
    let kernel = backend.build(&KernelSource::new("rings").wgsl(WGSL)).unwrap();
    let pixels = guest.pixels(EXTENT).unwrap();
    let mut link = Link::open(backend, guest.display(), surface(), LinkOptions::default()).unwrap();
    for frame in 0..6 {
        let t = 0.3 * frame as f32;
        if frame % 2 == 0 {
            draw(&guest, &mut link, &pixels, t).unwrap();
        } else {
            link.frame(|next| next.launch(kernel.as_ref(), &[Arg::F32(t)])).unwrap();
        }
        assert_same(&link.read_back().unwrap(), &on_threads(t), &format!("frame {frame}"));
    }
}

#[test]
fn a_picture_of_another_size_is_refused() {
    let Some(guest) = guest() else { return };
    for extent in [Extent::new(0, 4), Extent::new(1 << 17, 1 << 17)] {
        assert!(matches!(guest.pixels(extent), Err(Error::InvalidInput { .. })));
    }
    let mut link = Link::open(guest.backend(), guest.display(), surface(), LinkOptions::default()).unwrap();
    let error = draw(&guest, &mut link, &guest.pixels(Extent::new(64, 41)).unwrap(), 0.0).unwrap_err();
    assert!(matches!(&error, Error::InvalidInput { .. }) && error.to_string().contains("10496 bytes"), "{error}");
    draw(&guest, &mut link, &guest.pixels(EXTENT).unwrap(), 0.0).unwrap();
}

#[test]
fn a_device_that_is_lost_is_an_error() {
    let Some(guest) = guest() else { return };
    let mut link = Link::open(guest.backend(), guest.display(), surface(), LinkOptions::default()).unwrap();
    let pixels = guest.pixels(EXTENT).unwrap();
    draw(&guest, &mut link, &pixels, 0.0).unwrap();
    guest.finish().unwrap();
    guest.display().wgpu_device().destroy();
    // Told when the queue is empty, which these wait for.
    for _ in 0..3 {
        let drawn = draw(&guest, &mut link, &pixels, 1.0);
        println!("{drawn:?} {:?}", guest.display().finish());
    }
    let error = guest.finish().unwrap_err().to_string();
    assert!(error.contains("lost") || error.contains("poisoned"), "{error}");
    println!("{error}");
}
