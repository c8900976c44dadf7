//! A program that depends on the packed `pixelferry`: it names every backend and every display.

use pixelferry::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = KernelSource::new("ramp").cpu_image(|out, _| out.par_pixels(|x, y| [x as u8, y as u8, 0, 255]));
    let (backend, screen) = open_pair(BackendChoice::Auto, DisplayChoice::Auto, &[source.clone()])?;
    let ramp = backend.build(&source)?;
    let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
    let mut link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
    link.frame(|next| next.launch(ramp.as_ref(), &[]))?;
    save_picture(&mut link, std::env::temp_dir().join("ramp.png"))?;
    println!("{:?}", opencl_backend::OpenClBackend::open_best().map(|_| ()));
    println!("{:?}", cuda_backend::devices().map(|_| ()));
    println!("{:?}", pixelferry_gl::GlDisplay::headless(pixelferry_gl::HeadlessOptions::default()).map(|_| ()));
    println!("{:?}", pixelferry_vulkan::VulkanDisplay::headless(&pixelferry_vulkan::VulkanOptions::default()).map(|_| ()));
    println!("{:?}", pixelferry_wgpu::WgpuDisplay::headless(pixelferry_wgpu::WgpuOptions::default()).map(|_| ()));
    Ok(())
}
