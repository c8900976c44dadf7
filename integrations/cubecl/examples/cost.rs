//! Compares the cost of frames computed with CubeCL and with WGSL, alternating on one link: `cargo run --release
//! --example cost`.

use cubecl_wgpu::wgpu::Backends;
use pixelferry::api::wgpu::wgpu_adapters;
use pixelferry::{
    Arg, ComputeBackend, Display, Extent, ImageAccess, ImageDesc, KernelSource, Link, LinkOptions, PixelFormat,
    SurfaceDesc,
};
use pixelferry_cubecl::{CubeGuest, rings::rings};
use std::error::Error;
use std::time::{Duration, Instant};

const FRAMES: usize = 200;

const WGSL: &str = "
@compute @workgroup_size(8, 8)
fn rings(@builtin(global_invocation_id) id: vec3<u32>) {
  let v = 0.5 + 0.5 * sin(0.1 * length(vec2<f32>(id.xy)) - pf_arg_f32(0));
  pf_store(id.xy, vec4<f32>(v, 89.0 / 255.0, 161.0 / 255.0, 1.0));
}";

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| 1e6 * time.as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let adapters = wgpu_adapters(Backends::VULKAN | Backends::METAL | Backends::DX12);
    let guest = CubeGuest::open(adapters.first().ok_or("wgpu supports no adapter here")?)?;
    println!("{} ({})", guest.display().device(), guest.display().device().driver);
    println!("microseconds a frame, medians of {FRAMES}: until the call returns, until the device has drawn it");
    for (width, height) in [(64, 64), (1920, 1080)] {
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let backend = guest.backend();
        let kernel = backend.build(&KernelSource::new("rings").wgsl(WGSL))?;
        let pixels = guest.pixels(Extent::new(width, height))?;
        let mut link = Link::open(backend, guest.display(), SurfaceDesc::Image(image), LinkOptions::default())?;
        let mut frame = |by_cubecl: bool, t: f32| -> pixelferry::Result<[Duration; 2]> {
            let began = Instant::now();
            link.frame(|next| {
                if !by_cubecl {
                    return next.launch(kernel.as_ref(), &[Arg::F32(t)]);
                }
                rings::launch(guest.client(), pixels.cubes(), pixels.cube(), pixels.arg(), width, t);
                guest.copy(&pixels, next.target()?)
            })?;
            let returned = began.elapsed();
            guest.display().finish()?;
            Ok([returned, began.elapsed()])
        };
        // Build pipelines and settle on paths first.
        for turn in 0..20 {
            frame(turn % 2 == 0, 0.0)?;
        }
        // Times with WGSL and with CubeCL, until the call returns and until the frame is drawn.
        let mut times = [const { [const { Vec::new() }; 2] }; 2];
        for turn in 0..FRAMES {
            for (by_cubecl, times) in [false, true].into_iter().zip(&mut times) {
                let taken = frame(by_cubecl, turn as f32)?;
                times.iter_mut().zip(taken).for_each(|(all, one)| all.push(one));
            }
        }
        let [wgsl, cubecl] = times.map(|pair| pair.map(|mut all: Vec<Duration>| median(&mut all)));
        for (what, wgsl, cubecl) in [("returned", wgsl[0], cubecl[0]), ("drawn", wgsl[1], cubecl[1])] {
            let ratio = cubecl / wgsl;
            println!("{width} x {height} {what}: WGSL {wgsl:.0}, CubeCL {cubecl:.0}, ratio {ratio:.2}");
        }
    }
    Ok(())
}
