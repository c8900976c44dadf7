//! Textures and buffers of an engine, checked before anything is copied.

use crate::context::format::{WORD, pixel_format};
use crate::display::contract::WgpuDisplay;
use crate::surface::engine_surfaces::{EngineBuffer, EngineImage};
use interop_core::describe::error::call;
use interop_core::display::checks::check_copies;
use interop_core::{Display as _, Error, ImageDesc, PixelFormat, Result, SharedHandle, Surface};

impl WgpuDisplay {
    /// Wraps an engine's texture as a surface, with the stored numbers of its first level: for
    /// [`Intake`](interop_core::Intake), by which kernels read the engine's output, and
    /// [`Outlet`](interop_core::Outlet), by which they write the texture.
    ///
    /// Row 0 is at the top. Copies in the device's queue follow all earlier submissions: submit the work that renders
    /// into the texture first. A texture of an sRGB format yields the stored numbers, which are encoded.
    ///
    /// Reading needs [`wgpu::TextureUsages::COPY_SRC`], writing [`wgpu::TextureUsages::COPY_DST`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a dimension other than 2-D, several layers, several samples, a format that frames
    /// cannot have, a usage that allows neither copy, a texture of another device, and a destroyed one.
    /// [`Error::Unsupported`] for what [`Display::create_surface`](interop_core::Display::create_surface) refuses.
    ///
    /// # Examples
    /// ```
    /// use interop_core::SurfacePart;
    /// use pixelferry_wgpu::{WgpuDisplay, WgpuOptions, wgpu};
    ///
    /// let Ok(display) = WgpuDisplay::headless(WgpuOptions::default()) else { return Ok(()) };
    /// // The engine renders here.
    /// let texture = display.wgpu_device().create_texture(&wgpu::TextureDescriptor {
    ///     label: Some("scene"),
    ///     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    ///     mip_level_count: 1,
    ///     sample_count: 1,
    ///     dimension: wgpu::TextureDimension::D2,
    ///     format: wgpu::TextureFormat::Rgba8UnormSrgb,
    ///     usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
    ///     view_formats: &[],
    /// });
    /// let mut scene = display.engine_image(&texture)?;
    /// let all = SurfacePart::full(scene.desc());
    /// assert_eq!(scene.read_back(&all)?, [0; 3 * 2 * 4]);
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub fn engine_image(&self, texture: &wgpu::Texture) -> Result<Surface> {
        call("WgpuDisplay::engine_image", || {
            let desc = describe(texture).map_err(Error::refused)?;
            let copies = wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST;
            check_copies(texture.usage().intersects(copies), ["COPY_SRC", "COPY_DST"], &texture.usage())?;
            Surface::engine_image((self.device(), self.caps()), desc, || {
                EngineImage::new(&self.tools, desc.format, texture)
            })
        })
    }

    /// Wraps the first `bytes` bytes of an engine's buffer as a surface, as [`WgpuDisplay::engine_image`] does for a
    /// texture. Reading needs [`wgpu::BufferUsages::COPY_SRC`], writing [`wgpu::BufferUsages::COPY_DST`]. The buffer
    /// must not be mapped while it is used.
    ///
    /// A whole buffer with [`wgpu::BufferUsages::STORAGE`] is not copied if kernels run in this device's queue (the
    /// crate `pixelferry-wgpu`): it is then itself their argument or target.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for more bytes than the buffer has, zero bytes, a size that is not whole words of 4
    /// bytes (the only copies in wgpu), a usage that allows neither copy, and a buffer that belongs to another device,
    /// is mapped or destroyed.
    pub fn engine_buffer(&self, buffer: &wgpu::Buffer, bytes: u64) -> Result<Surface> {
        call("WgpuDisplay::engine_buffer", || {
            let copies = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
            SharedHandle::check_room(buffer.size(), bytes)?;
            check_copies(buffer.usage().intersects(copies), ["COPY_SRC", "COPY_DST"], &buffer.usage())?;
            if !bytes.is_multiple_of(WORD) {
                let problem = format!("{bytes} bytes are not whole words of {WORD} bytes, and wgpu copies only those");
                return Err(Error::refused(problem));
            }
            let over = |bytes| EngineBuffer::new(&self.tools, bytes, buffer);
            Surface::engine_buffer((self.device(), self.caps()), bytes, over)
        })
    }
}

/// Returns the description of the first level, or the reason why it is not usable.
fn describe(texture: &wgpu::Texture) -> Result<ImageDesc, String> {
    let (dimension, layers, samples) = (texture.dimension(), texture.depth_or_array_layers(), texture.sample_count());
    if dimension != wgpu::TextureDimension::D2 || layers != 1 {
        return Err(format!(
            "the texture is {dimension:?} with {layers} layers; frames need one layer of two dimensions"
        ));
    }
    if samples != 1 {
        return Err(format!("each pixel has {samples} samples; resolve them into a texture with one, and use that"));
    }
    let format = pixel_format(texture.format()).ok_or_else(|| {
        let known: Vec<_> = PixelFormat::ALL.iter().map(ToString::to_string).collect();
        format!(
            "frames cannot have the format {:?}; supported are {}, encoded or not",
            texture.format(),
            known.join(", ")
        )
    })?;
    Ok(ImageDesc::new(texture.width(), texture.height(), format))
}
