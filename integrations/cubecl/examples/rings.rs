//! One picture, as a PNG: `cargo run --example rings -- rings.png`.

use cubecl_wgpu::wgpu::Backends;
use pixelferry::api::wgpu::wgpu_adapters;
use pixelferry::{Extent, Link, LinkOptions, PixelFormat, SurfaceDesc, save_picture};
use pixelferry_cubecl::{CubeGuest, rings::rings};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "rings.png".into());
    let adapters = wgpu_adapters(Backends::VULKAN | Backends::METAL | Backends::DX12);
    let guest = CubeGuest::open(adapters.first().ok_or("wgpu supports no adapter here")?)?;
    let extent = Extent::new(640, 360);
    let surface = SurfaceDesc::image(extent.width, extent.height, PixelFormat::Rgba8);
    let mut link = Link::open(guest.backend(), guest.display(), surface, LinkOptions::default())?;
    let pixels = guest.pixels(extent)?;
    link.frame(|next| {
        rings::launch(guest.client(), pixels.cubes(), pixels.cube(), pixels.arg(), extent.width, 0.5);
        guest.copy(&pixels, next.target()?)
    })?;
    save_picture(&mut link, &path)?;
    println!("{path}: by CubeCL on {}, by {}", link.backend().device(), link.path());
    Ok(())
}
