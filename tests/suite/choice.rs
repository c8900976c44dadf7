//! Tests of the backend's choice by the languages of a kernel.

use pixelferry::{
    Api, BackendChoice, ComputeBackend, CpuKernelExt as _, DisplayChoice, KernelSource, Link, LinkBuilder, LinkCore,
    LinkOptions, PixelFormat, SurfaceDesc, open_backend, open_headless,
};
use pixelferry_tests::{Need, need};
use std::sync::Arc;

const WIDTH: u32 = 40;
const HEIGHT: u32 = 20;

/// Fills the picture with red, on shaders alone.
fn red() -> KernelSource {
    KernelSource::new("red").wgsl(
        "@compute @workgroup_size(8, 8)
         fn red(@builtin(global_invocation_id) id: vec3<u32>) {
             if (pf_inside(id.xy)) { pf_store(id.xy, vec4<f32>(1.0, 0.0, 0.0, 1.0)); }
         }",
    )
}

fn picture() -> SurfaceDesc {
    SurfaceDesc::image(WIDTH, HEIGHT, PixelFormat::Rgba8)
}

fn check(link: &mut LinkCore, backend: &Arc<dyn ComputeBackend>) {
    let kernel = backend.build(&red()).unwrap();
    link.frame(|frame| frame.launch(kernel.as_ref(), &[])).unwrap();
    assert!(link.read_back().unwrap().chunks(4).all(|pixel| pixel == [255, 0, 0, 255]), "{}", link.explain());
}

/// `Auto` passes shaders of a program on the CPU over while anything else takes the kernels, and takes them where nothing does.
#[test]
fn wgsl_alone_is_computed_by_shaders_of_whatever_device() {
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() {
        return;
    }
    let backend = open_backend(BackendChoice::Auto, &[red()]).unwrap();
    assert!(matches!(backend.device().api, Api::OpenGl | Api::Wgpu), "{}", backend.device());
    let builder = LinkBuilder::new(picture()).launch(&red(), []);
    let mut opened = builder.clone().open().unwrap();
    check(&mut opened.link, &opened.backend);
    let screen = open_headless(DisplayChoice::Gl).unwrap();
    let (backend, _) = builder.shown_by(&screen.display()).open_sides().unwrap();
    let mut link = Link::open(backend.clone(), screen.display(), picture(), LinkOptions::default()).unwrap();
    check(&mut link, &backend);
}

#[test]
fn threads_come_before_shaders_of_a_program_on_the_cpu() {
    let both = red().cpu_image(|out, _| out.par_pixels(|_, _| [255_u8, 0, 0, 255]));
    let backend = open_backend(BackendChoice::Auto, &[both]).unwrap();
    let device = backend.device();
    assert!(device.api == Api::Cpu || !device.software, "{device}");
}

#[test]
fn a_refusal_names_the_backends_that_take_the_text() {
    let refused = open_backend(BackendChoice::Cpu, &[red()]).err().unwrap().to_string();
    let pinned = LinkBuilder::new(picture()).launch(&red(), []).backend(BackendChoice::Cpu);
    let together = pinned.display(DisplayChoice::Memory).open().err().unwrap().to_string();
    for part in ["'red' is written in WGSL", "runs host functions", "backends that can run this kernel: gl, wgpu"] {
        assert!(refused.contains(part) && together.contains(part), "{part}: {refused} {together}");
    }
    if open_backend(BackendChoice::Cuda, &[]).is_ok() {
        return;
    }
    // SAFETY: never built.
    let kernel = unsafe { KernelSource::new("grey").cuda_cpp("") };
    let refused = open_backend(BackendChoice::Auto, &[kernel]).err().unwrap().to_string();
    assert!(refused.contains("backends that can run this kernel: cuda (CUDA is not available"), "{refused}");
}
