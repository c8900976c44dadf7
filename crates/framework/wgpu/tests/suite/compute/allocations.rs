//! Allocations of a frame, beside the same frame by hand on the same device.

use allocation_counter::measure;
use interop_core::{
    Arg, Audit, ComputeBackend, Display, DrawOptions, ImageAccess, ImageDesc, KernelSource, Link, LinkOptions, Manner,
    PathId, PixelFormat, Policy, SurfaceDesc,
};
use pixelferry_testing::{Need, need};
use pixelferry_wgpu::{OffscreenTarget, Viewport, WgpuDisplay};
use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
use std::sync::Arc;

const SIDE: u32 = 64;
/// Frames before those that are counted, while draws are still timed.
const WARM_UP: u64 = 20;
const FRAMES: u64 = 50;

const PAINT: &str = "
@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, vec4<f32>(pf_arg_f32(0), 0.0, 0.0, 1.0));
}";

/// Our frame, written by hand: a kernel that has numbers, and a draw that has a picture, its look, and a target.
const BY_HAND: &str = "
@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
@group(0) @binding(1) var<uniform> numbers: vec4<f32>;
@group(1) @binding(0) var canvas: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  memory[id.y * 64u + id.x] = pack4x8unorm(vec4<f32>(numbers.x, 0.0, 0.0, 1.0));
}
@compute @workgroup_size(8, 8)
fn store(@builtin(global_invocation_id) id: vec3<u32>) {
  textureStore(canvas, id.xy, unpack4x8unorm(memory[id.y * 64u + id.x]));
}";

/// Mean of the allocations of `frame`.
fn count(display: &WgpuDisplay, mut frame: impl FnMut()) -> f64 {
    let mut all = 0;
    for n in 0..WARM_UP + FRAMES {
        let info = measure(&mut frame);
        all += if n < WARM_UP { 0 } else { info.count_total };
        display.finish().unwrap();
    }
    all as f64 / FRAMES as f64
}

fn ours(display: &std::sync::Arc<WgpuDisplay>, target: &OffscreenTarget) -> f64 {
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device()).unwrap());
    let kernel = backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
    // A program by hand audits nothing.
    let policy = Policy::default().with_force(PathId::IN_QUEUE_IN_PLACE).with_audit(Audit::Off);
    let desc = SurfaceDesc::Image(ImageDesc::new(SIDE, SIDE, PixelFormat::Rgba8).with_access(ImageAccess::Any));
    let mut link = Link::open(backend, display.clone(), desc, LinkOptions::new(policy)).unwrap();
    let (format, viewport) = (target.texture().format(), Viewport::full(SIDE, SIDE));
    let options = DrawOptions::default().with_manner(Manner::Compute);
    count(display, || {
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::F32(0.5)])).unwrap();
        let shown = link.shown().unwrap();
        display.draw_to(shown.surface(), target.view(), format, None, viewport, options).unwrap();
    })
}

fn whole(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size: None });
    wgpu::BindGroupEntry { binding, resource }
}

fn by_hand(display: &WgpuDisplay, target: &OffscreenTarget) -> f64 {
    let (device, queue) = (display.wgpu_device(), display.wgpu_queue());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(BY_HAND.into()),
    });
    let pipeline = |entry| {
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    };
    let buffer = |size, usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let (paint, store) = (pipeline("paint"), pipeline("store"));
    let memory = buffer(u64::from(SIDE * SIDE * 4), wgpu::BufferUsages::STORAGE);
    let numbers = buffer(16, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST);
    let bind = |layout: wgpu::BindGroupLayout, entries: &[wgpu::BindGroupEntry<'_>]| {
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries })
    };
    let painted = bind(paint.get_bind_group_layout(0), &[whole(0, &memory), whole(1, &numbers)]);
    let shown = bind(store.get_bind_group_layout(0), &[whole(0, &memory)]);
    let canvas = store.get_bind_group_layout(1);
    count(display, || {
        queue.write_buffer(&numbers, 0, &[0; 16]);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&paint);
        pass.set_bind_group(0, &painted, &[]);
        pass.dispatch_workgroups(SIDE / 8, SIDE / 8, 1);
        drop(pass);
        // The engine's target may be another one each time.
        let entry = wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(target.view()) };
        let canvas = bind(canvas.clone(), &[entry]);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&store);
        pass.set_bind_group(0, &shown, &[]);
        pass.set_bind_group(1, &canvas, &[]);
        pass.dispatch_workgroups(SIDE / 8, SIDE / 8, 1);
        drop(pass);
        queue.submit([encoder.finish()]);
    })
}

#[test]
fn a_frame_allocates_what_wgpu_does() {
    let options = WgpuOptions::default().with_backends(wgpu::Backends::VULKAN);
    let Some(display) = need(Need::Lavapipe, WgpuDisplay::headless(options)) else { return };
    let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
    let (by_hand, ours) = (by_hand(&display, &target), ours(&display, &target));
    // All are inside wgpu's calls: 9 where its errors are asked for (three calls), the rest for a dynamic offset and for bind
    // groups of more entries.
    println!("allocations a frame: by hand {by_hand}, ours {ours}");
    assert!(ours <= by_hand + 26.0, "{ours} allocations a frame, by hand {by_hand}");
}
