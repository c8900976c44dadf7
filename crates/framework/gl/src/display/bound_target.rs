//! The bound framebuffer, as a target in which links show frames.

use crate::api::gl_format::gl_format;
use crate::api::host_state::READS;
use crate::display::contract::GlDisplay;
use crate::display::draw_target::check_target;
use crate::objects::attachment::Attachment;
use crate::objects::pixel_read;
use crate::queue::texture::TextureHandle;
use interop_core::describe::error::call;
use interop_core::draw::Obstacle;
use interop_core::{
    DrawOptions, Error, Extent, HandleType, PixelFormat, Result, SharedHandle, ShowTarget, Surface, TargetPixels,
    Viewport,
};
use std::any::Any;
use std::sync::Arc;

/// The framebuffer that is bound for drawing whenever a frame is shown (its first colour buffer), for
/// [`Link::show`](interop_core::LinkCore::show). [`GlDisplay::bound_target`] creates one.
pub struct BoundTarget<'a> {
    display: &'a GlDisplay,
    viewport: Viewport,
    /// The texture that was found last.
    found: Option<(Attachment, PixelFormat)>,
}

impl GlDisplay {
    /// Returns the framebuffer that is bound for drawing whenever a frame is shown, as a target for
    /// [`Link::show`](interop_core::LinkCore::show).
    ///
    /// Kernels store into the texture behind a framebuffer object, such as that of
    /// [`OffscreenTarget`](crate::OffscreenTarget). Frames are drawn into a window's own framebuffer, and into textures
    /// that shaders cannot store to. The framebuffer must stay bound during the call.
    ///
    /// ```
    /// use interop_core::{Arg, ComputeBackend, DrawOptions, KernelSource, Link, LinkOptions, PixelFormat, ShowOutcome, SurfaceDesc, Unwritten};
    /// use pixelferry_gl::{GlBackend, GlDisplay, HeadlessOptions, Viewport};
    ///
    /// let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// # if display.version() < (4, 5) { return Ok(()) }
    /// let backend = std::sync::Arc::new(GlBackend::on(&display)?);
    /// let grey = backend.build(&KernelSource::new("grey").wgsl(
    ///     "@compute @workgroup_size(8, 8)
    ///      fn grey(@builtin(global_invocation_id) id: vec3<u32>) { pf_store(id.xy, vec4<f32>(pf_arg_f32(0))); }",
    /// ))?;
    /// // Every pixel is written, so nothing of earlier frames is needed.
    /// let surface = SurfaceDesc::image(64, 64, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    /// let mut link = Link::open(backend, display.clone(), surface, LinkOptions::default())?;
    /// let target = display.create_offscreen_target(64, 64)?;
    /// target.bind()?;
    /// for level in [0.2, 0.4, 0.6] {
    ///     let mut place = display.bound_target(Viewport::full(64, 64));
    ///     let how = link.show(&mut place, DrawOptions::default(), |next| {
    ///         next.launch(grey.as_ref(), &[Arg::F32(level)])
    ///     })?;
    ///     println!("{how}");
    ///     assert_eq!(target.read_pixels()?[0], (level * 255.0_f32).round() as u8);
    /// }
    /// target.unbind()?;
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub fn bound_target(&self, viewport: Viewport) -> BoundTarget<'_> {
        BoundTarget { display: self, viewport, found: None }
    }
}

impl BoundTarget<'_> {
    fn found(&self) -> Result<(Attachment, PixelFormat)> {
        self.found.ok_or_else(|| Error::refused("the framebuffer has no texture"))
    }
}

impl ShowTarget for BoundTarget<'_> {
    fn area(&self) -> Extent {
        Extent::new(self.viewport.width, self.viewport.height)
    }

    fn draw(&mut self, surface: &Surface, options: DrawOptions) -> Result<()> {
        self.display.draw(surface, self.viewport, options)
    }

    fn pixels(&mut self) -> Result<TargetPixels, Obstacle> {
        let shared = self.display.shared();
        // A draw would report the same error.
        let refused = |error: Error| Obstacle::Refused(error.to_string());
        shared.enter().and_then(|()| check_target(self.display.tools())).map_err(refused)?;
        let attachment = self.display.tools().drawing.attachment(shared)?;
        let Attachment { texture, level, layer, width, height, format, encodes } = attachment;
        if encodes {
            return Err(Obstacle::Encodes("its format".into()));
        }
        if layer != 0 {
            return Err(Obstacle::Texture("it is one of several layers"));
        }
        let of = |pixels: &PixelFormat| *pixels != PixelFormat::Bgra8 && gl_format(*pixels).internal == format.internal;
        let pixels = PixelFormat::ALL.into_iter().find(of);
        let pixels = pixels.ok_or_else(|| Obstacle::Format(format!("{format:?}")))?;
        self.found = Some((attachment, pixels));
        Ok(TargetPixels {
            key: [u64::from(texture.0.get()), level as u64, layer as u64],
            alike: false,
            extent: Extent::new(width, height),
            format: pixels,
            first: (self.viewport.x, self.viewport.y),
        })
    }

    fn handle(&mut self) -> Result<(SharedHandle, Box<dyn Any + Send + Sync>)> {
        let (Attachment { texture, level, layer, width, height, format, .. }, _) = self.found()?;
        let shared = self.display.shared();
        let Some(HandleType::QueueBuffer(queue)) = shared.queue_handle() else {
            return Err(shared.unsupported("no window system knows its context".into()));
        };
        let kept = Arc::new(());
        let (extent, owner) = (Extent::new(width, height), Arc::downgrade(&kept));
        let handle = Arc::new(TextureHandle { texture, level, layer, format, extent, stores_only: true, owner });
        Ok((SharedHandle::QueueBuffer { queue, buffer: Box::new(handle) }, Box::new(kept)))
    }

    fn read_back(&mut self) -> Result<Vec<u8>> {
        call("BoundTarget::read_back", || {
            let (attachment, pixels) = self.found()?;
            let shared = self.display.shared();
            shared.enter()?;
            shared.check_host(READS)?;
            let format = gl_format(pixels);
            let extent = Extent::new(attachment.width, attachment.height);
            let mut bytes = interop_core::compute::zeros(extent.pixels() as usize * pixels.bytes_per_pixel())?;
            // SAFETY: the context is current; the framebuffer is bound for drawing, complete as it was drawn to, and its first colour
            // buffer is of that size and format.
            unsafe {
                pixel_read::of_drawn(shared, || {
                    shared.checked("glReadPixels", || {
                        pixel_read::read(shared, extent.full(), format.colors, format.ty, &mut bytes);
                    })
                })?;
            }
            Ok(bytes)
        })
    }
}
