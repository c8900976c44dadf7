//! Objects for drawing, copying and reading back, created at first use.

use crate::api::gl_format::gl_format;
use crate::api::gl_objects::GlBuffer;
use crate::api::host_state::{DRAWS, READS, STORES};
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::draw::drawing::DrawChoices;
use crate::draw::image_source::ImageSource;
use crate::draw::quad::{Draw, Quad};
use crate::objects::buffer_object::{copy, create_buffer};
use crate::objects::device_copy::DeviceCopy;
use crate::objects::draw_state::ClearState;
use crate::objects::framebuffer::ColorTarget;
use crate::objects::state_guards::Framebuffers;
use crate::objects::timeline::Timeline;
use glow::HasContext as _;
use interop_core::describe::PlainMutex;
use interop_core::draw::{Manner, Plan};
use interop_core::{Extent, PixelFormat, Region, Result, Viewport};
use std::sync::{Arc, OnceLock};

/// Objects shared by a display and its surfaces.
pub(crate) struct Tools {
    quad: OnceLock<Quad>,
    pub drawing: DrawChoices,
    /// `None` where the driver rejects it.
    device_copy: OnceLock<Option<DeviceCopy>>,
    /// Target of draws and copies for measurements, as large as the last one needed.
    offscreen: PlainMutex<Option<(PixelFormat, ColorTarget)>>,
    offscreen_bytes: PlainMutex<Option<(usize, OwnedObject<glow::Buffer>)>>,
    /// Holds an engine's texture during a draw into it, and is empty otherwise.
    lent: OnceLock<OwnedObject<glow::Framebuffer>>,
    pub timeline: Timeline,
    shared: Arc<ContextState>,
}

impl Tools {
    pub(crate) fn new(shared: Arc<ContextState>) -> Arc<Self> {
        let (quad, device_copy, lent) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (offscreen, offscreen_bytes) = (PlainMutex::default(), PlainMutex::default());
        let (drawing, timeline) = (DrawChoices::default(), Timeline::default());
        Arc::new(Self { quad, drawing, device_copy, offscreen, offscreen_bytes, lent, timeline, shared })
    }

    pub(crate) fn shared(&self) -> &Arc<ContextState> {
        &self.shared
    }

    /// Runs `f` as a piece of work for the timeline. The context must be current.
    pub(crate) fn timed<R>(&self, name: &'static str, f: impl FnOnce() -> R) -> R {
        self.timeline.timed(&self.shared, name, f)
    }

    /// Returns the quad. The context must be current.
    pub(crate) fn quad(&self) -> Result<&Quad> {
        if let Some(quad) = self.quad.get() {
            return Ok(quad);
        }
        let quad = Quad::new(&self.shared)?;
        Ok(self.quad.get_or_init(|| quad))
    }

    /// Returns a framebuffer without attachments, which must be left without. The context must be current.
    pub(crate) fn lent_framebuffer(&self) -> Result<glow::Framebuffer> {
        if let Some(framebuffer) = self.lent.get() {
            return Ok(framebuffer.get());
        }
        // SAFETY: the context is current.
        let name = unsafe { self.shared.gl.create_framebuffer() };
        let name = name.map_err(|e| self.shared.no_name("glGenFramebuffers", &e))?;
        Ok(self.lent.get_or_init(|| OwnedObject::new(&self.shared, name)).get())
    }

    /// Returns the copier for device memory; `None` where `glTexSubImage2D` is used. The context must be current.
    pub(crate) fn device_copy(&self) -> Option<&DeviceCopy> {
        let make = || {
            let made = self.shared.features.compute.then(|| DeviceCopy::new(&self.shared))?;
            made.inspect_err(|error| tracing::warn!(%error, "no compute shader for copies; they will be slow")).ok()
        };
        self.device_copy.get_or_init(make).as_ref()
    }

