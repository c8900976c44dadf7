//! Textures and buffers of an engine, checked before anything is copied.

use crate::context::format::{WORD, pixel_format};
use crate::display::contract::WgpuDisplay;
use crate::surface::engine_surfaces::{EngineBuffer, EngineImage};
use interop_core::describe::error::call;
use interop_core::display::checks::check_copies;
use interop_core::{Display as _, Error, ImageDesc, PixelFormat, Result, SharedHandle, Surface};

impl WgpuDisplay {
    /// An engine's texture as a surface, with the numbers of its first level: for [`Intake`](interop_core::Intake), by which
    /// kernels read what the engine rendered, and [`Outlet`](interop_core::Outlet), by which they write it.
    ///
    /// Row 0 is at the top. Copies in the device's queue go after what was submitted there before: submit what renders into the
    /// texture first. A texture of an sRGB format has the numbers that are stored, as they are encoded.
    ///
    /// To be taken, it is made with [`wgpu::TextureUsages::COPY_SRC`]; to be written, with
    /// [`wgpu::TextureUsages::COPY_DST`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] says what is wrong: another dimension than 2-D, layers, several samples, a format that frames do not
    /// have, a usage with neither copy, a texture of another device, and one that was destroyed. [`Error::Unsupported`] for what
    /// [`Display::create_surface`](interop_core::Display::create_surface) refuses.
    ///
    /// # Examples
    /// ```
    /// use interop_core::Part;
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
    /// let all = Part::full(scene.desc());
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

    /// The first `bytes` bytes of an engine's buffer as a surface, as [`WgpuDisplay::engine_image`] for a texture. To be taken, it
    /// is made with [`wgpu::BufferUsages::COPY_SRC`]; to be written, with [`wgpu::BufferUsages::COPY_DST`]. It is not mapped
    /// meanwhile.
    ///
    /// A whole buffer that was made with [`wgpu::BufferUsages::STORAGE`], too, is not copied where kernels run in this device's queue
    /// (the crate `pixelferry-wgpu`): it is their argument or their target itself.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for more bytes than it has, none, or no whole words of 4 bytes, which are all that wgpu copies, for a
    /// usage with neither copy, and for a buffer that is of another device, mapped or destroyed.
    pub fn engine_buffer(&self, buffer: &wgpu::Buffer, bytes: u64) -> Result<Surface> {
        call("WgpuDisplay::engine_buffer", || {
            let copies = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
            SharedHandle::check_room(buffer.size(), bytes)?;
            check_copies(buffer.usage().intersects(copies), ["COPY_SRC", "COPY_DST"], &buffer.usage())?;
            if !bytes.is_multiple_of(WORD) {
                let problem =
                    format!("{bytes} bytes are no whole words of {WORD} bytes, which are all that wgpu copies");
                return Err(Error::refused(problem));
            }
            let over = |bytes| EngineBuffer::new(&self.tools, bytes, buffer);
            Surface::engine_buffer((self.device(), self.caps()), bytes, over)
        })
    }
}

/// The first level as frames have it, or what stands in the way.
fn describe(texture: &wgpu::Texture) -> Result<ImageDesc, String> {
    let (dimension, layers, samples) = (texture.dimension(), texture.depth_or_array_layers(), texture.sample_count());
    if dimension != wgpu::TextureDimension::D2 || layers != 1 {
        return Err(format!(
            "the texture is {dimension:?} with {layers} layers; frames go to one layer of two dimensions"
        ));
    }
    if samples != 1 {
        return Err(format!("each pixel has {samples} samples; resolve them into a texture of one, and give that"));
    }
    let format = pixel_format(texture.format()).ok_or_else(|| {
        let known: Vec<_> = PixelFormat::ALL.iter().map(ToString::to_string).collect();
        format!("no frame has the format {:?}; it is one of {}, encoded or not", texture.format(), known.join(", "))
    })?;
    Ok(ImageDesc::new(texture.width(), texture.height(), format))
}
