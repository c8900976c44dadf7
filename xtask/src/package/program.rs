//! A program that depends on the packed `pixelferry`: it names every backend and every display.

use pixelferry::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = KernelSource::new("ramp").cpu_image(|out, _| out.par_pixels(|x, y| [x as u8, y as u8, 0, 255]));
    let surface = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    let OpenedLink { kernels, mut link, .. } = LinkBuilder::new(surface).launch(&source, []).open()?;
    link.frame(|next| next.launch(kernels[0].as_ref(), &[]))?;
    save_picture(&mut link, std::env::temp_dir().join("ramp.png"))?;
    println!("{:?}", api::opencl::OpenClBackend::open_best().map(|_| ()));
    println!("{:?}", api::cuda::devices().map(|_| ()));
    println!("{:?}", api::gl::GlDisplay::headless(api::gl::HeadlessOptions::default()).map(|_| ()));
    println!("{:?}", api::vulkan::VulkanDisplay::headless(&api::vulkan::VulkanOptions::default()).map(|_| ()));
    println!("{:?}", api::wgpu::WgpuDisplay::headless(api::wgpu::WgpuOptions::default()).map(|_| ()));
    Ok(())
}