    /// Draws a region of an image one to one into a texture of the same format, and reads that. All state is restored.
    pub(crate) fn read_back_image(&self, image: &ImageSource, region: Region, format: PixelFormat) -> Result<Vec<u8>> {
        let (shared, quad) = (&self.shared, self.quad()?);
        shared.check_host(DRAWS | READS)?;
        let gl_format = gl_format(format);
        let target = ColorTarget::new(shared, region.width, region.height, gl_format)?;
        let viewport = Viewport::full(region.width, region.height);
        let _bound = Framebuffers::bind(shared, target.framebuffer());
        shared.checked("glDrawArrays", || {
            quad.draw(
                shared,
                &Draw { image, region, viewport, plan: &Plan::exact(region.extent()), keep: true, has_others: false },
            )
        })??;
        target.read_bound(format.bytes_per_pixel())
    }

    /// Draws a region of an image as programs do, in this manner, and reads the result; see
    /// [`interop_core::Surface::draw_back`].
    pub(crate) fn draw_back(
        &self,
        image: &ImageSource,
        region: Region,
        plan: &Plan,
        manner: Option<Manner>,
    ) -> Result<Option<Vec<u8>>> {
        let Some(manner) = manner else { return Ok(None) };
        let (shared, quad) = (&self.shared, self.quad()?);
        shared.check_host(DRAWS | STORES | READS)?;
        let format = PixelFormat::Rgba8;
        let target = ColorTarget::new(shared, region.width, region.height, gl_format(format))?;
        let viewport = Viewport::full(region.width, region.height);
        let _bound = Framebuffers::bind(shared, target.framebuffer());
        self.clear([0.0; 4]);
        let draw = Draw { image, region, viewport, plan, keep: true, has_others: false };
        let drawn = shared.checked("draw", || self.drawing.draw(shared, quad, &draw, Some(manner)))??;
        if drawn.manner != manner {
            return Ok(None);
        }
        target.read_bound(format.bytes_per_pixel()).map(Some)
    }

    /// Draws all of an image one to one into an offscreen target, and waits only at the first draws of a kind. All
    /// state is restored.
    pub(crate) fn draw_offscreen(
        &self,
        image: &ImageSource,
        extent: Extent,
        format: PixelFormat,
        asked: Option<Manner>,
    ) -> Result<()> {
        let (shared, quad) = (&self.shared, self.quad()?);
        let mut offscreen = self.offscreen.lock();
        let target = match offscreen.take() {
            Some((f, target)) if f == format && target.size() == (extent.width, extent.height) => target,
            _ => ColorTarget::new(shared, extent.width, extent.height, gl_format(format))?,
        };
        {
            let _bound = Framebuffers::bind(shared, target.framebuffer());
            let viewport = Viewport::full(extent.width, extent.height);
            let plan = &Plan::exact(extent);
            self.drawing.settled(
                shared,
                quad,
                &Draw { image, region: extent.full(), viewport, plan, keep: true, has_others: false },
                asked,
            )?;
        }
        *offscreen = Some((format, target));
        Ok(())
    }

    /// Reads a buffer through once into an offscreen target, without waiting. All state is restored.
    pub(crate) fn copy_offscreen(&self, from: &GlBuffer) -> Result<()> {
        let shared = &self.shared;
        let mut offscreen = self.offscreen_bytes.lock();
        let (len, buffer) = match offscreen.take() {
            Some((len, buffer)) if len >= from.len => (len, buffer),
            _ => (from.len, create_buffer(shared, from.len, glow::STREAM_COPY)?),
        };
        copy(shared, from.name, from.offset, buffer.get(), 0, from.len);
        *offscreen = Some((len, buffer));
        Ok(())
    }

    /// Fills the bound draw framebuffer's first colour buffer, whatever the scissor, mask and sRGB states are.
    pub(crate) fn clear(&self, color: [f32; 4]) {
        let shared = &self.shared;
        let _state = ClearState::set(shared);
        // SAFETY: the context is current; the slice is four channels.
        unsafe { shared.gl.clear_buffer_f32_slice(glow::COLOR, 0, &color) }
    }
}
