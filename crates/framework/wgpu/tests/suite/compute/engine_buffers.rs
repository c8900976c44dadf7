//! Buffers of an engine's that kernels in its queue have as they are.

use interop_core::{
    Arg, ComputeBackend, Display, Error, Intake, KernelSource, Link, LinkOptions, Outlet, OutletOptions, PathId,
    PixelFormat, SurfaceDesc,
};
use pixelferry_testing::{Need, has, need};
use pixelferry_wgpu::WgpuDisplay;
use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
use std::sync::Arc;
use wgpu::BufferUsages as Usage;

const BYTES: u64 = 4096;
const COPIES: Usage = Usage::COPY_SRC.union(Usage::COPY_DST);
const PATH: PathId = PathId::IN_QUEUE_IN_PLACE;

fn kernel(name: &'static str, text: &'static str) -> KernelSource {
    KernelSource::new(name).with_items(BYTES as usize).wgsl(text)
}

fn plus_one() -> KernelSource {
    let text = "@group(1) @binding(0) var<storage, read> scene: array<u32>;
         @compute @workgroup_size(64)
         fn plus_one(@builtin(global_invocation_id) id: vec3<u32>) {
           let i = pf_index(id);
           if (i * 4u < pf_items()) { pf_put(i, scene[i] + 1u); }
         }";
    kernel("plus_one", text)
}

fn fill() -> KernelSource {
    let text = "@compute @workgroup_size(64)
         fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
           let i = pf_index(id);
           if (i * 4u < pf_items()) { pf_put(i, i * 3u + pf_arg_u32(0)); }
         }";
    kernel("fill", text)
}

fn words(word: impl Fn(u32) -> u32) -> Vec<u8> {
    (0..BYTES as u32 / 4).flat_map(|i| word(i).to_ne_bytes()).collect()
}

fn buffer(display: &WgpuDisplay, size: u64, usage: Usage) -> wgpu::Buffer {
    let desc = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    display.wgpu_device().create_buffer(&desc)
}

#[test]
fn kernels_read_and_write_an_engines_buffer_where_it_lies() {
    for (api, driver) in [(wgpu::Backends::VULKAN, Need::Lavapipe), (wgpu::Backends::GL, Need::Egl)] {
        let Some(display) = need(driver, WgpuDisplay::headless(WgpuOptions::default().with_backends(api))) else {
            continue;
        };
        let name = format!("{} ({})", display.device(), display.device().driver);
        let Some(backend) = has("compute shaders", &name, WgpuBackend::on(display.shared_device())) else { continue };
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let shown = || Arc::clone(&display) as Arc<dyn Display>;
        let [plus_one, fill] = [plus_one(), fill()].map(|source| backend.build(&source).unwrap());
        let engines = buffer(&display, BYTES, COPIES | Usage::STORAGE);
        let surface = || display.engine_buffer(&engines, BYTES).unwrap();
        let mut taken = Intake::open_by(backend.clone(), shown(), surface(), PATH).unwrap();
        let mut given =
            Outlet::open_with(backend.clone(), shown(), surface(), OutletOptions::default().with_path(PATH)).unwrap();
        let desc = SurfaceDesc::buffer(BYTES);
        let mut link = Link::open(backend.clone(), shown(), desc, LinkOptions::default()).unwrap();
        for n in 0..20 {
            display.wgpu_queue().write_buffer(&engines, 0, &words(|i| i ^ n));
            let scene = taken.take().unwrap();
            link.frame(|next| next.launch(plus_one.as_ref(), &[scene.arg()])).unwrap();
            drop(scene);
            // The engine goes on at once; the kernel has read what was there.
            display.wgpu_queue().write_buffer(&engines, 0, &[0xee; BYTES as usize]);
            display.wgpu_queue().submit([]);
            assert!(link.read_back().unwrap() == words(|i| (i ^ n) + 1), "{name}, frame {n}");
            given.frame(|next| next.launch(fill.as_ref(), &[Arg::U32(n)])).unwrap();
            // As the engine reads it, in its own submission.
            let to = buffer(&display, BYTES, Usage::MAP_READ | Usage::COPY_DST);
            let device = display.wgpu_device();
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&engines, 0, &to, 0, BYTES);
            display.wgpu_queue().submit([encoder.finish()]);
            to.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            assert!(to.get_mapped_range(..).unwrap()[..] == words(|i| i * 3 + n)[..], "{name}, frame {n}");
        }
        println!("RAN ON {name}");
    }
}

#[test]
fn what_kernels_cannot_have_is_copied_in_the_queue() {
    let Some(display) = need(Need::Lavapipe, WgpuDisplay::headless(vulkan())) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    let shown = || Arc::clone(&display) as Arc<dyn Display>;
    for (size, usage, says) in
        [(BYTES, COPIES, "without STORAGE"), (BYTES + 4, COPIES | Usage::STORAGE, "whole buffers")]
    {
        let engines = buffer(&display, size, usage);
        let surface = || display.engine_buffer(&engines, BYTES).unwrap();
        let refused = Intake::open_by(backend.clone(), shown(), surface(), PATH).err().unwrap();
        assert!(matches!(&refused, Error::InvalidInput { .. }) && refused.to_string().contains(says), "{refused}");
        display.wgpu_queue().write_buffer(&engines, 0, &words(|i| i));
        let mut taken = Intake::open(backend.clone(), shown(), surface()).unwrap();
        assert!(taken.path() != PATH && taken.take().unwrap().read().unwrap() == words(|i| i));
    }
    // Kernels have no textures.
    let surface = display.create_surface(&SurfaceDesc::image(5, 3, PixelFormat::Rgba8)).unwrap();
    let refused = Intake::open_by(backend.clone(), shown(), surface, PATH).err().unwrap();
    assert!(matches!(&refused, Error::Unavailable { .. }), "{refused}");
}

fn vulkan() -> WgpuOptions {
    WgpuOptions::default().with_backends(wgpu::Backends::VULKAN)
}
